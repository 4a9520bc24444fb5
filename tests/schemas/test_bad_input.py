"""Bad input: never a NaN, never a crash, a clear word each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import platewright as pw
from platewright.errors import ImproperPosterior, MissingValue, ParameterError, PlatewrightError
from schemas import hierarchies, mixtures, sequences

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")
SHORT = {"by": "gibbs", "chains": 2, "draws": 20, "warm_up": 10}
NAN = float("nan")


def flat_mixture(count: int, shared: bool = False) -> pw.Model:
    """Maximum likelihood: no prior holds anything back."""
    m = pw.Model("mixture, flat priors")
    n, k = m.plate("n"), m.plate("k", count)
    m.p = pw.Dirichlet(1, over=k)
    m.mu = pw.Flat(plates=k)
    m.tau = pw.Flat(lower=0, plates=() if shared else k)
    m.z = pw.Categorical(m.p, plates=n)
    m.y = pw.Normal(m.mu[m.z], precision=m.tau if shared else m.tau[m.z], plates=n)
    return m


def impossible_table() -> pw.Model:
    m = pw.Model("impossible")
    n, k, s = m.plate("n"), m.plate("k", 2), m.plate("s", 2)
    m.p = pw.Dirichlet(1, over=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.y = pw.Categorical(pw.array([[1.0, 0.0], [1.0, 0.0]], over=(k, s))[m.z], plates=n, over=s)
    return m


def impossible_chain() -> pw.Model:
    m = pw.Model("impossible chain")
    n, k = m.plate("n", ordered=True), m.plate("k", 2)
    before = m.plate("before", like=k)
    stay = pw.array([[1.0, 0.0], [0.0, 1.0]], over=(before, k))
    m.mu = pw.Normal(0, sd=1, plates=k)
    m.z = pw.Categorical(stay[m.lag("z")], start=pw.array([1.0, 0.0], over=k), plates=n)
    m.y = pw.Bernoulli(pw.where(m.z, 0.5, 0.0), plates=n)
    m.x = pw.Normal(m.mu[m.z], sd=1, plates=n)
    return m


def sparse_weights() -> pw.Model:
    m = pw.Model("weights that want to be zero")
    n, k = m.plate("n"), m.plate("k", 3)
    m.p = pw.Dirichlet(0.3, over=k)
    m.rate = pw.Gamma(2, rate=1, plates=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.y = pw.Poisson(m.rate[m.z], plates=n)
    return m


def line() -> pw.Model:
    m = pw.Model("line")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.tau = pw.Gamma(2, rate=1)
    m.b = pw.Normal(0, precision=m.tau)
    m.y = pw.Normal(m.b * m.x, precision=m.tau, plates=n)
    return m


def factors() -> pw.Model:
    m = pw.Model("factors")
    n, d = m.plate("n"), m.plate("d", 3)
    m.w = pw.Normal(0, sd=1, plates=d)
    m.psi = pw.InverseGamma(2, scale=1, plates=d)
    m.f = pw.Normal(0, sd=1, plates=n)
    m.x = pw.Normal(m.w * m.f, variance=m.psi, plates=(n, d))
    return m


def trials() -> pw.Model:
    """A start below the largest count is impossible, and no sampler finds its way out of it."""
    m = pw.Model("unknown number of trials")
    m.p = pw.Beta(1, 1)
    m.count = pw.Poisson(60.0)
    m.c = pw.Binomial(m.count, m.p, plates=m.plate("n"))
    return m


def finite(fit: object) -> None:
    values = fit.chains if hasattr(fit, "chains") else fit.estimate.values  # type: ignore[attr-defined]
    assert all(np.isfinite(value).all() for value in values.values())
    if hasattr(fit, "log_likelihood"):
        assert np.isfinite([fit.log_joint, fit.log_likelihood]).all()


REFUSED: dict[str, tuple[Callable[[], object], type[PlatewrightError], str]] = {
    "a column all missing": (lambda: flat_mixture(2).learn({"y": [NAN] * 5}, goal="map"), MissingValue, "`y` has 5"),
    "a constant column": (lambda: flat_mixture(2).learn({"y": [3.0] * 9}, goal="map"), PlatewrightError, "no upper"),
    "a constant column, one scale": (
        lambda: flat_mixture(2, True).learn({"y": [3.0] * 9}, goal="map"), PlatewrightError, "no upper"),
    "one row": (lambda: flat_mixture(2).learn({"y": [3.0]}, goal="map"), PlatewrightError, "no upper"),
    "no rows": (lambda: flat_mixture(2).learn({"y": np.zeros(0)}, goal="map"), ImproperPosterior, "improper"),
    "more components than rows": (
        lambda: flat_mixture(6).learn({"y": [3.0, 1.0, 2.0]}, goal="map"), PlatewrightError, "no upper"),
    "an outlier alone": (
        lambda: flat_mixture(2).learn({"y": [*np.sin(np.arange(50.0)), 1e6]}, goal="map"),
        PlatewrightError, "no upper"),
    "zero probability, EM": (
        lambda: impossible_table().learn({"y": [0, 1]}, goal="map"), PlatewrightError, "probability zero"),
    "zero probability, Gibbs": (
        lambda: impossible_table().learn({"y": [0, 1]}, **SHORT), PlatewrightError, "probability zero"),
    "zero probability of a chain, EM": (
        lambda: impossible_chain().learn({"y": [0, 1], "x": [0, 1]}, goal="map"), PlatewrightError, "probability zero"),
    "zero probability of a chain, Gibbs": (
        lambda: impossible_chain().learn({"y": [0, 1], "x": [0, 1]}, **SHORT), PlatewrightError, "probability zero"),
    "an improper posterior, Gibbs": (
        lambda: flat_mixture(2).learn({"y": [1.0, 2.0, 3.0]}, **SHORT), ImproperPosterior, "improper"),
    "values too large to be squared": (
        lambda: mixtures.own_precisions().learn({"y": [1e300, 1.0]}, **SHORT), PlatewrightError, "too large to be sq"),
    "values too large to be squared, EM": (
        lambda: flat_mixture(2).learn({"y": [1e300, 1.0]}, goal="map"), PlatewrightError, "too large to be squared"),
    "values too large to be squared, exact": (
        lambda: line().learn({"x": [1e200, 2e200], "y": [1.0, 2.0]}), PlatewrightError, "`x` has the value 2e.200"),
    "a constant column, mean field": (
        lambda: flat_mixture(2).learn({"y": [1.0, 2.0, 3.0]}, by="mean-field"), PlatewrightError, "no upper bound"),
    "no starts": (lambda: mixtures.poissons().learn({"y": [1]}, goal="map", restarts=0), ParameterError, "restarts=0"),
    "no draws": (lambda: mixtures.poissons().learn({"y": [1]}, by="gibbs", draws=0), ParameterError, "draws=0"),
    "no chains": (lambda: mixtures.poissons().learn({"y": [1]}, by="gibbs", chains=0), ParameterError, "chains=0"),
    "no thinning": (lambda: mixtures.poissons().learn({"y": [1]}, by="gibbs", thin=0), ParameterError, "thin=0"),
}  # fmt: skip

SOLVED: dict[str, Callable[[], object]] = {
    "a constant column, EM": lambda: mixtures.conjugate_precisions().learn({"y": [3.0] * 9}, goal="map"),
    "a constant column, Gibbs": lambda: mixtures.own_precisions().learn({"y": [3.0] * 9}, **SHORT),
    "one row, EM": lambda: mixtures.conjugate_precisions().learn({"y": [3.0]}, goal="map"),
    "one row, Gibbs": lambda: mixtures.own_precisions().learn({"y": [3.0]}, **SHORT),
    "no rows, Gibbs": lambda: mixtures.own_precisions().learn({"y": np.zeros(0)}, **SHORT),
    "empty clusters, Gibbs": lambda: mixtures.own_precisions().learn({"y": [1.0, 2.0]}, **SHORT),
    "one row of labels": lambda: mixtures.latent_class().learn({"x": [[0, 1, 2]]}, goal="map"),
    "one label only": lambda: mixtures.latent_class().learn({"x": np.zeros((6, 3), int)}, goal="map"),
    "a chain of one step, EM": lambda: sequences.counts().learn({"y": [3]}, goal="map"),
    "a chain of one step, Gibbs": lambda: sequences.counts().learn({"y": [3]}, **SHORT),
    "nothing but zeros": lambda: mixtures.poissons().learn({"y": [0] * 6}, goal="map"),
    "weights that want to be zero": lambda: sparse_weights().learn({"y": [0, 5, 1, 9, 7]}, goal="map"),
    "weights that want to be zero, Gibbs": lambda: sparse_weights().learn({"y": [0, 5, 1, 9, 7]}, **SHORT),
    "a probability at its edge": lambda: mixtures.contaminated().learn({"y": [0.1, 0.2, -0.1, 0.0]}, goal="map"),
    "separated classes": lambda: hierarchies.logistic().learn({"x": [-2, -1, 1, 2], "y": [0, 0, 1, 1]}, **SHORT),
    "no rows, EM": lambda: mixtures.conjugate_precisions().learn({"y": np.zeros(0)}, goal="map"),
    "no rows of labels, Gibbs": lambda: mixtures.latent_class().learn({"x": np.zeros((0, 3), int)}, **SHORT),
    "no rows of labels, EM": lambda: mixtures.latent_class().learn({"x": np.zeros((0, 3), int)}, goal="map"),
    "no rows, collapsed": lambda: mixtures.conjugate_precisions().learn(
        {"y": np.zeros(0)}, **{**SHORT, "by": "collapsed-gibbs"}),
    "no steps of a chain, Gibbs": lambda: sequences.counts().learn({"y": np.zeros(0, int)}, **SHORT),
    "no rows of factors": lambda: factors().learn({"x": np.zeros((0, 3))}, goal="map"),
    "a count that must exceed the data": lambda: trials().learn({"c": [40, 55, 48]}, **SHORT),
    "two far tight clusters": lambda: flat_mixture(2).learn(
        {"y": [*np.sin(np.arange(50.0)), *(1e8 + np.sin(np.arange(50.0)))]}, goal="map"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_answer_is_refused_in_words(name: str) -> None:
    learn, kind, words = REFUSED[name]
    with pytest.raises(kind, match=words):
        learn()


@pytest.mark.parametrize("name", SOLVED)
def test_what_has_an_answer_gets_a_finite_one(name: str) -> None:
    fit = SOLVED[name]()
    finite(fit)
    assert "nan" not in str(fit.summary())  # type: ignore[attr-defined]


def test_a_start_that_collapses_gives_way_to_one_that_does_not() -> None:
    generator = np.random.default_rng(4)
    y = np.r_[generator.normal(-4, 1, 60), generator.normal(4, 1, 60)]
    y[0] = y[1]
    fit = flat_mixture(3).learn({"y": y}, goal="map", restarts=20)
    finite(fit)
    assert (fit["tau"].value < 1e6).all()
