"""What a mode is a mode of: the unknowns that it is asked about, and the hidden ones that are integrated out.

    b ~ p(b)     u[g] ~ Gamma(b, b)     y[g] ~ Poisson(u[g] x[g])          the mode is that of  p(b | y),
                                                                           not of  p(b, u | y)

Hidden is what comes anew with every row, and what comes with every group of rows from a distribution that other
unknowns shape (beside a scale that its prior shares with the rows); `integrate=` says otherwise. The joint mode of such
unknowns and of what shapes them tells nothing: all `u` in one place under a density without bounds is the most probable
of all.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, replace

from platewright.algebra.expression import mentions
from platewright.elimination.state import GaussianConditional, TableConditional
from platewright.elimination.stepping import eliminate
from platewright.graph.graph import Graph
from platewright.operation import Declined, Step
from platewright.recognition.recognise import Recognised, recognise
from platewright.schema import Goal, Plan
from platewright.schemas.exact import plan_exact, prepare
from platewright.schemas.rough import coupled, touching

MISSING = ".missing"
HINT = "integrate=[...] names what is integrated out, and with [] the mode is that of all together"


def hidden_unknowns(graph: Graph) -> list[str]:
    """The unknowns, beside those of finitely many values, that a mode integrates out."""
    able = [name for name in graph.unknown if not graph.nodes[name].domain.is_finite]
    if graph.integrate is not None:
        return [name for name in able if name in graph.integrate or name.endswith(MISSING)]
    found: list[str] = []
    for piece in coupled(graph.factors, list(graph.unknown)):
        found += [name for name in piece if name in able and _is_hidden(graph, name, piece)]
    return [name for name in graph.unknown if name in found]


def _is_hidden(graph: Graph, name: str, piece: Collection[str]) -> bool:
    if name.endswith(MISSING):
        return True
    above = _unknown_ancestors(graph, name) - _beside(graph, name)
    for axis in graph.nodes[name].axes:
        plate = axis.plate
        others = [other for other in piece if plate not in _plates(graph, other)]
        if _is_rows(graph, plate) and others:
            return True
        if (_carries(graph, plate) or _groups(graph, plate)) and above & set(others):
            return True
    return False


def _plates(graph: Graph, name: str) -> set[str]:
    """The plates of a variable, and those around them."""
    return around(graph, [axis.plate for axis in graph.nodes[name].axes])


def around(graph: Graph, plates: Iterable[str]) -> set[str]:
    """Plates and those that hold them."""
    found: set[str] = set()
    for plate in plates:
        at: str | None = plate
        while at is not None and at not in found:
            found.add(at)
            at = graph.plates[at].within if at in graph.plates else None
    return found


def _unknown_ancestors(graph: Graph, name: str) -> set[str]:
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for parent in graph.parents[waiting.pop()] - found:
            found.add(parent)
            waiting.append(parent)
    return found & set(graph.unknown) - {name}


def _beside(graph: Graph, name: str) -> set[str]:
    """What shapes the known variables together with an unknown: a scale that its prior has in common with them."""
    return {other for child in graph.children[name] if graph.is_known(child) for other in graph.parents[child]}


def _seen(graph: Graph) -> list[str]:
    """Random variables that are known: what there are rows of."""
    return [name for name in graph.known if graph.nodes[name].kind in ("random", "undirected")]


def _is_rows(graph: Graph, plate: str) -> bool:
    """Whether a plate is one of rows: the first of a known variable, of a size that the data tell, or the only one."""
    if _looked_up(graph, plate, ("random", "deterministic", "undirected", "input", "statistic")):
        return False
    every = [graph.nodes[name].axes for name in _seen(graph) if graph.nodes[name].axes]
    written = graph.plates.get(plate)
    if written is not None and written.size is None and written.labels is None:
        return any(plate in around(graph, (axes[0].plate,)) for axes in every)
    on = [axes for axes in every if plate in {axis.plate for axis in axes}]
    return bool(on) and all(len(axes) == 1 for axes in on)


def _carries(graph: Graph, plate: str) -> bool:
    """Whether known variables live on a plate, or on one inside it."""
    return any(plate in _plates(graph, name) for name in _seen(graph))


def _groups(graph: Graph, plate: str) -> bool:
    """Whether rows belong to its elements by a known column, and no class of a row looks them up."""
    return _looked_up(graph, plate, ("input",)) and not _looked_up(graph, plate, ("random", "undirected"))


def _looked_up(graph: Graph, plate: str, kinds: Collection[str]) -> bool:
    """Whether a variable of one of these kinds has the elements of a plate as its values."""
    nodes = [node for name, node in graph.nodes.items() if "@" not in name and node.axes]
    return any(node.domain.levels == plate and node.kind in kinds for node in nodes)


# -- the mode in closed form -------------------------------------------------------------------------------------------


def plan_exact_goal(graph: Graph, goal: Goal) -> Plan | Declined:
    """The closed-form plan; a joint mode only where that of the integral over what is hidden is no other."""
    found = plan_exact(graph, goal)
    if goal != "map" or isinstance(found, Declined):
        return found
    now = prepare(graph).graph
    hidden = set(hidden_unknowns(now))
    for conditional in found.conditionals:
        gone = hidden & set(conditional.variables)
        if gone and not _is_of_one_width(conditional, set(now.unknown)):
            shown = ", ".join(sorted(gone))
            return Declined("exact", f"{shown} integrated out: the joint mode of all unknowns is another; {HINT}")
    return found


def _is_of_one_width(conditional: object, unknown: set[str]) -> bool:
    """Whether the integral over an unknown is its greatest value times a constant: a Gaussian of known width."""
    match conditional:
        case GaussianConditional():
            parts = [conditional.scale, *([conditional.matrix] if conditional.matrix is not None else [])]
            return not any(mentions(part, unknown) for part in parts)
    return isinstance(conditional, TableConditional)


# -- what is integrated out by its family ------------------------------------------------------------------------------


@dataclass(frozen=True)
class IntegratedOut:
    """An unknown that is gone, and its distribution given those that are left."""

    name: str
    conditional: Recognised


@dataclass(frozen=True)
class Marginal:
    """The graph without some hidden unknowns; its density is the integral over them."""

    graph: Graph
    gone: tuple[IntegratedOut, ...] = ()
    steps: tuple[Step, ...] = ()


def integrated_out(graph: Graph, names: Collection[str]) -> Marginal | Declined:
    """Integrate unknowns out whose conditional is of a known family, or why one of them has none."""
    found = Marginal(graph)
    for name in reversed([name for name in graph.unknown if name in names]):
        now = found.graph
        conditional = recognise(touching(now.factors, (name,)), now.nodes[name], now.facts)
        step = conditional if isinstance(conditional, Declined) else eliminate(now, name)
        if isinstance(conditional, Declined) or isinstance(step, Declined):
            assert isinstance(step, Declined)
            return Declined("integrate", f"`{name}` is hidden and cannot be integrated out: {step.reason} ({HINT})")
        found = replace(
            found,
            graph=step.after,
            gone=(*found.gone, IntegratedOut(name, conditional)),
            steps=(*found.steps, step),
        )
    return found
