"""Expectation maximisation: expected statistics of hidden variables, then the exact mode of the rest  (Section 7.4).

With the hidden variables known the mode is a closed-form plan. Its statistics are sums over rows of functions of the
hidden values; EM puts their expectations in:

    sum_n [z[n] = k] y[n]      becomes      sum_n p(z[n] = k | data, parameters) y[n]

So no algorithm is written for a model: the M step is the exact plan with soft statistics, the E step is the exact
conditional of the hidden variables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from platewright.algebra.build import log_sum_exp, multiply, substitute, total
from platewright.algebra.expression import Expression, Index, Lag, Reference, mentions, names, walk
from platewright.elimination.state import TableConditional
from platewright.errors import UnknownName
from platewright.graph.graph import Factor, Graph
from platewright.operation import Declined, Step
from platewright.program.program import Program
from platewright.program.statements import Assign, Cell, Feature, Pool, Statistic
from platewright.schema import Goal, Plan
from platewright.schemas.exact import fixed_sizes, plan_exact, prepare
from platewright.schemas.gibbs import ChainBlock, ExactBlock, hidden_block

NAME = "em"


@dataclass(frozen=True)
class Hidden:
    """A hidden discrete variable: its levels, and whether neighbouring elements depend on each other."""

    name: str
    axes: tuple[Index, ...]
    level: Index
    chain: bool
    factors: tuple[Factor, ...]

    @property
    def before(self) -> Index:
        """The level of the previous element of a chain."""
        return Index(self.level.name + "'", self.level.plate)

    @property
    def probability(self) -> str:
        """The array of posterior probabilities: axes of the variable, then its level."""
        return f"{self.name}.probability"

    @property
    def pair(self) -> str:
        """The array of posterior probabilities of neighbouring values: step, level before, level now."""
        return f"{self.name}.pair"


def hidden_named(hidden: Sequence[Hidden], name: str) -> Hidden:
    """The hidden variable of a name."""
    found = next((item for item in hidden if item.name == name), None)
    if found is None:
        raise UnknownName(name, [item.name for item in hidden], where="probabilities")
    return found


@dataclass(frozen=True)
class EMPlan:
    """The exact plan for known hidden values, made soft, and the conditionals of the hidden variables."""

    graph: Graph
    goal: Goal
    hidden: tuple[Hidden, ...]
    complete: Plan
    maximise: Program
    expect: Program
    """Computes the log weights and probabilities of hidden variables that are not chains."""
    rest: tuple[Factor, ...]
    """Log factors without hidden variables: part of the objective."""
    steps: tuple[Step, ...] = ()
    barren: tuple[str, ...] = ()
    declined: tuple[Declined, ...] = ()
    schema: str = NAME
    proper: bool = True

    @property
    def summary(self) -> str:
        """One line about the two steps."""
        hidden = ", ".join(h.name + (" by forward-backward" if h.chain else "") for h in self.hidden)
        found = ", ".join(name for c in self.complete.conditionals for name in c.variables)
        return f"expected statistics of {hidden}, then the exact mode of {found}"

    @property
    def factors(self) -> tuple[Factor, ...]:
        """The log factors of the joint."""
        return self.complete.factors


def plan_em(graph: Graph, goal: Goal) -> EMPlan | Declined:
    """EM when the unknowns are parameters and hidden discrete variables, and the former have a closed-form mode."""
    prepared = prepare(graph)
    now = prepared.graph
    names_hidden = [n for n in now.unknown if now.nodes[n].domain.is_finite and now.nodes[n].axes]
    if not names_hidden:
        return Declined(NAME, "no discrete variable on a plate is unknown")
    complete = plan_exact(replace(now, known=now.known | set(names_hidden)), "map", with_evidence=False)
    if isinstance(complete, Declined):
        return Declined(NAME, f"with {', '.join(names_hidden)} known: {complete.reason}")
    hidden = []
    for name in names_hidden:
        found = find_hidden(now, name, names_hidden)
        if isinstance(found, Declined):
            return found
        hidden.append(found)
    soft = softened(complete.program, hidden)
    if isinstance(soft, Declined):
        return soft
    rest = tuple(factor for factor in now.factors if not mentions(factor.expression, set(names_hidden)))
    return EMPlan(
        graph, goal, tuple(hidden), complete, soft, expectations(now, hidden), rest, prepared.steps, prepared.barren
    )


def find_hidden(graph: Graph, name: str, every: list[str]) -> Hidden | Declined:
    """A hidden variable with its levels and factors, or why its posterior has no table."""
    factors = tuple(factor for factor in graph.factors if name in factor.names)
    for factor in factors:
        if met := (factor.names & set(every)) - {name}:
            return Declined(NAME, f"the hidden variables {name} and {min(met)} meet in {factor.owner}")
    found = hidden_block(graph, name)
    node = graph.nodes[name]
    plate = str(node.domain.levels) if node.domain.kind == "levels" else f"{name}.levels"
    level = Index(f"{name}.level", plate)
    match found:
        case ChainBlock():
            return Hidden(name, node.axes, level, True, factors)
        case ExactBlock():
            if any(isinstance(c, TableConditional) for c in found.plan.conditionals):
                return Hidden(name, node.axes, level, False, factors)
            return Declined(NAME, f"{name} has no table of values")
    reason = found.reason if isinstance(found, Declined) else "it is drawn by a slice sampler"
    return Declined(NAME, reason)


# -- soft statistics ---


def softened(program: Program, hidden: list[Hidden]) -> Program | Declined:
    """A program for known hidden values as one for their probabilities."""
    passes: list[Statistic | Pool] = []
    columns = dict(program.columns)
    for statement in program.passes:
        found = _soft(statement, hidden)
        if isinstance(found, Declined):
            return found
        passes.append(found)
    for item in hidden:
        columns.pop(item.name, None)
        columns[item.probability] = (*item.axes, item.level)
        if item.chain:
            columns[item.pair] = (*item.axes, item.before, item.level)
    return replace(program, passes=tuple(passes), columns=columns)


def _soft(statement: Statistic | Pool, hidden: list[Hidden]) -> Statistic | Pool | Declined:
    for item in hidden:
        match statement:
            case Statistic():
                if not mentions(statement.summand, {item.name}):
                    continue
                if statement.kind != "sum":
                    return Declined(NAME, f"{statement.name} is a {statement.kind} over hidden values")
                weight, changes, extra = _weight([statement.summand], item)
                if isinstance(weight, Declined):
                    return weight
                body: Expression = multiply(weight, substitute(statement.summand, changes))
                kept = []
                for index in extra:
                    summed = total(body, index)
                    if any(isinstance(n, Reference) and index in n.indices for n in walk(summed)):
                        kept.append(index)
                    else:
                        body = summed
                statement = replace(statement, over=(*statement.over, *kept), summand=body)
            case Pool():
                parts = [
                    statement.weight,
                    *(c.code for c in statement.cells),
                    *(f.expression for f in statement.features),
                ]
                if not any(mentions(part, {item.name}) for part in parts):
                    continue
                weight, changes, extra = _weight(parts, item)
                if isinstance(weight, Declined):
                    return weight
                statement = replace(
                    statement,
                    over=(*statement.over, *extra),
                    weight=multiply(weight, substitute(statement.weight, changes)),
                    cells=tuple(Cell(c.index, substitute(c.code, changes)) for c in statement.cells),
                    features=tuple(Feature(substitute(f.expression, changes), f.inner) for f in statement.features),
                )
    return statement


def _weight(
    parts: list[Expression], item: Hidden
) -> tuple[Expression | Declined, dict[Expression, Expression], tuple[Index, ...]]:
    """The probability that stands for hidden values, what to put in for them, and the levels to sum over."""
    places = {n.indices for part in parts for n in walk(part) if isinstance(n, Reference) and n.name == item.name}
    lagged = {place for place in places if any(isinstance(at, Lag) for at in place)}
    plain = places - lagged
    if len(plain) > 1 or len(lagged) > 1 or (lagged and not item.chain):
        return Declined(NAME, f"a statistic needs {item.name} at several places"), {}, ()
    changes: dict[Expression, Expression] = {Reference(item.name, place): item.level for place in plain}
    if not lagged:
        return Reference(item.probability, (*plain.pop(), item.level)), changes, (item.level,)
    place = lagged.pop()
    lag = next(at for at in place if isinstance(at, Lag))
    changes[Reference(item.name, place)] = item.before
    return Reference(item.pair, (lag.index, item.before, item.level)), changes, (item.before, item.level)


def expectations(graph: Graph, hidden: list[Hidden]) -> Program:
    """Log weights, their sums, and probabilities of hidden variables whose elements are independent."""
    body: list[Assign] = []
    for item in hidden:
        if item.chain:
            continue
        parts = []
        for factor in item.factors:
            place = next(n.indices for n in walk(factor.expression) if isinstance(n, Reference) and n.name == item.name)
            moved = substitute(factor.expression, {Reference(item.name, place): item.level})
            changes: dict[Expression, Expression] = dict(zip(place, item.axes, strict=True))
            left = [axis for axis in factor.axes if axis not in changes]
            moved = substitute(moved, changes)
            for axis in left:
                moved = total(moved, axis)
            parts.append(moved)
        whole = parts[0]
        for part in parts[1:]:
            whole = whole + part
        axes = (*item.axes, item.level)
        weights = Reference(f"{item.name}.log_weight", axes)
        norm = Reference(f"{item.name}.log_norm", item.axes)
        body.append(
            Assign(f"{item.name}.log_weight", axes, whole, f"log p({item.name} = level, its data | parameters)")
        )
        body.append(Assign(f"{item.name}.log_norm", item.axes, log_sum_exp(weights, item.level), "its sum over levels"))
        body.append(Assign(item.probability, axes, _exp(weights - norm), f"posterior of {item.name}"))
    used = {name for statement in body for name in names(statement.expression)}
    columns = {name: node.axes for name, node in graph.nodes.items() if name in used}
    made = {statement.name for statement in body}
    columns |= {name: () for name in sorted(used - made) if name not in columns}  # moments, as mean field has them
    nodes = {name: node for name, node in graph.nodes.items() if name in columns}
    codes = {name: str(node.domain.levels) for name, node in nodes.items() if node.domain.kind == "levels"}
    return Program(graph.title, columns, (), tuple(body), tuple(s.name for s in body), codes, fixed_sizes(graph))


def _exp(value: Expression) -> Expression:
    from platewright.algebra.build import exp

    return exp(value)
