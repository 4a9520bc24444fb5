"""What every family on the shelf must obey; a new family is tested as soon as it is listed in `FAMILIES`.

    sum_i weight_i p(x_i) f(x_i)  =  E f(x)

One table of points and weights per family and setting is the judge: every value of a count, or a double-exponential
rule over the support. It is made from the domain alone and shares nothing with the families' own moments and draws.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import product
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest
from scipy import integrate, special, stats

from platewright.algebra.domain import CIRCLE, MATRIX, POSITIVE, SIMPLEX, UNIT, VECTOR
from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Expression, Index, Reference, free_indices, mentions, names
from platewright.families import FAMILIES, FAMILY_BY_NAME
from platewright.family import EVENT, EVENT_TOO, Argument, Family, Parameter, filled, instantiate

Array = np.ndarray
Point = Mapping[str, Array]

POINT = Index("point", "point")
SETTINGS = range(4)
DRAWS = 20_000
LEVEL = 1e-5
SEED = 20_240_607


# Settings: parameters made from their domains.


def size_of_event(family: Family) -> int:
    """Two elements where the judge integrates over vectors or matrices, three where it only lists."""
    return 2 if family.domain in (SIMPLEX, VECTOR, MATRIX) else 3


def setting(family: Family, number: int) -> Point:
    """The parameters of one setting, each at a place of its own in its domain."""
    d = size_of_event(family)
    values = {
        parameter.name: np.asarray(made(parameter, number + 2 * position, number, family.rank, d), dtype=float)
        for position, parameter in enumerate(family.parameters)
    }
    return MappingProxyType(values)


def made(parameter: Parameter, turn: int, number: int, rank: int, d: int) -> object:
    """A value in the domain of a parameter; names stand for the few constraints that domains cannot tell."""
    sizes = np.array((0.7, 1.9, 6.5, 3.1))
    turned = np.roll(sizes, -turn)
    match parameter.name:
        case "count":
            return (1, 7, 12, 5)[number]
        case "lower":
            return (-2.0, 0.0, 1.5, -0.1)[number]
        case "upper":
            return (-1.5, 3.0, 11.5, 0.0)[number]
        case "log_probabilities":
            return np.log(turned[:d] / turned[:d].sum())
        case "degrees" if rank:
            return d + (9.5, 12.0, 20.0, 10.0)[number]  # enough for a variance of the variance
    if parameter.domain == MATRIX:
        skew = np.tril(np.roll(sizes, turn)[:d, None] * np.linspace(-0.3, 0.4, d)[None, :])
        return (np.diag(turned[:d]) + skew) @ (np.diag(turned[:d]) + skew).T / turned[0]
    if parameter.domain == UNIT:
        return (0.15, 0.5, 0.85, 0.32)[turn % 4]
    if parameter.domain == CIRCLE:
        return (-2.0, 0.4, 3.0, 0.0)[turn % 4]
    if parameter.domain == POSITIVE:
        return turned[:d] if parameter.rank else turned[0]
    place = np.array((-1.3, 0.0, 2.4, 0.6))
    return np.roll(place, -turn)[:d] if parameter.rank else place[turn % 4]


# Evaluation of templates.


def at(template: Expression, family: Family, values: Point, x: Array) -> Array:
    """A template at every one of the values `x`, whose first axis is the point."""
    axes = (EVENT, EVENT_TOO)[: family.rank]
    placed = instantiate(template, {"x": Argument(Reference("x", (POINT, *axes)), axes)})
    return at_once(placed, {**values, "x": x}, (POINT,), point=len(x), event=size_of_event(family))


def at_once(template: Expression, values: Point, axes: tuple[Index, ...], **sizes: int) -> Array:
    with np.errstate(all="ignore"):
        return evaluate(template, Environment(values, sizes), axes)


def own(template: Expression, family: Family, values: Point) -> Array:
    """A template of parameters alone, with an axis for each free event index."""
    axes = tuple(axis for axis in (EVENT, EVENT_TOO) if axis in free_indices(template))
    return at_once(template, values, axes, event=size_of_event(family))


def draws(family: Family, values: Point, count: int) -> Array:
    if family.draw is None:
        pytest.skip(f"{family.name} cannot be drawn from")
    size = (count, *(size_of_event(family),) * family.rank)
    return family.draw(np.random.default_rng(SEED), values, size)


# The judge: points and weights.


def ends(family: Family, values: Point) -> tuple[float, float]:
    """The support as the domain and the bounds state it."""
    low, high = (-np.pi, np.pi) if family.domain == CIRCLE else (family.domain.lower, family.domain.upper)
    if family.lower is not None:
        low = max(low, float(own(family.lower, family, values)))
    if family.upper is not None:
        high = min(high, float(own(family.upper, family, values)))
    return low, high


def interval(low: float, high: float) -> tuple[Array, Array]:
    """The double-exponential rule from `low` to `high`; one of them may be infinite."""
    t, step = np.linspace(-6, 6, 1201, retstep=True)
    if np.isinf(high) or np.isinf(low):
        away = np.exp(np.pi / 2 * np.sinh(t))
        x = low + away if np.isinf(high) else high - away
        return x, step * np.pi / 2 * np.cosh(t) * away
    share = special.expit(np.pi * np.sinh(t))
    x = low + (high - low) * share
    weights = step * np.pi * np.cosh(t) * (high - low) * share * special.expit(-np.pi * np.sinh(t))
    inside = (x > low) & (x < high)
    return x[inside], weights[inside]


def line(low: float, high: float, centre: float) -> tuple[Array, Array]:
    """As `interval`, but cut at `centre`, where a density may have a kink; points in ascending order."""
    if not low < centre < high:
        return interval(low, high)
    (left, left_weights), (right, right_weights) = interval(low, centre), interval(centre, high)
    order = np.argsort(left)
    return np.concatenate([left[order], right]), np.concatenate([left_weights[order], right_weights])


def middle(values: Point) -> float:
    """Where a density on the whole line may have a kink."""
    return float(values.get("mean", values.get("location", np.asarray(0.0))))


def scalars(family: Family, values: Point) -> tuple[Array, Array]:
    low, high = ends(family, values)
    if family.domain.kind == "levels":
        low, high = 0, size_of_event(family) - 1
    if family.domain.is_discrete:
        x = np.arange(low, min(high, 4000) + 1)
        return x, np.ones(len(x))
    return line(low, high, middle(values))


def count_vectors(family: Family, values: Point) -> tuple[Array, Array]:
    total = int(values["count"])
    listed = [x for x in product(range(total + 1), repeat=size_of_event(family)) if sum(x) == total]
    return np.array(listed, dtype=float), np.ones(len(listed))


def pairs_on_the_simplex() -> tuple[Array, Array]:
    t, step = np.linspace(-4.5, 4.5, 1201, retstep=True)
    x = np.stack([special.expit(np.pi * np.sinh(t)), special.expit(-np.pi * np.sinh(t))], axis=-1)
    return x, step * np.pi * np.cosh(t) * x[:, 0] * x[:, 1]


def plane(centre: Array) -> tuple[Array, Array]:
    t, step = np.linspace(-3.2, 3.2, 161, retstep=True)
    x = np.sinh(np.pi / 2 * np.sinh(t))
    weights = step * np.pi / 2 * np.cosh(t) * np.cosh(np.pi / 2 * np.sinh(t))
    both = np.stack(np.meshgrid(x, x, indexing="ij"), axis=-1).reshape(-1, 2)
    return centre + both, np.outer(weights, weights).ravel()


def matrices(typical: Array) -> tuple[Array, Array]:
    """S = R L L' R' with R R' typical and L = [[a, 0], [b, c]]: dS = |R|^3 4 a^2 c da db dc."""
    log_side, side_step = np.linspace(-3, 3, 61, retstep=True)
    slant, slant_step = np.linspace(-4.5, 4.5, 91, retstep=True)
    log_a, s, log_c = (axis.ravel() for axis in np.meshgrid(log_side, slant, log_side, indexing="ij"))
    a, b, c = np.exp(log_a), 0.5 * np.sinh(s), np.exp(log_c)
    weights = side_step**2 * slant_step * 0.5 * np.cosh(s) * 4 * a**3 * c**2
    root = np.linalg.cholesky(typical)
    factor = np.zeros((len(a), 2, 2))
    factor[:, 0, 0], factor[:, 1, 0], factor[:, 1, 1] = a, b, c
    half = root @ factor
    return half @ np.swapaxes(half, -1, -2), weights * np.linalg.det(root) ** 3


