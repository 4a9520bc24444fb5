"""Choose which Gaussian unknowns to eliminate together, and over which plates they fall apart into independent copies.

mu[k] with rows at mu[z[n]]                 independent over k: one small problem for each k
w[j] with rows sum_j x[n, j] w[j]           coupled over j: one problem with all j as columns
theta[school] and mu                        theta first, school by school; what is left speaks about mu
z[t] and w with rows z[t] - phi z[t-1]      z first, step by step along t; what is left speaks about w
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

from platewright.algebra.build import substitute
from platewright.algebra.expression import Expression, Index, free_indices
from platewright.language.variable import Variable
from platewright.recognition.chains import Chain, chain_of
from platewright.recognition.rows import Rows, rows_touching


@dataclass(frozen=True)
class Group:
    """Unknowns that are eliminated together, independently for each position of the batch plates.

    Those that are a chain along a plate are eliminated step by step.
    """

    variables: tuple[str, ...]
    batch: tuple[str, ...]
    along: str | None = None


def choose_group(
    rows: Sequence[Rows],
    block: Sequence[str],
    nodes: Mapping[str, Variable],
    sizes: Mapping[str, int] | None = None,
    chains: bool = True,
    most: bool = False,
) -> Group:
    """The unknowns with most independent plates, with all that share these plates row by row.

    Among equals, that which leaves the fewest unknowns beside each copy, inner groups before outer ones. Where the
    sizes of all plates are given, that with the smallest least-squares problems. The steps of a chain count as
    independent: each meets only its neighbours. With `most`, that with the most copies, for who pools them.
    """
    touching = rows_touching(rows)
    places = {name: _single_places(name, touching.get(name, ()), nodes) for name in block}
    found = {name: chain_of(name, rows, block, nodes) if chains else None for name in block}
    chain = {name: one for name, one in found.items() if one is not None and one.plate not in places[name]}

    def merit(name: str) -> tuple[float, ...]:
        steps = {chain[name].plate} if name in chain else set()
        if most:
            return (float(prod((sizes or {}).get(plate, 2) for plate in places[name])),)
        beside = _beside(name, places[name], touching.get(name, ()), nodes, chain.get(name))
        if sizes is not None:
            own = [axis.plate for axis in nodes[name].axes]
            width = prod(sizes[plate] for plate in own if plate not in places[name] | steps)
            width += sum(prod(sizes[plate] for plate in plates) for plates in beside.values())
            return (-float(prod(sizes[plate] for plate in places[name] | steps)) * width**2,)
        return len(places[name] | steps), -sum(map(len, beside.values())), len(nodes[name].axes)

    first = max(block, key=merit)
    if first in chain:
        return _chain_group(chain[first], places, rows, nodes)
    batch = tuple(axis.plate for axis in nodes[first].axes if axis.plate in places[first])
    chosen: set[str] = set()
    held: dict[int, tuple[Expression | None, ...]] = {}
    for name in (first, *(other for other in block if other != first and set(batch) <= places[other])):
        # All that were chosen stand at one place in the rows that they share, so one of them speaks for all.
        own = {id(each): tuple(place(each, name, at, nodes) for at in batch) for each in touching.get(name, ())}
        if all(held.get(each, at) == at for each, at in own.items()):
            chosen.add(name)
            held |= own
    return Group(tuple(name for name in block if name in chosen), batch)


def group_alone(
    name: str, rows: Sequence[Rows], block: Sequence[str], nodes: Mapping[str, Variable], chains: bool = True
) -> Group:
    """One unknown of a block by itself; of a chain, all that its state holds."""
    touching = rows_touching(rows)
    own = _single_places(name, touching.get(name, ()), nodes)
    chain = chain_of(name, rows, block, nodes) if chains else None
    if chain is not None and chain.plate not in own:
        places = {other: _single_places(other, touching.get(other, ()), nodes) for other in block}
        return _chain_group(chain, places, rows, nodes)
    return Group((name,), tuple(axis.plate for axis in nodes[name].axes if axis.plate in own))


def _chain_group(
    chain: Chain, places: Mapping[str, frozenset[str]], rows: Sequence[Rows], nodes: Mapping[str, Variable]
) -> Group:
    """The state of a chain, apart over the plates that all of it shares row by row."""
    first = chain.variables[0]
    batch = tuple(
        axis.plate
        for axis in nodes[first].axes
        if axis.plate != chain.plate
        and all(axis.plate in places[name] for name in chain.variables)
        and all(_agree(one, two, (axis.plate,), rows, nodes) for one in chain.variables for two in chain.variables)
    )
    return Group(chain.variables, batch, chain.plate)


def _beside(
    name: str, batch: frozenset[str], rows: Sequence[Rows], nodes: Mapping[str, Variable], chain: Chain | None = None
) -> dict[str, list[str]]:
    """The unknowns that stay beside each copy, with the plates all of whose elements a copy may meet.

    At a step of a chain these are the other unknowns of its state, and those outside.
    """
    found: dict[str, list[str]] = {}
    if chain is not None:
        for other in chain.variables:
            if other != name:
                found[other] = [axis.plate for axis in nodes[other].axes if axis.plate not in batch | {chain.plate}]
    places: dict[str, list[set[Expression]]] = {}
    if chain is None and not batch:  # a copy for all: it meets whole variables
        met = frozenset[str]().union(*(each.variables for each in rows))
        return {other: [axis.plate for axis in nodes[other].axes] for other in met if other != name}
    for each in rows:
        codes = {place(each, name, plate, nodes): Index(plate, plate) for plate in batch}
        back = {code: own for code, own in codes.items() if code is not None and code != own}
        for part in each.parts:
            if part.variable == name or (chain is not None and part.variable in chain.variables):
                continue
            positions = [substitute(at, back) for at in part.at]
            every = places.setdefault(part.variable, [set() for _ in positions])
            for seen, at in zip(every, positions, strict=True):
                seen.add(at)
            loose = [
                axis.plate
                for axis, at, seen in zip(nodes[part.variable].axes, positions, every, strict=True)
                if len(seen) > 1 or not free_indices(at) or not free_indices(at) <= set(codes.values())
            ]
            if len(loose) >= len(found.get(part.variable, [])):
                found[part.variable] = loose
    return found


def place(rows: Rows, name: str, plate: str, nodes: Mapping[str, Variable]) -> Expression | None:
    """The one position at which these rows touch `name` along a plate; None when there are several, or all."""
    axis = [axis.plate for axis in nodes[name].axes].index(plate)
    outputs = set(rows.outputs or ())
    found = set()
    for part in rows.parts:
        if part.variable != name:
            continue
        at = part.at[axis]
        if free_indices(at) & (set(part.inner) | outputs):
            return None
        found.add(at)
    return found.pop() if len(found) == 1 else None


def _single_places(name: str, rows: Sequence[Rows], nodes: Mapping[str, Variable]) -> frozenset[str]:
    """The plates along which each of the rows that touch an unknown meets one element of it."""
    plates = [axis.plate for axis in nodes[name].axes]
    return frozenset(plate for plate in plates if all(place(found, name, plate, nodes) is not None for found in rows))


def _agree(one: str, two: str, batch: tuple[str, ...], rows: Sequence[Rows], nodes: Mapping[str, Variable]) -> bool:
    for found in rows:
        if not {one, two} <= found.variables:
            continue
        if any(place(found, one, plate, nodes) != place(found, two, plate, nodes) for plate in batch):
            return False
    return True
