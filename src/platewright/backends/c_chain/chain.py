"""Print one pass of EM over hidden chains as C: forward, backward and soft statistics of sequences side by side.

    log p(z_t = k, its data)  ->  b_t[k]  ->  forward, backward  ->  sums of functions of a step times probabilities

First steps of sequences have weights and statistics of their own. `first@step` therefore becomes a number that is one
for all first steps and zero for all later ones; it goes into coefficients, and each coefficient has two values.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from platewright.algebra.build import add, multiply, substitute, totals, where
from platewright.algebra.expression import (
    ONE,
    ZERO,
    Add,
    Index,
    Lag,
    Multiply,
    Reference,
    free_indices,
    mentions,
    walk,
)
from platewright.algebra.node import Expression
from platewright.backends.c.expression import Unprintable
from platewright.backends.c_chain.text import chain_file, chain_function
from platewright.backends.c_em.em import FusedPass, SoftSum, Writer, checked, fused_program, soft_statements
from platewright.backends.c_em.split import Splitter, Terms
from platewright.backends.c_em.text import function_text
from platewright.backends.naming import Names
from platewright.graph.graph import Factor
from platewright.language.plate import beginning
from platewright.program.program import expressions_of
from platewright.program.statements import Cell, Feature, Pool, Statistic
from platewright.schemas.hidden import Hidden
from platewright.schemas.hidden_plan import HiddenPlan


@dataclass(frozen=True)
class ChainPass:
    """What one hidden chain needs: of a step, and of two neighbouring steps."""

    item: Hidden
    function: str
    marker: str
    single: FusedPass
    pairs: FusedPass

    @property
    def moves_change(self) -> bool:
        """Whether weights or statistics of neighbours change from step to step."""
        used = (*self.pairs.weights, *(term for one in self.pairs.sums for term in one.terms))
        return any(term.atoms or term.codes for term in used)


@dataclass(frozen=True)
class EMProgram:
    """The file, its passes, statements without hidden variables, and what has no C with the reason."""

    source: str
    passes: tuple[FusedPass | ChainPass, ...]
    fixed: tuple[Statistic | Pool, ...]
    left: tuple[tuple[str, str], ...]


def em_program(plan: HiddenPlan) -> EMProgram:
    """The passes of a plan, those of chains among them; any refusal leaves the whole plan to NumPy."""
    chains = [item for item in plan.hidden if item.chain]
    if not chains:
        plain = fused_program(plan)
        return EMProgram(plain.source, plain.passes, plain.fixed, plain.left)
    plain = fused_program(plan, elsewhere=tuple(chains))
    left = list(plain.left)
    passes: list[FusedPass | ChainPass] = list(plain.passes)
    file_names = Names()
    functions = [function_text(one.function, one.item.name, one.atoms, one.codes) for one in plain.passes]
    for item in chains:
        try:
            found = chain_pass(plan, item, file_names(f"chain_{item.name}"))
        except Unprintable as refusal:
            left.append((item.name, str(refusal)))
            continue
        passes.append(found)
        functions.append(chain_function(found.function, item.name, shown(found)))
    if left:
        return EMProgram("", (), plain.fixed, tuple(left))
    own = any(isinstance(one, ChainPass) and one.moves_change for one in passes)
    return EMProgram(chain_file(plan, functions, own), tuple(passes), plain.fixed, ())


def shown(one: ChainPass) -> list[str]:
    """What stands in the arrays of a pass."""
    lines = []
    for word, part in (("single", one.single), ("pairs", one.pairs)):
        lines += [f"{word}, in the tiles: {atom}" for atom in part.atoms]
        lines += [f"{word}, code: {code}" for code in sorted({str(code) for code in part.codes})]
    return lines


def chain_pass(plan: HiddenPlan, item: Hidden, function: str) -> ChainPass:
    """Weights and statistics of a chain, pulled apart."""
    marker = f"{item.name}.is first"
    single, pair = chain_weights(item, marker)
    parts = []
    for writer in (_Single(plan, item, function, marker, single), _Pairs(plan, item, function, marker, pair)):
        found, left = writer.fused()
        if found is None:
            name, reason = left[0]
            raise Unprintable(f"{name}: {reason}")
        parts.append(found)
    return ChainPass(item, function, marker, *parts)


# -- weights -----------------------------------------------------------------------------------------------------------


def chain_weights(item: Hidden, marker: str) -> tuple[Expression, Expression]:
    """Log weights of the value of a step, and of the values of two neighbouring steps, which first steps lack."""
    single: list[Expression] = []
    pair: list[Expression] = []
    (step,) = item.axes
    for factor in item.factors:
        whole = _at_levels(item, factor)
        flag = Reference(beginning(step.plate), (step,))
        first, later = substitute(whole, {flag: ONE}), substitute(whole, {flag: ZERO})
        if item.before in free_indices(first):
            raise Unprintable(f"{factor.owner} looks back from first steps")
        terms = later.terms if isinstance(later, Add) else (later,)
        moving = [term for term in terms if item.before in free_indices(term)]
        staying = add(*(term for term in terms if term not in moving))
        pair += moving
        single.append(where(Reference(marker), first, staying))
    return add(*single), add(*pair)


def _at_levels(item: Hidden, factor: Factor) -> Expression:
    """A factor with the value of its step and of the step before put in, summed over what else it runs over."""
    at = next(p.indices[0] for p in walk(factor.expression) if isinstance(p, Reference) and p.name == item.name)
    step = at.index if isinstance(at, Lag) else at
    changes: dict[Expression, Expression] = {
        Reference(item.name, (step,)): item.level,
        Reference(item.name, (Lag(step),)): item.before,
    }
    moved = substitute(factor.expression, changes)
    whole = totals(moved, [axis for axis in factor.axes if axis != step])
    return substitute(whole, {step: item.axes[0]})


# -- statistics --------------------------------------------------------------------------------------------------------


def marked(statement: Statistic | Pool, item: Hidden, marker: str) -> Statistic | Pool:
    """A statement in which the flag of first steps is one number for all rows."""
    (step,) = item.axes
    changes: dict[Expression, Expression] = {Reference(beginning(step.plate), (step,)): Reference(marker)}
    if isinstance(statement, Statistic):
        return replace(statement, summand=substitute(statement.summand, changes))
    return replace(
        statement,
        weight=substitute(statement.weight, changes),
        cells=tuple(Cell(c.index, substitute(c.code, changes)) for c in statement.cells),
        features=tuple(Feature(substitute(f.expression, changes), f.inner) for f in statement.features),
    )


class _Single(Writer):
    """Splits what depends on the value of one step."""

    def __init__(self, plan: HiddenPlan, item: Hidden, function: str, marker: str, whole: Expression) -> None:
        self.whole = whole
        self.marker = marker
        super().__init__(plan, item, function)

    def chosen(self) -> list[Statistic | Pool]:
        """The statements that need the probabilities, with the flag of first steps put in."""
        return [marked(statement, self.item, self.marker) for statement in super().chosen()]

    def new_splitter(self) -> Splitter:
        found = super().new_splitter()
        return replace(found, parameters=found.parameters | {self.marker})

    def log_weight(self) -> tuple[str, Expression]:
        return f"the log weight of {self.item.name}", self.whole


@dataclass(frozen=True)
class _PairSplitter(Splitter):
    """Neither the value of a step nor that of the step before is part of the row."""

    before: Index | None = None

    def is_row(self, expression: Expression) -> bool:
        return super().is_row(expression) and self.before not in free_indices(expression)


class _Pairs(_Single):
    """Splits what depends on the values of two neighbouring steps."""

    def chosen(self) -> list[Statistic | Pool]:
        return [
            marked(statement, self.item, self.marker)
            for statement in soft_statements(self.plan)
            if any(mentions(whole, {self.item.pair}) for whole in expressions_of(statement))
        ]

    def new_splitter(self) -> Splitter:
        found = super().new_splitter()
        given = (found.rows, found.level, found.parameters, found.axes, found.centres, found.finite)
        return _PairSplitter(*given, before=self.item.before)

    def log_weight(self) -> tuple[str, Expression]:
        return f"the log weight of neighbours of {self.item.name}", self.whole

    def sum(self, statement: Statistic) -> SoftSum:
        """A sum of probabilities of neighbours times functions of the row."""
        if statement.kind != "sum":
            raise Unprintable(f"a {statement.kind} is not a sum")
        whole, item = statement.summand, self.item
        factors = whole.factors if isinstance(whole, Multiply) else (whole,)
        held = [f for f in factors if isinstance(f, Reference) and f.name == item.pair]
        if len(held) != 1 or held[0].indices[0] != item.axes[0]:
            raise Unprintable(f"{whole} is not a probability of neighbours times something")
        rest = multiply(1.0, *(factor for factor in factors if factor is not held[0]))
        changes: dict[Expression, Expression] = {}
        for at, level in zip(held[0].indices[1:], (item.before, item.level), strict=True):
            if not isinstance(at, Index) or at in changes or (at != level and at not in statement.indices):
                raise Unprintable(f"the probability of neighbours stands at {at}")
            changes[at] = level
        axes = tuple(changes.get(index, index) for index in statement.indices)
        over = set(statement.over) - {item.axes[0], item.before, item.level}
        if over or item.axes[0] not in statement.over or mentions(rest, {item.pair}):
            raise Unprintable("it is not a sum over the steps of the chain")
        terms: Terms = checked(self.splitter.split(substitute(rest, changes)))
        changing = mentions(rest, set(self.plan.learned))
        return SoftSum(statement, axes, terms, changing)  # type: ignore[arg-type]

    def pool(self, pool: Pool) -> object:  # type: ignore[override]
        raise Unprintable("moments for each pair of neighbours are not taken")
