"""Evaluate BUGS expressions on numbers: bounds of loops, indices, data blocks, constants.

A loop variable may stand for a whole column of values at once, so that the indices of a million rows cost one pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from platewright.algebra.lazy import linalg, special
from platewright.language.bugs.syntax import (
    Element,
    Empty,
    Expression,
    FunctionCall,
    Index,
    Number,
    Operation,
    Range,
    elements,
)

Array = np.ndarray
MOST_CELLS = 500_000
"""Cells of one array, and repetitions of one statement."""
MOST_ROWS = 50_000
"""Cells that are computed one by one, where columns do not do."""


class NotKnown(Exception):
    """An expression that numbers alone do not settle; caught inside this room, never shown."""


def _interpolate(x: Any, at: Any, values: Any) -> Any:
    """Piecewise linear, and level beyond the ends, as `interp.lin` of JAGS is."""
    if np.size(at) < 2:
        raise NotKnown
    return np.interp(x, at, values)


def _rank(x: Any, *k: Any) -> Any:
    """Of all elements, their places in order (the first of equals first); of one, how many do not exceed it."""
    if k:
        return float(np.sum(np.asarray(x) <= np.asarray(x)[int(k[0]) - 1]))
    return 1.0 + np.argsort(np.argsort(x, kind="stable"))


def _one_or_all(pairwise: Any, whole: Any) -> Any:
    def result(*arguments: Any) -> Any:
        if len(arguments) == 1:
            return whole(arguments[0])
        found = arguments[0]
        for other in arguments[1:]:
            found = pairwise(found, other)
        return found

    return result


FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "abs": np.abs,
    "arccos": np.arccos,
    "arcsin": np.arcsin,
    "arctan": np.arctan,
    "cloglog": lambda p: np.log(-np.log1p(-np.asarray(p))),
    "cos": np.cos,
    "equals": lambda a, b: np.asarray(np.equal(a, b), dtype=float),
    "digamma": lambda x: special.digamma(x),
    "exp": np.exp,
    "expm1": np.expm1,
    "floor": np.floor,
    "icloglog": lambda x: -np.expm1(-np.exp(x)),
    "ifelse": lambda c, a, b: np.where(np.asarray(c) != 0, a, b),
    "ilogit": lambda x: special.expit(x),
    "inprod": lambda a, b: np.sum(np.asarray(a) * np.asarray(b)),
    "interp.lin": _interpolate,
    "inverse": np.linalg.inv,
    "length": lambda x: float(np.size(x)),
    "log": np.log,
    "log1p": np.log1p,
    "log_ilogit": lambda x: special.log_expit(x),
    "log_phi": lambda x: special.log_ndtr(x),
    "log_sum_exp": lambda x: special.logsumexp(x),
    "logdet": lambda x: np.linalg.slogdet(x)[1],
    "logfact": lambda x: special.gammaln(np.asarray(x) + 1),
    "loggam": lambda x: special.gammaln(x),
    "logit": lambda p: special.logit(p),
    "max": _one_or_all(np.maximum, np.max),
    "mean": np.mean,
    "mexp": lambda x: linalg.expm(x),
    "min": _one_or_all(np.minimum, np.min),
    "phi": lambda x: special.ndtr(x),
    "pow": lambda a, b: np.power(np.asarray(a, dtype=float), b),
    "probit": lambda p: special.ndtri(p),
    "prod": np.prod,
    "rank": _rank,
    "ranked": lambda x, k: np.sort(x)[int(k) - 1],
    "round": lambda x: np.floor(np.asarray(x) + 0.5),
    "sd": lambda x: np.std(x, ddof=1),
    "sin": np.sin,
    "sort": np.sort,
    "sqrt": np.sqrt,
    "step": lambda x: np.asarray(np.greater_equal(x, 0), dtype=float),
    "sum": np.sum,
    "t": np.transpose,
    "tan": np.tan,
    "tanh": np.tanh,
    "trigamma": lambda x: special.polygamma(1, x),
    "trunc": np.trunc,
}
"""The functions of both dialects; the same names with another spelling follow."""

SPELLED = {
    "cexpexp": "icloglog",
    "cexpit": "ilogit",
    "expit": "ilogit",
    "inprod2": "inprod",
    "lgamma": "loggam",
    "pnorm01": "phi",
    "acos": "arccos",
    "asin": "arcsin",
    "atan": "arctan",
}
VECTOR_FUNCTIONS = frozenset(
    {
        *("inprod", "interp.lin", "inverse", "length", "logdet", "mean", "mexp", "prod", "rank", "ranked", "sd"),
        *("sort", "sum", "t", "log_sum_exp"),
    }
)
OPERATORS: Mapping[str, Callable[..., Any]] = {
    "/": np.true_divide,
    "^": lambda a, b: np.power(np.asarray(a, dtype=float), b),
    "%*%": lambda a, b: np.matmul(a, b) if np.ndim(a) and np.ndim(b) else np.multiply(a, b),
    "neg": np.negative,
    "not": lambda a: np.asarray(np.equal(a, 0), dtype=float),
    "==": lambda a, b: np.asarray(np.equal(a, b), dtype=float),
    "!=": lambda a, b: np.asarray(np.not_equal(a, b), dtype=float),
    "<": lambda a, b: np.asarray(np.less(a, b), dtype=float),
    "<=": lambda a, b: np.asarray(np.less_equal(a, b), dtype=float),
    ">": lambda a, b: np.asarray(np.greater(a, b), dtype=float),
    ">=": lambda a, b: np.asarray(np.greater_equal(a, b), dtype=float),
    "&&": lambda a, b: np.asarray((np.asarray(a) != 0) & (np.asarray(b) != 0), dtype=float),
    "||": lambda a, b: np.asarray((np.asarray(a) != 0) | (np.asarray(b) != 0), dtype=float),
}


def canonical(name: str) -> str:
    """A function's name in its first spelling."""
    return SPELLED.get(name, name)


