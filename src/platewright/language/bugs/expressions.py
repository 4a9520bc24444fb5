"""Translate BUGS expressions: operators, functions of both dialects, vectors, matrices.

step(x) -> 1 - [x < 0]      pow(a, b) -> a^b      inprod(a[], b[]) -> sum_k a_k b_k      inverse(S[,]) -> S^-1
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import reduce

import numpy as np

from platewright.algebra import build
from platewright.algebra.expression import Constant, Expression, LogSumExp, Maximum, Size
from platewright.errors import BugsError, ModelError
from platewright.language.bugs.arithmetic import FUNCTIONS, NotKnown, canonical, compute
from platewright.language.bugs.complaint import nearest
from platewright.language.bugs.frame import Frame
from platewright.language.bugs.interpolate import interpolate
from platewright.language.bugs.ordering import in_order, order_statistic
from platewright.language.bugs.syntax import Element, FunctionCall, Number, Operation
from platewright.language.bugs.syntax import Expression as Tree
from platewright.language.bugs.value import Span, Value, go_in_step, mapped, matrix_product

MOST_FACTORS = 64


def _less(left: Expression, right: Expression) -> Expression:
    return build.call("less", left, right)


def _truncated(x: Expression) -> Expression:
    return build.where(_less(x, Constant(0.0)), -build.call("floor", -x), build.call("floor", x))


def _logit(p: Expression) -> Expression:
    return build.log(p) - build.log(1 - p)


def _both(a: Expression, b: Expression) -> Expression:
    return (1 - build.equal(a, 0.0)) * (1 - build.equal(b, 0.0))


SCALAR: dict[str, Callable[..., Expression]] = {
    "abs": lambda x: build.call("absolute", x),
    "arctan": lambda x: build.call("arctan2", x, 1.0),
    "cloglog": lambda p: build.log(-build.call("log1p", -p)),
    "cos": lambda x: build.call("cos", x),
    "equals": build.equal,
    "digamma": lambda x: build.call("digamma", x),
    "exp": build.exp,
    "expm1": lambda x: build.call("expm1", x),
    "floor": lambda x: build.call("floor", x),
    "icloglog": lambda x: -build.call("expm1", -build.exp(x)),
    "ifelse": lambda c, a, b: build.where(build.equal(c, 0.0), b, a),
    "ilogit": lambda x: build.call("logistic", x),
    "log": build.log,
    "log1p": lambda x: build.call("log1p", x),
    "log_ilogit": lambda x: build.call("log_logistic", x),
    "log_phi": lambda x: build.call("log_normal_cdf", x),
    "logfact": lambda x: build.lgamma(x + 1),
    "loggam": build.lgamma,
    "logit": _logit,
    "phi": lambda x: build.call("normal_cdf", x),
    "pow": build.power,
    "probit": lambda p: build.call("normal_quantile", p),
    "round": lambda x: build.call("floor", x + 0.5),
    "sin": lambda x: build.call("sin", x),
    "sqrt": lambda x: build.power(x, 0.5),
    "step": lambda x: 1 - _less(x, Constant(0.0)),
    "tan": lambda x: build.call("sin", x) / build.call("cos", x),
    "tanh": lambda x: build.call("tanh", x),
    "trigamma": lambda x: build.call("trigamma", x),
    "trunc": _truncated,
}
OPERATOR: dict[str, Callable[..., Expression]] = {
    "+": build.add,
    "*": build.multiply,
    "/": lambda a, b: build.multiply(a, build.power(b, -1.0)),
    "^": build.power,
    "neg": lambda a: build.multiply(-1.0, a),
    "not": lambda a: build.equal(a, 0.0),
    "==": build.equal,
    "!=": lambda a, b: 1 - build.equal(a, b),
    "<": _less,
    ">": lambda a, b: _less(b, a),
    "<=": lambda a, b: 1 - _less(b, a),
    ">=": lambda a, b: 1 - _less(a, b),
    "&&": _both,
    "||": lambda a, b: 1 - build.equal(a, 0.0) * build.equal(b, 0.0),
}
LINKS: dict[str, Callable[[Expression], Expression]] = {
    "log": SCALAR["exp"],
    "logit": SCALAR["ilogit"],
    "cloglog": SCALAR["icloglog"],
    "probit": SCALAR["phi"],
}
VECTOR = {
    *("inprod", "interp.lin", "inverse", "length", "logdet", "max", "mean", "min", "prod", "rank", "ranked", "sd"),
    *("sort", "sum", "t", "log_sum_exp"),
}
DECLINED = {
    "cut": "cutting feedback is no probability model",
    **dict.fromkeys(("ode", "ode.solution", "solution"), "differential equations are not solved here"),
}


def translate(node: Tree, frame: Frame) -> Value:
    """An expression in our algebra; what is not known is declined with its place."""
    match node:
        case Number(value):
            return Value(Constant(value))
        case Element():
            return frame.element(node)
        case Operation() | FunctionCall():
            try:
                return _operation(node, frame) if isinstance(node, Operation) else _call(node, frame)
            except BugsError:
                raise
            except (ModelError, ValueError, OverflowError, ZeroDivisionError) as trouble:
                shown = getattr(trouble, "found", str(trouble))
                raise frame.complain(node.place, str(shown)) from None
    raise TypeError(f"not an expression: {node!r}")


def scalar(node: Tree, frame: Frame) -> Expression:
    """An expression that must be a single number."""
    value = translate(node, frame)
    if value.axes:
        raise frame.complain(node.place, "a vector stands where a number is needed", "an index, or sum(...)")
    return value.body


def _operation(node: Operation, frame: Frame) -> Value:
    if node.operator == "%*%":
        return matrix_product(*(translate(part, replace(frame, cutting=True)) for part in node.operands))
    values = _in_step(node.operands, frame)
    return mapped(OPERATOR[node.operator], *values)


def _in_step(nodes: Sequence[Tree], frame: Frame) -> list[Value]:
    """Vectors whose elements go together: slices with moving ends that begin at several places are cut out."""
    values = [translate(part, frame) for part in nodes]
    return values if go_in_step(values) else [translate(part, replace(frame, cutting=True)) for part in nodes]


def _call(node: FunctionCall, frame: Frame) -> Value:
    name = canonical(node.name)
    if name in DECLINED:
        raise frame.complain(node.place, f"`{node.name}` is declined: {DECLINED[name]}")
    if name not in SCALAR and name not in VECTOR:
        return _of_distribution(node, frame) or _settled(node, frame)
    if name in SCALAR:
        values = _in_step(node.arguments, frame)
        try:
            return mapped(SCALAR[name], *values)
        except TypeError:
            raise frame.complain(node.place, f"`{node.name}` takes another number of arguments") from None
    return _vector_call(name, node, frame)


def _of_distribution(node: FunctionCall, frame: Frame) -> Value | None:
    """`pnorm(x, mu, tau)`, `dnorm(x, mu, tau)` and `logdensity.norm(x, mu, tau)`; None for other names."""
    from platewright.language.bugs.distribution_functions import function_of  # densities have expressions in them

    found = function_of(node.name)
    if found is None:
        return None
    count, function = found
    if len(node.arguments) != count:
        found_here = f"`{node.name}` has {len(node.arguments)} arguments"
        raise frame.complain(node.place, found_here, f"{count}, the value first")
    return mapped(function, *_in_step(node.arguments, frame))


def _settled(node: FunctionCall, frame: Frame) -> Value:
    """A function outside the algebra is fine where the data settle its value."""
    if canonical(node.name) not in FUNCTIONS:
        known = {*SCALAR, *VECTOR, *FUNCTIONS}
        raise frame.complain(
            node.place, f"there is no function `{node.name}` here", "a function of BUGS", nearest(node.name, known)
        )
    try:
        value = compute(node, frame.draft.scope.at(frame.piece.grid.loops))
    except NotKnown:
        raise frame.complain(
            node.place, f"`{node.name}` of something unknown is not in our algebra", "it on data only"
        ) from None
    if np.ndim(value):
        raise frame.complain(node.place, f"`{node.name}` gives a vector here", "a number")
    return Value(Constant(float(value)))


def _vector_call(name: str, node: FunctionCall, frame: Frame) -> Value:
    together = name in ("inprod", "max", "min")
    values = _in_step(node.arguments, frame) if together else [translate(part, frame) for part in node.arguments]
    if not values:
        raise frame.complain(node.place, f"`{node.name}` has no arguments")
    first = values[0]
    if name in ("max", "min") and len(values) > 1:
        word = "maximum" if name == "max" else "minimum"
        return mapped(lambda *parts: reduce(lambda a, b: build.call(word, a, b), parts), *values)
    if name == "inprod" and len(values) == 2:
        return Value(mapped(build.multiply, *values).total())
    if name == "interp.lin" and len(values) == 3:
        return Value(interpolate(first.body, values[1], values[2], frame))
    if name in ("rank", "ranked") and len(values) == 2:
        return order_statistic(name, first, values[1].body, frame)
    if len(values) != 1:
        raise frame.complain(node.place, f"`{node.name}` takes another number of arguments")
    match name:
        case "rank" | "sort":
            return in_order(name, first, frame)
        case "sum":
            return Value(first.total())
        case "mean":
            return Value(build.multiply(first.total(), build.power(first.count(), -1.0)))
        case "sd":
            return Value(_deviation(first))
        case "length":
            return Value(first.count())
        case "t":
            return Value(first.body, first.axes[::-1])
        case "prod":
            return Value(_product(first))
        case "max" | "min":
            return Value(_extreme(first, name))
        case "log_sum_exp":
            return Value(_log_sum(first))
    return _matrix(name, first, node, frame)


def _deviation(value: Value) -> Expression:
    mean = build.multiply(value.total(), build.power(value.count(), -1.0))
    squares = Value(build.power(value.body - mean, 2.0), value.changed().axes).total()
    return build.power(squares / (value.count() - 1.0), 0.5)


def _elements(value: Value) -> list[Expression] | None:
    """All elements one by one, if they are few; those outside the ends of a slice are ones."""
    sizes = [axis.size for axis in value.axes]
    if not all(sizes) or np.prod(sizes, dtype=float) > MOST_FACTORS:
        return None
    filled = Value(value.filled(Constant(1.0)), value.axes)
    return [filled.at(*(Constant(float(k)) for k in place)) for place in np.ndindex(*sizes)]


def _product(value: Value) -> Expression:
    """Factor by factor if they are few; a longer product is taken through logarithms, so it must be positive."""
    factors = _elements(value)
    if factors is not None and not any(_is_open(axis) for axis in value.axes):
        return build.multiply(*factors)
    return build.exp(Value(build.log(value.filled(Constant(1.0))), value.axes).total())


def _is_open(axis: Span) -> bool:
    return isinstance(axis.count, Size)


def _extreme(value: Value, name: str) -> Expression:
    """The largest element, or less the largest of the negative ones; what lies outside a slice never is."""
    sign = 1.0 if name == "max" else -1.0
    body = Value(build.multiply(sign, value.body), value.axes).filled(Constant(-math.inf))
    for axis in value.axes:
        body = Maximum(axis.index, body)
    return build.multiply(sign, body)


def _log_sum(value: Value) -> Expression:
    """The log of the sum of exponentials; what lies outside a slice adds nothing."""
    body = value.filled(Constant(-math.inf))
    for axis in value.axes:
        body = LogSumExp(axis.index, body)
    return body


def _matrix(name: str, value: Value, node: FunctionCall, frame: Frame) -> Value:
    if len(value.axes) != 2 or value.axes[0].size != value.axes[1].size:
        raise frame.complain(node.place, f"`{node.name}` needs a square matrix")
    row, column = value.axes
    if column.index.plate != row.index.plate:
        plate = frame.draft.model.plates[row.index.plate]
        other = frame.fresh_index(plate)
        value = Value(value.at(row.index, other), (row, Span(other, row.count, None, row.size)))
        column = value.axes[1]
    if name == "logdet":
        return Value(build.log_determinant(value.body, row.index, column.index))
    plate = frame.draft.model.plates[row.index.plate]
    at_row, at_column = frame.fresh_index(plate), frame.fresh_index(plate)
    body = build.inverse(value.body, row.index, column.index, at_row, at_column)
    return Value(body, (Span(at_row, row.count, None, row.size), Span(at_column, row.count, None, row.size)))
