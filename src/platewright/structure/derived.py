"""The evidence of one node given its parents, derived once and printed as C, to be evaluated many times  (Lemma 6.4).

    log p(column | groups) = sum over groups of [ sum over levels of cell(count) + group(sum of counts) ]

The derivation is that of ordinary models: a table of categories under a Dirichlet, a regression under a normal-gamma
prior; `one_group.py` has those of other columns. Its evidence is an expression; what is asked of it again and again are
its parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from platewright.algebra.build import add, multiply, substitute
from platewright.algebra.expression import (
    Add,
    Expression,
    Index,
    Multiply,
    Reference,
    Size,
    Sum,
    free_indices,
    rebuild,
    walk,
)
from platewright.backends.c.expression import CPrinter
from platewright.backends.c.support import support_text
from platewright.backends.naming import Names
from platewright.derive.planner import choose_plan
from platewright.graph.graph import read_graph
from platewright.language.constructors import Categorical, Dirichlet, Gamma, Normal
from platewright.language.distribution import Input
from platewright.language.functions import dot
from platewright.language.model import Model
from platewright.program.program import EVIDENCE, Program
from platewright.program.statements import Assign, Statistic
from platewright.schema import Plan


@dataclass(frozen=True)
class Evidence:
    """A part of a derived evidence, as a function of named numbers."""

    name: str
    arguments: tuple[str, ...]
    value: Expression

    @property
    def source(self) -> str:
        """The function as C; each argument comes by its address, as the printer of passes reads it."""
        printer = CPrinter(Names(), (), {name: () for name in self.arguments}, frozenset())
        printed = printer.code(self.value).text
        listed = ", ".join(f"const double *{printer.column(name)}" for name in self.arguments)
        lines = [f"    {line}" for line in printer.take()]
        return "\n".join((f"static double {self.name}({listed})", "{", *lines, f"    return {printed};", "}"))

    def called(self, array: str) -> str:
        """The call of it with arguments that stand side by side."""
        return f"{self.name}({', '.join(f'&{array}[{place}]' for place in range(len(self.arguments)))})"


@lru_cache(maxsize=1)
def derived_evidences() -> tuple[Evidence, ...]:
    """All functions that local scores are made of."""
    return (*table_evidence(), regression_evidence())


def derived_source(*others: Evidence) -> str:
    """Their C and that of others, with the few functions they share."""
    text = "\n".join(found.source for found in (*derived_evidences(), *others))
    return "\n".join((*support_text(text), text, ""))


def table_evidence() -> tuple[Evidence, Evidence]:
    """Categories of one group of rows: a term for each cell that is not empty, and one for their sum."""
    m = Model("categories of one group")
    row, level = m.plate("row"), m.plate("level")
    m.alpha = Input()
    m.p = Dirichlet(m.alpha, over=level)
    m.child = Categorical(m.p, plates=row)
    program = _program(m, "child")
    counts = next(found for found in program.passes if isinstance(found, Statistic))
    whole = inlined(program)
    terms = whole.terms if isinstance(whole, Add) else (whole,)
    inside = [term for term in terms if _is_of_cells(term)]
    outside = [term for term in terms if not _is_of_cells(term)]
    to_scalars: dict[Expression, Expression] = {
        Reference(counts.name, (index,)): Reference("count") for index in _indices(whole)
    }
    cell = substitute(add(*(_of_one_cell(term) for term in inside)), to_scalars)
    group = add(*(_in_totals(term, counts.name) for term in outside))
    return (
        Evidence("table_cell", ("alpha", "count", "levels"), cell),
        Evidence("table_group", ("alpha", "count", "levels"), group),
    )


def regression_evidence() -> Evidence:
    """A normal column on an intercept and slopes, from what triangularised rows leave."""
    m = Model("regression of one node")
    row, column = m.plate("row"), m.plate("column")
    m.shape, m.rate, m.k = Input(), Input(), Input(plates=column)
    m.tau = Gamma(m.shape, rate=m.rate)
    m.w = Normal(0, precision=m.k * m.tau, plates=column)
    m.x = Input(plates=(row, column))
    m.y = Normal(dot(m.x, m.w, over=column), precision=m.tau, plates=row)
    program = _program(m, "y")
    value = inlined(program)
    renamed = {name: name.rpartition(".")[2] for name in _names(value) if "." in name}
    value = substitute(value, {Reference(old): Reference(new) for old, new in renamed.items()})
    value = substitute(value, {Size(row.name): Reference("rows")})
    return Evidence("regression", ("shape", "rate", "sum_k", "rows", "log_root", "residual"), value)


# -- taking an evidence apart ----------------------------------------------------------------------------------------


def _program(m: Model, known: str) -> Program:
    inputs = {name for name, variable in m.variables.items() if variable.kind == "input"}
    plan = choose_plan(read_graph(m, {known} | inputs), "posterior")
    assert isinstance(plan, Plan)
    return plan.program


def inlined(program: Program, wanted: Expression | None = None) -> Expression:
    """The log evidence, or what else is wanted, with every assignment put in."""
    assigned = {found.name: found for found in program.body if isinstance(found, Assign)}

    def put_in(part: Expression) -> Expression:
        if isinstance(part, Reference) and part.name in assigned:
            found = assigned[part.name]
            at: Mapping[Expression, Expression] = dict(zip(found.indices, part.indices, strict=True))
            return put_in(substitute(found.expression, at) if at else found.expression)
        return rebuild(part, put_in)

    return put_in(assigned[EVIDENCE].expression if wanted is None else wanted)


def _indices(whole: Expression) -> set[Index]:
    return {part for part in walk(whole) if isinstance(part, Index)}


def _names(whole: Expression) -> set[str]:
    return {part.name for part in walk(whole) if isinstance(part, Reference)}


def _factors(term: Expression) -> tuple[Expression, ...]:
    return term.factors if isinstance(term, Multiply) else (term,)


def _is_of_cells(term: Expression) -> bool:
    """Whether a term is a sum over levels, or the same for each of them."""
    return any(isinstance(factor, Sum | Size) for factor in _factors(term))


def _of_one_cell(term: Expression) -> Expression:
    """The summand, or the term without the number of levels."""
    parts = [factor.body if isinstance(factor, Sum) else factor for factor in _factors(term)]
    return multiply(*(part for part in parts if not isinstance(part, Size)))


def _in_totals(term: Expression, counts: str) -> Expression:
    """With the number of levels and the sum of their counts as numbers."""
    match term:
        case Size():
            return Reference("levels")
        case Sum(index, body):
            parts = body.terms if isinstance(body, Add) else (body,)
            there = [part for part in parts if index in free_indices(part)]
            same = [multiply(Reference("levels"), part) for part in parts if part not in there]
            assert all(isinstance(part, Reference) and part.name == counts for part in there)
            return add(*same, *(Reference("count") for _ in there))
    return rebuild(term, lambda inner: _in_totals(inner, counts))
