"""Print one pass of EM as C: expectation and soft statistics of a block of rows while it is in cache.

    log weights -> log-sum-exp -> probabilities -> sums of functions of the row times probabilities

The N x K probabilities are never stored. The plan says what is needed: `c_em_split` pulls its log weights and its soft
statistics apart into functions of a row and the rest; the rest is small and stays with NumPy
(`run/hidden/native_em.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from platewright.algebra.build import call, multiply
from platewright.algebra.expression import (
    ONE,
    Call,
    Constant,
    Index,
    Multiply,
    Reference,
    free_indices,
    mentions,
    names,
)
from platewright.algebra.node import Expression
from platewright.algebra.substitution import substitute
from platewright.backends.c.expression import Unprintable
from platewright.backends.c_em.split import Splitter, Term, Terms, canonical, collected, product, summed
from platewright.backends.c_em.text import file_text, function_text
from platewright.backends.naming import Names
from platewright.program.program import expressions_of
from platewright.program.statements import Assign, Pool, Statistic
from platewright.schemas.em import EMPlan
from platewright.schemas.hidden import Hidden
from platewright.schemas.hidden_plan import HiddenPlan
from platewright.schemas.mean_field import MeanFieldPlan


@dataclass(frozen=True)
class SoftSum:
    """A table of sums; `axes` are its indices in order, with the level where the statement has it."""

    statement: Statistic
    axes: tuple[Index, ...]
    terms: Terms
    changes: bool = False
    """Whether parameters have a part in it, so that it may be a difference of large sums."""


@dataclass(frozen=True)
class SoftPool:
    """Moments of functions of the row about their centres, for each cell; constants have no spread."""

    statement: Pool
    cells: tuple[Index, ...]
    weight: Terms
    live: tuple[int, ...]


@dataclass(frozen=True)
class FusedPass:
    """What one hidden variable needs: functions of a row, codes, and how weights and statistics use them."""

    item: Hidden
    function: str
    atoms: tuple[Expression, ...]
    centres: tuple[tuple[Expression, str], ...]
    shared: tuple[tuple[Expression, frozenset[int]], ...]
    """Inner axes over which a pool sums, so that all its positions need one centre."""
    weights: Terms
    sums: tuple[SoftSum, ...]
    pools: tuple[SoftPool, ...]

    @property
    def codes(self) -> tuple[Expression, ...]:
        """The codes that are looked up or counted."""
        terms = (*self.weights, *(term for one in self.sums for term in one.terms))
        return tuple(code for term in terms for code, _ in term.codes)


@dataclass(frozen=True)
class FusedProgram:
    """The file, its passes, statements without hidden variables, and what has no C with the reason."""

    source: str
    passes: tuple[FusedPass, ...]
    fixed: tuple[Statistic | Pool, ...]
    left: tuple[tuple[str, str], ...]


def em_source(plan: HiddenPlan) -> str:
    """The file as text."""
    return fused_program(plan).source


def fused_program(plan: HiddenPlan, elsewhere: tuple[Hidden, ...] = ()) -> FusedProgram:
    """The fused passes of a plan, but for hidden variables whose passes are made elsewhere.

    Any refusal leaves the whole plan to NumPy, which then has all probabilities.
    """
    left: list[tuple[str, str]] = []
    passes = []
    fixed = []
    file_names = Names()
    probabilities = {item.probability for item in plan.hidden} | {item.pair for item in plan.hidden}
    for statement in soft_statements(plan):
        used = {name for whole in expressions_of(statement) for name in names(whole)}
        met = probabilities & used
        if not met and isinstance(plan, EMPlan) and used & set(plan.learned):
            left.append((statement.name, "it goes over all rows and changes with the parameters"))
        elif not met:
            fixed.append(statement)
        elif len(met) > 1:
            left.append((statement.name, f"it needs {' and '.join(sorted(met))} together"))
    for ascent in plan.ascents if isinstance(plan, EMPlan) else ():
        if any(mentions(factor.expression, probabilities) for factor in ascent.factors):
            left.append((", ".join(ascent.variables), "what it is raised along goes over all rows"))
    for item in plan.hidden:
        if item in elsewhere:
            continue
        if item.chain:
            left.append((item.name, "its elements form a chain"))
            continue
        found, refused = Writer(plan, item, file_names(f"pass_{item.name}")).fused()
        left += refused
        if found is not None:
            passes.append(found)
    named = [statement.name for statement in soft_statements(plan)]
    left += [
        (name, "two blocks have statistics of this name") for name in sorted({n for n in named if named.count(n) > 1})
    ]
    if left:
        return FusedProgram("", (), tuple(fixed), tuple(left))
    functions = [function_text(one.function, one.item.name, one.atoms, one.codes) for one in passes]
    return FusedProgram(file_text(plan, functions), tuple(passes), tuple(fixed), ())


def soft_statements(plan: HiddenPlan) -> list[Statistic | Pool]:
    """The statistics of all blocks of parameters; those of EM each with a name of its own."""
    if isinstance(plan, MeanFieldPlan):
        return list(plan.soft_passes)
    programs = enumerate(plan.latent.programs)
    return [replace(s, name=name_in(plan, number, s.name)) for number, program in programs for s in program.passes]


def name_in(plan: HiddenPlan, block: int, name: str) -> str:
    """The name of a statistic of a block: blocks of EM that take turns may have the same names."""
    return f"{name} of block {block}" if isinstance(plan, EMPlan) and plan.takes_turns else name


class Writer:
    """Splits the log weights and the soft statistics of one hidden variable."""

    def __init__(self, plan: HiddenPlan, item: Hidden, function: str) -> None:
        self.plan = plan
        self.item = item
        self.function = function
        self.rows = frozenset(item.axes)
        self.statements = self.chosen()
        self.shared: dict[Expression, frozenset[int]] = {}
        self.splitter = replace(self.new_splitter(), centres=self.centres())

    def chosen(self) -> list[Statistic | Pool]:
        """The statements that need the probabilities."""
        return [
            statement
            for statement in soft_statements(self.plan)
            if any(mentions(whole, {self.item.probability}) for whole in expressions_of(statement))
        ]

    def new_splitter(self) -> Splitter:
        """How expressions of a row are pulled apart, before any function of it has a centre."""
        nodes = self.plan.graph.nodes
        parameters = self.plan.row_parameters
        axes = {**{name: node.axes for name, node in nodes.items()}, **parameters}
        finite = {
            name: str(node.domain.levels) if node.domain.kind == "levels" else f"{name}.levels"
            for name, node in nodes.items()
            if node.domain.is_finite and self.plan.graph.is_known(name)
        }
        return Splitter(self.rows, self.item.level, frozenset(parameters), axes, finite=finite)

    def log_weight(self) -> tuple[str, Expression]:
        """The log weight of a level, and its name."""
        name = f"{self.item.name}.log_weight"
        whole = next(s for s in self.plan.expect.body if isinstance(s, Assign) and s.name == name)
        return name, whole.expression

    def centres(self) -> dict[Expression, str]:
        """Features of pools are taken less a centre; positions that a pool adds up share theirs."""
        found: dict[Expression, str] = {}
        for pool in self.statements:
            if not isinstance(pool, Pool):
                continue
            kept = {cell.code for cell in pool.cells}
            for feature in pool.features:
                if not free_indices(feature.expression) & self.rows:
                    continue
                atom = canonical(feature.expression, self.rows)
                found.setdefault(atom.expression, f"{self.item.name}.centre {len(found)}")
                lost = {k for k, at in enumerate(atom.at) if at not in kept and at not in feature.inner}
                self.shared[atom.expression] = self.shared.get(atom.expression, frozenset()) | lost
        return found

    def fused(self) -> tuple[FusedPass | None, list[tuple[str, str]]]:
        """The pass, or what has no C and why."""
        left: list[tuple[str, str]] = []
        sums: list[SoftSum] = []
        pools: list[SoftPool] = []
        weights: Terms = ()
        name, whole = self.log_weight()
        try:
            weights = checked(self.splitter.split(whole))
        except Unprintable as refusal:
            left.append((name, str(refusal)))
        for statement in self.statements:
            try:
                if isinstance(statement, Pool):
                    pools.append(self.pool(statement))
                else:
                    sums.append(self.sum(statement))
            except Unprintable as refusal:
                left.append((statement.name, str(refusal)))
        if left:
            return None, left
        used = [*weights, *(t for s in sums for t in s.terms), *(t for p in pools for t in p.weight)]
        centres = tuple(self.splitter.centres.items())
        atoms = tuple(dict.fromkeys([key for key, _ in centres] + self.atoms_of(used)))
        shared = tuple(self.shared.items())
        return FusedPass(self.item, self.function, atoms, centres, shared, weights, tuple(sums), tuple(pools)), []

    def atoms_of(self, terms: Iterable[Term]) -> list[Expression]:
        return [canonical(atom, self.rows).expression for term in terms for atom in term.atoms]

    def without_probability(self, whole: Expression) -> tuple[Expression, Expression]:
        """The level at which the probability stands, and the other factors."""
        factors = [part for factor in factors_of(whole) for part in self.opened(factor)]
        held = [f for f in factors if isinstance(f, Reference) and f.name == self.item.probability]
        if len(held) != 1 or held[0].indices[:-1] != self.item.axes:
            raise Unprintable(f"{whole} is not a probability of this row times something")
        rest = multiply(1.0, *(factor for factor in factors if factor is not held[0]))
        if mentions(rest, {self.item.probability}):
            raise Unprintable(f"{whole} holds a probability twice")
        return held[0].indices[-1], rest

    def opened(self, factor: Expression) -> tuple[Expression, ...]:
        """`xlogy(w, e)` as w and log(e), where e is of the row alone and its logarithm a function like others."""
        match factor:
            case Call("xlogy", (weight, argument)) if self.splitter.is_row(argument):
                return (*factors_of(weight), call("log", argument))
        return (factor,)

    def sum(self, statement: Statistic) -> SoftSum:
        """A sum of probabilities times functions of the row."""
        if statement.kind != "sum":
            raise Unprintable(f"a {statement.kind} is not a sum")
        at, rest = self.without_probability(statement.summand)
        if not isinstance(at, Index) or (at != self.item.level and at not in statement.indices):
            raise Unprintable(f"the probability stands at {at}")
        changes: dict[Expression, Expression] = {at: self.item.level}
        axes = tuple(self.item.level if index == at else index for index in statement.indices)
        if not set(self.item.axes) <= set(statement.over):
            raise Unprintable("it is not a sum over the rows of the hidden variable")
        terms = self.splitter.split(substitute(rest, changes))
        for index in statement.over:  # directions in which parameters vary, and axes inside a row
            if index not in self.rows and index not in (at, self.item.level):
                terms = collected([summed(term, index) for term in terms])
        others = self.plan.learned if isinstance(self.plan, EMPlan) else self.plan.row_parameters
        return SoftSum(statement, axes, checked(terms), mentions(rest, set(others)))

    def pool(self, pool: Pool) -> SoftPool:
        """Moments of features that the level does not change."""
        at, rest = self.without_probability(pool.weight)
        if at != self.item.level or not set(self.item.axes) <= set(pool.over):
            raise Unprintable("it is not a pool over the rows of the hidden variable")
        cells = []
        for cell in pool.cells:
            if not isinstance(cell.code, Index) or cell.code in self.rows:
                raise Unprintable(f"the cell {cell.code} changes from row to row")
            cells.append(cell.code)
        live = []
        for k, feature in enumerate(pool.features):
            if isinstance(feature.expression, Constant):
                continue
            if not self.splitter.is_row(feature.expression) or self.splitter.is_constant(feature.expression):
                raise Unprintable(f"the feature {feature.expression} is not a function of the row alone")
            live.append(k)
        terms = checked(self.splitter.split(rest))
        if any(term.codes or term.bound for term in terms):
            raise Unprintable(f"the weight {pool.weight} is looked up by codes")
        return SoftPool(pool, tuple(cells), terms, tuple(live))


def factors_of(whole: Expression) -> tuple[Expression, ...]:
    """The factors of a product; anything else is one by itself."""
    return whole.factors if isinstance(whole, Multiply) else (whole,)


def checked(terms: Terms) -> Terms:
    """Terms that the kernels can take: products of functions, or codes, not both."""
    for term in terms:
        if term.atoms and term.codes:
            raise Unprintable(f"{term.atoms[0]} meets a look-up by {term.codes[0][0]}")
        if len(term.atoms) > 4:
            raise Unprintable("a product of more than four functions of a row")
    return terms


def moment(weight: Terms, *features: Expression) -> Terms:
    """The weight times features, which are taken about their centres."""
    return product(weight, (Term(ONE, tuple(features)),)) if features else weight
