"""Collapsed Gibbs sampling: parameters are integrated out, hidden discrete variables drawn one element at a time.

    p(z_n | z_-n, data)  =  evidence(statistics with z_n) / evidence(statistics without),  up to a constant

The evidence is that of the exact plan in which the hidden variables count as known (Lemma 6.4); it is a function of
statistics alone, so that only the cells that the element touches matter. Parameters are drawn from their exact
posterior given the hidden variables when a draw is kept.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from platewright.algebra.expression import Index, mentions, names
from platewright.graph.graph import Factor, Graph
from platewright.operation import Declined, Step
from platewright.program.program import EVIDENCE, expressions_of
from platewright.program.statements import Assign, Pool, Statistic, Triangularise
from platewright.schema import Goal, Plan
from platewright.schemas.collapsed_gaussian import Centred, open_block
from platewright.schemas.collapsed_move import Move, element_of, move_of
from platewright.schemas.collapsed_tables import NAME, Collapse, Table, Tables, Term, terms_of, written_out
from platewright.schemas.doubtful import doubtful_factors
from platewright.schemas.exact import plan_exact, prepare
from platewright.schemas.iterated_steps import held_fixed


@dataclass(frozen=True)
class CollapsedPlan:
    """The exact plan for known hidden variables, the tables they enter, and how one element moves."""

    graph: Graph
    goal: Goal
    complete: Plan
    hidden: tuple[str, ...]
    tables: tuple[Table, ...]
    terms: tuple[Term, ...]
    centred: tuple[Centred, ...]
    moves: tuple[Move, ...]
    steps: tuple[Step, ...]
    factors: tuple[Factor, ...]
    barren: tuple[str, ...] = ()
    declined: tuple[Declined, ...] = ()
    schema: str = NAME
    proper: bool = True

    @property
    def columns(self) -> dict[str, tuple[Index, ...]]:
        """Data that the moves look at, with their axes; hidden variables are not among them."""
        found = {name: axes for name, axes in self.complete.program.columns.items() if name not in self.hidden}
        return found | {column.name: column.axes for column in self.centred}

    @property
    def summary(self) -> str:
        """One line about what is drawn and what is integrated out."""
        gone = ", ".join(name for conditional in self.complete.conditionals for name in conditional.variables)
        return f"{', '.join(self.hidden)} element by element, with {gone or 'nothing'} integrated out"


def plan_collapsed(graph: Graph, goal: Goal) -> CollapsedPlan | Declined:
    """Moves for every hidden variable, or what stands in the way."""
    if goal != "posterior":
        return Declined(NAME, f"the goal is {goal}, and sampling gives draws")
    prepared = prepare(graph)
    now = prepared.graph
    hidden = tuple(name for name in now.unknown if now.nodes[name].domain.is_finite)
    if not hidden:
        return Declined(NAME, "no unknown has finitely many values, so nothing is left to draw one element at a time")
    if undirected := [name for name in hidden if now.nodes[name].kind == "undirected"]:
        return Declined(NAME, f"`{undirected[0]}` is undirected: its neighbours are no statistics")
    for factor in doubtful_factors(now, now.factors, hidden):
        if len(tied := [name for name in hidden if name in factor.names]) > 1:
            shown = " and ".join(f"`{name}`" for name in tied[:2])
            why = "can forbid values of one given the other, so that one element at a time may never change"
            return Declined(NAME, f"{shown} meet in `{factor.owner}`, which {why}")
    complete = plan_exact(replace(now, known=now.known | set(hidden)), "posterior")
    if isinstance(complete, Declined):
        return Declined(
            NAME, f"even with {', '.join(hidden)} known, a parameter cannot be integrated out: {complete.reason}"
        )
    if not complete.proper:
        return Declined(NAME, "a prior is improper, so a cell without elements has no evidence")
    try:
        tables, terms, centred = read_evidence(complete, frozenset(hidden))
        moves = tuple(_move(now, name, tables, terms, frozenset(hidden)) for name in hidden)
    except Collapse as reason:
        return Declined(NAME, str(reason))
    used = _weighing(moves)
    if strange := min(
        used - set(tables.by_name) - set(complete.program.columns) - {c.name for c in centred}, default=""
    ):
        return Declined(NAME, f"`{strange}` is neither data nor a sum over rows")
    moves = tuple(_without_idle(move, used) for move in moves)
    because = f"{', '.join(hidden)} drawn element by element, each time with the parameters integrated out"
    return CollapsedPlan(
        graph,
        goal,
        complete,
        hidden,
        tuple(table for table in tables.by_name.values() if table.name in used),
        tuple(terms),
        centred,
        moves,
        (*prepared.steps, *held_fixed(now, hidden, because), *complete.steps),
        now.factors,
        prepared.barren,
    )


def read_evidence(complete: Plan, hidden: frozenset[str]) -> tuple[Tables, list[Term], tuple[Centred, ...]]:
    """The tables that hidden variables enter, and the log evidence in terms of them."""
    program = complete.program
    tables = Tables(hidden)
    for one_pass in program.passes:
        moving = any(mentions(part, hidden) for part in expressions_of(one_pass))
        if isinstance(one_pass, Statistic) and (moving or one_pass.kind == "sum"):
            tables.of_statistic(one_pass)  # those that never move are looked at all the same
    pools = [statement for statement in program.passes if isinstance(statement, Pool)]
    body: list[Assign] = []
    centred: list[Centred] = []
    for statement in program.body:
        match statement:
            case Assign():
                body.append(statement)
            case Triangularise():
                opened, found = open_block(statement, pools, tables)
                body += opened
                centred += found
    evidence = written_out(body, EVIDENCE)
    if bare := min(names(evidence) & hidden, default=""):
        raise Collapse(f"`{bare}` enters the evidence beside other results, not by sums over rows")
    terms = terms_of(evidence, tables)
    return tables, terms, tuple(centred)


def levels_of(graph: Graph, name: str) -> str:
    """The plate whose positions are the values of a hidden variable."""
    domain = graph.nodes[name].domain
    if domain.kind == "levels":
        return str(domain.levels)
    if domain.lower != 0:
        raise Collapse(f"the values of `{name}` do not start at 0")
    return f"{name}.levels"


def _move(graph: Graph, name: str, tables: Tables, terms: list[Term], hidden: frozenset[str]) -> Move:
    binary = frozenset(
        other
        for other, node in graph.nodes.items()
        if node.domain.kind == "integer" and node.domain.lower == 0 and node.domain.upper == 1
    )
    element = element_of(name, graph.nodes[name].axes, levels_of(graph, name), binary)
    return move_of(element, tables.by_name, terms, hidden)


def _weighing(moves: tuple[Move, ...]) -> set[str]:
    """The tables that some weight looks at; no other needs to be kept."""
    found: set[str] = set()
    for move in moves:
        for change in (*move.changes, *(change for stage in move.stages for change in stage.changes)):
            found |= names(change.expression)
    return found


def _without_idle(move: Move, used: set[str]) -> Move:
    """A move that leaves alone the tables that nobody looks at."""
    stages = tuple(
        replace(stage, entries=tuple(entry for entry in stage.entries if entry.table in used)) for stage in move.stages
    )
    return replace(move, entries=tuple(entry for entry in move.entries if entry.table in used), stages=stages)
