"""Hidden values drawn together are draws from their joint posterior, on new rows too."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import platewright as pw
from platewright.errors import PlatewrightError
from platewright.operation import Declined
from platewright.run.hidden import joint_draws
from platewright.run.hidden.joint_draws import JointHidden, conditioned, joint_hidden
from platewright.schemas.em import EMPlan, plan_em
from schemas import chains_that_meet, nested_classes, tied_classes
from schemas.enumeration import weighed
from schemas.mutation import Mutant, planted
from schemas.small_instance import Case, Values, instance

CASES = (*chains_that_meet.MEETING, *tied_classes.TIED, *nested_classes.NESTED)
COUNT = 3000


def features(values: Values) -> np.ndarray:
    """All cells, and products of any two: they see margins and ties."""
    cells = np.concatenate([np.ravel(values[name]) for name in sorted(values)]).astype(float)
    return np.concatenate([cells, np.outer(cells, cells)[np.triu_indices(len(cells))]])


def gap(case: Case) -> float:
    """The largest difference between draws and enumeration, in units of its Monte Carlo error."""
    plan = plan_em(case.graph, "map")
    assert isinstance(plan, EMPlan)
    small = instance(case, 3)
    names = [item.name for item in plan.hidden]
    joint = joint_hidden(small.graph, names, case.known)
    assert isinstance(joint, JointHidden), joint
    given = {name: value for name, value in small.values.items() if name not in names}
    every, share, _ = weighed(plan, plan.factors, given, small.sizes)
    table = np.array([features(one) for one in every])
    mean = share @ table
    spread = np.sqrt(np.maximum(share @ (table - mean) ** 2, 1e-12))
    known = conditioned(joint, given, small.sizes)
    generator = np.random.default_rng(5)
    drawn = np.mean([features(known.draw(generator)) for _ in range(COUNT)], axis=0)
    return float(np.max(np.abs(drawn - mean) / (spread / np.sqrt(COUNT) + 1e-3 / COUNT)))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_draws_have_the_moments_of_all_hidden_values(case: Case) -> None:
    assert gap(case) < 5.5


MUTANTS = (
    Mutant("states do not follow the class that was drawn", joint_draws.Conditioned._along,
           "drawn[name][np.asarray(at, dtype=np.int64)]", "0 * drawn[name][np.asarray(at, dtype=np.int64)]",
           partial(gap, CASES[0])),
    Mutant("inner values do not follow the states", joint_draws.Conditioned._along, "{**seen, **states}",
           "{name: 0 * values for name, values in {**seen, **states}.items()}", partial(gap, CASES[6])),
    Mutant("tied classes are drawn apart", joint_draws._descended, "drawn[name] if name in drawn",
           "0 * drawn[name] if name in drawn", partial(gap, tied_classes.TIED[0])),
)  # fmt: skip


@pytest.mark.parametrize("defect", MUTANTS, ids=str)
def test_a_planted_defect_is_noticed(defect: Mutant) -> None:
    with planted(defect):
        assert defect.law() > 5.5  # type: ignore[func-returns-value]


def test_new_sequences_get_their_class_and_states_together() -> None:
    m = chains_that_meet.kinds_of_moves()
    slow, fast = [0] * 6 + [2] * 6, [0, 2] * 6
    fit = m.learn({"series": np.repeat(np.arange(8), 12), "y": (slow + fast) * 4}, goal="map")
    found = fit.predict({"series": np.repeat(np.arange(2), 12), "y": slow + fast})
    chances = found.probabilities("c")
    assert chances[0].argmax() == fit.probabilities("c")[0].argmax() != chances[1].argmax()
    np.testing.assert_allclose(found["c"].mean[:2], chances[:2, 1], atol=0.1)
    np.testing.assert_allclose(found.probabilities("z")[:12], fit.probabilities("z")[:12], atol=1e-3)


def test_several_hidden_classes_of_a_new_row_are_inferred_together() -> None:
    m = tied_classes.path()
    fit = m.learn({"x": [0, 1, 1, 0, 0, 0, 1]}, goal="map")
    found = fit.predict({"x": [1, 0]})
    values = {name: fit[name].value for name in ("pu", "pv", "px")}
    joint = values["pu"][:, None] * values["pv"] * values["px"][:, 1]
    np.testing.assert_allclose(found.probabilities("u")[0], joint.sum(axis=1) / joint.sum(), atol=1e-9)
    np.testing.assert_allclose(found.probabilities("v")[0], joint.sum(axis=0) / joint.sum(), atol=1e-9)


def test_what_cannot_be_inferred_together_says_why() -> None:
    m = pw.Model("hidden blocks")
    a, b = m.plate("a"), m.plate("b")
    m.u, m.v = pw.Bernoulli(0.4, plates=a), pw.Bernoulli(0.3, plates=b)
    m.y = pw.Normal(m.u - m.v, sd=1, plates=(a, b))
    graph = m.derive(["y"], by="gibbs").plan.graph
    found = joint_hidden(graph, ("u", "v"), ("y",))
    assert isinstance(found, Declined)
    assert "meet but live on other plates" in found.reason


def test_a_real_unknown_above_a_given_value_is_named() -> None:
    m = pw.Model("factors")
    n = m.plate("n")
    m.w = pw.Normal(0, sd=1)
    m.z = pw.Normal(0, sd=1, plates=n)
    m.y = pw.Normal(m.w * m.z, sd=1, plates=n)
    fit = m.learn({"y": [0.1, 1.0, -2.0]}, goal="map")
    with pytest.raises(PlatewrightError, match="`z` above it would have to be inferred"):
        fit.predict({"y": [1.0]})


def test_a_function_of_an_unknown_may_look_at_a_function_of_what_is_known() -> None:
    m = pw.Model("functions of functions")
    n, k = m.plate("n"), m.plate("k", 2)
    m.z = pw.Bernoulli(0.4, plates=n)
    m.height = pw.array([-1.0, 2.0], over=k)
    m.mean = m.height[m.z]
    m.y = pw.Normal(m.mean, sd=1.0, plates=n)
    drawn = m.learn({"y": [0.1, 1.0]}, by="exact").draws(5, seed=1)
    assert (drawn["mean"] == np.array([-1.0, 2.0])[drawn["z"].astype(int)]).all()
    assert "height" not in drawn
