"""Blocks whose slope is not finite where their density is: slices move them; chains that stand still are refused."""

from __future__ import annotations

import numpy as np
import pytest

import platewright as pw
from platewright.backends.c.compile import find_compiler
from platewright.backends.kernels.coordinates import Joined, Plain
from platewright.backends.kernels.density import Density
from platewright.backends.kernels.hamiltonian_mover import HamiltonianMover
from platewright.errors import LostSlope
from platewright.family import Array
from platewright.run.samplers.path_warnings import check_slopes

DATA = {"c": np.array([0.0, 1.0, 2.0, 3.0]), "y": np.array([0.1, 1.2, 1.5, 2.0])}


def lengths() -> pw.Model:
    """At `c = 0` the slope of the root is nothing times infinity, and the root nothing."""
    m = pw.Model("lengths")
    row = m.plate("row")
    m.c = pw.Input(plates=row)
    m.x = pw.Normal(1, sd=1.0)
    m.z = pw.Normal(0.5, sd=1.0)
    m.k = pw.Normal(0, sd=1.0)
    m.y = pw.Normal(m.k + (m.c * (m.x**2 + m.z**2)) ** 0.5, sd=0.5, plates=row)
    return m


def by_quadrature() -> tuple[float, float]:
    """The posterior means of x and z, on a grid; k is integrated out in closed form."""
    at = np.linspace(-5, 6, 221)
    x, z = np.meshgrid(at, at, indexing="ij")
    rest = DATA["y"] - np.sqrt(DATA["c"] * (x**2 + z**2)[..., None])
    precision = 4 * len(DATA["y"]) + 1
    log = -2 * (rest**2).sum(axis=-1) + 0.5 * (4 * rest.sum(axis=-1)) ** 2 / precision
    log = log - 0.5 * (x - 1) ** 2 - 0.5 * (z - 0.5) ** 2
    share = np.exp(log - log.max())
    return float((share * x).sum() / share.sum()), float((share * z).sum() / share.sum())


@pytest.mark.skipif(find_compiler() is None, reason="there is no C compiler here")
@pytest.mark.parametrize("backend", ["c", "numpy"])
def test_a_block_without_a_slope_at_some_row_has_the_right_posterior(backend: str) -> None:
    fit = lengths().learn(DATA, by="gibbs", backend=backend, draws=1000, warm_up=200, seed=1)
    assert "by slices, for slopes are not finite" in fit.how
    assert "CoordinateMover(" in fit.source() and "HamiltonianMover(" not in fit.source()
    for name, expected in zip(("x", "z"), by_quadrature(), strict=True):
        draws = fit.chains[name]
        error = 5 * draws.std() / np.sqrt(effective_size(draws))
        assert abs(draws.mean() - expected) < error
        assert (draws.std(axis=1) > 0.1).all()


def effective_size(draws: Array) -> float:
    """Effective size by batch means."""
    means = draws.reshape(draws.shape[0] * 10, -1).mean(axis=1)
    return float(draws.var() / (means.var(ddof=1) / len(means)))


def density(slope: float) -> HamiltonianMover:
    def log_factors(values: dict[str, Array]) -> float:
        return float(-0.5 * values["x"] ** 2)

    made = Density(Joined([Plain("x", ())]), log_factors, lambda values: {"x": np.array(slope)})
    return HamiltonianMover(made)


def test_a_state_that_no_path_leads_out_of_is_refused() -> None:
    here = {"x": np.array(0.3)}
    check_slopes({("x",): density(-0.3)}, here)
    with pytest.raises(LostSlope, match="`y` has no finite slope, and would stay"):
        check_slopes({("x",): density(-0.3), ("y",): density(np.nan)}, here)


def test_an_unknown_zero_in_a_logarithm_leaves_the_path_its_slope() -> None:
    """Animals that are not there are not seen: 0 log 0, whatever the distance at which they are not."""
    m = pw.Model("transect")
    row = m.plate("row")
    m.theta = pw.Uniform(0, 10)
    m.share = pw.Beta(1, 1)
    m.there = pw.Bernoulli(m.share, plates=row)
    m.distance = pw.Uniform(0, 4, plates=row)
    m.seen = pw.Bernoulli(m.there * pw.exp(-((m.distance / m.theta) ** 2)), plates=row)
    data = {"distance": [0.5, 1.5, None, None, None, 2.0], "seen": [1, 1, 0, 0, 0, 1]}
    for backend in ("numpy", "c"):
        fit = m.learn(data, by="gibbs", backend=backend, chains=2, draws=20, warm_up=30)
        assert "Hamiltonian" in fit.how and "slopes are not finite" not in fit.how, fit.how
