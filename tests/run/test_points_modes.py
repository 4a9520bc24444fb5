"""Modes of very different widths: none is lost in silence, and draws and quantiles have each of its own width."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats

from platewright.backends.kernels import lattice, modes
from platewright.backends.kernels.held_density import Density_of, Unsettled
from platewright.backends.kernels.lattice import drawn_from, over_modes
from platewright.run.points.fit import KERNEL
from platewright.run.points.number import Number

OPEN = (-np.inf, np.inf)


class Mixed:
    """A mixture of two normals as the prior, one measurement of the number, in some unit, far out or not."""

    def __init__(self, seed: int, narrowest: float = -2.5) -> None:
        generator = np.random.default_rng(seed)
        self.width, self.place = 10 ** generator.uniform(narrowest, 0.5), generator.uniform(-5, 5)
        self.share, self.noise, self.y = generator.uniform(0.1, 0.9), generator.uniform(1, 5), generator.normal()
        self.unit, self.shift = 10.0 ** generator.integers(-3, 4), generator.choice([0.0, 1e3])

    def log_density(self, u: np.ndarray) -> np.ndarray:
        x = u[:, 0] / self.unit - self.shift
        wide = np.log(self.share) + stats.norm.logpdf(x)
        narrow = np.log(1 - self.share) + stats.norm.logpdf(x, self.place, self.width)
        return np.asarray(np.logaddexp(wide, narrow) + stats.norm.logpdf(self.y, x, self.noise) - np.log(self.unit))

    @property
    def parts(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The log mass, mean and standard deviation of either part of the posterior."""
        mean, sd = np.array([0.0, self.place]), np.array([1.0, self.width])
        mass = np.log([self.share, 1 - self.share]) + stats.norm.logpdf(self.y, mean, np.hypot(sd, self.noise))
        precision = 1 / sd**2 + 1 / self.noise**2
        return mass, (mean / sd**2 + self.y / self.noise**2) / precision, 1 / np.sqrt(precision)

    def summed(self) -> tuple[Density_of, dict[str, np.ndarray]]:
        density = Density_of(self.log_density, [OPEN])
        return density, over_modes(density, 1e-4, 60_000)


def lost(seeds: range) -> int:
    """How often the integral is wrong by far more than its stated error; at least four of five must be settled."""
    wrong, settled = 0, 0
    for seed in seeds:
        problem = Mixed(seed)
        try:
            _, found = problem.summed()
        except Unsettled:
            continue
        error = abs(float(found["log_evidence"]) - special.logsumexp(problem.parts[0]))
        wrong += error > max(3 * float(found["error"]), 1e-4)
        settled += float(found["error"]) < 5e-3
    assert settled >= 0.8 * len(seeds)
    return wrong


def test_no_mode_is_lost_in_silence() -> None:
    assert lost(range(60)) == 0


def test_lines_that_nobody_looks_along_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(modes, "beside", lambda density, mode, root, near: [])
    assert lost(range(40)) > 2


def test_a_narrow_mode_that_is_no_gaussian_is_in_the_stated_error() -> None:
    """Its tails reach beyond the Gaussian that stands for it, between the places of the wide lattice."""

    def log_density(u: np.ndarray) -> np.ndarray:
        return np.logaddexp(stats.norm.logpdf(u[:, 0]), stats.t.logpdf(u[:, 0], 3, 1.7, 0.01)) - np.log(2)

    found = over_modes(Density_of(log_density, [OPEN]), 1e-4, 60_000)
    assert abs(float(found["log_evidence"])) <= 3 * float(found["error"])


def narrow_and_wide() -> Mixed:
    return next(problem for problem in map(Mixed, range(60)) if problem.width < 0.03 and np.ptp(problem.parts[0]) < 1)


def far_from_truth(problem: Mixed) -> float:
    """The largest error of a share below some value, by draws and by quantiles."""
    density, found = problem.summed()
    mass, mean, sd = problem.parts
    share = np.exp(mass - special.logsumexp(mass))

    def below(x: np.ndarray) -> np.ndarray:
        return np.asarray(stats.norm.cdf(x[:, None], mean, sd) @ share)

    drawn = drawn_from(density, found, 4000, np.random.default_rng(1))[:, 0] / problem.unit - problem.shift
    ordered = below(np.sort(drawn))
    cells = found["cell_share"], found["cell_mean"][:, 0], found["cell_variance"][:, 0]
    width = KERNEL * np.abs(found["roots"][:, 0, 0])[found["cell_mode"]]
    number = Number("b", found["u"][:, 0], found["share"], cells, width, OPEN, lambda count, seed: drawn)
    asked = np.linspace(0.02, 0.98, 49)
    at = below(number.quantile(asked) / problem.unit - problem.shift)
    return float(max(np.abs(ordered - (np.arange(4000) + 0.5) / 4000).max(), np.abs(at - asked).max()))


def test_draws_and_quantiles_have_every_mode_in_its_width(monkeypatch: pytest.MonkeyPatch) -> None:
    problem = narrow_and_wide()
    assert far_from_truth(problem) < 0.03  # a statistic of Kolmogorov and Smirnov of 4,000 draws, at 1 in 1,000
    whole = lattice.components

    def of_one(*given: np.ndarray) -> dict[str, np.ndarray]:
        found = whole(*given)
        return {**found, "cell_mode": np.full_like(found["cell_mode"], found["cell_mode"].max())}

    monkeypatch.setattr(lattice, "components", of_one)
    assert far_from_truth(problem) > 0.03
