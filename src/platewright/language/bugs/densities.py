"""The distributions of both dialects, and how each is called here: precision stays precision, `dbin(p, n)` turns round.

Those that are not on the shelf of families are a flat variable with a log factor; a few are conditions on known values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from platewright.algebra import build
from platewright.algebra.expression import AtMost, Constant, Expression, Index
from platewright.families import FAMILY_BY_NAME
from platewright.family import Argument, instantiate
from platewright.language.bugs.complaint import nearest
from platewright.language.bugs.expressions import scalar, translate
from platewright.language.bugs.frame import Frame
from platewright.language.bugs.syntax import Density
from platewright.language.bugs.value import Value
from platewright.language.distribution import Constructor, Distribution
from platewright.language.plate import Plate


@dataclass(frozen=True)
class Form:
    """A family and the words for its arguments in the order of BUGS; `ranks` counts the axes of each."""

    family: str
    words: tuple[str, ...]
    ranks: tuple[int, ...] = ()
    fixed: tuple[tuple[str, float], ...] = ()
    """Parameters that BUGS gives no word for, with their values."""

    def rank(self, position: int) -> int:
        """How many axes an argument has."""
        return self.ranks[position] if self.ranks else 0


FORMS: dict[str, Form] = {
    "dbern": Form("Bernoulli", ("p",)),
    "dbeta": Form("Beta", ("a", "b")),
    "dbin": Form("Binomial", ("p", "count")),
    "dcat": Form("Categorical", ("probabilities",), (1,)),
    "dchisqr": Form("ChiSquare", ("degrees",)),
    "ddexp": Form("Laplace", ("mean", "rate")),
    "ddirich": Form("Dirichlet", ("concentration",), (1,)),
    "dexp": Form("Exponential", ("rate",)),
    "dflat": Form("Flat", ()),
    "dgamma": Form("Gamma", ("shape", "rate")),
    "dggamma": Form("GeneralisedGamma", ("shape", "rate", "power")),
    "dgeom": Form("Geometric", ("p",)),
    "dgeom0": Form("NegativeBinomial", ("p",), fixed=(("successes", 1.0),)),
    "dinvgamma": Form("InverseGamma", ("shape", "scale")),
    "dinvwish": Form("InverseWishart", ("scale", "degrees"), (2, 0)),
    "dlnorm": Form("LogNormal", ("mean", "precision")),
    "dlogis": Form("Logistic", ("mean", "rate")),
    "dmnorm": Form("MultivariateNormal", ("mean", "precision"), (1, 2)),
    "dmnorm.vcov": Form("MultivariateNormal", ("mean", "covariance"), (1, 2)),
    "dmt": Form("MultivariateStudentT", ("mean", "precision", "degrees"), (1, 2, 0)),
    "dmulti": Form("Multinomial", ("probabilities", "count"), (1, 0)),
    "dnegbin": Form("NegativeBinomial", ("p", "successes")),
    "dnorm": Form("Normal", ("mean", "precision")),
    "dpar": Form("Pareto", ("shape", "scale")),
    "dpois": Form("Poisson", ("rate",)),
    "dt": Form("StudentT", ("mean", "precision", "degrees")),
    "dvonmises": Form("VonMises", ("mean", "concentration")),
    "dunif": Form("Uniform", ("lower", "upper")),
    "dweib": Form("Weibull", ("shape", "rate")),
    "dwish": Form("Wishart", ("inverse_scale", "degrees"), (2, 0)),
}
SPELLED = {
    "dbinom": "dbin",
    "dchisq": "dchisqr",
    "ddirch": "ddirich",
    "dlnormal": "dlnorm",
    "dmultinom": "dmulti",
    "dnbinom": "dnegbin",
    "dweibull": "dweib",
    "dbetabinom": "dbetabin",
    "dgen.gamma": "dggamma",
    "dgeom1": "dgeom",
    "dmvt": "dmt",
}


def _log_beta(a: Expression, b: Expression) -> Expression:
    return build.lgamma(a) + build.lgamma(b) - build.lgamma(a + b)


def _log_f(x: Expression, above: Expression, below: Expression) -> Expression:
    """The ratio of two mean squares with those degrees of freedom."""
    a, b, ratio = above * 0.5, below * 0.5, above / below
    return a * build.log(ratio) + (a - 1) * build.log(x) - (a + b) * build.call("log1p", ratio * x) - _log_beta(a, b)


def _log_beta_binomial(x: Expression, a: Expression, b: Expression, count: Expression) -> Expression:
    given = {name: Argument(value) for name, value in (("x", x), ("a", a), ("b", b), ("count", count))}
    within = build.at_most(Constant(0.0), x) + build.at_most(x, count)
    return instantiate(FAMILY_BY_NAME["BetaBinomial"].log_density, given) + within


DENSITIES: dict[str, tuple[int, str, Callable[..., Expression]]] = {
    "dbetabin": (3, "count", _log_beta_binomial),
    "df": (2, "positive", _log_f),
    "dloglik": (1, "real", lambda x, phi: phi),
}
"""Log densities outside the shelf: number of arguments, where the value lies, and the expression."""

DECLINED: dict[str, tuple[str, str]] = {
    "dhyper": (
        "JAGS reads its arguments as (n1, n2, m1, psi) and OpenBUGS as (n, m, N, psi)",
        "give the probabilities of 0, 1, ... as p[1:K], and the count plus one ~ dcat(p[])",
    ),
    "dnchisqr": (
        "its density is an infinite series",
        "x ~ dchisqr(k + 2 * j) with j ~ dpois(lambda / 2) is the same distribution",
    ),
    "car.normal": (
        "it is improper, the same however all its nodes are shifted together",
        "b[i] ~ dnorm(m[i], tau * num[i]) with m[i] the mean of its neighbours: such lines may lean on one another",
    ),
    "car.proper": ("it is not on the shelf", "dmnorm with the precision tau * (I - gamma * C) / M, written out"),
    **dict.fromkeys(
        ("spatial.exp", "spatial.disc", "spatial.unipred", "spatial.pred"),
        ("kernels of distances are not on the shelf", "dmnorm.vcov with the covariance of every pair written out"),
    ),
    **dict.fromkeys(
        ("car.l1", "mv.car"), ("it is improper, the same however all its nodes are shifted together", "proper lines")
    ),
    "pois.conv": ("it is a sum of hidden counts", "each count ~ dpois(mu[j]), and their sum observed by dsum"),
}
"""Distributions of one dialect or the other that are not here: why, and what to write instead."""

FACTOR = "log factor"
"""A log factor alone, which belongs to no node: readers of other languages use it, and no BUGS text can spell it."""
CONDITIONS = {"dinterval", "dsum"}
KNOWN = {FACTOR, *FORMS, *SPELLED, *DENSITIES, *CONDITIONS}


def canonical(name: str) -> str:
    """A distribution's name in its first spelling."""
    return SPELLED.get(name, name)


