"""The most probable hidden values of a fit are the best of all combinations, and their probability is its share."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import platewright as pw
from platewright.errors import NotSolvable
from platewright.run.hidden import joint_draws, most_probable
from platewright.run.hidden.most_probable import most_probable_states
from platewright.schemas import expectations
from platewright.schemas.em import EMPlan, plan_em
from schemas import chains_that_meet, grouped_classes, mixtures, nested_classes, sequences, tied_classes
from schemas.enumeration import weighed
from schemas.mutation import Mutant, planted
from schemas.small_instance import Case, instance

CASES = tuple(
    case
    for case in (
        *chains_that_meet.MEETING,
        *tied_classes.TIED,
        *grouped_classes.GROUPED,
        *nested_classes.NESTED,
        *sequences.CHAINS,
        *mixtures.MIXTURES,
    )
    if isinstance(plan_em(case.graph, "map"), EMPlan)
)


def check(case: Case, seeds: range = range(3)) -> None:
    """What is found is one of all combinations, and none has a larger share."""
    plan = plan_em(case.graph, "map")
    assert isinstance(plan, EMPlan)
    for seed in seeds:
        small = instance(case, seed)
        names = [item.name for item in plan.hidden]
        given = {name: value for name, value in small.values.items() if name not in names}
        every, share, _ = weighed(plan, plan.factors, given, small.sizes)
        found, log_probability = most_probable_states(plan.graph, plan.latent, given, small.sizes)
        same = [all(np.array_equal(one[name], found[name]) for name in names) for one in every]
        assert np.log(share[same.index(True)]) == pytest.approx(np.log(share.max()), abs=1e-9)
        assert log_probability == pytest.approx(np.log(share.max()), abs=1e-9)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_no_combination_of_hidden_values_is_more_probable(case: Case) -> None:
    check(case)


MUTANTS = (
    Mutant("sums stand for maxima along a chain", most_probable._passed,
           "forward_best if leave is largest else forward", "forward", partial(check, CASES[0])),
    Mutant("sums stand for maxima in the way back", joint_draws.Conditioned._along,
           "forward_best if generator is None else forward", "forward", partial(check, CASES[0], range(25))),
    Mutant("a clique leaves a sum", expectations.upwards, "leave(weights, ", "log_sum_exp(weights, ",
           partial(check, tied_classes.TIED[0])),
)  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_planted_defects_are_noticed(mutant: Mutant) -> None:
    mutant.law()
    with planted(mutant), pytest.raises(AssertionError):
        mutant.law()


def test_a_fit_gives_the_path_of_each_sequence_by_name() -> None:
    m = chains_that_meet.kinds_of_readings()
    data = {"series": np.array([0, 0, 0, 1, 1]), "y": np.array([0.1, 0.4, 2.0, -1.0, -1.2])}
    fit = m.learn(data, goal="map")
    found = fit.most_probable()
    assert set(found.state) == {"c", "z"}
    every, share, _ = weighed(fit.derivation, fit.derivation.factors, {**fit.columns, **fit.estimate.values}, fit.sizes)
    best = every[int(np.argmax(share))]
    assert all(np.array_equal(found[name], best[name]) for name in best)
    assert found.log_probability == pytest.approx(np.log(share.max()), abs=1e-9)


def test_missing_cells_are_filled_in_beside_those_that_were_seen_by_their_labels() -> None:
    m = pw.Model("answers")
    person = m.plate("person")
    sex, answer = m.plate("sex", labels=["f", "m"]), m.plate("answer", labels=["no", "yes"])
    m.p = pw.Dirichlet(1.1, over=sex)
    m.q = pw.Dirichlet(1.1, over=answer, plates=sex)
    m.s = pw.Categorical(m.p, plates=person)
    m.a = pw.Categorical(m.q[m.s], plates=person)
    data = {"s": ["f", "f", "f", "m", "m", "m", None], "a": ["no", "no", "no", "yes", "yes", "yes", "yes"]}
    fit = m.learn(data, goal="map")
    found = fit.most_probable()
    assert list(found["s"]) == ["f", "f", "f", "m", "m", "m", "m"]
    assert found.log_probability == pytest.approx(np.log(fit.expected("s")[-1].max()), abs=1e-9)


def test_equally_probable_values_are_answered_by_one_of_them() -> None:
    """Both levels of a class without data of its own are alike; what is found is as probable as any."""
    m = pw.Model("coin")
    toss = m.plate("toss")
    m.z = pw.Bernoulli(0.5, plates=toss)
    m.p = pw.Beta(2, 2)
    m.y = pw.Bernoulli(m.p, plates=toss)
    m.x = pw.Normal(2.0 * m.z - 1.0, sd=1, plates=toss)
    fit = m.learn({"y": [0, 1, 1], "x": [0.0, 0.0, 2.0]}, goal="map", by="em")
    found = fit.most_probable()
    assert found["z"][2] == 1
    assert found.log_probability == pytest.approx(np.log(0.25 / (1 + np.exp(-4.0))), abs=1e-9)


def test_hidden_gaussians_are_no_part_of_a_most_probable_state() -> None:
    m = pw.Model("factor")
    row = m.plate("row")
    m.f = pw.Normal(0, sd=1, plates=row)
    m.tau = pw.Gamma(2, rate=1)
    m.y = pw.Normal(m.f, precision=m.tau, plates=row)
    fit = m.learn({"y": [0.3, -1.0, 2.0]}, goal="map", by="em")
    with pytest.raises(NotSolvable, match="f, which is integrated out"):
        fit.most_probable()