@cache
def judge(name: str, number: int) -> tuple[Array, Array]:
    """Points of the support and their probabilities, `weight times density`."""
    family = FAMILY_BY_NAME[name]
    values = setting(family, number)
    if not family.proper:
        pytest.skip(f"{name} is improper: it has no mass to compare with")
    if family.domain == SIMPLEX:
        x, weights = pairs_on_the_simplex()
    elif family.domain == VECTOR:
        x, weights = plane(values["mean"])
    elif family.domain == MATRIX:
        x, weights = matrices(draws(family, values, 500).mean(axis=0))
    elif family.rank:
        x, weights = count_vectors(family, values)
    else:
        x, weights = scalars(family, values)
    log_density = at(family.log_density, family, values, x)
    with np.errstate(all="ignore"):
        return x, np.where(log_density > -np.inf, weights * np.exp(log_density), 0.0)


def expected(name: str, number: int, what: Callable[[Array], Array]) -> Array:
    x, mass = judge(name, number)
    with np.errstate(all="ignore"):
        terms = what(x)
    heavy = mass > 0
    return np.tensordot(mass[heavy], terms[heavy], axes=1)


# The outside oracle: SciPy, by canonical parameters.


@dataclass(frozen=True)
class Half:
    """The size of a value of a distribution that is symmetric about zero; SciPy has it for two families only."""

    whole: Any

    def logpdf(self, x: Array) -> Array:
        return np.log(2) + self.whole.logpdf(x)

    def cdf(self, x: Array) -> Array:
        size = np.maximum(x, 0)
        return self.whole.cdf(size) - self.whole.cdf(-size)

    def ppf(self, q: Array) -> Array:
        return -self.whole.ppf(0.5 * (1 - np.asarray(q)))

    def moment(self, order: float) -> float:
        return 2 * integrate.quad(lambda x: x**order * self.whole.pdf(x), 0, np.inf, epsabs=0, epsrel=1e-12)[0]

    def mean(self) -> float:
        return self.moment(1) if np.isfinite(self.whole.mean()) else np.inf

    def var(self) -> float:
        return self.moment(2) - self.moment(1) ** 2 if np.isfinite(self.whole.var()) else np.inf


