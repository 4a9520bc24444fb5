"""Bring every term of a conditional to the target's own indices, so that weights can be collected.

sum_n sum_k' [z[n]=k'] y[n] mu[k']      becomes      weight of mu[k]:  sum_n [z[n]=k] y[n]
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from platewright.algebra.build import add, equal, multiply, substitute, totals, where
from platewright.algebra.expand import Term
from platewright.algebra.expression import (
    ZERO,
    AtMost,
    Expression,
    Index,
    Inverse,
    Lag,
    LogDeterminant,
    Reference,
    all_indices,
    bound,
    fresh,
    rebuild,
    walk,
)
from platewright.language.variable import Variable


@dataclass(frozen=True)
class Bound:
    """A limit on the target from one family of rows: `value` for all positions of `indices`."""

    side: str
    indices: tuple[Index, ...]
    value: Expression


@dataclass(frozen=True)
class Collected:
    """A conditional as weights of functions of the target, the rest, and limits on the target."""

    weights: dict[Expression, Expression]
    rest: Expression
    bounds: tuple[Bound, ...]


class Coupled(Exception):
    """The target at one position meets itself at another."""

    def __init__(self, part: Expression) -> None:
        super().__init__(str(part))
        self.part = part


def collect(terms: list[Term], target: Variable) -> Collected:
    """Weights by atom, all at the target's own axes. Raises `Coupled` where two positions meet in one term."""
    weights: dict[Expression, Expression] = {}
    rest: list[Expression] = []
    bounds: list[Bound] = []
    for term in terms:
        if not term.atoms:
            rest.append(totals(term.weight, term.indices))
            continue
        moved = _at_own_axes(term, target)
        if len(moved.atoms) == 1 and isinstance(moved.atoms[0], AtMost):
            bounds.append(_bound(moved, target))
            continue
        atom = multiply(*moved.atoms)
        weight = totals(moved.weight, moved.indices)
        weights[atom] = add(weights[atom], weight) if atom in weights else weight
    return Collected({a: w for a, w in weights.items() if w != ZERO}, add(*rest), tuple(bounds))


def _bound(term: Term, target: Variable) -> Bound:
    atom = term.atoms[0]
    assert isinstance(atom, AtMost)
    below = isinstance(atom.high, Reference) and atom.high.name == target.name
    # A row whose weight is zero here (another case of `theta[z]`) sets no limit.
    value = where(term.weight, atom.low, -math.inf) if below else where(term.weight, atom.high, math.inf)
    return Bound("lower" if below else "upper", term.indices, value)


def _at_own_axes(term: Term, target: Variable) -> Term:
    term = _event_names(_clear_of(term, target.axes), target)
    places = {
        node.indices
        for atom in term.atoms
        for node in walk(atom)
        if isinstance(node, Reference) and node.name == target.name
    }
    if len(places) > 1:
        raise Coupled(multiply(*term.atoms))
    pairs = list(zip(target.axes, places.pop(), strict=True))
    for atom in term.atoms:
        for node in walk(atom):
            if isinstance(node, Inverse):
                pairs += zip(target.events, (node.at_row, node.at_column), strict=True)
    changes: dict[Expression, Expression] = {}
    conditions: list[Expression] = []
    for axis, at in pairs:
        if at == axis:
            continue
        if isinstance(at, Lag):
            raise Coupled(multiply(*term.atoms))
        if isinstance(at, Index) and at in term.indices and at not in changes:
            changes[at] = axis
        else:
            conditions.append(equal(axis, changes.get(at, at)))
    left = tuple(index for index in term.indices if index not in changes)
    atoms = tuple(_move(atom, changes, target) for atom in term.atoms)
    return Term(left, multiply(*conditions, substitute(term.weight, changes)), atoms)


def _move(atom: Expression, changes: dict[Expression, Expression], target: Variable) -> Expression:
    """The atom with the target at its own axes, an inverse at its own event axes, and other indices changed."""
    if isinstance(atom, Reference) and atom.name == target.name:
        return target.symbol
    if isinstance(atom, Inverse) and len(target.events) == 2:
        row, column = target.events
        return Inverse(_move(atom.matrix, changes, target), row, column, row, column)
    if atom in changes:
        return changes[atom]
    return rebuild(atom, lambda part: _move(part, changes, target))


def _clear_of(term: Term, axes: tuple[Index, ...]) -> Term:
    """Rename summed indices that happen to bear the names of the target's axes."""
    clashing = [index for index in term.indices if index in axes]
    if not clashing:
        return term
    used = set(axes) | set(term.indices) | set(all_indices(term.weight))
    for atom in term.atoms:
        used |= all_indices(atom)
    changes: dict[Expression, Expression] = {}
    for index in clashing:
        new = fresh(Index(index.name + "~", index.plate), used)
        used.add(new)
        changes[index] = new
    return Term(
        tuple(changes.get(index, index) for index in term.indices),  # type: ignore[misc]
        substitute(term.weight, changes),
        tuple(substitute(atom, changes) for atom in term.atoms),
    )


def _event_names(term: Term, target: Variable) -> Term:
    """Indices bound inside a log determinant or an inverse take the names of the target's event axes."""
    if not any(bound(node) for atom in term.atoms for node in walk(atom)):
        return term
    return Term(term.indices, term.weight, tuple(_renamed(atom, target) for atom in term.atoms))


def _renamed(part: Expression, target: Variable) -> Expression:
    events = target.events
    match part:
        case LogDeterminant(matrix, row, column) if len(events) == 2:
            inner = substitute(matrix, {row: events[0], column: events[1]})
            return LogDeterminant(inner, events[0], events[1])
        case Inverse(matrix, row, column, at_row, at_column) if len(events) == 2:
            inner = substitute(matrix, {row: events[0], column: events[1]})
            return Inverse(inner, events[0], events[1], at_row, at_column)
    return rebuild(part, lambda inner: _renamed(inner, target))
