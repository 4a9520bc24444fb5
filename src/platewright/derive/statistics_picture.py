"""The picture of a plan after its plates are removed: statistics stand where the rows were  (Figures 17, 21 and 27).

    theta -> [ heads ]_toss       becomes       theta -> count,  theta -> total

Each statistic is a known child of the unknowns that the density of its rows refers to. When an unknown is eliminated,
its parents, and its earlier children, become parents of its later children, as in arc reversal.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from platewright.algebra.expression import Add, Indicator, Multiply, Reference, Size, names, walk
from platewright.drawing.from_graph import drawn_plates, is_drawn, node_label, picture_plates
from platewright.drawing.picture import Picture, PictureArc, PictureNode
from platewright.elimination.state import FamilyConditional
from platewright.graph.graph import Graph, topological
from platewright.program.statements import Assign, Pool, Statistic, Triangularise
from platewright.schema import Plan

LONGEST_FORMULA = 18


@dataclass(frozen=True)
class ShownStatistic:
    """A statistic as a node: what it is called, the plates it is repeated over, and the unknowns it tells about."""

    name: str
    label: str
    plates: tuple[str, ...]
    parents: frozenset[str]


@dataclass
class _Arcs:
    """Parents by node, while unknowns are taken away one after another."""

    parents: dict[str, set[str]]

    def without(self, name: str, unknown: list[str]) -> None:
        """Take a node away; its parents and earlier children become parents of its later children."""
        above = self.parents.pop(name)
        children = [child for child, found in self.parents.items() if name in found]
        earlier = [child for child in unknown if child in children]
        for child in children:
            self.parents[child].discard(name)
            before = earlier[: earlier.index(child)] if child in earlier else earlier
            self.parents[child] |= above | set(before)


def statistics_picture(
    plan: Plan, gone: Iterable[str] = (), sizes: Mapping[str, int] | None = None, title: str = ""
) -> Picture:
    """Unknowns with their statistics as known children; those of `gone` are eliminated already."""
    graph = simplified_graph(plan)
    unknown = [name for name in topological(graph) if name in graph.unknown]
    shown = shown_statistics(plan)
    rows = rows_that_stay(plan, graph)
    arcs = _Arcs({name: set(graph.parents[name]) for name in (*unknown, *rows)})
    for statistic in shown:
        arcs.parents[statistic.name] = set(statistic.parents)
    for name in gone:
        if name in arcs.parents:
            arcs.without(name, unknown)
    nodes = []
    for name, node in graph.nodes.items():
        if name in arcs.parents or name in rows:
            plates = drawn_plates(graph, (axis.plate for axis in node.plates))
            nodes.append(PictureNode(name, node_label(node), node.kind, name not in unknown, plates))
    nodes += [PictureNode(s.name, s.label, "statistic", True, s.plates) for s in shown]
    order = [node.name for node in nodes]
    lines = tuple(
        PictureArc(parent, child) for child in order for parent in order if parent in arcs.parents.get(child, ())
    )
    used = {plate for node in nodes for plate in node.plates}
    return Picture(tuple(nodes), lines, picture_plates(graph, used, sizes or {}), title)


def simplified_graph(plan: Plan) -> Graph:
    """The graph that the first elimination starts from: functions written out, barren nodes gone."""
    before = [step for step in plan.steps if not step.gone]
    return before[-1].after if before else plan.graph


def rows_that_stay(plan: Plan, graph: Graph) -> tuple[str, ...]:
    """Known nodes that no statistic replaces, because each row is a cell of its own, and the inputs they use."""
    replaced = {owner for statement in plan.program.passes for owner in _owners_of_rows(plan, statement)}
    unknown = set(graph.unknown)
    found: dict[str, None] = {}
    for name, node in graph.nodes.items():
        if node.kind not in ("random", "undirected") or name in unknown or name in replaced:
            continue
        if graph.parents[name] & unknown:
            found[name] = None
            found |= {parent: None for parent in graph.parents[name] if is_drawn(parent) and parent not in unknown}
    return tuple(found)


def shown_statistics(plan: Plan) -> tuple[ShownStatistic, ...]:
    """All statistics that tell something about an unknown, and the row counts that posteriors use."""
    graph = simplified_graph(plan)
    unknown = frozenset(graph.unknown)
    found = []
    pooled: set[str] = set()
    for statement in sorted(plan.program.passes, key=lambda step: isinstance(step, Statistic)):
        parents = _users(plan, statement.name)
        if isinstance(statement, Pool):
            owners = _owners_of_rows(plan, statement)
            touched = [factor.names for factor in plan.factors if factor.owner in owners]
            parents = frozenset().union(*touched) & unknown
            pooled |= parents
        elif _is_count(statement):
            # a pool holds its own weight, so its unknowns need no second count
            parents -= pooled
        if parents:
            plates = _plates(graph, statement, parents)
            found.append(ShownStatistic(statement.name, statistic_label(statement), plates, parents))
    return (*found, *_row_counts(plan, graph))


def _owners_of_rows(plan: Plan, statement: Statistic | Pool) -> set[str]:
    """The nodes whose densities a statistic was made of."""
    if isinstance(statement, Statistic):
        users, columns = _users(plan, statement.name), names(statement.summand)
        return {factor.owner for factor in plan.factors if columns <= factor.names and users & factor.names}
    blocks = [step for step in plan.program.body if isinstance(step, Triangularise)]
    return {source.owner for step in blocks for source in step.sources if source.pool == statement.name}


def _users(plan: Plan, name: str) -> frozenset[str]:
    """The unknowns whose posterior parameters refer to a statistic."""
    owners = _owners(plan)
    return frozenset(
        owners[step.name]
        for step in plan.program.body
        if isinstance(step, Assign) and step.name in owners and name in names(step.expression)
    )


def _owners(plan: Plan) -> dict[str, str]:
    """For each computed posterior parameter the unknown it belongs to."""
    found: dict[str, str] = {}
    for conditional in plan.conditionals:
        if isinstance(conditional, FamilyConditional):
            for value in conditional.parameters.values():
                found |= {name: conditional.variable for name in names(value)}
    return found


def _row_counts(plan: Plan, graph: Graph) -> list[ShownStatistic]:
    """The number of rows, where a posterior parameter uses it: the N of Figure 21."""
    owners = _owners(plan)
    found: dict[str, set[str]] = {}
    for step in plan.program.body:
        if not isinstance(step, Assign) or step.name not in owners:
            continue
        for node in walk(step.expression):
            if isinstance(node, Size) and node.plate in graph.plates and graph.plates[node.plate].size is None:
                found.setdefault(node.plate, set()).add(owners[step.name])
    summed = {index.plate for statement in plan.program.passes for index in statement.over}
    return [
        ShownStatistic(f"#{plate}", f"#{plate}", (), frozenset(users))
        for plate, users in found.items()
        if plate in summed
    ]


def statistic_label(statement: Statistic | Pool) -> str:
    """What a statistic is, short enough for a node."""
    parts = [statement.summand] if isinstance(statement, Statistic) else [f.expression for f in statement.features]
    read = ", ".join(dict.fromkeys(n.name.split("@")[0] for p in parts for n in walk(p) if isinstance(n, Reference)))
    if isinstance(statement, Pool):
        return f"scatter of {read}" if read else "number of rows"
    if _is_count(statement):
        return f"count of {read}"
    formula = str(statement.summand)
    for index in statement.over:
        formula = formula.replace(f"[{index.name}]", "").replace(f"[{index.name}, ", "[")
    if len(formula) > LONGEST_FORMULA or "@" in formula:
        formula = f"of {read}"
    elif isinstance(statement.summand, Add):
        formula = f"({formula})"
    return f"{statement.kind} {formula}"


def _is_count(statement: Statistic | Pool) -> bool:
    if not isinstance(statement, Statistic) or statement.kind != "sum":
        return False
    factors = statement.summand.factors if isinstance(statement.summand, Multiply) else (statement.summand,)
    return all(isinstance(factor, Indicator) for factor in factors)


def _plates(graph: Graph, statement: Statistic | Pool, parents: frozenset[str]) -> tuple[str, ...]:
    """The plates of a statistic, as far as they are plates of the unknowns it belongs to."""
    cells = statement.indices if isinstance(statement, Statistic) else [cell.index for cell in statement.cells]
    near = {axis.plate for name in parents for axis in graph.nodes[name].plates}
    return drawn_plates(graph, (index.plate for index in cells if index.plate in near))
