"""Remove a plate by sufficient statistics  (Theorem 4.1, Figures 13 to 17, 18, 20 to 21, 27).

    theta -> [ x (known) ]_N          becomes          theta -- T(x), N

Written out in the unknowns, the log likelihood is `sum_i w_i(unknowns) sum_n t_i(x_n)`: only the sums over the plate
are needed. Each becomes a known node; the plate and its data go. The joint density of the unknowns stays the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from platewright.algebra.build import add, multiply, totals
from platewright.algebra.domain import REAL
from platewright.algebra.expand import Inseparable, Term, expand
from platewright.algebra.expression import Expression, Index, Reference, Size, names, rebuild, walk
from platewright.graph.graph import Factor, Graph
from platewright.language.variable import Potential, Variable
from platewright.operation import Declined, Step
from platewright.program.program import Hoister
from platewright.program.statements import Statistic

NAME = "remove_plate"


def remove_plate(graph: Graph, plate: str) -> Step | Declined:
    """Replace everything on a plate by statistics of fixed size."""
    read = _read(graph, plate)
    if isinstance(read, Declined):
        return read
    factors, likelihood, found_statistics = read
    inside = _inside(graph, plate)
    statistics = [Variable(found.name, "statistic", found.indices, REAL, definition=None) for found in found_statistics]
    if counts := _counts(likelihood, plate):
        statistics.append(Variable(f"count_{plate}", "statistic", (), REAL))
        likelihood = _with_count(likelihood, plate, Reference(f"count_{plate}"))
    after = _after(graph, plate, inside, statistics, likelihood)
    formulas = [f"{s.name}[{_listed(s.indices)}] = sum over {_listed(s.over)} of {s.summand}" for s in found_statistics]
    if counts:
        formulas.append(f"count_{plate} = number of elements of {plate}")
    return Step(
        NAME,
        graph,
        after,
        f"the log likelihood of {', '.join(factor.owner for factor in factors)} is a sum of functions of the unknowns "
        "times functions of the data",
        "Theorem 4.1",
        tuple(formulas),
    )


def sufficient_statistics(graph: Graph, plate: str) -> tuple[Statistic, ...] | Declined:
    """The sums over the plate that `remove_plate` leaves behind as known nodes."""
    read = _read(graph, plate)
    return read if isinstance(read, Declined) else read[2]


def _inside(graph: Graph, plate: str) -> list[str]:
    return [name for name, node in graph.nodes.items() if any(axis.plate == plate for axis in node.axes)]


def _read(graph: Graph, plate: str) -> tuple[list[Factor], Expression, tuple[Statistic, ...]] | Declined:
    """The factors on a plate, their sum over it with all sums over data named, and these sums."""
    if plate not in graph.plates:
        return Declined(NAME, f"there is no plate {plate}")
    for name in _inside(graph, plate):
        if not graph.is_known(name):
            return Declined(NAME, f"{name} is on plate {plate} and unknown")
        if graph.nodes[name].kind == "deterministic":
            return Declined(NAME, f"{name} is a function: remove deterministic nodes first")
    factors = [factor for factor in graph.factors if any(axis.plate == plate for axis in factor.axes)]
    if not factors:
        return Declined(NAME, f"nothing random is on plate {plate}")
    try:
        terms = [term for factor in factors for term in expand(factor.summed, frozenset(graph.unknown), graph.facts)]
    except Inseparable as tied:
        return Declined(
            NAME,
            f"{tied.part} {tied.reason}, so there are no statistics of fixed size "
            "(the density must be a sum of w(unknowns) t(data))",
        )
    data = frozenset(name for name in graph.nodes if graph.is_known(name))
    hoister = Hoister(data, graph.nodes)
    likelihood = collected(terms, hoister)
    return factors, likelihood, tuple(hoister.statistics.values())


def _listed(indices: Iterable[Index]) -> str:
    return ", ".join(index.name for index in indices)


def collected(terms: list[Term], hoister: Hoister) -> Expression:
    """`sum_i w_i(unknowns) T_i` with every sum over the data named."""
    collected: dict[tuple[tuple[Index, ...], Expression], Expression] = {}
    for term in terms:
        rows = tuple(index for index in term.indices if _over_data(index, term, hoister))
        others = tuple(index for index in term.indices if index not in rows)
        key = (others, multiply(*term.atoms))
        weight = totals(term.weight, rows)
        collected[key] = add(collected[key], weight) if key in collected else weight
    parts = []
    for (others, atoms), weight in collected.items():
        parts.append(totals(multiply(hoister.hoist(weight), atoms), others))
    return add(*parts)


def _over_data(index: Index, term: Term, hoister: Hoister) -> bool:
    """Whether an index runs over rows: no unknown depends on it."""
    from platewright.algebra.expression import free_indices

    return not any(index in free_indices(atom) for atom in term.atoms)


def _counts(expression: Expression, plate: str) -> bool:
    return any(isinstance(node, Size) and node.plate == plate for node in walk(expression))


def _with_count(expression: Expression, plate: str, count: Expression) -> Expression:
    if isinstance(expression, Size) and expression.plate == plate:
        return count
    return rebuild(expression, lambda part: _with_count(part, plate, count))


def _after(graph: Graph, plate: str, inside: list[str], statistics: list[Variable], likelihood: Expression) -> Graph:
    """Without the plate's nodes, with statistics as known nodes and the likelihood as one log factor."""
    used = names(likelihood)
    gone = [name for name in inside]
    left = graph.without(gone)
    nodes = {**left.nodes, **{node.name: node for node in statistics if node.name in used}}
    plates = {name: found for name, found in graph.plates.items() if name != plate and found.within != plate}
    potentials = {
        name: found for name, found in graph.potentials.items() if not any(axis.plate == plate for axis in found.axes)
    }
    potentials[f"likelihood_{plate}"] = Potential(f"likelihood_{plate}", (), likelihood)
    return replace(left, nodes=nodes, plates=plates, potentials=potentials)