@dataclass
class Scope:
    """Names with numbers: constants, and loop variables at one value or at a column of values."""

    constants: Mapping[str, Array]
    loops: Mapping[str, Any] = field(default_factory=dict)
    assumed: frozenset[str] = frozenset()
    """Constants that stand in for sizes nobody gave; `touched` records that a result hangs on one of them."""
    touched: set[str] = field(default_factory=set)

    def at(self, loops: Mapping[str, Any]) -> Scope:
        """The same constants with other loop values; touches are shared."""
        return Scope(self.constants, loops, self.assumed, self.touched)


def compute(node: Expression, scope: Scope) -> Any:
    """The value of an expression, an array where it is one; `NotKnown` where a name has no number."""
    with np.errstate(all="ignore"):
        try:
            return _compute(node, scope)
        except (TypeError, ValueError, IndexError, ArithmeticError, np.linalg.LinAlgError):
            raise NotKnown from None


def _compute(node: Expression, scope: Scope) -> Any:
    match node:
        case Number(value):
            return value
        case Element():
            return _element(node, scope)
        case Operation("+", operands):
            values = [_compute(part, scope) for part in operands]
            return sum(values[1:], start=values[0])
        case Operation("*", operands):
            result = _compute(operands[0], scope)
            for part in operands[1:]:
                result = result * _compute(part, scope)
            return result
        case Operation("%*%") if any(np.ndim(value) for value in scope.loops.values()):
            raise NotKnown  # as for vector functions: columns of loop values are no vectors
        case Operation(operator, operands):
            return OPERATORS[operator](*(_compute(part, scope) for part in operands))
        case FunctionCall(name, arguments):
            return _call(canonical(name), arguments, scope)
    raise NotKnown


def _call(name: str, arguments: tuple[Expression, ...], scope: Scope) -> Any:
    if name not in FUNCTIONS:
        raise NotKnown
    if name in VECTOR_FUNCTIONS and any(np.ndim(value) for value in scope.loops.values()):
        return _in_turn(name, arguments, scope)
    return FUNCTIONS[name](*(_compute(part, scope) for part in arguments))


def _in_turn(name: str, arguments: tuple[Expression, ...], scope: Scope) -> Any:
    """A function of vectors once for each value of the loops it looks at: a column would be taken for the vector."""
    used = {element.name for part in arguments for element in elements(part)} & scope.loops.keys()
    loops = dict(zip(sorted(used), np.broadcast_arrays(*(scope.loops[loop] for loop in sorted(used)))))
    shape = next((values.shape for values in loops.values()), ())
    if count_cells(shape) > MOST_ROWS:
        raise NotKnown
    found = np.empty(shape)
    for at in np.ndindex(*shape):
        value = _call(name, arguments, scope.at({loop: int(values[at]) for loop, values in loops.items()}))
        if np.ndim(value):
            raise NotKnown
        found[at] = value
    return found if shape else float(found)


def _element(node: Element, scope: Scope) -> Any:
    if node.indices is None and node.name in scope.loops:
        return scope.loops[node.name]
    if node.name not in scope.constants:
        raise NotKnown
    if node.name in scope.assumed:
        scope.touched.add(node.name)
    table = scope.constants[node.name]
    if node.indices is None:
        return float(table) if table.ndim == 0 else table
    if len(node.indices) != table.ndim:
        raise NotKnown
    at = tuple(_position(part, size, scope) for part, size in zip(node.indices, table.shape))
    if any(isinstance(part, slice) for part in at) and any(np.ndim(part) for part in at if not isinstance(part, slice)):
        raise NotKnown
    found = table[at]
    return float(found) if np.ndim(found) == 0 else found


def _position(part: Index, size: int, scope: Scope) -> Any:
    """A position from 0, checked against the size; a range becomes a slice."""
    if isinstance(part, Empty):
        return slice(None)
    if isinstance(part, Range):
        first, last = whole(_compute(part.first, scope)), whole(_compute(part.last, scope))
        if np.ndim(first) or np.ndim(last) or not (first >= 1 and last <= size):
            raise NotKnown
        return slice(int(first) - 1, max(int(last), int(first) - 1))
    found = whole(_compute(part, scope))
    least, most = (found, found) if isinstance(found, int) else (np.min(found, initial=1), np.max(found, initial=1))
    if least < 1 or most > size:
        raise NotKnown
    return found - 1


def whole(value: Any) -> Any:
    """Whole numbers as integers of any shape; anything else is not an index."""
    if isinstance(value, int | float):
        if not math.isfinite(value) or value != math.floor(value) or abs(value) > 2**53:
            raise NotKnown
        return int(value)
    found = np.asarray(value)
    if not np.isfinite(found).all() or (found != np.floor(found)).any() or (np.abs(found) > 2**53).any():
        raise NotKnown
    result = found.astype(np.int64)
    return int(result) if result.ndim == 0 else result


def span(domain: Expression | Range, scope: Scope) -> Array:
    """The values a loop runs over, as integers; an upward range that ends before it starts is empty."""
    if isinstance(domain, Range):
        first, last = whole(compute(domain.first, scope)), whole(compute(domain.last, scope))
        if np.ndim(first) or np.ndim(last):
            raise NotKnown
        if last - first >= MOST_CELLS:
            raise OverflowError(f"{first}:{last}")
        return np.arange(int(first), int(last) + 1)
    return np.ravel(whole(compute(domain, scope)))


def count_cells(shape: tuple[int, ...]) -> int:
    """The number of cells of a shape, without overflow."""
    return math.prod(shape)
