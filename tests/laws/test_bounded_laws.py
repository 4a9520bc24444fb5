"""Laws of cumulative distributions and of families within bounds, over every family that states one.

F' = p          truncated: mass one between the bounds          draws: F, rescaled, is uniform

Of counts, F(k) - F(k - 1) = p(k), both bounds belong to the interval, and draws are as frequent as they are probable.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import platewright as pw
from laws.test_family_laws import ORACLES, SETTINGS, at, setting
from platewright.algebra.differentiate import differentiate
from platewright.algebra.evaluate import elementwise
from platewright.errors import ParameterError
from platewright.families import FAMILIES, FAMILY_BY_NAME, family_named
from platewright.families.bounded import drawn_between
from platewright.family import Array, Family, X
from platewright.language.serial import model_from_json, model_json

ABLE = [family for family in FAMILIES if family.cumulative is not None and not family.domain.is_discrete]
COUNTS = [family for family in FAMILIES if family.cumulative is not None and family.domain.is_discrete]
LEVEL = 1e-5
SHARES = np.array([0.02, 0.3, 0.7, 0.97])
ENDS = (("lower",), ("upper",), ("lower", "upper"))


def cumulative(family: Family, values: dict[str, Array], x: Array) -> Array:
    assert family.cumulative is not None
    return np.asarray(elementwise(family.cumulative, {**values, "x": np.asarray(x, dtype=float)}))


def inner_points(family: Family, number: int) -> tuple[dict[str, Array], Array]:
    values = dict(setting(family, number))
    assert family.quantile is not None
    return values, np.asarray(family.quantile(SHARES, values))


@pytest.mark.parametrize("number", SETTINGS)
@pytest.mark.parametrize("family", ABLE, ids=lambda family: family.name)
def test_the_cumulative_distribution_is_that_of_scipy_and_of_the_quantiles(family: Family, number: int) -> None:
    values, points = inner_points(family, number)
    np.testing.assert_allclose(cumulative(family, values, points), SHARES, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(cumulative(family, values, points), ORACLES[family.name](values).cdf(points), rtol=1e-9)


@pytest.mark.parametrize("number", SETTINGS)
@pytest.mark.parametrize("family", ABLE, ids=lambda family: family.name)
def test_the_slope_of_the_cumulative_distribution_is_the_density(family: Family, number: int) -> None:
    values, points = inner_points(family, number)
    assert family.cumulative is not None
    slope = elementwise(differentiate(family.cumulative, X), {**values, "x": points})
    np.testing.assert_allclose(slope, np.exp(at(family.log_density, family, values, points)), rtol=1e-8)


def cut(family: Family, ends: tuple[str, ...], number: int) -> tuple[Family, dict[str, Array], Array, Array]:
    """A truncated family with bounds inside its mass."""
    values, points = inner_points(family, number)
    name = "".join(["Truncated", family.name, *(f"@{end}" for end in ends)])
    found = family_named(name)
    assert found is not None and found.name == name
    bounds = {"lower": points[1], "upper": points[2]}
    given = {**values, **{end: np.asarray(bounds[end]) for end in ends}}
    return found, given, given.get("lower", np.array(-np.inf)), given.get("upper", np.array(np.inf))


@pytest.mark.parametrize("ends", ENDS, ids="-".join)
@pytest.mark.parametrize("family", ABLE, ids=lambda family: family.name)
def test_a_truncated_density_is_the_density_over_the_mass_between(family: Family, ends: tuple[str, ...]) -> None:
    for number in SETTINGS:
        found, given, low, high = cut(family, ends, number)
        oracle = ORACLES[family.name](setting(family, number))
        mass = oracle.cdf(high) - oracle.cdf(low)
        x = oracle.ppf(np.array([0.35, 0.5, 0.65]))
        theirs = oracle.logpdf(x) - np.log(mass)
        np.testing.assert_allclose(at(found.log_density, found, given, x), theirs, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("ends", ENDS, ids="-".join)
@pytest.mark.parametrize("family", ABLE, ids=lambda family: family.name)
def test_truncated_draws_fill_the_mass_between_evenly(family: Family, ends: tuple[str, ...]) -> None:
    found, given, low, high = cut(family, ends, 1)
    assert found.draw is not None
    x = found.draw(np.random.default_rng(5), given, (4000,))
    assert ((x >= low) & (x <= high)).all()
    oracle = ORACLES[family.name](setting(family, 1))
    share = (oracle.cdf(x) - oracle.cdf(low)) / (oracle.cdf(high) - oracle.cdf(low))
    assert stats.kstest(share, stats.uniform.cdf).pvalue > LEVEL / len(ABLE)


every_count = pytest.mark.parametrize("family", COUNTS, ids=lambda family: family.name)


@pytest.mark.parametrize("number", SETTINGS)
@every_count
def test_the_steps_of_the_cumulative_distribution_are_the_probabilities_of_counts(family: Family, number: int) -> None:
    values = dict(setting(family, number))
    oracle = ORACLES[family.name](values)
    first = family.domain.lower
    counts = np.arange(first, min(float(oracle.ppf(1 - 1e-9)), first + 60) + 1)
    np.testing.assert_allclose(cumulative(family, values, counts), oracle.cdf(counts), rtol=1e-9)
    np.testing.assert_allclose(cumulative(family, values, counts + 0.6), oracle.cdf(counts), rtol=1e-9)


def counted(family: Family, ends: tuple[str, ...], number: int) -> tuple[Family, dict[str, Array], Array, Array]:
    """A family of counts cut off inside its mass, and the counts with their probabilities by hand."""
    values = dict(setting(family, number))
    oracle = ORACLES[family.name](values)
    first = family.domain.lower
    bounds = {"lower": max(float(oracle.ppf(0.3)), first + 1), "upper": max(float(oracle.ppf(0.8)), first + 2)}
    found = family_named("".join(["Truncated", family.name, *(f"@{end}" for end in ends)]))
    assert found is not None
    most = min(bounds["upper"] if "upper" in ends else float(oracle.ppf(1 - 1e-13)), float(values.get("count", 1e9)))
    counts = np.arange(bounds["lower"] if "lower" in ends else first, most + 1)
    mass = oracle.pmf(counts)
    given = {**values, **{end: np.asarray(bounds[end]) for end in ends}}
    return found, given, counts, mass / mass.sum()


@pytest.mark.parametrize("ends", ENDS, ids="-".join)
@pytest.mark.parametrize("number", SETTINGS)
@every_count
def test_truncated_counts_have_mass_one_with_both_bounds(family: Family, ends: tuple[str, ...], number: int) -> None:
    found, given, counts, mass = counted(family, ends, number)
    np.testing.assert_allclose(np.exp(at(found.log_density, found, given, counts)), mass, rtol=1e-7)
    shifted = {**given, **({"lower": given["lower"] - 0.4} if "lower" in given else {})}
    np.testing.assert_allclose(np.exp(at(found.log_density, found, shifted, counts)), mass, rtol=1e-7)


@pytest.mark.parametrize("ends", ENDS, ids="-".join)
@every_count
def test_truncated_counts_are_drawn_as_often_as_they_are_probable(family: Family, ends: tuple[str, ...]) -> None:
    found, given, counts, mass = counted(family, ends, 1)
    assert found.draw is not None
    drawn = found.draw(np.random.default_rng(8), given, (4000,))
    assert np.isin(drawn, counts).all()
    common = mass * 4000 >= 8
    seen = np.array([(drawn == count).sum() for count in counts[common]])
    seen, hoped = np.append(seen, 4000 - seen.sum()), np.append(mass[common], max(1 - mass[common].sum(), 0)) * 4000
    kept = hoped > 1
    distance = ((seen - hoped)[kept] ** 2 / hoped[kept]).sum()
    assert stats.chi2(max(kept.sum() - 1, 1)).sf(distance) > LEVEL / len(COUNTS)


@every_count
def test_a_lower_bound_below_all_counts_bounds_nothing(family: Family) -> None:
    values = dict(setting(family, 0))
    found = family_named(f"Truncated{family.name}@lower")
    assert found is not None
    counts = family.domain.lower + np.arange(3.0)
    for lower in (family.domain.lower, -3.0):
        inside = at(found.log_density, found, {**values, "lower": np.asarray(lower)}, counts)
        np.testing.assert_allclose(inside, at(family.log_density, family, values, counts), rtol=1e-9)


def test_the_tails_of_a_normal_are_inverted_without_loss() -> None:
    family = FAMILY_BY_NAME["Normal"]
    p = {"mean": np.array(1.0), "precision": np.array(1.0)}
    share = np.random.default_rng(0).random(4000)
    for low, high in ((9.0, np.inf), (-np.inf, -9.0), (8.0, 8.5), (-12.0, -11.0)):
        x, sure = drawn_between(family, p, np.array(low), np.array(high), share)
        assert sure.all() and ((x >= low) & (x <= high)).all()
        oracle = stats.truncnorm(low - 1, high - 1, loc=1.0)
        assert abs(x.mean() - oracle.mean()) < 5 * oracle.std() / np.sqrt(4000)


def test_what_cannot_be_inverted_is_told() -> None:
    p = {"rate": np.array(1.0)}
    _, sure = drawn_between(FAMILY_BY_NAME["Exponential"], p, np.array([1.0, 60.0]), np.array(np.inf), np.array(0.5))
    assert sure.tolist() == [True, False]


def test_a_bound_that_bounds_nothing_is_dropped_and_others_narrow_the_domain() -> None:
    assert pw.Truncated(pw.Gamma(2, rate=1), lower=-1).family.name == "Gamma"
    m = pw.Model("bounds")
    m.a = pw.Truncated(pw.Normal(0, sd=1), lower=0.5, upper=2)
    m.b = pw.Truncated(pw.Normal(0, sd=1), lower=m.a)
    assert (m.variables["a"].domain.lower, m.variables["a"].domain.upper) == (0.5, 2.0)
    assert "log[a <= b]" in str(m.variables["b"].log_density)
    again = model_from_json(model_json(m))
    assert again.variables["b"].family is m.variables["b"].family


def test_bounds_that_make_no_sense_are_refused() -> None:
    for make, words in (
        (lambda: pw.Truncated(pw.VonMises(0, concentration=1), lower=0), "no cumulative distribution"),
        (lambda: pw.Truncated(3.0, lower=0), "pw.Truncated"),
    ):
        with pytest.raises(ParameterError, match=words):
            make()
    m = pw.Model("crossed")
    with pytest.raises(ParameterError, match="lower 3 and upper 1"):
        m.x = pw.Truncated(pw.Normal(0, sd=1), lower=3, upper=1)
