"""The steps of an iterative plan: what each part of an iteration holds fixed, and what it then eliminates.

expectation      eliminate the hidden variables                            (Figure 30)
maximisation     count them as known, then the exact steps of the rest     (Figures 27 and 31)
evidence         exact steps with some counted as known, then those by numbers

What has no closed form is eliminated by the program that runs: the logarithm of its integral is a statistic then.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from platewright.algebra.domain import REAL
from platewright.algebra.expression import Reference
from platewright.elimination.stepping import NAME, eliminate
from platewright.graph.computed import sources_of
from platewright.graph.graph import Graph
from platewright.language.variable import Potential, Variable
from platewright.operation import Declined, Step
from platewright.operations.count_as_known import count_as_known
from platewright.operations.decompose import decompose
from platewright.operations.drop_settled_arcs import without_density
from platewright.schema import Plan

BY_NUMBERS = {NAME: "log_integral", "maximise": "log_maximum"}
"""The statistics that a program leaves where it integrates or sums by numbers, or climbs to a maximum."""


def expectation_steps(graph: Graph, hidden: Iterable[str], chains: Sequence[Sequence[str]] = ()) -> tuple[Step, ...]:
    """Hidden variables integrated or summed out one after the other; chains and crowded ones go by recursions."""
    steps: list[Step] = []
    now = graph
    crowded: list[str] = []
    for name in hidden:
        found = eliminate(now, name) if name in now.unknown else None
        if isinstance(found, Step):
            steps.append(found)
            now = found.after
        elif isinstance(found, Declined):
            crowded.append(name)
    for group, because in (
        *((tuple(chain), "forwards along the chain, and backwards for what is expected") for chain in chains),
        (tuple(crowded), "along cliques, in the order that keeps their tables smallest"),
    ):
        if left := [name for name in group if name in now.unknown]:
            steps.append(by_numbers(now, left, because, "Section 7.4"))
            now = steps[-1].after
    return tuple(steps)


def steps_given(graph: Graph, blocks: Sequence[Plan], because: str = "") -> tuple[Step, ...]:
    """For each block what is counted as known, and the exact steps of the plan for it."""
    steps: list[Step] = []
    for block in blocks:
        held = [name for name in graph.unknown if name in block.graph.known]
        steps += [*held_fixed(graph, held, because), *block.steps]
    return tuple(steps)


def held_fixed(graph: Graph, held: Iterable[str], because: str = "") -> list[Step]:
    """Some unknowns counted as known, where there are any."""
    found = count_as_known(graph, held, because)
    return [found] if isinstance(found, Step) else []


def raised_steps(graph: Graph, raised: Sequence[str], why: str) -> tuple[Step, ...]:
    """Others held fixed, and unknowns put at the best value that a program climbs to, along slopes."""
    fixed = held_fixed(graph, [name for name in graph.unknown if name not in raised])
    now = fixed[-1].after if fixed else graph
    because = f"{', '.join(raised)} raised along slopes of the expected log joint: {why}"
    return (*fixed, by_numbers(now, raised, because, "Section 7.4", word="maximise"))


def steps_at_points(
    graph: Graph, held: Sequence[str], complete: Plan, because: str, reference: str, shown: Sequence[str] = ()
) -> list[Step]:
    """The exact steps at each value of what is held, and the integral or sum over these values."""
    first = held_fixed(graph, held, f"{', '.join(held)} held at points, one after another")
    return [*first, *complete.steps, by_numbers(what_is_left(complete), held, because, reference, shown)]


def by_numbers(
    graph: Graph, gone: Sequence[str], because: str, reference: str, shown: Sequence[str] = (), word: str = NAME
) -> Step:
    """Unknowns that a program integrates or sums over, or finds the best value of: what that gives is a statistic."""
    away = depending(graph, gone)
    # The density of what goes goes too, also where it is a constant.
    touching = {factor.owner for factor in graph.factors if factor.owner in away or factor.names & away}
    nodes = {
        name: _bare(graph, name) if name in touching and node.kind == "random" else node
        for name, node in graph.nodes.items()
        if name not in away
    }
    start = BY_NUMBERS[word]
    label, number = start, 1
    while label in nodes:
        number += 1
        label = f"{start}_{number}"
    nodes[label] = Variable(label, "statistic", (), REAL)
    potentials = {name: potential for name, potential in graph.potentials.items() if name not in touching}
    potentials[f"{label}_of_{'_'.join(gone)}"] = Potential(f"{label}_of_{'_'.join(gone)}", (), Reference(label))
    left = tuple(statement for statement in graph.statements if statement.name not in away)
    after = replace(graph, nodes=nodes, potentials=potentials, known=graph.known - away, statements=left)
    formulas = (*shown, f"leaves {label}: computed where the program runs")
    return Step(f"{word} {', '.join(gone)}", graph, after, because, reference, formulas, tuple(gone))


def depending(graph: Graph, gone: Iterable[str]) -> set[str]:
    """Unknowns, and all arrays that statements compute from them."""
    found = set(gone)
    for name, read in sources_of(graph).items():
        if read & found:
            found |= {name, *(array for array in graph.nodes if array.startswith(f"{name}."))}
    return found


def what_is_left(plan: Plan) -> Graph:
    """The graph after all steps of an exact plan, of all its pieces together: its density is the evidence."""
    eliminations = [step for step in plan.steps if step.gone]
    start = _before_eliminations(plan)
    pulled = decompose(start)
    ends = [] if isinstance(pulled, Declined) else [pulled.rest]
    for piece in plan.pieces:
        ends += [[step.after for step in eliminations if set(step.gone) <= set(piece)][-1]]
    ends = ends or [start]
    nodes: dict[str, Variable] = {}
    for end in ends:
        for name, node in end.nodes.items():
            if name not in nodes or (node.kind == "random" and nodes[name].kind != "random"):
                nodes[name] = node
    order = {name: at for at, name in enumerate(start.nodes)}
    nodes = dict(sorted(nodes.items(), key=lambda item: order.get(item[0], len(order))))
    potentials = {name: potential for end in ends for name, potential in end.potentials.items()}
    unknown = set(start.unknown)
    for factor in plan.factors:  # minus the normalisers of undirected parts above which nothing is unknown
        if factor.owner.startswith("normaliser of ") and not factor.names & unknown:
            potentials[factor.owner] = Potential(factor.owner, factor.axes, factor.expression)
    return replace(
        start,
        plates={name: plate for end in (start, *ends) for name, plate in end.plates.items()},
        nodes=nodes,
        potentials=potentials,
        known=start.known & set(nodes),
        statements=tuple(statement for end in ends for statement in end.statements),
    )


def _before_eliminations(plan: Plan) -> Graph:
    """The graph of a plan once functions are written out and barren nodes are gone."""
    now = plan.graph
    for step in plan.steps:
        if step.gone or step.operation == "decompose":
            break
        now = step.after
    return now


def _bare(graph: Graph, name: str) -> Variable:
    """A node without its density, which went with what was integrated over."""
    bare = without_density(graph, name)
    return bare if graph.is_known(name) else replace(bare, kind="random")
