"""Parameters that the data give must lie in their range: a column of 3.5 trials, or a negative standard deviation.

Numbers written in the model are checked where they are written; those that come from columns only here. A parameter
that depends on unknowns too is refused where no value of them would do: `rate = exposure * lam` with an exposure of -1.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np

from platewright.algebra.domain import Domain
from platewright.algebra.expression import Expression, Index, Lag, Reference, free_indices, names, walk
from platewright.algebra.span import Span, span, span_of_domain
from platewright.errors import SupportError
from platewright.family import Array, Parameter
from platewright.graph.graph import Graph, topological
from platewright.language.variable import Variable

SUM_TOLERANCE = 1e-6


@dataclass(frozen=True)
class Given:
    """A parameter that comes from columns: of which node, as the user spelled it."""

    node: Variable
    parameter: Parameter
    written: Expression
    axes: tuple[Index, ...]
    columns: tuple[str, ...]
    is_whole: bool
    """Whether the data alone say what it is."""


@dataclass(frozen=True)
class Checks:
    """All there is to check in the data of a graph."""

    graph: Graph
    given: tuple[Given, ...]
    behind: tuple[str, ...]
    """All variables that the parameters depend on."""
    functions: tuple[str, ...]
    """Deterministic nodes that the parameters refer to, each after those that it refers to."""


def checks_of(graph: Graph, columns: Collection[str]) -> Checks:
    """What to check where these columns are given."""
    found: list[Given] = []
    for node in graph.nodes.values():
        family = node.family
        if family is None or not (family.proper or family.within is not None):
            continue
        for name, written in (*node.given, *node.parameters):
            parameter = family.argument(name)
            if parameter.domain.is_unbounded and _is_spelled(node, name):
                continue  # the logarithm of a probability may be minus infinity
            behind = variables_behind(graph, written)
            own = tuple(sorted(name for name in behind if name in columns))
            is_whole = all(name in columns or graph.nodes[name].kind == "deterministic" for name in behind)
            is_free = parameter.domain.is_unbounded or parameter.domain.kind == "matrix"
            if not own or (is_free and not is_whole) or _looks_back(graph, written, behind):
                continue
            if parameter.domain.kind == "matrix" and not isinstance(written, Reference):
                continue  # a computed one is factored in any case, and may be definite but for rounding
            axes = (*node.plates, *inner_axes(node, written, parameter.rank))
            found.append(Given(node, parameter, written, axes, own, is_whole))
    wanted = {name for given in found for name in variables_behind(graph, given.written)}
    order = topological(graph) if wanted else ()
    functions = tuple(name for name in order if name in wanted and graph.nodes[name].kind == "deterministic")
    return Checks(graph, tuple(found), tuple(sorted(wanted)), functions)


def check_given(
    checks: Checks,
    columns: Mapping[str, Array],
    sizes: Mapping[str, int],
    holes: Collection[str] = (),
    before: Mapping[str, int] | None = None,
) -> None:
    """Raise for the first parameter, or value beside its parameter, that no distribution has.

    Columns with `holes` hold something in their missing cells, and are not looked at. `before` counts, for a plate that
    comes in batches, the elements that came before.
    """
    whole: dict[str, Span] | None = None
    rough: dict[str, Span] | None = None
    for given in checks.given:
        if any(axis.plate not in sizes for axis in given.axes):
            continue
        if any(name in holes for name in given.columns):
            given = replace(given, is_whole=False)
        rough = rough or _spans(checks, columns, sizes, holes, by_column=True)
        is_fine = _is_inside(given, span(given.written, rough, sizes, given.axes))
        beside = given.node.name in columns and given.node.name not in holes and _is_beside(given)
        if is_fine and not beside:
            continue
        whole = whole or _spans(checks, columns, sizes, holes)
        found = span(given.written, whole, sizes, given.axes)
        shape = tuple(sizes[axis.plate] for axis in given.axes)
        low, high = (np.broadcast_to(end, shape) for end in found)
        complain = _Complaint(given, before or {})
        if not is_fine:
            complain.where(_outside(given, low, high), low, given.parameter.name, str(given.parameter.domain))
        if given.parameter.domain.kind == "simplex" and given.is_whole:
            sums = low.sum(axis=-1)
            off = np.abs(sums - 1) > SUM_TOLERANCE
            complain.where(off, sums, given.parameter.name, "a sum of 1", "sum to")
        if beside:
            _check_beside(given, complain, low, high, columns[given.node.name])


def _is_spelled(node: Variable, name: str) -> bool:
    """Whether a canonical parameter was given by another word."""
    return node.family is not None and any(word in node.family.spelled.get(name, {}) for word, _ in node.given)


def variables_behind(graph: Graph, written: Expression) -> frozenset[str]:
    """The variables that an expression depends on, deterministic ones with those that they are functions of."""
    found: set[str] = set()
    left = [*names(written)]
    while left:
        name = left.pop()
        if name in found:
            continue
        found.add(name)
        node = graph.nodes.get(name)
        if node is not None and node.definition is not None and name not in graph.known:
            left += names(node.definition)
    return frozenset(name for name in found if name in graph.nodes)


def _looks_back(graph: Graph, written: Expression, behind: frozenset[str]) -> bool:
    """Whether an expression reaches for an earlier element; it has a start of its own."""
    definitions = (graph.nodes[name].definition for name in behind)
    every = (written, *(definition for definition in definitions if definition is not None))
    return any(isinstance(part, Lag) for whole in every for part in walk(whole))


def inner_axes(node: Variable, written: Expression, rank: int) -> tuple[Index, ...]:
    """The axes inside one value that a parameter has."""
    if not rank:
        return ()
    left = sorted(free_indices(written) - set(node.plates), key=lambda index: (len(index.name), index.name))
    event = node.events[0] if node.events else left[0] if left else None
    if event is None:
        return ()
    return (event, Index(event.name + "'", event.plate))[:rank]


def _spans(
    checks: Checks,
    columns: Mapping[str, Array],
    sizes: Mapping[str, int],
    holes: Collection[str],
    by_column: bool = False,
) -> dict[str, Span]:
    """What is known of each variable: its column, cell by cell or from least to greatest; else its domain."""
    found: dict[str, Span] = {}
    nodes = checks.graph.nodes
    for name in checks.behind:
        values = columns.get(name)
        if values is None or name in holes:
            found[name] = span_of_domain(nodes[name].domain)
        elif by_column:
            found[name] = (np.min(values), np.max(values)) if np.size(values) else span_of_domain(nodes[name].domain)
        else:
            found[name] = (values, values)
    found |= {name: (values, values) for name, values in columns.items() if name not in nodes and not by_column}
    for name in checks.functions:
        node = nodes[name]
        assert node.definition is not None  # it is a function of others
        low, high = span(node.definition, found, sizes, node.axes)
        if by_column:
            found[name] = (low.min(initial=np.inf), high.max(initial=-np.inf))
            continue
        shape = tuple(sizes[axis.plate] for axis in node.axes)  # others look up elements, alike or not
        whole = np.broadcast_to(low, shape)
        found[name] = (whole, whole if high is low else np.broadcast_to(high, shape))
    return found


def _is_inside(given: Given, found: Span) -> bool:
    """Whether every value between the ends is allowed; what the unknowns leave open is their business."""
    domain = given.parameter.domain
    if domain.kind in ("integer", "matrix") or (domain.kind == "simplex" and given.is_whole):
        return False
    low, high = found
    above = low > domain.lower if _is_strict(given.parameter) else low >= domain.lower
    inside = bool(np.all(above) and np.all(high <= domain.upper))
    return inside and (not given.is_whole or bool(np.all(low > -np.inf) and np.all(high < np.inf)))


def _is_strict(parameter: Parameter) -> bool:
    domain: Domain = parameter.domain
    return domain.kind == "real" and domain.lower == 0.0 and domain.upper == np.inf and not parameter.may_be_zero


def _outside(given: Given, low: Array, high: Array) -> Array:
    """Where no value between the ends is allowed; a missing cell is."""
    domain = given.parameter.domain
    outside = (high <= 0) if _is_strict(given.parameter) else (high < domain.lower)
    outside = outside | (low > domain.upper) | (low == np.inf) | (high == -np.inf)
    if domain.kind == "integer" and given.is_whole:
        outside = outside | (low != np.floor(low)) & ~np.isnan(low)
    if domain.kind == "matrix":
        return outside.any(axis=(-2, -1)) | ~_is_definite(low)
    return outside


def _is_definite(matrices: Array) -> Array:
    """Which matrices of a stack are symmetric and positive definite."""
    turned = np.swapaxes(matrices, -1, -2)
    scale = np.abs(matrices).max(axis=(-2, -1), initial=0.0)
    even = np.abs(matrices - turned).max(axis=(-2, -1), initial=0.0) <= 1e-8 * scale
    usable = even & np.isfinite(scale)
    safe = np.where(usable[..., None, None], matrices, np.identity(matrices.shape[-1]))
    return usable & (np.linalg.eigvalsh(safe) > 0).all(axis=-1)


def _is_beside(given: Given) -> bool:
    """Whether a parameter says something about the value beside it."""
    family, name = given.node.family, given.parameter.name
    assert family is not None
    return Reference(name) in (family.lower, family.upper) or (family.rank == 1 and name == "count" and given.is_whole)


def _check_beside(given: Given, complain: _Complaint, low: Array, high: Array, seen: Array) -> None:
    """Successes are at most the trials, values lie within their bounds, the counts of a vector add up to them."""
    family, name = given.node.family, given.parameter.name
    assert family is not None
    if family.upper == Reference(name):
        complain.where(seen > high, seen, "", f"at most its {name}")
    elif family.lower == Reference(name):
        complain.where(seen < low, seen, "", f"at least its {name}")
    else:
        sums = seen.sum(axis=-1)
        off = (sums != low) & ~np.isnan(sums)
        complain.where(off, sums, "", f"a sum equal to its {name}", "sums to")


@dataclass(frozen=True)
class _Complaint:
    """The error for a parameter, which names the first element that is wrong."""

    given: Given
    before: Mapping[str, int]

    def where(self, wrong: Array, values: Array, name: str, expected: str, verb: str = "is") -> None:
        """Raise when something is wrong."""
        if not np.any(wrong):
            return
        node = self.given.node
        at = np.unravel_index(int(np.argmax(wrong)), np.shape(wrong))
        axes = self.given.axes[: len(at)]
        places = (
            f"{axis.plate} {number + self.before.get(axis.plate, 0)}" for axis, number in zip(axes, at, strict=True)
        )
        shown = f"{name} of `{node.name}`" if name else f"`{node.name}`"
        found = values[at] if np.ndim(values) == len(at) else None
        said = f"{verb} {found:g}" if found is not None else "is no positive definite matrix"
        if not self.given.is_whole and name:
            said = "can only lie outside its range"
        columns = ", ".join(f"`{column}`" for column in self.given.columns)
        raise SupportError(
            f"{shown} {said}, which its distribution does not allow",
            where=f"{', '.join(places)} (elements count from 0)" if axes else f"variable {node.name}",
            expected=expected,
            hint=f"look there at {columns}, which the {self.given.parameter.name} comes from",
        )
