"""Order within a vector, as sums of comparisons.

    rank(x)_j = 1 + before_j                    rank(x, j) = sum_i [x_i <= x_j]
    sort(x)_k = sum_j x_j [before_j = k]        before_j = sum_i ([x_i < x_j] + [x_i = x_j] [i < j])

A few elements are sorted by minima and maxima of pairs instead, which have derivatives: cut points that are sorted move
along their gradient like any other unknown.
"""

from __future__ import annotations

from collections.abc import Iterator

from platewright.algebra import build
from platewright.algebra.expression import Constant, Expression, Index
from platewright.language.bugs.frame import Frame
from platewright.language.bugs.value import Value

MOST_COMPARED = 6
"""Elements that are sorted pair by pair; the expressions double with each layer of pairs."""


def in_order(name: str, value: Value, frame: Frame) -> Value:
    """`sort(x[])`, or the ranks of all elements."""
    at = _only_index(value)
    if name == "rank":
        return Value(build.add(_before(value, at, frame), 1.0), value.axes)
    return Value(_smallest(value, at, frame), value.axes)


def order_statistic(name: str, value: Value, number: Expression, frame: Frame) -> Value:
    """`ranked(x[], k)`, the k-th smallest element; or `rank(x[], k)`, how many elements do not exceed the k-th."""
    _only_index(value)
    size = value.axes[0].size
    if isinstance(number, Constant) and number.value not in range(1, size + 1):
        raise ValueError(f"element {number.value:g} of a vector of {size}")
    place = build.add(number, -1.0)
    if name == "ranked":
        return Value(_smallest(value, place, frame))
    return Value(_rank(value, place, frame))


def _only_index(value: Value) -> Index:
    if len(value.axes) != 1 or value.axes[0].mask is not None:
        raise ValueError("order is known for a vector with fixed ends only")
    return value.axes[0].index


def _smallest(value: Value, number: Expression, frame: Frame) -> Expression:
    """The element with a given number of others before it."""
    if 1 < value.axes[0].size <= MOST_COMPARED:
        return _chosen(_sorted_by_pairs([value.at(Constant(float(k))) for k in range(value.axes[0].size)]), number)
    one = _another(value, frame)
    return build.total(build.multiply(value.at(one), build.equal(_before(value, one, frame), number)), one)


def _sorted_by_pairs(elements: list[Expression]) -> list[Expression]:
    """Smallest first: each pair in turn is put in order."""
    found = list(elements)
    for one, two in _pairs(len(found)):
        low, high = build.call("minimum", found[one], found[two]), build.call("maximum", found[one], found[two])
        found[one], found[two] = low, high
    return found


def _pairs(count: int) -> Iterator[tuple[int, int]]:
    """Batcher's network: any order comes out sorted, in few layers."""
    stretch = 1
    while stretch < count:
        apart = stretch
        while apart >= 1:
            for first in range(apart % stretch, count - apart, 2 * apart):
                for one in range(first, min(first + apart, count - apart)):
                    if one // (2 * stretch) == (one + apart) // (2 * stretch):
                        yield one, one + apart
            apart //= 2
        stretch *= 2


def _chosen(several: list[Expression], number: Expression) -> Expression:
    """One of several expressions by its number."""
    if isinstance(number, Constant):
        return several[int(number.value)]
    found = several[-1]
    for k, one in reversed(list(enumerate(several[:-1]))):
        found = build.where(build.equal(number, float(k)), one, found)
    return found


def _rank(value: Value, at: Expression, frame: Frame) -> Expression:
    """How many elements do not exceed the one at a place."""
    other = _another(value, frame)
    return build.total(build.add(1.0, -build.call("less", value.at(at), value.at(other))), other)


def _before(value: Value, at: Expression, frame: Frame) -> Expression:
    """How many elements stand before the one at a place; the first of equals stands first."""
    other = _another(value, frame)
    here, there = value.at(at), value.at(other)
    ties = build.multiply(build.equal(there, here), build.call("less", other, at))
    return build.total(build.add(build.call("less", there, here), ties), other)


def _another(value: Value, frame: Frame) -> Index:
    return frame.fresh_index(frame.draft.model.plates[value.axes[0].index.plate])