ORACLES: dict[str, Callable[[Point], object]] = {
    "AsymmetricLaplace": lambda p: stats.laplace_asymmetric(
        np.sqrt(p["p"] / (1 - p["p"])), p["location"], 1 / (p["rate"] * np.sqrt(p["p"] * (1 - p["p"])))
    ),
    "Bernoulli": lambda p: stats.bernoulli(p["p"]),
    "Beta": lambda p: stats.beta(p["a"], p["b"]),
    "BetaBinomial": lambda p: stats.betabinom(int(p["count"]), p["a"], p["b"]),
    "Binomial": lambda p: stats.binom(p["count"], p["p"]),
    "Categorical": lambda p: stats.rv_discrete(values=(range(3), np.exp(p["log_probabilities"]))),
    "ChiSquare": lambda p: stats.chi2(p["degrees"]),
    "Dirichlet": lambda p: stats.dirichlet(p["concentration"]),
    "Exponential": lambda p: stats.expon(scale=1 / p["rate"]),
    "Gamma": lambda p: stats.gamma(p["shape"], scale=1 / p["rate"]),
    "GeneralisedGamma": lambda p: stats.gengamma(p["shape"], p["power"], scale=1 / p["rate"]),
    "GeneralisedNormal": lambda p: stats.gennorm(p["power"], p["mean"], 1 / p["rate"]),
    "Geometric": lambda p: stats.geom(p["p"]),
    "HalfCauchy": lambda p: stats.halfcauchy(scale=p["scale"]),
    "HalfNormal": lambda p: stats.halfnorm(scale=p["precision"] ** -0.5),
    "HalfStudentT": lambda p: Half(stats.t(p["degrees"], 0, p["scale"])),
    "InverseGamma": lambda p: stats.invgamma(p["shape"], scale=p["scale"]),
    "InverseGaussian": lambda p: stats.invgauss(p["mean"] / p["shape"], scale=p["shape"]),
    "InverseWishart": lambda p: stats.invwishart(float(p["degrees"]), p["scale"]),
    "Laplace": lambda p: stats.laplace(p["mean"], 1 / p["rate"]),
    "Logistic": lambda p: stats.logistic(p["mean"], 1 / p["rate"]),
    "LogNormal": lambda p: stats.lognorm(p["precision"] ** -0.5, scale=np.exp(p["mean"])),
    "Multinomial": lambda p: stats.multinomial(int(p["count"]), np.exp(p["log_probabilities"])),
    "MultivariateNormal": lambda p: stats.multivariate_normal(p["mean"], np.linalg.inv(p["precision"])),
    "MultivariateStudentT": lambda p: stats.multivariate_t(p["mean"], np.linalg.inv(p["precision"]), p["degrees"]),
    "NegativeBinomial": lambda p: stats.nbinom(p["successes"], p["p"]),
    "Normal": lambda p: stats.norm(p["mean"], p["precision"] ** -0.5),
    "Pareto": lambda p: stats.pareto(p["shape"], scale=p["scale"]),
    "Poisson": lambda p: stats.poisson(p["rate"]),
    "SkewNormal": lambda p: stats.skewnorm(p["shape"], p["location"], p["scale"]),
    "StudentT": lambda p: stats.t(p["degrees"], p["mean"], p["precision"] ** -0.5),
    "Uniform": lambda p: stats.uniform(p["lower"], p["upper"] - p["lower"]),
    "VonMises": lambda p: stats.vonmises(p["concentration"], p["mean"]),
    "Weibull": lambda p: stats.weibull_min(p["shape"], scale=p["rate"] ** (-1 / p["shape"])),
    "Wishart": lambda p: stats.wishart(float(p["degrees"]), np.linalg.inv(p["inverse_scale"])),
}
WITHOUT_ORACLE = {
    "Flat": "improper",
    "FlatMatrix": "improper",
    "LogisticNormal": "SciPy has none; checked against its Normal below",
}

