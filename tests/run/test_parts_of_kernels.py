"""The small parts of the numerical kernels, each against what it is for: charts, windows, modes, spreads, starts."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from scipy import special, stats

from platewright.algebra.domain import CIRCLE, MATRIX, NATURAL, POSITIVE, REAL, SIMPLEX, UNIT, VECTOR, Domain
from platewright.backends.kernels.ascent import in_reach
from platewright.backends.kernels.coordinates import Joined, Matrices, Plain, coordinates_kind
from platewright.backends.kernels.density import Density
from platewright.backends.kernels.hamiltonian_mover import window_ends
from platewright.backends.kernels.possible_state import Movable, possible_state
from platewright.backends.kernels.quadrature import Surface, integrated, modes_of
from platewright.backends.kernels.slices import slice_step
from platewright.backends.kernels.trials import WEIGHED, errors_of, own_spread
from platewright.family import Array

KINDS = {
    "Plain": (REAL, VECTOR),
    "Above": (POSITIVE, Domain("real", 2.0)),
    "Below": (Domain("real", -np.inf, 3.0),),
    "Between": (UNIT, CIRCLE, Domain("real", -2.0, 5.0)),
    "Counts": (NATURAL,),
    "Shares": (SIMPLEX,),
    "Matrices": (MATRIX,),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_domain_has_its_coordinates(kind: str) -> None:
    assert {coordinates_kind(domain)[0] for domain in KINDS[kind]} == {kind}
    assert coordinates_kind(Domain("real", 2.0))[1] == (2.0,)


@pytest.mark.parametrize("shape", [(3, 3), (4, 2, 2), (2, 4, 3, 3), (3, 2, 4, 4)])
def test_matrices_on_any_plates_come_back_from_their_coordinates(shape: tuple[int, ...]) -> None:
    root = np.random.default_rng(1).normal(size=shape)
    value = root @ np.swapaxes(root, -1, -2) + np.eye(shape[-1])
    chart = Matrices("s", shape)
    free = chart.free(value)
    assert free.shape == (chart.size,)
    np.testing.assert_allclose(chart.value(free)[0], value, rtol=1e-12)


def bumps(centres: tuple[float, ...], widths: tuple[float, ...], weights: tuple[float, ...]) -> Surface:
    """A mixture of normal densities over one number."""

    def height(values: Mapping[str, Array]) -> float:
        parts = stats.norm.logpdf(float(values["x"]), centres, widths)
        return float(special.logsumexp(parts, b=weights))

    return Surface(height, Joined([Plain("x", ())]), {"x": (-np.inf, np.inf)})


def test_a_mode_between_two_points_of_the_lattice_is_one() -> None:
    (mode,) = modes_of(bumps((2.0,), (1.0,), (1.0,)))
    assert mode[0] == pytest.approx(2.0, abs=1e-4)


@pytest.mark.parametrize(
    "centres", [(0.0,), (1.3,), (0.0, 3.0), (-3.0, 0.0, 8.0), (-8.0, 0.0, 3.0)], ids=lambda centres: f"{len(centres)}"
)
def test_every_mode_counts_by_its_mass(centres: tuple[float, ...]) -> None:
    count = len(centres)
    weights = tuple(1.0 + k for k in range(count))
    value, _ = integrated(bumps(centres, (0.05,) * count, weights), 20_000)
    assert value == pytest.approx(np.log(sum(weights)), abs=1e-7)


@pytest.mark.parametrize("warm_up", [0, 20, 100, 200, 400, 1000, 5000])
def test_the_last_sweeps_of_warm_up_tune_the_step_alone(warm_up: int) -> None:
    ends = window_ends(warm_up)
    assert ends == sorted(set(ends))
    assert all(end <= warm_up - min(50, warm_up // 10) for end in ends)
    assert warm_up < 100 or ends[-1] == warm_up - min(50, warm_up // 10)


def test_a_cliff_is_met_from_far_smaller_coordinates() -> None:
    def at(curvature: float) -> Density:
        return Density(Joined([Plain("b", (2,))]), lambda values: -1.0 - curvature * float((values["b"] ** 2).sum()))

    start = np.array([0.7, -0.4])
    assert np.abs(in_reach(at(1e12), start)).max() < 1e-3
    np.testing.assert_array_equal(in_reach(at(0.5), start), start)


@pytest.mark.parametrize("farthest", [3.0, 5_000.0])
def test_an_impossible_start_goes_as_far_as_it_must(farthest: float) -> None:
    unknown = Movable("x", -np.inf, np.inf, lambda values: np.where(values["x"] < farthest, 1.0, 0.0))
    found = possible_state(
        {"x": np.array([0.0, 2 * farthest])},
        [unknown],
        lambda values: {"x"} if (values["x"] < farthest).any() else set(),
        np.random.default_rng(0),
    )
    assert found["x"][0] >= farthest
    assert found["x"][1] == 2 * farthest


def test_a_slice_steps_out_as_far_as_it_is_wide() -> None:
    rng = np.random.default_rng(4)
    wide = 50.0
    value = np.zeros(2000)
    after = slice_step(lambda x: -0.5 * (x / wide) ** 2, value, np.full(2000, 1.0), rng)
    assert after.std() > 0.5 * wide  # of the interval of height exp(-e) of the top


def test_the_spread_of_columns_leaves_out_what_they_share() -> None:
    rng = np.random.default_rng(5)
    own = rng.normal(size=(40, 30))
    np.testing.assert_allclose(own_spread(own[:, :4]), own[:, :4].std(axis=0))  # too few to share anything
    scales = np.geomspace(1e-3, 1e3, 30)
    drifting = scales * (own + 20 * np.linspace(-1, 1, 40)[:, None])
    np.testing.assert_allclose(own_spread(drifting), scales, rtol=0.5)
    assert (drifting.std(axis=0) > 5 * scales).all()


def test_the_error_of_a_weight_is_that_of_the_logs_of_its_spreads() -> None:
    """The log of a standard deviation from W normal draws has the variance trigamma((W - 1) / 2) / 4."""
    count = 7
    draws = {"x": np.random.default_rng(6).normal(size=(WEIGHED, count)), "z": np.zeros((WEIGHED, 3), dtype=int)}
    wanted = np.sqrt(count * special.polygamma(1, (WEIGHED - 1) / 2) / 4)
    np.testing.assert_allclose(errors_of([draws], [np.full(WEIGHED, 2.0)]), wanted, rtol=0.05)