def check_density(density: Density, frame: Frame) -> str:
    """The name in its first spelling, if it is one we know."""
    name = canonical(density.name)
    if name in DECLINED:
        reason, instead = DECLINED[name]
        raise frame.complain(density.place, f"`{density.name}` is declined: {reason}", hint=instead)
    if name not in KNOWN:
        raise frame.complain(
            density.place,
            f"the distribution `{density.name}` is not known here",
            expected="a distribution of BUGS or JAGS that Platewright has",
            hint=nearest(density.name, KNOWN),
        )
    wanted = (
        len(FORMS[name].words) if name in FORMS else DENSITIES[name][0] if name in DENSITIES else 1 + (name != FACTOR)
    )
    given = len(density.arguments)
    if given != wanted and not (name == "dsum" and given >= 1) and not (name == "dt" and given == 2):
        shown = ", ".join(FORMS[name].words) if name in FORMS else str(wanted)
        raise frame.complain(density.place, f"`{density.name}` has {given} arguments", f"{density.name}({shown})")
    return name


def distribution(
    name: str, density: Density, frame: Frame, plates: tuple[Plate, ...], events: tuple[Plate, ...]
) -> Distribution:
    """The distribution as the language has it, its parameters in place."""
    form = FORMS[name]
    values = [translate(argument, frame) for argument in density.arguments]
    over = events[0] if events else _category_plate(frame, form, values, plates)
    given: dict[str, Any] = dict(form.fixed)
    for position, (word, value) in enumerate(zip(form.words, values)):
        if len(value.axes) != form.rank(position):
            raise frame.complain(
                density.arguments[position].place,
                f"`{density.name}` needs {_shape_word(form.rank(position))} here, found {_shape_word(len(value.axes))}",
            )
        if value.axes:
            assert over is not None
            size = getattr(over, "size", None)
            if size is not None and value.axes[0].size != size:
                raise frame.complain(
                    density.arguments[position].place, f"{value.axes[0].size} elements, the value has {size}"
                )
            inside = Value(value.filled(), value.axes)
            given[word] = inside.at(over.index, Index(over.name + "'", over.name))
        else:
            given[word] = value.body
    if over is not None:
        return Constructor(FAMILY_BY_NAME[form.family])(plates=plates, over=over, **given)
    return Constructor(FAMILY_BY_NAME[form.family])(plates=plates, **given)


def _category_plate(frame: Frame, form: Form, values: list[Value], plates: tuple[Plate, ...]) -> Plate | None:
    """The categories of dcat: the set that its probabilities range over."""
    if form.family != "Categorical" or not values or not values[0].axes:
        return None
    plate = frame.draft.model.plates[values[0].axes[0].index.plate]
    if plate not in plates:
        return plate
    token = next(root for (root, _), known in frame.draft.plates.items() if known == plate)
    return frame.draft.plate(token, 1)


def _shape_word(rank: int) -> str:
    return ("a number", "a vector", "a matrix", "an array")[min(rank, 3)]


def condition(name: str, density: Density, frame: Frame, known: Expression) -> Expression:
    """The log factor that a known value of `dinterval` or `dsum` adds: zero where it holds, else minus infinity."""
    if name == "dsum":
        parts = [scalar(argument, frame) for argument in density.arguments]
        return AtMost(build.expression(1.0), build.equal(known, build.add(*parts)))
    value = scalar(density.arguments[0], frame)
    cuts = translate(density.arguments[1], frame)
    # x falls in interval k when it is above exactly the first k cuts.
    number = cuts.axes[0].index if cuts.axes else build.expression(0.0)
    above = build.call("less", cuts.body, value)
    wanted = build.call("less", number, known)
    holds = AtMost(build.expression(1.0), build.equal(above, wanted))
    return build.totals(holds, [axis.index for axis in cuts.axes])
