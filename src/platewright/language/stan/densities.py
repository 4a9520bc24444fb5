"""The distributions that Stan has by name; the density of any other is written out.

Normal(mean, precision)      normal_lpdf(x | mean, inv_sqrt(precision))
"""

from __future__ import annotations

from dataclasses import replace

from platewright.algebra.build import power
from platewright.algebra.expression import Constant, Expression, Index, Power, Reference, free_indices, names
from platewright.language.model import Model
from platewright.language.plate import beginning
from platewright.language.stan.apart import apart
from platewright.language.stan.expressions import element, matrix, text, vector
from platewright.language.stan.page import Lines, Page
from platewright.language.variable import Variable

_SCALE, _WIDTH, _ZERO = "scale of precision", "width of rate", "zero"
"""Arguments that are made from our parameters: 1 / sqrt(precision), 1 / rate, and the middle of a half."""

_HALVES = ("HalfCauchy", "HalfNormal")

FORMS: dict[str, tuple[str, tuple[str, ...]]] = {
    "Bernoulli": ("bernoulli_lpmf", ("p",)),
    "Beta": ("beta_lpdf", ("a", "b")),
    "Binomial": ("binomial_lpmf", ("count", "p")),
    "ChiSquare": ("chi_square_lpdf", ("degrees",)),
    "Exponential": ("exponential_lpdf", ("rate",)),
    "HalfCauchy": ("cauchy_lpdf", (_ZERO, "scale")),
    "HalfNormal": ("normal_lpdf", (_ZERO, _SCALE)),
    "Gamma": ("gamma_lpdf", ("shape", "rate")),
    "InverseGamma": ("inv_gamma_lpdf", ("shape", "scale")),
    "Laplace": ("double_exponential_lpdf", ("mean", _WIDTH)),
    "LogNormal": ("lognormal_lpdf", ("mean", _SCALE)),
    "Normal": ("normal_lpdf", ("mean", _SCALE)),
    "Pareto": ("pareto_lpdf", ("scale", "shape")),
    "Poisson": ("poisson_lpmf", ("rate",)),
    "StudentT": ("student_t_lpdf", ("degrees", "mean", _SCALE)),
    "Uniform": ("uniform_lpdf", ("lower", "upper")),
    "VonMises": ("von_mises_lpdf", ("mean", "concentration")),
}
"""By family: the function of Stan and our parameters in its order."""


def density(page: Page, variable: Variable) -> tuple[Lines, str]:
    """The statements before, and the log density of one element of a random variable."""
    before: Lines = []
    family = variable.family.name if variable.family is not None else ""
    variable = _apart(variable)
    # a series has another distribution at its first step, which only the density as a whole knows
    is_series = any(beginning(axis.plate) in names(variable.log_density) for axis in variable.axes)
    if is_series:
        return before, text(page, variable.log_density, before)
    if family in ("Dirichlet", "MultivariateNormal", "Wishart", "InverseWishart"):
        return before, _with_events(page, variable, before)
    if family not in FORMS or variable.rank or not _counts_are_whole(page, variable):
        return before, text(page, variable.log_density, before)
    function, words = FORMS[family]
    given = dict(variable.parameters)
    shown = []
    for word in words:
        match word:
            case "zero":
                shown.append("0.0")
            case "scale of precision":
                shown.append(_scale(page, given["precision"], before))
            case "width of rate":
                shown.append(text(page, power(given["rate"], -1.0), before))
            case "count":
                count = given[word]
                shown.append(str(int(count.value)) if isinstance(count, Constant) else text(page, given[word], before))
            case _:
                shown.append(text(page, given[word], before))
    half = " + log(2.0)" if family in _HALVES else ""
    return before, f"{function}({_target(page, variable)} | {', '.join(shown)}){half}"


def counts(model: Model) -> frozenset[str]:
    """Known numbers that stand as counts of trials where Stan wants them whole."""
    counted = [v for v in model.variables.values() if v.family and "count" in FORMS.get(v.family.name, ("", ()))[1]]
    given = [dict(variable.parameters)["count"] for variable in counted]
    named = {count.name for count in given if isinstance(count, Reference)}
    return frozenset(name for name in named if model.variables[name].kind == "input")


def _counts_are_whole(page: Page, variable: Variable) -> bool:
    """Where a count of trials is computed, the density is written out: `lgamma` takes any number."""
    match dict(variable.parameters).get("count"):
        case None:
            return True
        case Constant(value):
            return value.is_integer()
        case Reference(name, _):
            return name in counts(page.model) or page.model.variables[name].domain.kind == "integer"
    return False


def _apart(variable: Variable) -> Variable:
    """The variable with loops inside its density named apart from those of its axes."""
    plates, events = frozenset(variable.plates), variable.events
    inner = plates | frozenset(events) | {Index(f"{event.name}'", event.plate) for event in events}
    parameters = tuple((name, apart(value, inner)) for name, value in variable.parameters)
    return replace(variable, log_density=apart(variable.log_density, plates), parameters=parameters)


def _scale(page: Page, precision: Expression, before: Lines) -> str:
    """One over the square root of a precision; of `s^-2` it is s again."""
    match precision:
        case Power(base, Constant(-2.0)):
            is_positive = isinstance(base, Constant) and base.value > 0
            if isinstance(base, Reference):
                is_positive = page.model.variables[base.name].domain.lower >= 0
            shown = text(page, base, before)
            return shown if is_positive else f"abs({shown})"
        case Power(base, Constant(-1.0)):
            return f"sqrt({text(page, base, before)})"
    return text(page, power(precision, -0.5), before)


def _target(page: Page, variable: Variable) -> str:
    """One element with all its event axes."""
    return element(page.word(variable.name), [page.loop(axis) for axis in variable.plates])


def _with_events(page: Page, variable: Variable, before: Lines) -> str:
    """Distributions over vectors and matrices."""
    assert variable.family is not None
    given = dict(variable.parameters)
    target = _target(page, variable)
    row = variable.events[0]
    column = Index(f"{row.name}'", row.plate)
    match variable.family.name:
        case "Dirichlet":
            return f"dirichlet_lpdf({target} | {_vector(page, variable, given['concentration'], before)})"
        case "MultivariateNormal":
            mean = _vector(page, variable, given["mean"], before)
            precision = matrix(page, row, column, given["precision"], before)
            return f"multi_normal_prec_lpdf({target} | {mean}, {precision})"
        case "Wishart":
            degrees = text(page, given["degrees"], before)
            scale = matrix(page, row, column, given["inverse_scale"], before)
            return f"wishart_lpdf({target} | {degrees}, inverse_spd({scale}))"
        case _:
            degrees = text(page, given["degrees"], before)
            return f"inv_wishart_lpdf({target} | {degrees}, {matrix(page, row, column, given['scale'], before)})"


def _vector(page: Page, variable: Variable, value: Expression, before: Lines) -> str:
    """A vector parameter as a local vector over the event axis."""
    event = variable.events[0]
    inside = sorted(free_indices(value) - set(variable.plates), key=lambda index: index.name)
    return vector(page, inside[0] if inside else event, value, before)
