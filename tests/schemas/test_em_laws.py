"""EM against enumeration: expected statistics, objective, ascent, and a vanishing gradient where it stops."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

import platewright as pw
from platewright.errors import NotSolvable
from platewright.family import Array
from platewright.operation import Declined
from platewright.run.execute import arguments, loaded
from platewright.run.hidden.em import Runner
from platewright.run.hidden.em_search import run_em
from platewright.schemas.em import EMPlan, plan_em
from schemas.chains_that_meet import MEETING
from schemas.enumeration import expectations, weighed
from schemas.mixtures import MIXTURES
from schemas.nested_classes import NESTED
from schemas.sequences import CHAINS
from schemas.small_instance import Case, Instance, Values, instance
from schemas.tied_classes import TIED


def plan_of(case: Case) -> EMPlan | None:
    found = plan_em(case.graph, "map")
    return None if isinstance(found, Declined) else found


SOLVED = tuple(case for case in (*MIXTURES, *TIED, *CHAINS, *MEETING, *NESTED) if plan_of(case) is not None)


def parts(case: Case, seed: int) -> tuple[EMPlan, Instance, Runner]:
    plan = plan_of(case)
    assert plan is not None
    small = instance(case, seed)
    return plan, small, Runner(plan, small.columns, small.sizes)


def parameters(plan: EMPlan, small: Instance) -> Values:
    hidden = {item.name for item in plan.hidden}
    return {name: value for name, value in small.hidden.items() if name not in hidden}


def test_most_models_with_hidden_classes_have_an_em() -> None:
    assert len(SOLVED) >= 25 and all(case in SOLVED for case in NESTED)


@pytest.mark.parametrize("case", SOLVED, ids=str)
def test_the_objective_is_the_sum_over_all_hidden_values(case: Case) -> None:
    for seed in range(2):
        plan, small, runner = parts(case, seed)
        values = parameters(plan, small)
        every, share, total = weighed(plan, plan.factors, {**small.columns, **values}, small.sizes)
        result = runner.expected(values)
        assert result.objective == pytest.approx(total, rel=1e-10, abs=1e-10)
        for name, wanted in expectations(plan, every, share, small.sizes, small.columns).items():
            np.testing.assert_allclose(result.expectations[name], wanted, atol=1e-10)


@pytest.mark.parametrize("case", SOLVED, ids=str)
def test_expected_statistics_are_averages_over_all_hidden_values(case: Case) -> None:
    plan, small, runner = parts(case, 1)
    values = parameters(plan, small)
    every, share, _ = weighed(plan, plan.factors, {**small.columns, **values}, small.sizes)
    found = runner.expected(values).expectations
    for block, program in zip(plan.blocks, plan.latent.programs, strict=False):
        module, hard_module = loaded(program), loaded(block.program)
        given = {**small.columns, **values, **found}
        soft = module.statistics(*arguments(program, module, given, small.sizes))
        wanted: dict[str, Array] = {}
        for hidden, weight in zip(every, share, strict=True):
            data = {**small.columns, **values, **hidden}
            one = hard_module.statistics(*arguments(block.program, hard_module, data, small.sizes))
            for name, value in moments(one).items():
                wanted[name] = wanted.get(name, 0.0) + weight * value
        for name, value in moments(soft).items():
            np.testing.assert_allclose(value, wanted[name], rtol=1e-8, atol=1e-9, err_msg=name)


def moments(statistics: Mapping[str, object]) -> dict[str, Array]:
    """Sums as they are; a pool of rows (weight, mean, scatter) as the sums of products it stands for."""
    found = {}
    for name, value in statistics.items():
        if isinstance(value, tuple):
            total, mean, scatter = (np.asarray(part, dtype=float) for part in value[:3])
            found[f"{name}.weight"] = total
            found[f"{name}.sum"] = total[..., None] * mean
            between = mean[..., :, None] * mean[..., None, :]
            found[f"{name}.products"] = scatter + total[..., None, None] * between
        else:
            found[name] = np.asarray(value, dtype=float)
    return found


@pytest.mark.parametrize("case", SOLVED, ids=str)
def test_the_objective_never_falls(case: Case) -> None:
    for seed in range(3):
        _, _, runner = parts(case, seed)
        start = runner.guessed(np.random.default_rng(seed))
        found = runner.run(start, 60, 0.0)
        history = np.array(found.objective)
        assert np.isfinite(history).all()
        assert (np.diff(history) >= -1e-9 * (1 + np.abs(history[1:]))).all()


@pytest.mark.parametrize("case", SOLVED, ids=str)
def test_the_gradient_vanishes_where_em_stops(case: Case) -> None:
    plan, small, runner = parts(case, 1)
    found = run_em(plan, small.columns, small.sizes, iterations=20_000, tolerance=1e-15, restarts=2)
    values = {name: np.array(value, dtype=float) for name, value in found.values.items()}
    for name, value in values.items():
        for change in _directions(small, name, value):
            if change is None:
                continue
            up, down = ({**values, name: value + sign * 1e-5 * change} for sign in (1, -1))
            slope = (runner.expected(up).objective - runner.expected(down).objective) / 2e-5
            assert abs(slope) < 2e-3 * (1 + abs(found.objective[-1])), f"{name}: {slope}"


def _directions(small: Instance, name: str, value: Array) -> list[Array | None]:
    """Ways to move a parameter without leaving its domain; none near a boundary."""
    node = small.graph.nodes[name]
    moves: list[Array | None] = []
    for place in np.ndindex(value.shape):
        change = np.zeros_like(value)
        change[place] = 1.0
        if node.domain.kind == "simplex":
            other = (*place[:-1], (place[-1] + 1) % value.shape[-1])
            if min(value[place], value[other]) < 1e-3:
                continue
            change[other] = -1.0
        elif node.domain.kind == "matrix":
            change = change + np.swapaxes(change, -1, -2)
        elif np.isfinite(node.domain.lower):
            if value[place] - node.domain.lower < 1e-3 or node.domain.upper - value[place] < 1e-3:
                continue
            change *= min(1.0, float(value[place]))
        moves.append(change)
    return moves


def test_hidden_variables_that_meet_are_one_group() -> None:
    case = next(case for case in TIED if case.name == "two_groups")
    found = plan_em(case.graph, "map")
    assert isinstance(found, EMPlan)
    assert [{item.name for item in group.members} for group in found.latent.groups] == [{"u", "v"}, {"t"}]


def test_hidden_variables_of_other_plates_that_meet_are_declined_by_name() -> None:
    case = next(case for case in MIXTURES if case.name == "blocks")
    found = plan_em(case.graph, "map")
    assert isinstance(found, Declined)
    assert found.reason.startswith("the hidden variables u and v meet but live on other plates (")


def test_em_by_name_on_complete_data_says_why_not() -> None:
    m = pw.Model("coin")
    m.theta = pw.Beta(1, 1)
    m.x = pw.Bernoulli(m.theta, plates=m.plate("n"))
    with pytest.raises(NotSolvable, match="no discrete or Gaussian variable on a plate of rows is unknown"):
        m.learn({"x": [0, 1]}, goal="map", by="em")
