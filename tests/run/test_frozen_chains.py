"""A sampler that froze says so: a discrete unknown that no chain changes, and about which the chains differ."""

from __future__ import annotations

import numpy as np
import pytest

import platewright as pw
from platewright.run.samplers.effective_size import FEWEST, frozen_elements


def held_pair(sd: float = 0.01) -> pw.Model:
    """Two switches that must agree, the less noise the more: neither can be changed without the other."""
    m = pw.Model("held pair")
    n = m.plate("n", 2)
    m.z = pw.Bernoulli(0.5, plates=n)
    m.mu = pw.Normal(0, sd=1)
    m.y = pw.Normal(pw.sum(pw.array([1.0, -1.0], over=n) * m.z, over=n), sd=sd)
    m.x = pw.Normal(m.mu, sd=1)
    return m


def test_frozen_switches_are_named() -> None:
    fit = held_pair().learn({"y": 0.0, "x": 0.3}, by="gibbs", seed=1, draws=200)
    z = np.asarray(fit.chains["z"])
    assert (z == z[:, :1]).all() and len(np.unique(z[:, 0], axis=0)) > 1  # it froze indeed
    assert "the chains are frozen: 2 elements of z never changed" in str(fit.summary())


def test_switches_that_move_are_not_named() -> None:
    fit = held_pair(sd=0.7).learn({"y": 0.0, "x": 0.3}, by="gibbs", seed=1, draws=200)
    assert "frozen" not in str(fit.summary())


@pytest.mark.parametrize("chains", range(1, 5))
def test_only_elements_that_stand_still_apart_are_counted(chains: int) -> None:
    generator = np.random.default_rng(0)
    values = generator.integers(0, 3, (chains, FEWEST, 4))
    values[:, :, 0] = 1  # agreed
    values[:, :, 1] = np.arange(chains)[:, None]  # frozen
    values[:, :, 2] = np.arange(chains)[:, None]
    values[-1, -1, 2] += 1  # moved once
    assert frozen_elements(values) == (chains > 1)
    assert frozen_elements(values[:, : FEWEST - 1]) == 0
    assert frozen_elements(values[:, :, 1]) == (chains > 1)
