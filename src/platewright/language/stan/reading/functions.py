"""The functions of Stan that are read: number by number, over vectors and matrices, and log densities.

inv_logit(x) -> ilogit(x)      dot_product(a, b) -> inprod(a[], b[])      normal_lpdf(y | m, s) -> logdensity.norm(...)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from platewright.errors import nearest
from platewright.language.bugs import syntax as bugs
from platewright.language.bugs.syntax import Place
from platewright.language.stan.reading.expressions import lower
from platewright.language.stan.reading.matrices import ARRAYS, total
from platewright.language.stan.reading.state import State
from platewright.language.stan.reading.syntax import Call
from platewright.language.stan.reading.trouble import Trouble
from platewright.language.stan.reading.value import (
    Value,
    calling,
    mapped,
    number,
    operated,
    power,
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
        return total(TOTALS[name], values[0], place, state)
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