MARGINALS: dict[str, Callable[[Point, int], object]] = {
    "Dirichlet": lambda p, k: stats.beta(p["concentration"][k], p["concentration"].sum() - p["concentration"][k]),
    "Multinomial": lambda p, k: stats.binom(p["count"], np.exp(p["log_probabilities"][k])),
    "MultivariateNormal": lambda p, k: stats.norm(p["mean"][k], np.linalg.inv(p["precision"])[k, k] ** 0.5),
    "MultivariateStudentT": lambda p, k: stats.t(
        p["degrees"], p["mean"][k], np.linalg.inv(p["precision"])[k, k] ** 0.5
    ),
}

NORMAL_LIKE = ("HalfNormal", "LogNormal", "LogisticNormal", "Normal")

# What a keyword is worth at canonical parameters, worked out by hand: the inverse of `spelled`.
KEYWORDS: dict[tuple[str, str], Callable[[Point], Array]] = {
    ("Bernoulli", "logit"): lambda p: special.logit(p["p"]),
    ("Binomial", "logit"): lambda p: special.logit(p["p"]),
    ("Categorical", "logits"): lambda p: p["log_probabilities"] + 1.7,
    ("Categorical", "probabilities"): lambda p: np.exp(p["log_probabilities"]),
    ("Exponential", "scale"): lambda p: 1 / p["rate"],
    ("Gamma", "scale"): lambda p: 1 / p["rate"],
    ("GeneralisedGamma", "scale"): lambda p: 1 / p["rate"],
    ("AsymmetricLaplace", "scale"): lambda p: 1 / p["rate"],
    ("GeneralisedNormal", "scale"): lambda p: 1 / p["rate"],
    ("Logistic", "scale"): lambda p: 1 / p["rate"],
    ("Laplace", "scale"): lambda p: 1 / p["rate"],
    ("Multinomial", "logits"): lambda p: p["log_probabilities"] - 40.0,
    ("Multinomial", "probabilities"): lambda p: np.exp(p["log_probabilities"]),
    ("MultivariateNormal", "covariance"): lambda p: np.linalg.inv(p["precision"]),
    ("StudentT", "scale"): lambda p: p["precision"] ** -0.5,
    ("Weibull", "scale"): lambda p: p["rate"] ** (-1 / p["shape"]),
    ("Wishart", "scale"): lambda p: np.linalg.inv(p["inverse_scale"]),
    **{(name, "sd"): lambda p: p["precision"] ** -0.5 for name in NORMAL_LIKE},
    **{(name, "variance"): lambda p: 1 / p["precision"] for name in NORMAL_LIKE},
}


