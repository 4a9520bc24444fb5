"""The weight of a level is a ratio of exact evidences, for every model that collapses, to 1e-9.

log weight(a) - log weight(b) = log evidence(z_n = a) - log evidence(z_n = b)       all other elements as they are
"""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import platewright as pw
from platewright.algebra.expression import Call, walk
from platewright.backends.kernels.xoshiro import Xoshiro
from platewright.family import Array
from platewright.graph.graph import read_graph
from platewright.operation import Declined
from platewright.program.program import EVIDENCE
from platewright.run.execute import arguments, finish, loaded
from platewright.run.samplers.collapsed import CollapsedSampler
from platewright.run.samplers.collapsed_data import CollapsedData
from platewright.schemas.collapsed import CollapsedPlan, plan_collapsed
from platewright.schemas.collapsed_move import Move
from schemas import collapsed_models
from schemas.collapsed_models import COLLAPSED, NAMES
from schemas.mixtures import MIXTURES
from schemas.random_mixtures import random_mixture
from schemas.sequences import CHAINS
from schemas.small_instance import Case, Instance, Values, instance

TOLERANCE = 1e-9
CASES = {case.name: case for case in COLLAPSED}


def plan_of(case: Case) -> CollapsedPlan:
    found = plan_collapsed(case.graph, "posterior")
    assert isinstance(found, CollapsedPlan), found
    return found


def sampler_of(plan: CollapsedPlan, small: Instance, seed: int = 0) -> CollapsedSampler:
    data = CollapsedData(plan, small.columns, small.sizes)
    hidden = {name: small.values[name] for name in plan.hidden}
    return CollapsedSampler(data, hidden, Xoshiro.seeded(np.random.SeedSequence(seed)))


def log_evidence(plan: CollapsedPlan, values: Values, sizes: dict[str, int]) -> float:
    program = plan.complete.program
    module = loaded(program)
    statistics = module.statistics(*arguments(program, module, values, sizes))
    return float(finish(program, module, statistics, values, sizes)[EVIDENCE])


def evidences(plan: CollapsedPlan, small: Instance, move: Move, element: tuple[int, ...]) -> Array:
    """The log evidence with the element at each of its levels."""
    found = []
    for level in range(small.sizes[move.level.plate]):
        hidden = {name: np.array(small.values[name]) for name in plan.hidden}
        hidden[move.hidden][element] = level
        found.append(log_evidence(plan, {**small.columns, **hidden}, dict(small.sizes)))
    return np.array(found)


def gap(case: Case, seed: int) -> float:
    """How far the law is off over all elements, relative to the numbers in it."""
    plan, small = plan_of(case), instance(case, seed)
    sampler = sampler_of(plan, small)
    worst = 0.0
    for move in plan.moves:
        values = small.values[move.hidden]
        for element in product(*(range(size) for size in values.shape)):
            weights = sampler.log_weights(move, element)
            exact = evidences(plan, small, move, element)
            assert np.isfinite([*weights, *exact]).all()
            off = np.abs((weights - weights[0]) - (exact - exact[0]))
            worst = max(worst, float(off.max()) / (1 + float(np.abs(exact).max())))
    return worst


@pytest.mark.parametrize("case", COLLAPSED, ids=str)
def test_weights_are_ratios_of_evidences(case: Case) -> None:
    for seed in range(2):
        assert gap(case, seed) < TOLERANCE


@pytest.mark.parametrize("case", COLLAPSED, ids=str)
def test_counts_that_move_by_one_leave_no_gamma_function(case: Case) -> None:
    plan = plan_of(case)
    tables = {table.name: table for table in plan.tables}
    for move in plan.moves:
        for change in (*move.changes, *(change for stage in move.stages for change in stage.changes)):
            used = {node.name for node in walk(change.expression) if hasattr(node, "name") and node.name in tables}
            counts = all(str(tables[name].value) == "1" for name in used)
            gammas = [node for node in walk(change.expression) if isinstance(node, Call) and "gamma" in node.function]
            halves = all("0.5" in str(node) for node in gammas)
            assert not gammas or not counts or halves, change.expression


def test_all_models_that_can_collapse_do_and_no_others() -> None:
    found = {case.name for case in MIXTURES if isinstance(plan_collapsed(case.graph, "posterior"), CollapsedPlan)}
    assert found == set(NAMES)
    assert len(COLLAPSED) >= 25


def declined(model: pw.Model, *known: str) -> str:
    found = plan_collapsed(read_graph(model, known), "posterior")
    assert isinstance(found, Declined)
    return found.reason


def test_an_unknown_hyperparameter_is_declined() -> None:
    assert "even with z known" in declined(collapsed_models.unknown_concentration(), "x")


def test_a_parameter_without_a_conjugate_prior_is_declined() -> None:
    reason = declined(collapsed_models.not_conjugate(), "y")
    assert "even with z known" in reason and "rate" in reason


def test_an_improper_prior_is_declined() -> None:
    assert "improper" in declined(collapsed_models.improper(), "y")


def test_a_maximum_is_declined_because_nothing_can_be_taken_out_of_it() -> None:
    assert "cannot be taken back" in declined(collapsed_models.uniform_bounds(), "y")


def test_a_hidden_value_that_no_sum_over_rows_holds_is_declined() -> None:
    assert "not by sums over rows" in declined(collapsed_models.one_switch(), "y")
    assert declined(collapsed_models.spike_and_slab(), "y")


def test_a_model_without_hidden_classes_is_declined() -> None:
    assert "no unknown has finitely many values" in declined(collapsed_models.nothing_hidden(), "y")


def test_the_goal_must_be_a_posterior() -> None:
    found = plan_collapsed(CASES["topics"].graph, "map")
    assert isinstance(found, Declined) and "map" in found.reason


@pytest.mark.parametrize("case", CHAINS, ids=str)
def test_chains_are_declined(case: Case) -> None:
    found = plan_collapsed(case.graph, "posterior")
    assert isinstance(found, Declined)
    assert "neighbours" in found.reason or "even with z known" in found.reason


def test_a_mean_shared_by_all_cells_is_declined() -> None:
    case = next(case for case in MIXTURES if case.name == "unknown_centre")
    found = plan_collapsed(case.graph, "posterior")
    assert isinstance(found, Declined) and "every cell" in found.reason


def test_a_covariance_shared_by_all_cells_is_declined() -> None:
    case = next(case for case in MIXTURES if case.name == "tied_full")
    found = plan_collapsed(case.graph, "posterior")
    assert isinstance(found, Declined) and "every cell of `k`" in found.reason


def test_data_far_from_zero_keep_their_digits() -> None:
    near, far = (collapsed_models.centred_at(centre) for centre in (0.0, 1e9))
    found = []
    for model, centre in ((near, 0.0), (far, 1e9)):
        case = Case("centred", lambda model=model: model, ("y",), {"n": 6})
        plan, small = plan_of(case), instance(case, 1)
        values = {**small.values, "y": np.array([-1.5, -1.0, 0.25, 0.5, 1.0, 2.0]) + centre}
        sampler = sampler_of(plan, Instance(case, small.graph, small.sizes, values))
        (move,) = plan.moves
        found.append(sampler.log_weights(move, (0,)))
    assert np.ptp(found[0]) > 0.1
    assert np.allclose(found[0], found[1], rtol=0, atol=1e-9)


@pytest.mark.parametrize("seed", range(24))
def test_weights_are_ratios_of_evidences_in_mixtures_put_together_at_random(seed: int) -> None:
    case = random_mixture(seed)
    assert gap(case, seed) < TOLERANCE
