"""The functions of Stan that are read: number by number, over vectors and matrices, and log densities.

inv_logit(x) -> ilogit(x)      dot_product(a, b) -> inprod(a[], b[])      normal_lpdf(y | m, s) -> logdensity.norm(...)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from platewright.errors import nearest
from platewright.language.bugs import syntax as bugs
from platewright.language.bugs.syntax import Empty, FunctionCall, Place
from platewright.language.stan.reading.expressions import lower
from platewright.language.stan.reading.state import State
from platewright.language.stan.reading.syntax import Call
from platewright.language.stan.reading.trouble import Trouble
from platewright.language.stan.reading.value import (
    Indices,
    Value,
    calling,
    mapped,
    number,
    operated,
    operation,
    power,
    scalar,
    times,
)

Tree = bugs.Expression
CONSTANTS = {
    "pi": math.pi, "e": math.e, "sqrt2": math.sqrt(2), "log2": math.log(2), "log10": math.log(10),
    "negative_infinity": -math.inf, "positive_infinity": math.inf, "machine_precision": 2.0**-52,
}  # fmt: skip

RENAMED = {
    **{name: name for name in ("exp", "log", "sqrt", "abs", "logit", "sin", "cos", "tan", "trunc", "round", "expm1",
                               "log1p", "floor", "digamma", "trigamma", "tanh")},
    "fabs": "abs", "inv_logit": "ilogit", "lgamma": "loggam", "Phi": "phi", "Phi_approx": "phi", "inv_Phi": "probit",
    "inv_cloglog": "icloglog", "asin": "arcsin", "acos": "arccos", "atan": "arctan", "log_inv_logit": "log_ilogit",
    "fmin": "min", "fmax": "max", "step": "step", "int_step": "step",
    "std_normal_lcdf": "log_phi", "std_normal_cdf": "phi",
}  # fmt: skip
"""Functions of numbers that BUGS has too, most under another name."""


def _one() -> Value:
    return number(1.0)


def _minus(a: Value, b: Value) -> Value:
    return operated("+", a, operated("neg", b))


def _raised(exponent: float) -> Callable[[Value], Value]:
    return lambda x: mapped(lambda tree: power(tree, exponent), x)


def _log_beta(a: Value, b: Value) -> Value:
    return _minus(operated("+", calling("loggam", a), calling("loggam", b)), calling("loggam", operated("+", a, b)))


def _log_choose(n: Value, k: Value) -> Value:
    above = calling("logfact", n)
    return _minus(above, operated("+", calling("logfact", k), calling("logfact", _minus(n, k))))


def _log_sum(a: Value, b: Value) -> Value:
    """The larger, plus log(1 + exp(the gap)), which never overflows."""
    larger, smaller = calling("max", a, b), calling("min", a, b)
    return operated("+", larger, calling("log1p", calling("exp", _minus(smaller, larger))))


NUMBERS: dict[str, Callable[..., Value]] = {
    "square": _raised(2.0), "inv": _raised(-1.0), "inv_sqrt": _raised(-0.5), "inv_square": _raised(-2.0),
    "cbrt": _raised(1 / 3), "pow": lambda a, b: replace(operated("^", a, b), is_whole=False),
    "exp2": lambda x: operated("^", number(2.0), x),
    "log1m": lambda x: calling("log1p", operated("neg", x)),
    "log1p_exp": lambda x: operated("neg", calling("log_ilogit", operated("neg", x))),
    "log1m_exp": lambda x: calling("log", operated("neg", calling("expm1", x))),
    "log1m_inv_logit": lambda x: calling("log_ilogit", operated("neg", x)),
    "log2": lambda x: operated("/", calling("log", x), number(math.log(2))),
    "log10": lambda x: operated("/", calling("log", x), number(math.log(10))),
    "ceil": lambda x: operated("neg", calling("floor", operated("neg", x))),
    "tgamma": lambda x: calling("exp", calling("loggam", x)),
    "lbeta": _log_beta, "beta": lambda a, b: calling("exp", _log_beta(a, b)),
    "lchoose": _log_choose, "binomial_coefficient_log": _log_choose,
    "choose": lambda n, k: calling("round", calling("exp", _log_choose(n, k))),
    "lmultiply": lambda a, b: operated("*", a, calling("log", b)),
    "multiply_log": lambda a, b: operated("*", a, calling("log", b)),
    "fma": lambda a, b, c: operated("+", operated("*", a, b), c),
    "fdim": lambda a, b: calling("max", _minus(a, b), number(0.0)),
    "add": lambda a, b: operated("+", a, b), "subtract": _minus, "elt_multiply": lambda a, b: operated("*", a, b),
    "elt_divide": lambda a, b: operated("/", a, b), "divide": lambda a, b: operated("/", a, b),
    "hypot": lambda a, b: calling("sqrt", operated("+", _raised(2.0)(a), _raised(2.0)(b))),
    "log_diff_exp": lambda a, b: operated("+", a, calling("log", operated("neg", calling("expm1", _minus(b, a))))),
    "sinh": lambda x: operated("*", number(0.5), _minus(calling("exp", x), calling("exp", operated("neg", x)))),
    "cosh": lambda x: operated("*", number(0.5), operated("+", calling("exp", x), calling("exp", operated("neg", x)))),
    "int_divide": lambda a, b: replace(calling("trunc", operated("/", a, b)), is_whole=True),
    "to_int": lambda x: replace(x, is_whole=True),
}  # fmt: skip

TOTALS = {
    "sum": "sum",
    "mean": "mean",
    "prod": "prod",
    "sd": "sd",
    "max": "max",
    "min": "min",
    "log_sum_exp": "log_sum_exp",
}


def call(node: Call, state: State) -> Value:
    """The value of a call."""
    from platewright.language.stan.reading.densities import function_of_density  # densities are made of functions

    name, place = node.name, node.place
    if name in CONSTANTS and not node.arguments:
        return number(CONSTANTS[name], place)
    if name == "log_mix" and len(node.arguments) == 3:
        return _mixed(*(lower(part, state) for part in node.arguments))
    found = function_of_density(node, state)
    if found is not None:
        return found
    values = [lower(part, state) for part in node.arguments]
    if name == "log_sum_exp" and len(values) == 2:
        return _log_sum(*values)
    if name in TOTALS and len(values) == 1 and values[0].rank:
        return _total(TOTALS[name], values[0], place, state)
    for table in (RENAMED, NUMBERS):
        if name in table:
            return _of_numbers(name, values, place)
    if name in ARRAYS:
        try:
            return ARRAYS[name](state, place, *values)
        except (TypeError, IndexError, AssertionError):
            raise Trouble(place, f"`{name}` takes other arguments", "those it has in Stan") from None
    known = [*RENAMED, *NUMBERS, *ARRAYS, *TOTALS]
    near = nearest(name, known)
    hint = f"did you mean `{near}`?" if near else ""
    raise Trouble(place, f"the function `{name}` is not read", "a function of Stan that Platewright has", hint)


def _of_numbers(name: str, values: list[Value], place: Place) -> Value:
    if len({value.rank for value in values if value.rank}) > 1:
        raise Trouble(place, f"`{name}` of values of several shapes")
    if name == "abs" and all(value.is_whole for value in values):
        return replace(calling("abs", *values), is_whole=True)
    if name in NUMBERS:
        try:
            return NUMBERS[name](*values)
        except TypeError:
            raise Trouble(place, f"`{name}` takes another number of arguments") from None
    if len(values) != (2 if name in ("fmin", "fmax") else 1):
        raise Trouble(place, f"`{name}` takes another number of arguments")
    return calling(RENAMED[name], *values)


def _mixed(share: Value, one: Value, other: Value) -> Value:
    """log(share exp(one) + (1 - share) exp(other))"""
    rest = calling("log1p", operated("neg", share))
    return _log_sum(operated("+", calling("log", share), one), operated("+", rest, other))


def _total(word: str, value: Value, place: Place, state: State) -> Value:
    whole = state.sliced(value, place)
    return scalar(FunctionCall(word, (whole.all(),), place), value.is_whole and word in ("sum", "prod", "max", "min"))


# -- vectors and matrices ----------------------------------------------------------------------------------------------


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
        if value.rank != (2 if kind == "matrix" else 1) or more:
            raise Trouble(place, "a change of shape", "a value that has the shape already")
        return replace(value, kind=kind)

    return changed


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
    return _raised(2.0)(_total("sd", value, place, state))


def _log_mix(state: State, place: Place, shares: Value, parts: Value) -> Value:
    return _total("log_sum_exp", operated("+", calling("log", shares), parts), place, state)


def _size_down(state: State, value: Value, k: Value) -> Tree:
    return operation("+", operation("+", value.sizes[0], operation("neg", k.scalar)), bugs.Number(1.0))


ARRAYS: dict[str, Callable[..., Value]] = {
    "dot_product": _inner, "dot_self": lambda s, p, a: _inner(s, p, a, a), "variance": _variance,
    "rep_vector": _repeated("vector"), "rep_row_vector": _repeated("row"), "rep_array": _repeated("array"),
    "rep_matrix": _repeated("matrix"), "zeros_vector": _filled(0.0, "vector"), "ones_vector": _filled(1.0, "vector"),
    "zeros_row_vector": _filled(0.0, "row"), "ones_row_vector": _filled(1.0, "row"),
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
}  # fmt: skip
