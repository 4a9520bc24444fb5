"""The distributions of Stan in the words of BUGS: standard deviations become precisions, scales become rates.

normal(m, s) -> dnorm(m, s^-2)      exponential(r) -> dexp(r)      neg_binomial_2(m, f) -> dnegbin(f / (f + m), f)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from platewright.errors import nearest
from platewright.language.bugs import syntax as bugs
from platewright.language.bugs.syntax import FunctionCall, Place
from platewright.language.stan.reading import correlations
from platewright.language.stan.reading.functions import NUMBERS
from platewright.language.stan.reading.state import State
from platewright.language.stan.reading.syntax import Call
from platewright.language.stan.reading.trouble import Trouble
from platewright.language.stan.reading.value import Value, calling, mapped, number, operated, power

INFINITE = (-math.inf, math.inf)
POSITIVE = (0.0, math.inf)


@dataclass(frozen=True)
class Form:
    """A distribution in BUGS: its name, how its arguments are made, and where its values lie."""

    bugs: str
    count: int
    arguments: Callable[..., tuple[Value, ...]]
    support: tuple[float, float] = INFINITE
    events: int = 0
    """How many axes one value has."""
    ranks: tuple[int, ...] = ()
    """How many axes each argument has, where values have axes."""


@dataclass(frozen=True)
class Written:
    """A log density that is written out: of the value and the arguments."""

    count: int
    density: Callable[..., Value]
    support: tuple[float, float] = INFINITE


def _precision(scale: Value) -> Value:
    return mapped(lambda tree: power(tree, -2.0), scale)


def _over(a: Value, b: Value) -> Value:
    return operated("/", a, b)


def _inverse(value: Value) -> Value:
    return mapped(lambda tree: power(tree, -1.0), value)


def _as_they_are(*values: Value) -> tuple[Value, ...]:
    return values


def _share(a: Value, b: Value) -> Value:
    return _over(a, operated("+", a, b))


def _chance(logit: Value) -> Value:
    return calling("ilogit", logit)


FORMS: dict[str, Form] = {
    "bernoulli": Form("dbern", 1, _as_they_are),
    "bernoulli_logit": Form("dbern", 1, lambda x: (_chance(x),)),
    "beta": Form("dbeta", 2, _as_they_are, (0.0, 1.0)),
    "beta_binomial": Form("dbetabin", 3, lambda n, a, b: (a, b, n)),
    "beta_proportion": Form(
        "dbeta",
        2,
        lambda m, k: (operated("*", m, k), operated("*", NUMBERS["subtract"](number(1.0), m), k)),
        (0.0, 1.0),
    ),
    "binomial": Form("dbin", 2, lambda n, p: (p, n)),
    "binomial_logit": Form("dbin", 2, lambda n, x: (_chance(x), n)),
    "cauchy": Form("dt", 2, lambda m, s: (m, _precision(s), number(1.0))),
    "chi_square": Form("dchisqr", 1, _as_they_are, POSITIVE),
    "double_exponential": Form("ddexp", 2, lambda m, s: (m, _inverse(s))),
    "exponential": Form("dexp", 1, _as_they_are, POSITIVE),
    "gamma": Form("dgamma", 2, _as_they_are, POSITIVE),
    "inv_gamma": Form("dinvgamma", 2, _as_they_are, POSITIVE),
    "inv_chi_square": Form("dinvgamma", 1, lambda v: (_over(v, number(2.0)), number(0.5)), POSITIVE),
    "scaled_inv_chi_square": Form(
        "dinvgamma",
        2,
        lambda v, s: (_over(v, number(2.0)), _over(operated("*", v, NUMBERS["square"](s)), number(2.0))),
        POSITIVE,
    ),
    "logistic": Form("dlogis", 2, lambda m, s: (m, _inverse(s))),
    "lognormal": Form("dlnorm", 2, lambda m, s: (m, _precision(s)), POSITIVE),
    "neg_binomial": Form("dnegbin", 2, lambda a, b: (_share(b, number(1.0)), a)),
    "neg_binomial_2": Form("dnegbin", 2, lambda m, f: (_share(f, m), f)),
    "neg_binomial_2_log": Form("dnegbin", 2, lambda m, f: (_share(f, calling("exp", m)), f)),
    "normal": Form("dnorm", 2, lambda m, s: (m, _precision(s))),
    "pareto": Form("dpar", 2, lambda least, shape: (shape, least)),
    "poisson": Form("dpois", 1, _as_they_are),
    "poisson_log": Form("dpois", 1, lambda x: (calling("exp", x),)),
    "rayleigh": Form("dweib", 1, lambda s: (number(2.0), _over(_precision(s), number(2.0))), POSITIVE),
    "std_normal": Form("dnorm", 0, lambda: (number(0.0), number(1.0))),
    "student_t": Form("dt", 3, lambda v, m, s: (m, _precision(s), v)),
    "uniform": Form("dunif", 2, _as_they_are),
    "von_mises": Form("dvonmises", 2, _as_they_are),
    "weibull": Form("dweib", 2, lambda a, s: (a, operated("^", s, operated("neg", a))), POSITIVE),
    "wishart": Form("dwish", 2, lambda v, s: (s, v), events=2, ranks=(2, 0)),
    "categorical": Form("dcat", 1, _as_they_are, ranks=(1,)),
    "dirichlet": Form("ddirich", 1, _as_they_are, (0.0, 1.0), 1, (1,)),
    "inv_wishart": Form("dinvwish", 2, lambda v, s: (s, v), events=2, ranks=(2, 0)),
    "multinomial": Form("dmulti", 2, _as_they_are, events=1, ranks=(1, 0)),
    "multi_normal": Form("dmnorm.vcov", 2, _as_they_are, events=1, ranks=(1, 2)),
    "multi_normal_prec": Form("dmnorm", 2, _as_they_are, events=1, ranks=(1, 2)),
    "multi_student_t": Form("dmt", 3, lambda v, m, s: (m, s, v), events=1, ranks=(1, 2, 0)),
}
"""By the name in Stan; the scale matrices of `wishart` and `multi_student_t` come turned over."""


def _log(value: Value) -> Value:
    return calling("log", value)


def _less(a: Value, b: Value) -> Value:
    return NUMBERS["subtract"](a, b)


def _gumbel(x: Value, m: Value, s: Value) -> Value:
    z = _over(_less(x, m), s)
    return _less(operated("neg", operated("+", z, calling("exp", operated("neg", z)))), _log(s))


def _skew_normal(x: Value, m: Value, s: Value, a: Value) -> Value:
    z = _over(_less(x, m), s)
    square = operated("*", number(-0.5), NUMBERS["square"](z))
    shape = calling("log_phi", operated("*", a, z))
    constant = number(0.5 * math.log(2 / math.pi))
    return operated("+", operated("+", square, shape), _less(constant, _log(s)))


def _frechet(x: Value, a: Value, s: Value) -> Value:
    ratio = _log(_over(x, s))
    size = _less(_log(a), _log(s))
    return _less(_less(size, operated("*", operated("+", a, number(1.0)), ratio)),
                 calling("exp", operated("neg", operated("*", a, ratio))))  # fmt: skip


WRITTEN: dict[str, Written] = {
    "gumbel": Written(2, _gumbel),
    "skew_normal": Written(3, _skew_normal),
    "frechet": Written(2, _frechet, POSITIVE),
}
"""Distributions that the shelf does not have."""

GLM = {
    "bernoulli_logit_glm": ("bernoulli_logit", 0, True, 0), "poisson_log_glm": ("poisson_log", 0, True, 0),
    "normal_id_glm": ("normal", 0, True, 1), "neg_binomial_2_log_glm": ("neg_binomial_2_log", 0, True, 1),
    "binomial_logit_glm": ("binomial_logit", 1, True, 0), "ordered_logistic_glm": ("ordered_logistic", 0, False, 1),
}  # fmt: skip
"""Regressions in one word: the distribution, how many arguments stand before X, whether there is an intercept, and how
many stand after the slopes."""

_ENDS = ("_lpdf", "_lpmf", "_lupdf", "_lupmf", "_lcdf", "_lccdf", "_cdf", "_ccdf")


def density_of(name: str) -> tuple[str, str] | None:
    """`normal_lpdf` is (`normal`, `_lpdf`); None for other names."""
    end = next((end for end in _ENDS if name.endswith(end)), None)
    return None if end is None or name.startswith("std_normal_lcdf") else (name[: -len(end)], end)


def known_form(name: str, count: int, place: Place) -> Form | Written:
    """A distribution by its name in Stan, with as many arguments as it takes."""
    form = FORMS.get(name) or WRITTEN.get(name)
    if form is None:
        near = nearest(name, [*FORMS, *WRITTEN, *GLM])
        raise Trouble(place, f"the distribution `{name}` is not read", "a distribution of Stan that Platewright has",
                      f"did you mean `{near}`?" if near else "its log density in `target +=`")  # fmt: skip
    if form.count != count:
        raise Trouble(place, f"`{name}` is given {count} arguments", f"{form.count}")
    return form


def log_density(name: str, value: Value, arguments: list[Value], place: Place, state: State) -> Value:
    """The log density as a number for each element."""
    if name in ("lkj_corr", "lkj_corr_cholesky") and len(arguments) == 1:
        return correlations.log_density(name, value, arguments[0], place, state)
    form = known_form(name, len(arguments), place)
    if isinstance(form, Written):
        return form.density(value, *arguments)
    if name == "dirichlet":
        return _log_dirichlet(value, arguments[0], place, state)
    if name == "categorical":
        shares = arguments[0]
        return mapped(lambda k: FunctionCall("log", (shares.at((k,)),), place), value)
    if form.events or form.ranks or form.bugs in ("dbetabin", "dflat"):
        raise Trouble(place, f"the log density of `{name}` of something that is no variable, or is drawn twice",
                      "one `~` for each variable")  # fmt: skip
    word = "logdensity." + form.bugs[1:]
    return mapped(lambda *parts: FunctionCall(word, parts, place), value, *form.arguments(*arguments))


def _log_dirichlet(value: Value, concentration: Value, place: Place, state: State) -> Value:
    """sum (a - 1) log x + lgamma(sum a) - sum lgamma(a)"""
    shares, numbers = state.sliced(value, place), state.sliced(concentration, place)
    powers = operated("+", numbers, number(-1.0))
    inside = FunctionCall("inprod", (powers.all(), calling("log", shares).all()), place)
    above = FunctionCall("loggam", (FunctionCall("sum", (numbers.all(),), place),), place)
    below = FunctionCall("sum", (calling("loggam", numbers).all(),), place)
    total = bugs.Operation("+", (inside, above, bugs.Operation("neg", (below,), place)), place)
    return Value(lambda _: total)


def function_of_density(node: Call, state: State) -> Value | None:
    """A log density or a distribution function where a number stands, summed over elements; None for other names."""
    from platewright.language.stan.reading.expressions import lower  # functions and expressions hold each other

    found = density_of(node.name)
    if found is None:
        return None
    name, end = found
    if not node.arguments:
        raise Trouble(node.place, f"`{node.name}` has no arguments")
    value, *arguments = [lower(part, state) for part in node.arguments]
    if end in ("_lpdf", "_lpmf", "_lupdf", "_lupmf"):
        each = log_density(name, value, arguments, node.place, state)
    else:
        each = _distribution_function(name, end, value, arguments, node.place)
    if not each.rank:
        return each
    if end in ("_cdf", "_ccdf"):
        raise Trouble(node.place, f"`{node.name}` of a vector", "of a number")
    whole = state.sliced(each, node.place)
    total = FunctionCall("sum", (whole.all(),), node.place)
    return Value(lambda _: total)


def _distribution_function(name: str, end: str, value: Value, arguments: list[Value], place: Place) -> Value:
    form = known_form(name, len(arguments), place)
    if isinstance(form, Written) or form.events or form.ranks:
        raise Trouble(place, f"the distribution function of `{name}` is not read")
    word = "p" + form.bugs[1:]
    below = mapped(lambda *parts: FunctionCall(word, parts, place), value, *form.arguments(*arguments))
    if name in ("normal", "std_normal") and end in ("_lcdf", "_lccdf"):
        mean, precision = form.arguments(*arguments)
        z = operated("*", _less(value, mean), calling("sqrt", precision))
        return calling("log_phi", z if end == "_lcdf" else operated("neg", z))
    match end:
        case "_cdf":
            return below
        case "_ccdf":
            return _less(number(1.0), below)
        case "_lcdf":
            return _log(below)
    return calling("log1p", operated("neg", below))
