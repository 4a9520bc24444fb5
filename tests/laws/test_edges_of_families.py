"""Families where something begins or ends: the first finite moment, the last peak, rates beyond special functions.

Pareto(shape 2): variance infinite        Wishart(d + 1.5 degrees): a small peak        tail(log(1 - q)) = quantile(q)
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

from laws.test_bounded_laws import ABLE, cut
from laws.test_family_laws import Array, Family, at, line, middle, setting
from platewright.algebra.differentiate import differentiate
from platewright.algebra.evaluate import elementwise
from platewright.algebra.expression import Reference
from platewright.families import FAMILIES, FAMILY_BY_NAME, family_named

BEGIN = {
    "InverseGamma": lambda shape: ({"shape": shape, "scale": 1.7}, stats.invgamma(shape, scale=1.7)),
    "Pareto": lambda shape: ({"shape": shape, "scale": 1.7}, stats.pareto(shape, scale=1.7)),
    "StudentT": lambda degrees: ({"degrees": degrees, "mean": 0.4, "precision": 0.25}, stats.t(degrees, 0.4, 2.0)),
}
"""Families whose moments begin at a parameter."""


@pytest.mark.parametrize("begins", [1.0, 1.5, 2.0, 2.5])
@pytest.mark.parametrize("name", BEGIN)
def test_moments_are_finite_only_from_where_they_begin(name: str, begins: float) -> None:
    values, theirs = BEGIN[name](begins)
    given = {word: np.asarray(value) for word, value in values.items()}
    family = FAMILY_BY_NAME[name]
    assert family.mean is not None and family.variance is not None
    for ours, other in ((family.mean(given), theirs.mean()), (family.variance(given), theirs.var())):
        assert np.isfinite(ours) == np.isfinite(other), (ours, other)
        if np.isfinite(other):
            assert ours == pytest.approx(other, rel=1e-9)


@pytest.mark.parametrize("family", [f for f in FAMILIES if f.tail is not None], ids=lambda family: family.name)
def test_the_tail_is_the_quantile_of_what_lies_below(family: Family) -> None:
    q = np.array([1e-6, 0.03, 0.5, 0.999])
    for number in range(4):
        values = setting(family, number)
        assert family.tail is not None and family.quantile is not None
        np.testing.assert_allclose(family.tail(np.log1p(-q), values), family.quantile(q, values), rtol=1e-9)


@pytest.mark.parametrize("family", ABLE, ids=lambda family: family.name)
def test_what_is_truncated_is_proper_and_what_is_censored_has_the_mass_of_its_interval(family: Family) -> None:
    truncated, given, low, high = cut(family, ("lower", "upper"), 1)
    censored = family_named(truncated.name.replace("Truncated", "Censored"))
    assert censored is not None and truncated.proper and not censored.proper
    x, weights = line(float(low), float(high), middle(given))  # some have a kink there
    mass = [weights @ np.exp(at(one.log_density, one, given, x)) for one in (truncated, censored)]
    np.testing.assert_allclose(mass, [1.0, 0.4], rtol=1e-6)  # between the quantiles 0.3 and 0.7


@pytest.mark.parametrize("few", [1.02, 1.5, 1.98])
def test_a_wishart_of_few_degrees_has_a_small_peak(few: float) -> None:
    family = FAMILY_BY_NAME["Wishart"]
    values = {"degrees": np.asarray(2 + few), "inverse_scale": np.array([[1.0, 0.3], [0.3, 2.0]])}
    assert family.mode is not None
    peak = np.asarray(family.mode(values))
    near = np.stack([peak, peak * 0.97, peak * 1.03, *(peak + 0.02 * few * turn * peak.max() for turn in TURNS)])
    height = at(family.log_density, family, values, near)
    assert (height[1:] < height[0]).all()


TURNS: tuple[Array, ...] = (np.diag([1.0, 0.0]) * 0.1, np.diag([0.0, 0.1]), np.array([[0.0, 0.05], [0.05, 0.0]]))


def test_a_wishart_without_a_peak_is_highest_at_zero() -> None:
    mode = FAMILY_BY_NAME["Wishart"].mode
    assert mode is not None
    np.testing.assert_array_equal(
        mode({"degrees": np.array([3.0, 2.4]), "inverse_scale": np.stack([np.eye(2)] * 2)}), 0
    )


def test_a_dirichlet_of_little_excess_has_its_peak_where_it_is_highest() -> None:
    family = FAMILY_BY_NAME["Dirichlet"]
    concentration = np.array([[1.3, 1.2], [0.2, 0.9]])
    assert family.mode is not None
    np.testing.assert_allclose(family.mode({"concentration": concentration}), [[0.6, 0.4], [0.0, 1.0]])


@pytest.mark.parametrize("rate", [3e11, 1e13])
def test_quantiles_of_very_large_counts_are_those_of_a_normal(rate: float) -> None:
    quantile = FAMILY_BY_NAME["Poisson"].quantile
    assert quantile is not None
    q = np.array([0.01, 0.5, 0.9])
    found = quantile(q, {"rate": np.asarray(rate)})
    np.testing.assert_allclose(found, rate + np.sqrt(rate) * special.ndtri(q), atol=3, rtol=1e-12)


ON_THE_LINE = [f for f in FAMILIES if not f.rank and f.proper and not any(part.rank for part in f.parameters)]


@pytest.mark.parametrize("family", ON_THE_LINE, ids=lambda family: family.name)
def test_slopes_of_a_log_density_are_those_of_its_differences(family: Family) -> None:
    """By the value, where it is no count, and by each parameter that is no bound or count."""
    for number in range(4):
        values = setting(family, number)
        shares, generator = np.array([0.03, 0.24, 0.61, 0.9]), np.random.default_rng(number)
        assert family.draw is not None
        x = family.draw(generator, values, (4,)) if family.quantile is None else family.quantile(shares, values)
        x = np.asarray(x, dtype=float)
        whole = {part.name for part in family.parameters if part.domain.is_discrete}
        words = {part.name for part in family.parameters} - whole | (set() if family.domain.is_discrete else {"x"})
        for word in sorted(words):
            here = {**values, "x": x}
            at_word = here[word]
            least = 0.1 if word == "x" and family.domain.lower < 0 else 0.0 if word == "x" else 0.01
            step = 1e-4 * np.maximum(np.abs(at_word), least)
            moved = [
                weight * elementwise(family.log_density, {**here, word: at_word + shift * step})
                for shift, weight in ((-2, 1), (-1, -8), (1, 8), (2, -1))
            ]
            slope = np.broadcast_to(elementwise(differentiate(family.log_density, Reference(word)), here), x.shape)
            np.testing.assert_allclose(slope, sum(moved) / (12 * step), rtol=1e-6, atol=1e-7, err_msg=word)