def oracle_log_density(name: str, values: Point, x: Array) -> Array:
    oracle = ORACLES[name](values)
    density = getattr(oracle, "logpmf", None) if FAMILY_BY_NAME[name].domain.is_discrete else oracle.logpdf
    return np.array([np.squeeze(density(point)) for point in x])


def named(family: Family) -> str:
    return family.name


every_family = pytest.mark.parametrize("family", FAMILIES, ids=named)
every_setting = pytest.mark.parametrize("number", SETTINGS)
every_spelling = pytest.mark.parametrize(
    ("family", "parameter", "keyword"),
    [(family, parameter, word) for family in FAMILIES for parameter, words in family.spelled.items() for word in words],
    ids=lambda part: part.name if isinstance(part, Family) else part,
)


# The laws.


@every_family
@every_setting
def test_the_density_has_mass_one(family: Family, number: int) -> None:
    _, mass = judge(family.name, number)
    assert mass.sum() == pytest.approx(1, abs=1e-8)


@every_family
@every_setting
def test_the_stable_density_is_the_exponential_form(family: Family, number: int) -> None:
    values = setting(family, number)
    if family.stable_log_density is None:
        pytest.skip("only one form is given")
    x = draws(family, values, 50)
    form = at(family.exponent, family, values, x) - own(family.log_normaliser, family, values)
    np.testing.assert_allclose(at(family.stable_log_density, family, values, x), form, rtol=1e-9, atol=1e-9)


@every_family
@every_setting
def test_the_derivative_of_the_log_normaliser_is_the_mean_of_the_statistics(family: Family, number: int) -> None:
    """J' E(t) = grad log Z with J_ij = d natural_i / d parameter_j (errata E13b)."""
    values = setting(family, number)
    if family.rank or not family.statistics:
        pytest.skip("no statistics, or statistics with axes")
    bounds = [bound for bound in (family.lower, family.upper) if bound is not None]
    fixed = frozenset().union(*(names(part) for part in (*family.statistics, family.base, *bounds)))
    free = [parameter.name for parameter in family.parameters if parameter.name not in fixed]
    assert free, "every parameter occurs in a statistic or a bound: then there is no exponential form"
    means = [expected(family.name, number, lambda x, t=t: at(t, family, values, x)) for t in family.statistics]
    for parameter in free:
        left = sum(slope(nature, parameter, values) * mean for nature, mean in zip(family.natural, means))
        assert left == pytest.approx(slope(family.log_normaliser, parameter, values), rel=1e-7, abs=1e-7)


def slope(template: Expression, parameter: str, values: Point) -> float:
    """The derivative in a scalar parameter, by differences of fourth order."""
    step = 1e-3 * max(abs(float(values[parameter])), 0.1)
    parts = [
        weight * at_once(template, {**values, parameter: values[parameter] + shift * step}, ())
        for shift, weight in ((-2, 1), (-1, -8), (1, 8), (2, -1))
    ]
    return float(sum(parts)) / (12 * step)


@every_family
@every_setting
def test_draws_agree_with_the_density(family: Family, number: int) -> None:
    x, mass = judge(family.name, number)
    drawn = draws(family, setting(family, number), DRAWS)
    if family.rank:
        assert_moments_agree(drawn, family.name, number)
    elif family.domain.is_discrete:
        assert_counts_agree(drawn, x, mass)
    else:
        cumulative = np.cumsum(mass) - mass / 2
        ranks = np.interp(np.sort(drawn), x, cumulative)
        distance = np.abs(ranks - (np.arange(DRAWS) + 0.5) / DRAWS).max()
        assert distance < np.sqrt(np.log(2 / LEVEL) / (2 * DRAWS))


