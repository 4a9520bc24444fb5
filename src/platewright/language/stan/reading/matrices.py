"""Functions of Stan on vectors and matrices: totals, shapes, products, parts, and what is computed of data alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from platewright.language.bugs import syntax as bugs
from platewright.language.bugs.syntax import Empty, FunctionCall, Place
from platewright.language.stan.reading.state import State
from platewright.language.stan.reading.trouble import Trouble
from platewright.language.stan.reading.value import (
    Indices,
    Value,
    array,
    calling,
    mapped,
    operated,
    operation,
    power,
    scalar,
    times,
)

Tree = bugs.Expression
Array = np.ndarray


def total(word: str, value: Value, place: Place, state: State) -> Value:
    whole = state.sliced(value, place)
    return scalar(FunctionCall(word, (whole.all(),), place), value.is_whole and word in ("sum", "prod", "max", "min"))


def _repeated(kind: str) -> Callable[..., Value]:
    def repeat(state: State, place: Place, value: Value, *sizes: Value) -> Value:
        return Value(lambda at: value.at(at[len(sizes) :]), (*(size.scalar for size in sizes), *value.sizes), kind,
                     value.is_whole, gives_slices=False)  # fmt: skip

    return repeat


def _filled(what: float, kind: str) -> Callable[..., Value]:
    return lambda state, place, *sizes: Value(
        lambda at: bugs.Number(what), tuple(size.scalar for size in sizes), kind, gives_slices=False
    )


def _inner(state: State, place: Place, a: Value, b: Value) -> Value:
    one, two = state.sliced(a, place), state.sliced(b, place)
    return scalar(FunctionCall("inprod", (one.all(), two.all()), place))


def _sizes(axis: int | None) -> Callable[..., Value]:
    def size(state: State, place: Place, value: Value) -> Value:
        if axis is not None and value.rank > axis:
            return scalar(value.sizes[axis], is_whole=True)
        found: Tree = bugs.Number(1.0)
        for one in value.sizes:
            found = one if found == bugs.Number(1.0) else times(found, one)
        return scalar(found, is_whole=True)

    return size


def _as_kind(kind: str) -> Callable[..., Value]:
    def changed(state: State, place: Place, value: Value, *more: Value) -> Value:
        if kind != "matrix" and value.rank == 2 and value.kind == "matrix" and not more:
            return _by_columns(value, kind)
        if kind == "matrix" and value.rank == 1 and len(more) == 2:
            return _in_columns(value, *more)
        if value.rank != (2 if kind == "matrix" else 1) or more:
            raise Trouble(place, "a change of shape", "a vector of a matrix, or a matrix of a vector, by columns")
        return replace(value, kind=kind)

    return changed


def _by_columns(matrix: Value, kind: str) -> Value:
    """The cells of a matrix, column after column."""
    rows = matrix.sizes[0]

    def at(asked: Indices) -> Tree:
        k = asked[0]
        assert not isinstance(k, (Empty, bugs.Range))
        before = operation("+", k, bugs.Number(-1.0))
        column = FunctionCall("trunc", (bugs.Operation("/", (before, rows)),))
        row = operation("+", k, operation("neg", times(column, rows)))
        return matrix.at((row, operation("+", column, bugs.Number(1.0))))

    return Value(at, (times(rows, matrix.sizes[1]),), kind, matrix.is_whole, gives_slices=False)


def _in_columns(value: Value, rows: Value, columns: Value) -> Value:
    """A matrix that is filled column after column."""

    def at(asked: Indices) -> Tree:
        i, j = asked
        assert not isinstance(i, (Empty, bugs.Range)) and not isinstance(j, (Empty, bugs.Range))
        return value.at((operation("+", i, times(operation("+", j, bugs.Number(-1.0)), rows.scalar)),))

    return Value(at, (rows.scalar, columns.scalar), "matrix", value.is_whole, gives_slices=False)


def _softmax(state: State, place: Place, value: Value) -> Value:
    whole = state.sliced(value, place)
    under = FunctionCall("log_sum_exp", (whole.all(),), place)
    return Value(lambda at: FunctionCall("exp", (operation("+", value.at(at), operation("neg", under)),), place),
                 value.sizes, value.kind)  # fmt: skip


def _log_softmax(state: State, place: Place, value: Value) -> Value:
    whole = state.sliced(value, place)
    under = FunctionCall("log_sum_exp", (whole.all(),), place)
    return Value(lambda at: operation("+", value.at(at), operation("neg", under)), value.sizes, value.kind)


def _same(i: bugs.Index, j: bugs.Index) -> Tree:
    assert not isinstance(i, (Empty, bugs.Range)) and not isinstance(j, (Empty, bugs.Range))
    return FunctionCall("equals", (i, j))


def _diagonal_matrix(state: State, place: Place, value: Value) -> Value:
    def at(asked: Indices) -> Tree:
        return times(value.at(asked[:1]), _same(asked[0], asked[1]))

    return Value(at, value.sizes * 2, "matrix", gives_slices=False)


def _identity(state: State, place: Place, size: Value) -> Value:
    return Value(lambda at: _same(at[0], at[1]), (size.scalar,) * 2, "matrix", gives_slices=False)


def _scaled_rows(state: State, place: Place, scale: Value, matrix: Value) -> Value:
    return replace(matrix, at=lambda at: times(scale.at(at[:1]), matrix.at(at)), gives_slices=False)


def _scaled_columns(state: State, place: Place, matrix: Value, scale: Value) -> Value:
    return replace(matrix, at=lambda at: times(matrix.at(at), scale.at(at[1:])), gives_slices=False)


def _scaled_both(state: State, place: Place, matrix: Value, scale: Value) -> Value:
    return _scaled_rows(state, place, scale, _scaled_columns(state, place, matrix, scale))


def _times_its_transpose(state: State, place: Place, matrix: Value) -> Value:
    whole = state.sliced(matrix, place)

    def at(asked: Indices) -> Tree:
        return FunctionCall("inprod", (whole.at((asked[0], Empty())), whole.at((asked[1], Empty()))), place)

    return Value(at, (matrix.sizes[0],) * 2, "matrix", gives_slices=False)


def _transpose_times_it(state: State, place: Place, matrix: Value) -> Value:
    whole = state.sliced(matrix, place)

    def at(asked: Indices) -> Tree:
        return FunctionCall("inprod", (whole.at((Empty(), asked[0])), whole.at((Empty(), asked[1]))), place)

    return Value(at, (matrix.sizes[1],) * 2, "matrix", gives_slices=False)


def _inverse(state: State, place: Place, matrix: Value) -> Value:
    whole = state.sliced(matrix, place)
    name = state.fresh("inverse")
    loops = tuple(bugs.Element(loop, None, place) for loop in state.loop_names)
    ends = tuple(bugs.Range(bugs.Number(1.0), size) for size in matrix.sizes)
    inverted = FunctionCall("inverse", (whole.all(),), place)
    state.say(bugs.Assignment(bugs.Element(name, (*loops, *ends), place), inverted, None, place))
    return Value(lambda at: bugs.Element(name, (*loops, *at), place), matrix.sizes, "matrix")


def _log_determinant(state: State, place: Place, matrix: Value) -> Value:
    return scalar(FunctionCall("logdet", (state.sliced(matrix, place).all(),), place))


def _quadratic(state: State, place: Place, matrix: Value, vector: Value) -> Value:
    from platewright.language.stan.reading.expressions import _product

    return _inner(state, place, vector, _product(matrix, vector, place, state))


def _cumulated(state: State, place: Place, value: Value) -> Value:
    whole = state.sliced(value, place)

    def at(asked: Indices) -> Tree:
        (k,) = asked
        assert not isinstance(k, (Empty, bugs.Range))
        return FunctionCall("sum", (whole.at((bugs.Range(bugs.Number(1.0), k),)),), place)

    return replace(value, at=at, gives_slices=False)


def _joined(state: State, place: Place, one: Value, other: Value) -> Value:
    parts = [value if value.rank else Value(lambda at, v=value: v.scalar, (bugs.Number(1.0),), "vector")  # type: ignore[misc]
             for value in (one, other)]  # fmt: skip
    name = state.fresh("joined")
    loops = tuple(bugs.Element(loop, None, place) for loop in state.loop_names)
    start: Tree = bugs.Number(0.0)
    for part in parts:
        heads = state.heads(part.sizes, place)
        at = tuple(bugs.Element(head.variable, None, place) for head in heads)
        target = bugs.Element(name, (*loops, operation("+", at[0], start), *at[1:]), place)
        state.say(bugs.Assignment(target, part.at(at), None, place), heads)
        start = operation("+", start, part.sizes[0])
    kind = next((value.kind for value in (one, other) if value.rank), "vector")
    return Value(lambda at: bugs.Element(name, (*loops, *at), place), (start, *parts[0].sizes[1:]), kind)


def _part(state: State, place: Place, value: Value, first: Tree, size: Tree) -> Value:
    before = operation("+", first, bugs.Number(-1.0))

    def at(asked: Indices) -> Tree:
        k = asked[0]
        if isinstance(k, Empty):
            return value.at((bugs.Range(first, operation("+", before, size)),))
        return value.at((operation("+", k, before),))  # type: ignore[arg-type]

    return replace(value, at=at, sizes=(size,))


def _column(state: State, place: Place, matrix: Value, at: Value) -> Value:
    return Value(
        lambda asked: matrix.at((asked[0], at.scalar)), matrix.sizes[:1], "vector", gives_slices=matrix.gives_slices
    )


def _row(state: State, place: Place, matrix: Value, at: Value) -> Value:
    return Value(
        lambda asked: matrix.at((at.scalar, asked[0])), matrix.sizes[1:], "row", gives_slices=matrix.gives_slices
    )


def _diagonal(state: State, place: Place, matrix: Value) -> Value:
    return Value(lambda asked: matrix.at((asked[0], asked[0])), matrix.sizes[:1], "vector", gives_slices=False)


def _variance(state: State, place: Place, value: Value) -> Value:
    return mapped(lambda tree: power(tree, 2.0), total("sd", value, place, state))


def _log_mix(state: State, place: Place, shares: Value, parts: Value) -> Value:
    return total("log_sum_exp", operated("+", calling("log", shares), parts), place, state)


def _size_down(state: State, value: Value, k: Value) -> Tree:
    return operation("+", operation("+", value.sizes[0], operation("neg", k.scalar)), bugs.Number(1.0))


def _covariance(state: State, place: Place, x: Value, size: Value, scale: Value) -> Value:
    """size^2 exp(-(x_i - x_j)^2 / (2 scale^2)) over points on a line."""
    if x.rank != 1:
        raise Trouble(place, "`gp_exp_quad_cov` of points with several coordinates", "an array of numbers")

    def at(asked: Indices) -> Tree:
        one, two = (x.at((k,)) for k in asked)
        ratio = power(bugs.Operation("/", (operation("+", one, operation("neg", two)), scale.scalar)), 2.0)
        return times(power(size.scalar, 2.0), FunctionCall("exp", (times(bugs.Number(-0.5), ratio),), place))

    return Value(at, x.sizes * 2, "matrix", gives_slices=False)


def _upright(factors: tuple[Array, Array]) -> tuple[Array, Array]:
    """Q and R with a positive diagonal of R, as Stan has them."""
    signs = np.where(np.diag(factors[1]) < 0, -1.0, 1.0)
    return factors[0] * signs, factors[1] * signs[:, None]


OF_DATA: dict[str, Callable[[Array], Array]] = {
    "cholesky_decompose": np.linalg.cholesky,
    "qr_thin_Q": lambda x: _upright(np.linalg.qr(x))[0], "qr_thin_R": lambda x: _upright(np.linalg.qr(x))[1],
    "eigenvalues_sym": np.linalg.eigvalsh,
    "sort_asc": np.sort, "sort_desc": lambda x: -np.sort(-x),
    "sort_indices_asc": lambda x: np.argsort(x, kind="stable") + 1.0,
    "sort_indices_desc": lambda x: np.argsort(-x, kind="stable") + 1.0,
}  # fmt: skip
"""Functions of whole arrays that are computed where data settle them."""


def _of_data(name: str, function: Callable[[Array], Array]) -> Callable[..., Value]:
    def computed(state: State, place: Place, value: Value) -> Value:
        numbers = state.numbers_of(value, place)
        try:
            found = None if numbers is None or numbers.size == 0 else function(numbers)
        except np.linalg.LinAlgError as trouble:
            raise Trouble(place, f"`{name}` of these numbers: {trouble}") from None
        if found is None:
            raise Trouble(place, f"`{name}` of what is not known beforehand", "data, or what is computed of data")
        array_name = state.fresh(name)
        state.constants[array_name] = found
        state.settled.add(array_name)
        sizes = tuple(bugs.Number(float(size)) for size in found.shape)
        return array(array_name, sizes, value.kind, (), place, "indices" in name)

    return computed


ARRAYS: dict[str, Callable[..., Value]] = {
    "dot_product": _inner, "dot_self": lambda s, p, a: _inner(s, p, a, a), "variance": _variance,
    "rep_vector": _repeated("vector"), "rep_row_vector": _repeated("row"), "rep_array": _repeated("array"),
    "rep_matrix": _repeated("matrix"), "zeros_vector": _filled(0.0, "vector"), "ones_vector": _filled(1.0, "vector"),
    "zeros_row_vector": _filled(0.0, "row"), "ones_row_vector": _filled(1.0, "row"),
    "sum": lambda s, p, v: total("sum", v, p, s),
    "size": _sizes(0), "num_elements": _sizes(None), "rows": _sizes(0), "cols": _sizes(1),
    "to_vector": _as_kind("vector"), "to_row_vector": _as_kind("row"), "to_array_1d": _as_kind("array"),
    "to_matrix": _as_kind("matrix"), "to_array_2d": _as_kind("matrix"),
    "softmax": _softmax, "log_softmax": _log_softmax, "diag_matrix": _diagonal_matrix, "identity_matrix": _identity,
    "diag_pre_multiply": _scaled_rows, "diag_post_multiply": _scaled_columns, "quad_form_diag": _scaled_both,
    "multiply_lower_tri_self_transpose": _times_its_transpose, "tcrossprod": _times_its_transpose,
    "crossprod": _transpose_times_it, "inverse": _inverse, "inverse_spd": _inverse, "log_determinant": _log_determinant,
    "log_determinant_spd": _log_determinant, "quad_form_sym": _quadratic, "quad_form": _quadratic,
    "cumulative_sum": _cumulated, "append_row": _joined, "append_array": _joined, "append_col": _joined,
    "segment": lambda s, p, v, i, n: _part(s, p, v, i.scalar, n.scalar),
    "head": lambda s, p, v, n: _part(s, p, v, bugs.Number(1.0), n.scalar),
    "tail": lambda s, p, v, n: _part(s, p, v, _size_down(s, v, n), n.scalar),
    "col": _column, "row": _row, "diagonal": _diagonal, "log_mix": _log_mix,
    "gp_exp_quad_cov": _covariance, **{name: _of_data(name, function) for name, function in OF_DATA.items()},
}  # fmt: skip
