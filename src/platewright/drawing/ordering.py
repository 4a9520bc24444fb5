"""A good arrangement: rows and one left-to-right order, found by moving one thing at a time.

The start puts nodes with the same plates (a region) side by side and the regions in an order that keeps each plate
together: nested plates always, two crossed plates always (user only | both | item only). Within a region nodes go to
the barycentre of their neighbours. Then each node, region and plate in turn is tried in every place, and each unit
a row up or down, and stays where the penalty is least. No move may split a plate that was whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import permutations
from math import inf

from platewright.drawing.crossing import penalty
from platewright.drawing.layers import Skeleton

MOST_PERMUTED = 6
BARYCENTRE_SWEEPS = 4
MOST_ROUNDS = 6
MOST_FOUND = 3
WORK = 250_000


@dataclass(frozen=True)
class Arrangement:
    """The row of each node, and its place in the one order of all nodes from left to right."""

    rows: tuple[int, ...]
    places: tuple[int, ...]


def arrangements(skeleton: Skeleton) -> list[Arrangement]:
    """Candidate arrangements, each as good as moving one thing at a time can make it."""
    if not skeleton.count:
        return [Arrangement((), ())]
    sequence = region_sequence(skeleton)
    starts = []
    for regions in (sequence, sequence[::-1]):
        starts += [declared_order(skeleton, regions), barycentre_order(skeleton, regions)]
    pairs = {(tuple(order), rows): None for order in starts for rows in (skeleton.rows, hung_rows(skeleton))}
    found = dict.fromkeys(improved(skeleton, order, rows) for order, rows in pairs)
    return sorted(found, key=lambda arrangement: penalty(skeleton, arrangement.rows, arrangement.places))[:MOST_FOUND]


def declared_order(skeleton: Skeleton, sequence: Sequence[tuple[int, ...]]) -> list[int]:
    """Within each region, nodes in the order of their columns and then as declared."""
    return [node for region in sequence for node in sorted(region, key=lambda node: (skeleton.columns[node], node))]


def region_sequence(skeleton: Skeleton) -> list[tuple[int, ...]]:
    """Regions (nodes with the same plates) in an order that breaks as few plates as possible; no plate first."""
    regions: dict[tuple[int, ...], list[int]] = {}
    for node in range(skeleton.count):
        plates = [plate for plate, members in enumerate(skeleton.plates) if node in members]
        key = tuple(sorted(plates, key=lambda plate: (-len(skeleton.plates[plate]), plate)))
        regions.setdefault(key, []).append(node)
    outside = regions.pop((), [])
    # larger plates first in every key: for nested plates this sorting is a walk down the tree, so none is broken
    keys = sorted(regions)
    if breaks(keys) and len(keys) <= MOST_PERMUTED:
        keys = min((list(tried) for tried in permutations(keys)), key=breaks)
    elif breaks(keys):
        keys = sifted_keys(keys)
    return [tuple(outside), *(tuple(regions[key]) for key in keys)]


def breaks(keys: Sequence[tuple[int, ...]]) -> int:
    """How often a plate starts again after it has ended, in this order of regions."""
    starts = sum(len(set(key) - set(before)) for before, key in zip([(), *keys], keys, strict=False))
    return starts - len({plate for key in keys for plate in key})


def sifted_keys(keys: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """Each region in turn moved to where it breaks fewest plates."""
    for key in list(keys):
        rest = [other for other in keys if other != key]
        keys = min(([*rest[:at], key, *rest[at:]] for at in range(len(keys))), key=breaks)
    return keys


def barycentre_order(skeleton: Skeleton, sequence: Sequence[tuple[int, ...]]) -> list[int]:
    """Within each region, nodes at the mean place of their neighbours."""
    order = [node for region in sequence for node in region]
    for _ in range(BARYCENTRE_SWEEPS):
        places = {node: place for place, node in enumerate(order)}
        means: dict[int, float] = dict(places)
        for node in order:
            near = [places[target] for source, target in skeleton.arcs if source == node]
            near += [places[source] for source, target in skeleton.arcs if target == node]
            if near:
                means[node] = sum(near) / len(near)
        order = [node for region in sequence for node in sorted(region, key=lambda node: (means[node], places[node]))]
    return order


def hung_rows(skeleton: Skeleton) -> tuple[int, ...]:
    """Rows in which each unit hangs just above its highest child."""
    rows = list(skeleton.rows)
    for unit in sorted(skeleton.units, key=lambda unit: -skeleton.rows[unit[0]]):
        room = [rows[target] - rows[source] - 1 for source, target in skeleton.downward if source in unit]
        for node in unit:
            rows[node] += min(room, default=0)
    return tuple(rows)


def improved(skeleton: Skeleton, order: Sequence[int], rows: Sequence[int]) -> Arrangement:
    """The arrangement after every single move that helps has been made, within a fixed amount of work."""
    best = (list(order), tuple(rows))
    least = arrangement_penalty(skeleton, *best)
    left = WORK // (len(skeleton.arcs) ** 2 // 2 + 3 * skeleton.count + 40)
    for _ in range(MOST_ROUNDS):
        before = least
        for block in blocks(skeleton):
            for candidate in moves(skeleton, block, *best):
                left -= 1
                cost = arrangement_penalty(skeleton, *candidate, least[0])
                if cost < least:
                    best, least = candidate, cost
            if left < 0:
                break
        if least == before or left < 0:
            break
    order, rows = best
    lowest = min(rows)
    places = [0] * skeleton.count
    for place, node in enumerate(order):
        places[node] = place
    return Arrangement(tuple(row - lowest for row in rows), tuple(places))


def arrangement_penalty(
    skeleton: Skeleton, order: Sequence[int], rows: Sequence[int], most_boxes: float = inf
) -> tuple[int, float]:
    """The penalty of an order; rounded, so that no move is made for the sake of the last bit."""
    places = [0] * skeleton.count
    for place, node in enumerate(order):
        places[node] = place
    too_many, total = penalty(skeleton, rows, places, most_boxes)
    return too_many, round(total, 6)


def blocks(skeleton: Skeleton) -> list[tuple[int, ...]]:
    """What is moved as one: units, plates, and single nodes."""
    groups = [tuple(sorted(members)) for members in skeleton.plates if members]
    groups += [unit for unit in skeleton.units if len(unit) > 1]
    groups += [(node,) for node in range(skeleton.count)]
    return list(dict.fromkeys(groups))


def moves(
    skeleton: Skeleton, block: tuple[int, ...], order: list[int], rows: tuple[int, ...]
) -> Iterator[tuple[list[int], tuple[int, ...]]]:
    """Every arrangement that differs in the place or the row of this block, or in its direction."""
    moved = [node for node in order if node in block]
    rest = [node for node in order if node not in block]
    shifted = [rows]
    if block in skeleton.units:
        shifted += [shifted_rows(skeleton, block, rows, step) for step in (-1, 1)]
    for at in range(len(rest) + 1):
        for new_rows in shifted:
            yield [*rest[:at], *moved, *rest[at:]], new_rows
            if len(moved) > 1:
                yield [*rest[:at], *reversed(moved), *rest[at:]], new_rows


def shifted_rows(skeleton: Skeleton, unit: tuple[int, ...], rows: tuple[int, ...], step: int) -> tuple[int, ...]:
    """The rows with one unit a step up or down, and whatever stands in its way a step with it."""
    unit_of = {node: other for other in skeleton.units for node in other}
    moving = {unit}
    waiting = [unit]
    while waiting:
        pushing = waiting.pop()
        for source, target in skeleton.downward:
            mover, other = (source, target) if step > 0 else (target, source)
            if mover in pushing and rows[target] == rows[source] + 1 and unit_of[other] not in moving:
                moving.add(unit_of[other])
                waiting.append(unit_of[other])
    return tuple(row + step if unit_of[node] in moving else row for node, row in enumerate(rows))