def assert_counts_agree(drawn: Array, x: Array, mass: Array) -> None:
    """Chi-square over the values that are expected five times, all others in one; those may hardly occur."""
    often = mass * DRAWS >= 5
    found = np.array([(drawn == value).sum() for value in x[often]])
    foreseen = mass[often] * DRAWS
    rest = DRAWS - foreseen.sum()
    if rest >= 1:
        found, foreseen = np.append(found, DRAWS - found.sum()), np.append(foreseen, rest)
    assert found.sum() >= DRAWS - 20
    statistic = ((found - foreseen) ** 2 / foreseen).sum()
    assert stats.chi2.sf(statistic, max(len(found) - 1, 1)) > LEVEL


def assert_moments_agree(drawn: Array, name: str, number: int) -> None:
    """Mean and variance within five standard errors."""
    mean = expected(name, number, lambda x: x)
    variance = expected(name, number, lambda x: (x - mean) ** 2)
    fourth = expected(name, number, lambda x: (x - mean) ** 4)
    assert (np.abs(drawn.mean(axis=0) - mean) < 5 * np.sqrt(variance / DRAWS)).all()
    error = np.sqrt((fourth - variance**2) / DRAWS) + 1e-12
    assert (np.abs(((drawn - mean) ** 2).mean(axis=0) - variance) < 5 * error).all()


@every_family
@every_setting
def test_mean_and_variance_are_those_of_the_density(family: Family, number: int) -> None:
    values = setting(family, number)
    if family.mean is None or family.variance is None:
        pytest.skip("no moments are stated")
    mean, variance = family.mean(values), family.variance(values)
    if family.domain == CIRCLE:
        resultant = expected(family.name, number, lambda x: np.exp(1j * x))
        assert np.exp(1j * mean) == pytest.approx(resultant / np.abs(resultant), abs=1e-8)
        assert variance == pytest.approx(1 - np.abs(resultant), abs=1e-8)
        return
    if np.isfinite(mean).all():
        np.testing.assert_allclose(mean, expected(family.name, number, lambda x: x), rtol=1e-7, atol=1e-7)
    if np.isfinite(variance).all():
        spread = expected(family.name, number, lambda x: (x - mean) ** 2)
        np.testing.assert_allclose(variance, spread, rtol=1e-6, atol=1e-7)


@every_family
@every_setting
def test_nothing_is_more_likely_than_the_mode(family: Family, number: int) -> None:
    values = setting(family, number)
    if family.mode is None:
        pytest.skip("no mode is stated")
    mode = np.asarray(family.mode(values), dtype=float)
    peak = at(family.log_density, family, values, mode[None])
    x, mass = judge(family.name, number)
    assert (at(family.log_density, family, values, x)[mass > 0] <= peak + 1e-9).all()
    if not family.domain.is_discrete and family.domain != SIMPLEX:
        low, high = ends(family, values)
        nearby = np.array([mode * factor for factor in (0.997, 1.003) if low <= np.min(mode * factor) < high])
        assert (at(family.log_density, family, values, nearby) <= peak + 1e-12).all()


@every_family
@every_setting
def test_the_quantile_inverts_the_integral_of_the_density(family: Family, number: int) -> None:
    values = setting(family, number)
    if family.quantile is None or family.rank:
        pytest.skip("no quantile is stated, or it is that of each element")
    for q in (1e-4, 0.1, 0.5, 0.77, 0.999):
        found = float(family.quantile(np.asarray(q), values))
        if family.domain.is_discrete:
            x, mass = judge(family.name, number)
            assert mass[x < found].sum() < q <= mass[x <= found].sum()
            continue
        low, _ = ends(family, values)
        x, weights = line(low, found, middle(values))
        assert weights @ np.exp(at(family.log_density, family, values, x)) == pytest.approx(q, abs=1e-8, rel=1e-6)


@every_family
@every_setting
def test_the_ends_of_the_quantile_are_those_of_the_support(family: Family, number: int) -> None:
    values = setting(family, number)
    if family.quantile is None or family.rank:
        pytest.skip("no quantile is stated, or it is that of each element")
    with np.errstate(divide="ignore", over="ignore"):
        found = family.quantile(np.array([0.0, 1.0]), values)
    if family.name == "HalfCauchy":
        assert found[1] > 1e15  # tan(pi / 2) in floating point
        return
    np.testing.assert_allclose(found, ends(family, values))


