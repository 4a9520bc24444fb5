"""The distributions that Stan has by name; the density of any other is written out.

Normal(mean, precision)      normal_lpdf(x | mean, inv_sqrt(precision))
"""

from __future__ import annotations

from platewright.algebra.build import power
from platewright.algebra.expression import Expression, Index, free_indices, names
from platewright.language.plate import beginning
from platewright.language.stan.expressions import Lines, Page, element, matrix, text, vector
from platewright.language.variable import Variable

_SCALE = "scale of precision"

FORMS: dict[str, tuple[str, tuple[str, ...]]] = {
    "Bernoulli": ("bernoulli_lpmf", ("p",)),
    "Beta": ("beta_lpdf", ("a", "b")),
    "Binomial": ("binomial_lpmf", ("count", "p")),
    "ChiSquare": ("chi_square_lpdf", ("degrees",)),
    "Exponential": ("exponential_lpdf", ("rate",)),
    "Gamma": ("gamma_lpdf", ("shape", "rate")),
    "InverseGamma": ("inv_gamma_lpdf", ("shape", "scale")),
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
    # a series has another distribution at its first step, which only the density as a whole knows
    is_series = any(beginning(axis.plate) in names(variable.log_density) for axis in variable.axes)
    if is_series:
        return before, text(page, variable.log_density, before)
    if family in ("Dirichlet", "MultivariateNormal", "Wishart", "InverseWishart"):
        return before, _with_events(page, variable, before)
    if family not in FORMS or variable.rank:
        return before, text(page, variable.log_density, before)
    function, words = FORMS[family]
    given = dict(variable.parameters)
    shown = []
    for word in words:
        value = power(given["precision"], -0.5) if word == _SCALE else given[word]
        shown.append(text(page, value, before))
    return before, f"{function}({_target(page, variable)} | {', '.join(shown)})"


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
