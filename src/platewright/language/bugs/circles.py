"""Conditionals that run in a circle: each line states its node given all others, and Brook's lemma gives their joint.

    log p(x) - log p(x*)  =  sum_k  log p(x_k | x_1 .. x_k-1, x*_k+1 .. x*_n) - log p(x*_k | the same)

So a smooth over neighbours, or a set of dates in order, has the distribution that sampling its lines in turn gives, not
the product of its lines. Terms of a line without its own node are constants of the line and drop out; bounds hold
together. The lines must belong to one joint distribution: then the order in which they are taken does not matter, which
is checked at random values.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isfinite

import numpy as np

from platewright.algebra.build import add, multiply
from platewright.algebra.domain import Domain
from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import (
    Add,
    AtMost,
    Constant,
    Expression,
    Reference,
    children,
    free_indices,
    names,
    rebuild,
)
from platewright.algebra.kept import kept
from platewright.errors import BugsError
from platewright.language.bugs.arrays import Piece
from platewright.language.bugs.complaint import complain
from platewright.language.bugs.draft import Draft

Array = np.ndarray
TOLERANCE = 1e-7
POINTS, TRIES = 4, 200
MOST_PARTS = 2000
"""Of all lines of a circle, written out in its nodes; they are evaluated in two orders at several points."""
FEWEST_PARTS = 3
"""Of one line: a sum of terms, its own node, and the next node of the circle."""


def join_circles(draft: Draft, circles: Sequence[Sequence[Piece]]) -> None:
    """Put the factors of the joint in place of the conditionals of each circle."""
    for circle in circles:
        random = [piece for piece in circle if piece.relation.is_random]
        members = [draft.labels[piece.number] for piece in random]
        for piece, name in zip(random, members, strict=True):
            if name not in draft.conditionals:  # a condition on known values, or a density that is not on the shelf
                raise complain(
                    draft.text, piece.relation.place, f"`{piece.name}` is in a circle", "a distribution of the shelf"
                )
        lines = {name: draft.model.potentials[draft.conditionals[name]].expression for name in members}
        check_parts(draft, random[0], lines.values())
        points = {name: _inside(draft.model.variables[name].domain) for name in members}
        if not draft.folded.assumed and not _agree(draft, lines, points):
            shown = ", ".join(f"`{name}`" for name in members)
            raise complain(
                draft.text,
                random[0].relation.place,
                f"the distributions of {shown} run in a circle, and no joint distribution has all of them",
                "distributions that agree with one another, or no circle",
            )
        for name, factor in brook(lines, points).items():
            draft.add_potential(draft.conditionals[name], factor)


def brook(lines: Mapping[str, Expression], points: Mapping[str, float]) -> dict[str, Expression]:
    """For each node its part of the log joint, relative to the reference point, with its own bounds."""
    found: dict[str, Expression] = {}
    later = dict(points)
    for name, line in lines.items():
        del later[name]
        terms = line.terms if isinstance(line, Add) else (line,)
        bounds = [term for term in terms if isinstance(term, AtMost)]
        own = add(*(term for term in terms if not isinstance(term, AtMost) and name in names(term)))
        there = _at(own, {**later, name: points[name]})
        found[name] = add(*bounds, _at(own, later), multiply(-1.0, there))
    return found


def check_parts(draft: Draft, piece: Piece, lines: Iterable[Expression]) -> None:
    """Lines that are too long are refused: they are taken apart and put together again several times."""
    if (parts := sum(_size(line) for line in lines)) > MOST_PARTS:
        raise _too_long(draft, piece, f"{parts:,}")


def check_lines(draft: Draft, circle: Sequence[Piece]) -> None:
    """A circle whose lines are too many, however short they are, is refused before any is written down."""
    if (parts := FEWEST_PARTS * sum(piece.relation.is_random for piece in circle)) > MOST_PARTS:
        raise _too_long(draft, circle[0], f"at least {parts:,}")


def _too_long(draft: Draft, piece: Piece, parts: str) -> BugsError:
    return complain(
        draft.text,
        piece.relation.place,
        f"`{piece.name}` is in a circle, whose lines have {parts} parts when they are written out",
        f"at most {MOST_PARTS:,} parts, or no circle",
    )


@kept
def _size(expression: Expression) -> int:
    """How many nodes an expression has, shared ones as often as they stand in it."""
    return 1 + sum(map(_size, children(expression)))


def _at(expression: Expression, values: Mapping[str, float]) -> Expression:
    """An expression with all elements of some nodes at a number each."""
    if isinstance(expression, Reference) and expression.name in values:
        return Constant(values[expression.name])
    return rebuild(expression, lambda part: _at(part, values))


def _inside(domain: Domain) -> float:
    """A moderate value of a node."""
    low, high = domain.lower, domain.upper
    if isfinite(low) and isfinite(high):
        return (low + high) / 2
    if isfinite(low):
        return low + 1.0
    return high - 1.0 if isfinite(high) else 0.0


def _agree(draft: Draft, lines: Mapping[str, Expression], points: Mapping[str, float]) -> bool:
    """Whether the joint is the same, up to a constant, when the nodes are taken in the opposite order."""
    orders = [brook(lines, points), brook(dict(reversed([*lines.items()])), points)]
    totals = [add(*(_without_bounds(factor) for factor in order.values())) for order in orders]
    generator = np.random.default_rng(0)
    gaps: list[float] = []
    for _ in range(TRIES):
        environment = _environment(draft, lines, points, generator)
        with np.errstate(all="ignore"):
            one, two = (_summed(total, environment) for total in totals)
        if not np.isfinite(one) or not np.isfinite(two):
            continue
        gaps.append(float((one - two) / (1 + abs(one) + abs(two))))
        if len(gaps) == POINTS:
            return max(abs(gap - gaps[0]) for gap in gaps) < TOLERANCE
    return False


def _summed(total: Expression, environment: Environment) -> float:
    """A log factor summed over all plates that it depends on."""
    axes = tuple(sorted(free_indices(total), key=lambda index: index.name))
    return float(np.sum(evaluate(total, environment, axes)))


def _without_bounds(factor: Expression) -> Expression:
    terms = factor.terms if isinstance(factor, Add) else (factor,)
    return add(*(term for term in terms if not isinstance(term, AtMost)))


def _environment(
    draft: Draft, lines: Mapping[str, Expression], points: Mapping[str, float], generator: np.random.Generator
) -> Environment:
    """Known values as they are, nodes of the circle near their points, and any numbers for the rest."""
    sizes = {name: int(plate.size) for name, plate in draft.model.plates.items() if plate.size is not None}
    given = {**draft.folded.constants, **draft.folded.observed}
    values: dict[str, Array] = dict(draft.columns)
    for name in sorted({name for line in lines.values() for name in names(line)} - set(values)):
        node = draft.model.variables[name]
        shape = tuple(sizes[axis.plate] for axis in node.axes)
        source = draft.sources.get(name)
        if name in points:
            values[name] = points[name] + 0.4 * generator.uniform(-1, 1, shape)
        elif source is not None and source.array in given and node.kind == "input":
            found = given[source.array]
            found = found[source.cells] if source.cells else found
            values[name] = np.nan_to_num(np.asarray(found, dtype=float) - source.shift)
        else:
            values[name] = np.ones(shape) if node.domain.is_discrete else generator.uniform(0.5, 1.5, shape)
    return Environment(values, sizes)