@every_family
@every_setting
def test_natural_parameters_give_the_parameters_back(family: Family, number: int) -> None:
    values = setting(family, number)
    if family.from_natural is None:
        pytest.skip("not recognised as a conditional")
    weights = {f"weight{k}": own(nature, family, values) for k, nature in enumerate(family.natural)}
    if family.lower is not None:
        weights["lower"] = own(family.lower, family, values)
    for name, template in family.from_natural.items():
        found = own(template, family, weights)
        np.testing.assert_allclose(found, values[name], rtol=1e-12, atol=1e-12)


def test_no_two_families_are_recognised_from_the_same_form() -> None:
    forms = [
        (family.statistics, family.base, family.domain, family.lower is None)
        for family in FAMILIES
        if family.from_natural is not None
    ]
    assert len(set(forms)) == len(forms)


@every_spelling
@every_setting
def test_every_spelling_means_the_same_density(family: Family, parameter: str, keyword: str, number: int) -> None:
    values = setting(family, number)
    worth = values[parameter] if keyword == parameter else KEYWORDS[family.name, keyword](values)
    axes = (EVENT, EVENT_TOO)[: family.parameter(parameter).rank]
    stands_for = Argument(family.spelled[parameter][keyword], axes)
    spelled = instantiate(family.log_density, {parameter: stands_for})
    if keyword != parameter:
        assert not mentions(spelled, {parameter})
    x = draws(family, values, 5)
    given = {**{name: value for name, value in values.items() if name != parameter}, keyword: worth}
    np.testing.assert_allclose(
        at(spelled, family, given, x), at(family.log_density, family, values, x), rtol=1e-10, atol=1e-10
    )


@every_family
@every_setting
def test_scipy_has_the_same_density(family: Family, number: int) -> None:
    if family.name in WITHOUT_ORACLE:
        pytest.skip(WITHOUT_ORACLE[family.name])
    values = setting(family, number)
    x = draws(family, values, 5)
    theirs = oracle_log_density(family.name, values, x)
    np.testing.assert_allclose(at(family.log_density, family, values, x), theirs, rtol=1e-9, atol=1e-9)


@every_family
@every_setting
def test_scipy_has_the_same_moments_and_quantiles(family: Family, number: int) -> None:
    if family.rank or family.domain == CIRCLE or family.name in WITHOUT_ORACLE or family.mean is None:
        pytest.skip("SciPy states no comparable moments")
    values = setting(family, number)
    oracle = ORACLES[family.name](values)
    for ours, theirs in ((family.mean(values), oracle.mean()), (family.variance(values), oracle.var())):
        assert np.isfinite(ours) == np.isfinite(theirs)
        if np.isfinite(ours):
            assert ours == pytest.approx(theirs, rel=1e-9, abs=1e-9)
    if family.quantile is not None:
        q = np.array([1e-9, 0.013, 0.25, 0.5, 0.9, 0.99999])
        np.testing.assert_allclose(family.quantile(q, values), oracle.ppf(q), rtol=1e-8, atol=1e-12)


