"""Evaluate an expression directly: slow, obvious, and the judge of everything generated.

Arrays carry one axis per index in scope, of length 1 where they do not depend on it; a sum opens an axis and closes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from platewright.algebra.expression import (
    Add,
    AtMost,
    Call,
    Constant,
    Expression,
    Index,
    Indicator,
    Inverse,
    Lag,
    Literal,
    LogDeterminant,
    LogSumExp,
    Maximum,
    Multiply,
    Power,
    Quadratic,
    Reference,
    Root,
    Scan,
    Size,
    Sum,
    Where,
    free_indices,
)
from platewright.algebra.grouped import Grouped, group_sums, grouped
from platewright.algebra.lazy import special
from platewright.algebra.lgamma import lgamma
from platewright.algebra.scaled_lgamma import log_beta, scaled_lgamma
from platewright.algebra.scanning import loop_of, run_scan

Array = np.ndarray


@dataclass(frozen=True)
class Environment:
    """Values of variables (axes in declared order) and sizes of plates."""

    values: Mapping[str, Array]
    sizes: Mapping[str, int] = field(default_factory=dict)

    def with_values(self, more: Mapping[str, Array]) -> Environment:
        """The same environment with more, or other, values."""
        return Environment({**self.values, **more}, self.sizes)


def evaluate(expression: Expression, environment: Environment, axes: tuple[Index, ...] = ()) -> Array:
    """The value of an expression as an array with the given axes, each at its full size."""
    with np.errstate(divide="ignore"):  # the logarithm of an exact zero is minus infinity and means it
        result = _evaluate(expression, environment, axes)
    if isinstance(expression, Reference):
        result = np.array(result)  # the values themselves may change later
    return np.broadcast_to(result, tuple(environment.sizes[axis.plate] for axis in axes))


def elementwise(expression: Expression, values: Mapping[str, Array]) -> Array:
    """An expression of scalars applied to arrays of them, element by element."""
    return _evaluate(expression, Environment(values), ())


def log_bessel0(x: Array) -> Array:
    """`log I0(x)` without overflow."""
    return np.asarray(np.log(special.i0e(x)) + np.abs(x))


def multivariate_lgamma(x: Array, dimension: Array) -> Array:
    """`log Gamma_d(x)`, the normaliser of the Wishart family."""
    count = int(np.max(dimension))
    result = np.full(np.shape(x), count * (count - 1) / 4 * np.log(np.pi))
    for j in range(count):
        result = result + lgamma(x - j / 2)
    return result


def multivariate_digamma(x: Array, dimension: Array) -> Array:
    """The derivative of `log Gamma_d(x)`."""
    result = np.zeros(np.shape(x))
    for j in range(int(np.max(dimension))):
        result = result + special.digamma(x - j / 2)
    return result


FUNCTIONS: Mapping[str, Callable[..., Array]] = {
    "log": np.log,
    "exp": np.exp,
    "log1p": np.log1p,
    "expm1": np.expm1,
    "absolute": np.abs,
    "lgamma": lgamma,
    "scaled_lgamma": scaled_lgamma,
    "log_beta": log_beta,
    "digamma": lambda x: special.digamma(x),
    "trigamma": lambda x: special.polygamma(1, x),
    "logistic": lambda x: special.expit(x),
    "log_logistic": lambda x: special.log_expit(x),
    "cos": np.cos,
    "sin": np.sin,
    "tanh": np.tanh,
    "log_bessel0": log_bessel0,
    "normal_cdf": lambda x: special.ndtr(x),
    "log_normal_cdf": lambda x: special.log_ndtr(x),
    "normal_quantile": lambda p: special.ndtri(p),
    "gamma_cdf": lambda shape, x: special.gammainc(shape, x),
    "beta_cdf": lambda a, b, x: special.betainc(a, b, x),
    "multivariate_lgamma": multivariate_lgamma,
    "arctan2": np.arctan2,
    "multivariate_digamma": multivariate_digamma,
    "bessel_ratio": lambda x: special.i1e(x) / special.i0e(x),
    "less": lambda a, b: np.asarray(a < b, dtype=float),
    "maximum": np.maximum,
    "minimum": np.minimum,
    "floor": np.floor,
    "xlogy": lambda x, y: special.xlogy(x, y),
}


def _evaluate(expression: Expression, environment: Environment, scope: tuple[Index, ...]) -> Array:
    def inner(part: Expression) -> Array:
        return _evaluate(part, environment, scope)

    match expression:
        case Constant(value):
            return np.full((1,) * len(scope), value)
        case Size(plate):
            return np.full((1,) * len(scope), float(environment.sizes[plate]))
        case Index(_, plate):
            shape = [1] * len(scope)
            # The innermost binding counts: an element of an inverse may stand where its own indices are in scope.
            shape[len(scope) - 1 - scope[::-1].index(expression)] = environment.sizes[plate]
            return np.arange(environment.sizes[plate]).reshape(shape)
        case Lag(index):
            return np.asarray(np.maximum(inner(index) - 1, 0))
        case Reference(name, indices):
            table = np.asarray(environment.values[name])
            if (whole := _along_scope(table, indices, environment, scope)) is not None:
                return whole
            return _look_up(table, [inner(part) for part in indices], len(scope))
        case Literal(values, shape, _, indices):
            table = np.asarray(values, dtype=float).reshape(shape)
            return _look_up(table, [inner(part) for part in indices], len(scope))
        case Add(terms):
            result = inner(terms[0])
            for term in terms[1:]:
                result = result + inner(term)
            return result
        case Multiply(factors):
            return product([inner(factor) for factor in factors])
        case Power(base, Constant(2.0)):  # a general power takes ten times as long
            return np.square(_inexact(inner(base)))
        case Power(base, exponent):
            return np.asarray(np.power(_inexact(inner(base)), inner(exponent)))
        case Call(function, arguments):
            return FUNCTIONS[function](*(inner(argument) for argument in arguments))
        case Sum(index, body) if (found := grouped(index, body)) is not None and found.group in scope:
            return _by_group(found, index, environment, scope)
        case Sum(index, body):
            return np.asarray(np.sum(_opened(body, environment, scope, index), axis=-1))
        case LogSumExp(index, body):
            # Within its own scope: of sums in sums in sums each has the axes that it depends on, and no others.
            free = free_indices(expression)
            kept = tuple(one for place, one in enumerate(scope) if one in free and one not in scope[place + 1 :])
            opened = _opened(body, environment, kept, index)
            summed = np.asarray(special.logsumexp(opened, axis=-1))
            return summed if kept == scope else _spread(summed, kept, scope)
        case Maximum(index, body):
            opened = _opened(body, environment, scope, index)
            return np.asarray(np.max(np.asarray(opened, dtype=float), axis=-1, initial=-np.inf))
        case Indicator(left, right):
            return np.asarray(inner(left) == inner(right), dtype=float)
        case AtMost(low, high):
            return np.where(inner(low) <= inner(high), 0.0, -np.inf)
        case Where(condition, then, otherwise):
            return np.where(inner(condition) != 0, inner(then), inner(otherwise))
        case Quadratic(residual, matrix, row, column):
            vector = _opened(residual, environment, scope, row)
            table = _matrix(matrix, row, column, environment, scope)
            return _quadratic(vector, table)
        case LogDeterminant(matrix, row, column):
            return np.asarray(np.linalg.slogdet(_matrix(matrix, row, column, environment, scope))[1])
        case Inverse(matrix, row, column, at_row, at_column):
            inverse = np.linalg.inv(_matrix(matrix, row, column, environment, scope))
            whole = _every_element(inverse, at_row, at_column, environment, scope)
            return _element(inverse, inner(at_row), inner(at_column)) if whole is None else whole
        case Root(matrix, row, column, at_row, at_column):
            root = np.linalg.cholesky(_matrix(matrix, row, column, environment, scope))
            return _element(root, inner(at_row), inner(at_column))
        case Scan():
            tables = _scanned(expression, environment)
            at = (*loop_of(expression).outer, *expression.at)
            return _look_up(tables[expression.states.index(expression.state)], [inner(part) for part in at], len(scope))
    raise TypeError(f"not an expression: {expression!r}")


def _scanned(scan: Scan, environment: Environment) -> list[Array]:
    """The states of a scan at all steps."""
    loop, sizes = loop_of(scan), environment.sizes
    inputs = [np.array(evaluate(one.expression, environment, one.axes)) for one in loop.inputs]

    def body(written: Expression, axes: tuple[Index, ...]) -> Callable[[Mapping[str, Array]], Array]:
        return lambda values: evaluate(written, Environment(values, sizes), axes)

    return run_scan(scan, sizes, inputs, [body(*pair) for pair in zip(loop.bodies, loop.axes, strict=True)])


def _inexact(x: object) -> Array:
    """Whole numbers as floats, for they may become powers; complex ones stay, for derivatives by complex steps."""
    found = np.asarray(x)
    return found if found.dtype.kind == "c" else np.asarray(found, dtype=float)


def _every_element(
    table: Array, row: Expression, column: Expression, environment: Environment, scope: tuple[Index, ...]
) -> Array | None:
    """The elements of a stack of matrices where they go along two axes of the scope: its own last axes, put there."""
    if not (isinstance(row, Index) and isinstance(column, Index)) or row == column or not {row, column} <= set(scope):
        return None
    places = [len(scope) - 1 - scope[::-1].index(index) for index in (row, column)]
    sizes = tuple(environment.sizes[index.plate] for index in (row, column))
    if table.shape[-2:] != sizes or any(table.shape[place] != 1 for place in places):
        return None
    moved = np.swapaxes(np.swapaxes(table, -2, places[0]), -1, places[1])
    return np.asarray(moved[..., 0, 0])


def _element(table: Array, rows: Array, columns: Array) -> Array:
    """One element of each matrix in a stack."""
    rows, columns = np.broadcast_arrays(rows, columns)
    shape = np.broadcast_shapes(rows.shape, table.shape[:-2])
    leading = np.ix_(*(range(size) for size in shape)) if shape else ()
    table = np.broadcast_to(table, (*shape, *table.shape[-2:]))
    return np.asarray(table[(*leading, np.broadcast_to(rows, shape), np.broadcast_to(columns, shape))])


def _quadratic(vector: Array, table: Array) -> Array:
    shape = np.broadcast_shapes(vector.shape[:-1], table.shape[:-2])
    vector = np.broadcast_to(vector, (*shape, vector.shape[-1]))
    table = np.broadcast_to(table, (*shape, *table.shape[-2:]))
    return np.asarray(np.einsum("...i,...ij,...j->...", vector, table, vector))


def product(values: list[Array]) -> Array:
    """A product in which an exact zero wins over an infinity: `[c = k] log 0` is nothing, not NaN."""
    result = values[0]
    for value in values[1:]:
        with np.errstate(invalid="ignore"):
            product = result * value
        zero = (result == 0) | (value == 0)
        result = np.where(zero, 0.0, product) if np.isnan(product).any() else product
    return result


def _along_scope(
    table: Array, indices: tuple[Expression, ...], environment: Environment, scope: tuple[Index, ...]
) -> Array | None:
    """All of a table whose axes are those of the scope: the same numbers, moved only where their order is another."""
    if not indices or len(indices) != table.ndim or not table.flags.c_contiguous:
        return None
    shape, places = [1] * len(scope), []
    for index, size in zip(indices, table.shape, strict=True):
        if not isinstance(index, Index) or index not in scope or environment.sizes[index.plate] != size:
            return None
        places.append(len(scope) - 1 - scope[::-1].index(index))
        shape[places[-1]] = size
    if len(set(places)) < len(places):
        return None
    return np.ascontiguousarray(table.transpose(np.argsort(places))).reshape(shape)


def _spread(values: Array, kept: tuple[Index, ...], scope: tuple[Index, ...]) -> Array:
    """Values over some indices of a scope, with an axis of one element for each other."""
    shape = [1] * len(scope)
    for size, index in zip(values.shape, kept, strict=True):
        shape[len(scope) - 1 - scope[::-1].index(index)] = size
    return values.reshape(shape)


def _look_up(table: Array, positions: list[Array], depth: int) -> Array:
    if not positions:
        return np.reshape(table, (1,) * depth) if np.ndim(table) == 0 else table
    return table[tuple(np.asarray(position, dtype=np.intp) for position in positions)]


def _opened(body: Expression, environment: Environment, scope: tuple[Index, ...], index: Index) -> Array:
    result = _evaluate(body, environment, (*scope, index))
    shape = (*result.shape[:-1], environment.sizes[index.plate])
    return np.broadcast_to(result, shape)


def _by_group(found: Grouped, index: Index, environment: Environment, scope: tuple[Index, ...]) -> Array:
    """A sum over the rows of each group; the axis of the groups takes the place of that of the rows."""
    codes = np.asarray(_evaluate(found.code, environment, (index,)), dtype=np.intp)
    values = np.asarray(_opened(found.rest, environment, scope, index), dtype=float)
    place = len(scope) - 1 - scope[::-1].index(found.group)
    sums = group_sums(codes, np.squeeze(values, axis=place), environment.sizes[found.group.plate])
    return np.moveaxis(sums, -1, place)


def _matrix(matrix: Expression, row: Index, column: Index, environment: Environment, scope: tuple[Index, ...]) -> Array:
    result = _evaluate(matrix, environment, (*scope, row, column))
    shape = (*result.shape[:-2], environment.sizes[row.plate], environment.sizes[column.plate])
    return np.array(np.broadcast_to(result, shape))
