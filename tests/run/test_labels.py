"""Label switching: draws are relabelled to agree, diagnostics see through it, and the user is told."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

import platewright as pw
from platewright.errors import SizeError
from platewright.run.samplers.effective_size import effective_size
from platewright.run.samplers.labels import match
from platewright.run.samplers.sampling import SampledFit
from schemas import sequences


def mixture(classes: int = 3, share: object = 2.0) -> tuple[pw.Model, dict[str, object]]:
    m = pw.Model("mixture")
    n, k = m.plate("n"), m.plate("k", classes)
    m.p = pw.Dirichlet(share, over=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.mu = pw.Normal(0, sd=8, plates=k)
    m.y = pw.Normal(m.mu[m.z], sd=1, plates=n)
    rng = np.random.default_rng(0)
    return m, {"y": np.concatenate([rng.normal(at, 1, 12) for at in np.linspace(-8, 8, classes)])}


def shuffled(fit: SampledFit, seed: int = 0) -> SampledFit:
    """The same posterior, every draw under labels of its own."""
    generator = np.random.default_rng(seed)
    (symmetry,) = fit.symmetries
    every = list(symmetry.relabellings())
    count, draws = fit.chains["z"].shape[:2]
    moved = []
    for chain in range(count):
        rows = []
        for draw in range(draws):
            state = {name: values[chain, draw] for name, values in fit.chains.items()}
            rows.append(symmetry.moved(state, every[generator.integers(len(every))]))
        moved.append({name: np.array([row[name] for row in rows]) for name in rows[0]})
    return replace(fit, chains={name: np.array([chain[name] for chain in moved]) for name in moved[0]})


@pytest.fixture(scope="module")
def fit() -> SampledFit:
    m, data = mixture()
    return m.learn(data, by="gibbs", chains=2, draws=60, warm_up=60)


def test_shuffled_labels_are_put_back(fit: SampledFit) -> None:
    mixed = shuffled(fit)
    assert np.abs(np.diff(mixed.chains["mu"], axis=1)).max() > 5  # labels do switch
    found = mixed.matched
    order = np.argsort(found["mu"].mean(axis=(0, 1)))
    assert np.abs(found["mu"][..., order] - np.linspace(-8, 8, 3)).max() < 3
    same = np.argsort(fit.matched["mu"].mean(axis=(0, 1)))
    assert np.allclose(found["mu"][..., order], fit.matched["mu"][..., same])
    assert np.allclose(found["p"][..., order], fit.matched["p"][..., same])
    back = np.argsort(order)
    assert (back[found["z"]] == np.argsort(same)[fit.matched["z"]]).all()


def test_relabelling_keeps_what_does_not_depend_on_labels(fit: SampledFit) -> None:
    mixed = shuffled(fit, 3)
    for name in ("mu", "p"):
        assert np.allclose(np.sort(mixed.matched[name], axis=-1), np.sort(fit.chains[name], axis=-1))
    assert np.allclose(
        np.take_along_axis(mixed.matched["mu"], mixed.matched["z"], axis=-1),
        np.take_along_axis(fit.chains["mu"], fit.chains["z"], axis=-1),
    )


def test_r_hat_is_that_of_matched_draws(fit: SampledFit) -> None:
    pytest.importorskip("arviz_stats")
    found = shuffled(fit).diagnostics()["mu"]["r_hat"]
    assert (found < 1.1).all()
    assert effective_size(shuffled(fit).matched["mu"][..., 0]) > 30


def test_the_user_is_told(fit: SampledFit) -> None:
    told = "the labels of `k` are exchangeable: 3! = 6 relabellings have the same joint density"
    assert any(told in note and "relabelled to agree" in note for note in shuffled(fit).summary().notes)
    assert told in fit.explain()
    m, data = mixture()
    estimate = m.learn(data, goal="map")
    assert any("one of them is shown" in note for note in estimate.summary().notes)
    assert told in estimate.explain()


def test_labels_that_mean_something_stay(fit: SampledFit) -> None:
    m, data = mixture(share=[1.0, 2.0, 3.0])
    named = m.learn(data, by="gibbs", chains=2, draws=10, warm_up=10)
    assert not named.symmetries
    assert all((named.matched[name] == named.chains[name]).all() for name in named.chains)
    assert "exchangeable" not in named.explain()


def test_only_labels_of_one_class_change_places() -> None:
    m, data = mixture(share=[1.0, 1.0, 3.0])
    found = m.learn(data, by="gibbs", chains=2, draws=10, warm_up=10)
    (to,) = match(found.symmetries, found.chains).to
    assert (to[..., 2] == 2).all()


def test_transitions_move_along_both_axes() -> None:
    m = sequences.counts()
    fit = m.learn({"y": [0, 9, 8, 0, 1, 0, 7, 9, 0, 1]}, by="gibbs", chains=2, draws=20, warm_up=20)
    mixed = shuffled(fit, 1)
    at = np.argsort(mixed.matched["rate"].mean(axis=(0, 1)))
    same = np.argsort(fit.matched["rate"].mean(axis=(0, 1)))
    one = mixed.matched["move"][:, :, at][:, :, :, at]
    assert np.allclose(one, fit.matched["move"][:, :, same][:, :, :, same])


def test_effective_size_of_white_noise_and_of_a_slow_chain() -> None:
    rng = np.random.default_rng(1)
    noise = rng.standard_normal((4, 1000))
    assert 3000 < effective_size(noise) < 5000
    slow = np.zeros((4, 1000))
    for step in range(1, 1000):
        slow[:, step] = 0.9 * slow[:, step - 1] + noise[:, step]
    assert 100 < effective_size(slow) < 400  # 4000 x 0.1 / 1.9 is 211
    assert effective_size(noise + np.arange(4)[:, None]) < 20  # chains that have not met
    assert effective_size(np.ones((2, 50))) == 100


def test_a_mode_with_too_many_relabellings_is_refused_before_it_is_searched() -> None:
    m, data = mixture(20)
    data["y"] = np.tile(np.asarray(data["y"]), 100)  # 24,000 rows: to climb over them takes a minute
    begun = time.process_time()
    with pytest.raises(SizeError, match="relabellings of a mode"):
        m.learn(data, goal="evidence", by="laplace", restarts=1)
    assert time.process_time() - begun < 10