@pytest.mark.parametrize("name", MARGINALS)
@every_setting
def test_quantiles_of_elements_are_those_of_the_marginals(name: str, number: int) -> None:
    family = FAMILY_BY_NAME[name]
    values = setting(family, number)
    q = np.array([0.013, 0.5, 0.9])
    theirs = [MARGINALS[name](values, k).ppf(q) for k in range(size_of_event(family))]
    np.testing.assert_allclose(family.quantile(q[:, None], values), np.transpose(theirs), rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("name", ["BetaBinomial", "Binomial", "Geometric", "NegativeBinomial", "Poisson"])
@every_setting
def test_the_quantile_of_a_count_is_right_on_both_sides_of_every_step(name: str, number: int) -> None:
    family = FAMILY_BY_NAME[name]
    values = setting(family, number)
    oracle = ORACLES[name](values)
    x, mass = judge(name, number)
    x = x[(mass > 1e-6) & (np.cumsum(mass) < 1 - 1e-6)]
    np.testing.assert_array_equal(family.quantile(oracle.cdf(x) * (1 - 1e-10), values), x)
    np.testing.assert_array_equal(family.quantile(oracle.cdf(x) * (1 + 1e-10), values), x + 1)


@every_family
def test_parameters_may_be_stacked(family: Family) -> None:
    several = [setting(family, number) for number in SETTINGS]
    stacked = {
        parameter.name: np.stack([values[parameter.name] for values in several]) for parameter in family.parameters
    }
    event = (size_of_event(family),) * family.rank
    for summary in (family.mean, family.variance, family.mode):
        if summary is not None:
            apart = np.stack([np.broadcast_to(summary(values), event) for values in several])
            np.testing.assert_allclose(summary(stacked), apart, rtol=1e-12)
    if family.quantile is not None:
        q = np.array([0.2, 0.7]).reshape(2, 1, *(1,) * family.rank)
        apart = np.stack([family.quantile(q[:, 0], values) for values in several], axis=1)
        np.testing.assert_allclose(family.quantile(q, stacked), apart, rtol=1e-12)
    if family.draw is not None:
        shape = (3, len(several), *event)
        assert family.draw(np.random.default_rng(SEED), stacked, shape).shape == shape


@every_family
def test_a_template_means_the_same_over_a_plate_of_the_model(family: Family) -> None:
    """Filled in with variables that live on other axes and under other names, as a model does."""
    if family.draw is None:
        pytest.skip(f"{family.name} cannot be drawn from")
    values = setting(family, 1)
    x = draws(family, values, 1)[0]
    axes = (Index("j", "feature"), Index("j'", "feature"))
    arguments = {"x": Argument(Reference("y", axes[: family.rank]), axes[: family.rank])}
    for parameter in family.parameters:
        own_axes = axes[: parameter.rank]
        arguments[parameter.name] = Argument(Reference(f"my_{parameter.name}", own_axes), own_axes)
    placed = filled(family.log_density, arguments, axes[: max(family.rank, 1)])
    given = {"y": x, **{f"my_{name}": value for name, value in values.items()}}
    found = at_once(placed, given, (), feature=size_of_event(family))
    assert found == pytest.approx(at(family.log_density, family, values, np.asarray(x)[None])[0], rel=1e-12)


@every_setting
def test_a_logistic_normal_is_a_normal_of_the_logit(number: int) -> None:
    family = FAMILY_BY_NAME["LogisticNormal"]
    values = setting(family, number)
    x = draws(family, values, 5)
    normal = ORACLES["Normal"](values)
    theirs = normal.logpdf(special.logit(x)) - np.log(x) - np.log1p(-x)
    np.testing.assert_allclose(at(family.log_density, family, values, x), theirs, rtol=1e-9)
    q = np.array([0.01, 0.5, 0.9])
    np.testing.assert_allclose(family.quantile(q, values), special.expit(normal.ppf(q)), rtol=1e-12)


def test_the_shelf_is_in_order_and_has_no_name_twice() -> None:
    shelf = [family.name for family in FAMILIES]
    assert shelf == sorted(shelf, key=lambda name: "".join(f" {c}" if c.isupper() else c for c in name))
    assert len(FAMILY_BY_NAME) == len(FAMILIES)


def test_every_family_has_an_outside_oracle_or_a_reason() -> None:
    assert set(ORACLES) | set(WITHOUT_ORACLE) == set(FAMILY_BY_NAME)


def test_a_dirichlet_without_a_peak_has_its_mode_at_a_corner_and_a_flat_one_in_the_middle() -> None:
    dirichlet, beta = FAMILY_BY_NAME["Dirichlet"], FAMILY_BY_NAME["Beta"]
    found = dirichlet.mode({"concentration": np.array([[0.2, 0.9], [1.0, 0.5], [1.0, 1.0]])})
    np.testing.assert_array_equal(found, [[0, 1], [1, 0], [0.5, 0.5]])
    np.testing.assert_array_equal(
        beta.mode({"a": np.array([0.2, 1.0, 1.0]), "b": np.array([0.9, 0.5, 1.0])}), [0, 1, 0.5]
    )
