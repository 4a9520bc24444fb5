"""How many draws chains are worth, against series whose autocorrelation is known, and R-hat against its formula."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.signal import lfilter

from platewright.backends.kernels.path_energy import Energies, Told
from platewright.errors import DivergenceWarning, EnergyWarning
from platewright.run.samplers.effective_size import FEWEST, effective_size, frozen_elements, halves, r_hats
from platewright.run.samplers.path_warnings import LEAST_PATHS, warn_of_paths


def series(rho: float, chains: int, draws: int, seed: int = 0) -> np.ndarray:
    """x_t = rho x_{t-1} + noise, of variance 1, begun in its distribution."""
    noise = np.random.default_rng(seed).normal(size=(chains, draws + 200)) * np.sqrt(1 - rho**2)
    return np.asarray(lfilter([1.0], [1.0, -rho], noise, axis=1)[:, 200:])


@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9, -0.4])
@pytest.mark.parametrize("chains", [1, 4])
def test_a_series_that_remembers_is_worth_what_theory_says(rho: float, chains: int) -> None:
    found = np.mean([effective_size(series(rho, chains, 20_000 // chains, seed)) for seed in range(4)])
    assert found == pytest.approx(20_000 * (1 - rho) / (1 + rho), rel=0.1)


def test_a_size_does_not_depend_on_units() -> None:
    chains = series(0.6, 3, 500)
    assert effective_size(1e6 + 40 * chains) == pytest.approx(effective_size(chains), rel=1e-6)


def test_chains_apart_are_worth_little() -> None:
    chains = series(0.0, 4, 500)
    apart = chains + 10 * np.arange(4)[:, None]
    assert effective_size(chains) > 1500
    assert effective_size(apart) < 20


def test_draws_that_repel_each_other_are_worth_more_but_not_without_end() -> None:
    alternating = np.tile([1.0, -1.0], 200)[None] + 1e-3 * series(0.0, 1, 400)
    assert 400 < effective_size(alternating) <= 400 * np.log10(400) + 1e-9


@pytest.mark.parametrize("chains", [np.ones((2, 10)), np.array([[1.0, 2.0, 3.0]])], ids=["still", "short"])
def test_what_cannot_be_judged_counts_in_full(chains: np.ndarray) -> None:
    assert effective_size(chains) == chains.size


def test_r_hat_is_that_of_half_chains() -> None:
    chains = series(0.3, 3, 101) + 0.5 * np.arange(3)[:, None]
    parts = [*chains[:, :50], *chains[:, 51:]]
    within = np.mean([np.var(part, ddof=1) for part in parts])
    between = 50 * np.var([part.mean() for part in parts], ddof=1)
    wanted = np.sqrt((49 / 50 * within + between / 50) / within)
    assert float(r_hats(halves(chains))) == pytest.approx(wanted)
    both = np.stack([series(0.0, 3, 101), chains], axis=-1)
    found = r_hats(halves(both))
    assert found[1] == pytest.approx(wanted) and found[0] < 1.2


def test_a_chain_that_drifts_is_noticed_alone() -> None:
    assert float(r_hats(halves(np.linspace(0, 1, 100)[None]))) > 1.5


def test_frozen_elements_are_those_that_no_chain_moves_though_chains_differ() -> None:
    chains = np.zeros((2, FEWEST, 4), dtype=int)
    chains[1, :, 0] = 1  # still, and different: frozen
    chains[0, 3, 1] = 1  # moves once
    chains[1, :, 1] = 1
    assert frozen_elements(chains) == 1  # elements 2 and 3 are still and the same
    assert frozen_elements(chains[:1]) == 0
    assert frozen_elements(chains[:, :, :0]) == 0
    assert frozen_elements(chains[:, : FEWEST - 1]) == 0


def told(diverged: int, energies: np.ndarray) -> Told:
    """What a chain tells of paths that begin at these energies."""
    found = Energies()
    for energy in energies:
        found.add(float(energy))
    return Told(("a", "b"), len(energies), diverged, found)


def test_the_share_of_an_energy_is_that_of_its_changes() -> None:
    energies = np.random.default_rng(1).normal(size=300).cumsum()
    found = told(0, energies).energies
    wanted = (np.diff(energies) ** 2).sum() / ((energies - energies.mean()) ** 2).sum()
    assert found.count == 300
    assert found.mean == pytest.approx(energies.mean())
    assert found.share == pytest.approx(wanted)
    assert Energies().share == 1.0


def test_lost_paths_and_energies_that_were_not_explored_are_told() -> None:
    rng = np.random.default_rng(2)
    free, creeping = rng.normal(size=LEAST_PATHS), np.linspace(0, 5, LEAST_PATHS)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_paths([told(0, free), told(0, creeping[:-1])])  # one path too few to say anything
    with pytest.warns(DivergenceWarning, match="3 of 200 paths of a, b diverged"):
        warn_of_paths([told(1, free), told(2, free)])
    with pytest.warns(EnergyWarning, match="a, b did not explore the energy"):
        warn_of_paths([told(0, free), told(0, creeping)])


def test_a_share_that_is_just_as_large_as_wanted_is_enough() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_paths([Told(("a",), LEAST_PATHS, 0, Energies(LEAST_PATHS, changes=1.0, spread=5.0))])
