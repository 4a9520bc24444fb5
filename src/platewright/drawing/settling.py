"""Points on a line that obey all rules and stretch the springs as little as they can.

    minimise  sum of weight (x_a - x_b)^2 over springs    subject to    x_b - x_a >= gap  for every rule

Each round moves every point towards the mean of its neighbours and then back to the nearest legal positions
(Hildreth's method: one force a rule). A last sweep from left to right makes the rules hold exactly. Clearings are
rules that may be broken, factor * x + factor * x + factor * x >= gap: only so much force is spent on each.
"""

from __future__ import annotations

from collections.abc import Sequence

Rule = tuple[int, int, float]
Spring = tuple[int, int, float]
Term = tuple[int, float]
Clearing = tuple[tuple[Term, Term, Term], float]

ROUNDS = 80
PASSES = 8
UPRIGHT = 9.0
STIFF = 60.0
STILL = 0.004
CLEARING_FORCE = 400.0


def stiffened(springs: Sequence[Spring], points: Sequence[float]) -> list[Spring]:
    """The springs, with those that are nearly upright made stiff, so that they become upright."""
    return [
        (first, second, weight * STIFF if weight >= 1 and abs(points[first] - points[second]) < UPRIGHT else weight)
        for first, second, weight in springs
    ]


def solved(
    springs: Sequence[Spring],
    rules: Sequence[Rule],
    clearings: Sequence[Clearing],
    order: Sequence[int],
    start: Sequence[float],
) -> list[float]:
    """Positions that obey every rule, make most clearings and stretch the springs little."""
    forwards: dict[int, list[tuple[int, float]]] = {point: [] for point in order}
    for first, second, gap in rules:
        forwards[first].append((second, gap))
    points = pushed(start, forwards, order)
    weights = [1e-9] * len(order)
    for first, second, weight in springs:
        weights[first] += weight
        weights[second] += weight
    ease = [1 / weight for weight in weights]
    forces, wishes = [0.0] * len(rules), [0.0] * len(clearings)
    for _ in range(ROUNDS):
        wanted = pulled(points, springs, ease)
        before = points
        points, forces, wishes = nearest_legal(wanted, rules, clearings, ease, forces, wishes)
        if all(abs(new - old) < STILL for new, old in zip(points, before, strict=True)):
            break
    points = pushed([round(point, 1) for point in points], forwards, order)
    return [round(point, 1) for point in points]


def pulled(points: Sequence[float], springs: Sequence[Spring], ease: Sequence[float]) -> list[float]:
    """Each point half of the way to where its springs would have it."""
    pulls = [0.0] * len(points)
    for first, second, weight in springs:
        pull = weight * (points[second] - points[first])
        pulls[first] += pull
        pulls[second] -= pull
    return [point + 0.5 * pull * give for point, pull, give in zip(points, pulls, ease, strict=True)]


def nearest_legal(
    wanted: Sequence[float],
    rules: Sequence[Rule],
    clearings: Sequence[Clearing],
    ease: Sequence[float],
    forces: Sequence[float],
    wishes: Sequence[float],
) -> tuple[list[float], list[float], list[float]]:
    """Positions close to `wanted` that (nearly) obey the rules, and the forces to start the next round with."""
    points, spent, granted = list(wanted), list(forces), list(wishes)
    for (first, second, _), force in zip(rules, spent, strict=True):
        points[first] -= force * ease[first]
        points[second] += force * ease[second]
    for (terms, _), force in zip(clearings, granted, strict=True):
        for point, factor in terms:
            points[point] += factor * force * ease[point]
    for _ in range(PASSES):
        for number, (first, second, gap) in enumerate(rules):
            step = (gap - points[second] + points[first]) / (ease[first] + ease[second])
            if step > 0 or spent[number]:
                step = max(step, -spent[number])
                spent[number] += step
                points[first] -= step * ease[first]
                points[second] += step * ease[second]
        for number, ((one, two, three), gap) in enumerate(clearings):
            lacking = gap - one[1] * points[one[0]] - two[1] * points[two[0]] - three[1] * points[three[0]]
            if lacking > 0 or granted[number]:
                terms = (one, two, three)
                step = lacking / sum(factor * factor * ease[point] for point, factor in terms)
                step = min(max(step, -granted[number]), CLEARING_FORCE - granted[number])
                granted[number] += step
                for point, factor in terms:
                    points[point] += factor * step * ease[point]
    return points, spent, granted


def pushed(points: Sequence[float], forwards: dict[int, list[tuple[int, float]]], order: Sequence[int]) -> list[float]:
    """The positions after whatever is too close has been pushed to the right."""
    found = list(points)
    for first in order:
        for second, gap in forwards[first]:
            found[second] = max(found[second], found[first] + gap)
    return found
