"""`learn(by="collapsed-gibbs")`: draws of classes and parameters, averaged means, and refusals in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

import platewright as pw
from platewright.errors import NotSolvable, ParameterError, SizeError, UnknownName
from platewright.run.samplers import collapsed_fit
from platewright.run.samplers.collapsed_fit import CollapsedFit


def topics() -> pw.Model:
    m = pw.Model("topics")
    doc = m.plate("doc")
    word = m.plate("word", within=doc)
    topic, term = m.plate("topic", 2), m.plate("term", 6)
    m.theta = pw.Dirichlet(0.5, over=topic, plates=doc)
    m.phi = pw.Dirichlet(0.5, over=term, plates=topic)
    m.z = pw.Categorical(m.theta, plates=word)
    m.w = pw.Categorical(m.phi[m.z], plates=word)
    return m


def words() -> dict[str, np.ndarray]:
    generator = np.random.default_rng(0)
    doc = np.repeat(np.arange(20), 30)
    first = generator.random(600) < np.where(doc % 2, 0.95, 0.05)
    return {"doc": doc, "w": np.where(first, generator.integers(0, 3, 600), generator.integers(3, 6, 600))}


def mixture() -> pw.Model:
    m = pw.Model("mixture")
    n, k = m.plate("n"), m.plate("k", 2)
    m.p = pw.Dirichlet(1, over=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.tau = pw.Gamma(3, rate=2, plates=k)
    m.mu = pw.Normal(0, precision=0.1 * m.tau, plates=k)
    m.y = pw.Normal(m.mu[m.z], precision=m.tau[m.z], plates=n)
    return m


def test_topics_are_found_and_their_means_averaged() -> None:
    fit = topics().learn(words(), by="collapsed-gibbs", chains=1, draws=100, warm_up=100)
    assert isinstance(fit, CollapsedFit)
    phi = fit.expected("phi")
    assert np.allclose(phi.sum(axis=-1), 1)
    low = phi[:, :3].sum(axis=1)
    assert low.max() > 0.9 and low.min() < 0.1
    assert np.allclose(fit["phi"].mean, phi, atol=0.05)
    assert fit.probabilities("z").shape == (600, 2)
    assert fit.log_joint is not None and fit.log_joint.shape == (1, 100)
    assert "integrated out" in fit.how and "theta" in fit.how


def test_a_mixture_agrees_with_gibbs_sampling() -> None:
    generator = np.random.default_rng(1)
    y = np.where(generator.random(120) < 0.3, -4.0, 4.0) + generator.standard_normal(120)
    common = {"chains": 1, "draws": 300, "warm_up": 100}
    one = mixture().learn({"y": y}, by="collapsed-gibbs", **common)
    two = mixture().learn({"y": y}, by="gibbs", **common)
    assert np.allclose(np.sort(one["mu"].mean), np.sort(two["mu"].mean), atol=0.1)
    assert np.allclose(np.sort(one.expected("mu")), np.sort(one["mu"].mean), atol=0.1)
    assert np.allclose(np.sort(one["p"].mean), np.sort(two["p"].mean), atol=0.05)


def test_both_backends_make_the_same_draws() -> None:
    data = {name: values[:24] for name, values in words().items()}
    one, two = (
        topics().learn(data, by="collapsed-gibbs", backend=backend, chains=1, draws=3, warm_up=2, thin=2)
        for backend in ("c", "numpy")
    )
    assert (one.backend, two.backend) == ("c", "numpy")
    for name in ("z", "phi", "theta"):
        assert np.array_equal(one[name].values, two[name].values)


def test_the_same_seed_gives_the_same_draws_and_another_does_not() -> None:
    def drawn(seed: int) -> np.ndarray:
        return topics().learn(words(), by="collapsed-gibbs", chains=2, draws=3, warm_up=3, seed=seed)["z"].values

    assert np.array_equal(drawn(1), drawn(1))
    assert not np.array_equal(drawn(1), drawn(2))
    assert not np.array_equal(drawn(1)[:3], drawn(1)[3:])


def test_a_run_can_start_where_it_is_told() -> None:
    z = np.zeros(600, dtype=int)
    given = {"by": "collapsed-gibbs", "chains": 1, "draws": 1, "warm_up": 0}
    one, two = (topics().learn(words(), **given, initial={"z": z}, seed=seed) for seed in (1, 1))
    assert np.array_equal(one["z"].values, two["z"].values)
    elsewhere = topics().learn(words(), **given, initial={"z": 1 - z}, seed=1)
    assert not np.array_equal(one["z"].values, elsewhere["z"].values)
    with pytest.raises(ParameterError, match="out of range"):
        topics().learn(words(), **given, initial={"z": z + 2})


def test_an_interrupted_run_gives_what_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(stop: int) -> Callable[..., Iterator[int]]:
        def ticks(steps: range, _: str) -> Iterator[int]:
            for step in steps:
                if step == stop:
                    raise KeyboardInterrupt
                yield step

        return ticks

    for stop, chains, draws in ((7, 1, 6), (33, 2, 10)):  # in the first chain; in the third
        monkeypatch.setattr(collapsed_fit, "progress", interrupted(stop))
        fit = topics().learn(words(), by="collapsed-gibbs", chains=3, draws=10, warm_up=2)
        assert fit.chains["z"].shape[:2] == (chains, draws)
        assert np.allclose(fit.expected("phi").sum(axis=-1), 1)
    monkeypatch.setattr(collapsed_fit, "progress", interrupted(1))
    with pytest.raises(KeyboardInterrupt):
        topics().learn(words(), by="collapsed-gibbs", chains=1, draws=10, warm_up=5)


def test_one_row_and_more_classes_than_rows() -> None:
    fit = mixture().learn({"y": [1.5]}, by="collapsed-gibbs", chains=1, draws=50, warm_up=10)
    assert np.isfinite(fit["mu"].values).all()
    assert np.allclose(fit.expected("p").sum(), 1)


def test_draws_that_would_not_fit_are_refused() -> None:
    with pytest.raises(SizeError, match="GiB"):
        topics().learn(words(), by="collapsed-gibbs", draws=10**7)


def test_wrong_options_are_named() -> None:
    with pytest.raises(UnknownName, match="iterations"):
        topics().learn(words(), by="collapsed-gibbs", iterations=3)
    with pytest.raises(ParameterError, match="draws"):
        topics().learn(words(), by="collapsed-gibbs", draws=0)
    with pytest.raises(UnknownName, match="fortran"):
        topics().learn(words(), by="collapsed-gibbs", backend="fortran")
    fit = topics().learn(words(), by="collapsed-gibbs", chains=1, draws=1, warm_up=0)
    with pytest.raises(UnknownName, match="theata"):
        fit.expected("theata")


def test_what_does_not_collapse_says_why() -> None:
    m = mixture()
    m.extra = pw.LogNormal(0, sd=1)
    m.c = pw.Poisson(m.extra, plates=m.plates["n"])
    with pytest.raises(NotSolvable, match="even with z known"):
        m.learn({"y": [1.0, 2.0], "c": [1, 2]}, by="collapsed-gibbs")


def test_the_plan_explains_and_verifies_itself_and_prints_its_source() -> None:
    plan = topics().derive(known="w", by="collapsed-gibbs")
    told = plan.explain()
    assert "log(0.5 + count_w_z[w[z.word], z.level])" in told
    assert "count_w_z[w[word], z[word]] += 1" in told
    assert plan.verify().passed
    assert mixture().derive(known="y", by="collapsed-gibbs").verify().passed
    assert "int sweep(" in plan.source("c")
    assert "def sweep(" in plan.source()
