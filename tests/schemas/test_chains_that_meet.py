"""Fits of chains that meet other hidden variables, and what is declined about them, by name."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import platewright as pw
from platewright.errors import PlatewrightError, SizeError
from platewright.family import Array
from platewright.graph.graph import read_graph
from platewright.operation import Declined
from platewright.run.hidden.em import Runner
from platewright.schemas.em import EMPlan, plan_em
from schemas import chains_that_meet
from schemas.small_instance import log_joint


def two_kinds(series: int = 40, steps: int = 25) -> tuple[dict[str, Array], Array]:
    """Sequences that stay, and sequences that change at every step."""
    generator = np.random.default_rng(1)
    stay, shown = (0.95, 0.1), np.array([[0.8, 0.15, 0.05], [0.05, 0.15, 0.8]])
    kinds = np.arange(series) % 2
    y = np.empty((series, steps), dtype=np.int64)
    for number, kind in enumerate(kinds):
        z = generator.integers(2)
        for step in range(steps):
            z = z if step == 0 or generator.random() < stay[kind] else 1 - z
            y[number, step] = generator.choice(3, p=shown[z])
    return {"series": np.repeat(np.arange(series), steps), "y": y.reshape(-1)}, kinds


@pytest.mark.parametrize("by", ["em", "mean-field"])
def test_kinds_of_sequences_are_told_apart(by: str) -> None:
    data, kinds = two_kinds()
    goal = "map" if by == "em" else "posterior"
    fit = chains_that_meet.kinds_of_moves().learn(data, goal=goal, by=by)
    found = fit.probabilities("c").argmax(axis=1)
    assert max(np.mean(found == kinds), np.mean(found != kinds)) > 0.9
    assert fit.probabilities("z").shape == (len(data["y"]), 2)
    np.testing.assert_allclose(fit.probabilities("z").sum(axis=1), 1.0)


def test_the_likelihood_and_the_posterior_of_a_fit_are_sums_over_all_hidden_values() -> None:
    m = chains_that_meet.kinds_of_readings()
    data = {"series": np.array([0, 0, 0, 1, 1]), "y": np.array([0.1, 0.4, 2.0, -1.0, -1.2])}
    fit = m.learn(data, goal="map")
    assert isinstance(fit.derivation, EMPlan)
    values = {**fit.columns, **fit.estimate.values}
    priors = {"p", "begin", "move", "tau", "mu"}
    factors = tuple(factor for factor in fit.plan.factors if factor.owner not in priors)
    logs, kinds, states = [], [], []
    for c, z in product(product(range(2), repeat=2), product(range(2), repeat=5)):
        logs.append(log_joint(factors, {**values, "c": np.array(c), "z": np.array(z)}, fit.sizes))
        kinds.append(c)
        states.append(z)
    total = np.logaddexp.reduce(logs)
    share = np.exp(np.array(logs) - total)
    assert fit.log_likelihood == pytest.approx(total, abs=1e-9)
    np.testing.assert_allclose(fit.probabilities("c")[:, 1], share @ np.array(kinds), atol=1e-6)
    np.testing.assert_allclose(fit.probabilities("z")[:, 1], share @ np.array(states), atol=1e-6)


def with_reports() -> pw.Model:
    """What is seen of a state is reported by another column, so a missing cell tells something."""
    m = pw.Model("reports")
    step, k = m.plate("step", ordered=True), m.plate("k", 2)
    before, symbol = m.plate("before", like=k), m.plate("symbol", 2)
    m.begin = pw.Dirichlet(1.5, over=k)
    m.move = pw.Dirichlet(1.5, over=k, plates=before)
    m.shown = pw.Dirichlet(1.5, over=symbol, plates=k)
    m.mu = pw.Normal(0, sd=3, plates=symbol)
    m.z = pw.Categorical(m.move[m.lag("z")], start=m.begin, plates=step)
    m.y = pw.Categorical(m.shown[m.z], plates=step)
    m.x = pw.Normal(m.mu[m.y], sd=1, plates=step)
    return m


def test_a_missing_cell_beside_a_chain_is_summed_out() -> None:
    m = with_reports()
    x = [0.1, 0.3, 3.0, 2.5, 2.9, 0.2]
    fit = m.learn({"x": x, "y": [0, None, 1, None, 1, 0]}, goal="map")
    values = {name: fit[name].value for name in ("begin", "move", "shown", "mu")}
    total = []
    for z in product(range(2), repeat=6):
        for first, second in product(range(2), repeat=2):
            y = np.array([0, first, 1, second, 1, 0])
            moves = np.log(values["begin"][z[0]]) + np.log(values["move"][z[:-1], z[1:]]).sum()
            rows = np.log(values["shown"][list(z), y]) - 0.5 * (x - values["mu"][y]) ** 2 - 0.5 * np.log(2 * np.pi)
            total.append(moves + rows.sum())
    assert fit.log_likelihood == pytest.approx(np.logaddexp.reduce(total), abs=1e-9)


# -- data that cannot be -----------------------------------------------------------------------------------------------


def test_a_class_that_a_sequence_rules_out_has_probability_zero() -> None:
    m = chains_that_meet.kinds_of_moves()
    plan = plan_em(read_graph(m, ("y",)), "map")
    assert isinstance(plan, EMPlan)
    columns = {
        "y": np.array([0, 1, 0, 0]),
        "series@step": np.array([0, 0, 1, 1]),
        "first@step": np.array([1, 0, 1, 0]),
    }
    sizes = {"series": 2, "step": 4, "kind": 2, "k": 2, "before": 2, "symbol": 3}
    values = {
        "p": np.array([0.5, 0.5]),
        "begin": np.array([[1.0, 0.0], [0.5, 0.5]]),
        "move": np.array([[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [1.0, 0.0]]]),
        "shown": np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]),
    }
    found = Runner(plan, columns, sizes).expected(values)
    np.testing.assert_allclose(found.expectations["c.probability"], [[0, 1], [1, 0]], atol=1e-12)
    assert not any(np.isnan(array).any() for array in found.expectations.values())
    with pytest.raises(PlatewrightError, match="the data have probability zero whatever"):
        Runner(plan, {**columns, "y": np.array([0, 1, 2, 0])}, sizes).expected(values)


def test_an_inner_value_that_cannot_be_rules_its_states_out() -> None:
    m = chains_that_meet.mixed_readings()
    plan = plan_em(read_graph(m, ("y",)), "map")
    assert isinstance(plan, EMPlan)
    columns = {"y": np.array([0.0, 1.0, 0.5]), "first@step": np.array([1, 0, 0])}
    values = {
        "z_begin": np.array([0.5, 0.5]),
        "z_move": np.full((2, 2), 0.5),
        "q": np.array([[1.0, 0.0], [0.5, 0.5]]),
        "mu": np.zeros((2, 2)),
    }
    found = Runner(plan, columns, {"step": 3, "k": 2, "z_before": 2, "part": 2}).expected(values)
    assert not any(np.isnan(array).any() for array in found.expectations.values())
    np.testing.assert_allclose(found.expectations["z.w.probability"][:, 0, 1], 0.0)


# -- near misses -------------------------------------------------------------------------------------------------------


def reason_of(m: pw.Model, known: tuple[str, ...] = ("y",)) -> str:
    found = plan_em(read_graph(m, known), "map")
    assert isinstance(found, Declined)
    return found.reason


def many_chains(values: int | None) -> pw.Model:
    m = pw.Model("many chains")
    step = m.plate("step", ordered=True)
    plates = [m.plate(f"k{number}", values) for number in range(3)]
    for number, k in enumerate(plates):
        before = m.plate(f"b{number}", like=k)
        setattr(m, f"move{number}", pw.Dirichlet(1, over=k, plates=before))
        move = getattr(m, f"move{number}")
        setattr(m, f"z{number}", pw.Categorical(move[m.lag(f"z{number}")], start=move[0], plates=step))
    m.mu = pw.Normal(0, sd=1, plates=plates)
    m.y = pw.Normal(m.mu[m.z0, m.z1, m.z2], sd=1, plates=step)
    return m


def test_chains_with_too_many_values_together_are_declined_with_the_number() -> None:
    reason = reason_of(many_chains(8))
    assert reason == "the chains z0, z1, z2 have 512 values together, and at most 256 are taken"


def test_a_size_that_only_the_data_tell_is_refused_when_they_do() -> None:
    plan = plan_em(read_graph(many_chains(None), ("y",)), "map")
    assert isinstance(plan, EMPlan)
    sizes = {"step": 3, **{f"{letter}{n}": 8 for letter in "kb" for n in range(3)}}
    values = {f"move{n}": np.full((8, 8), 1 / 8) for n in range(3)} | {"mu": np.zeros((8, 8, 8))}
    runner = Runner(plan, {"y": np.zeros(3), "first@step": np.array([1, 0, 0])}, sizes)
    with pytest.raises(SizeError, match="z0, z1, z2 have 512 values together"):
        runner.expected(values)


def test_a_class_of_other_groups_than_the_sequences_is_declined() -> None:
    m = pw.Model("visits")
    place, step = m.plate("place"), m.plate("step", ordered=True)
    kind, k = m.plate("kind", 2), m.plate("k", 2)
    before = m.plate("before", like=k)
    m.where = pw.Input(plates=step, levels=place)
    m.p = pw.Dirichlet(1, over=kind)
    m.c = pw.Categorical(m.p, plates=place)
    m.move = pw.Dirichlet(1, over=k, plates=before)
    m.z = pw.Categorical(m.move[m.lag("z")], start=m.move[0], plates=step)
    m.mu = pw.Normal(0, sd=1, plates=(kind, k))
    m.y = pw.Normal(m.mu[m.c[m.where], m.z], sd=1, plates=step)
    assert reason_of(m) == "the hidden variables c and z meet but live on other plates"


def test_two_classes_of_nested_plates_are_declined() -> None:
    m = pw.Model("regions and series")
    region = m.plate("region")
    series = m.plate("series", within=region)
    step = m.plate("step", ordered=True, within=series)
    k = m.plate("k", 2)
    before, kind = m.plate("before", like=k), m.plate("kind", like=k)
    m.p = pw.Dirichlet(1, over=k)
    m.r = pw.Categorical(m.p, plates=region)
    m.c = pw.Categorical(m.p, plates=series)
    m.move = pw.Dirichlet(1, over=k, plates=(kind, before))
    m.z = pw.Categorical(m.move[m.r, m.lag("z")], start=m.p, plates=step)
    m.mu = pw.Normal(0, sd=1, plates=(k, before))
    m.y = pw.Normal(m.mu[m.c, m.z], sd=1, plates=step)
    assert "meet but live on other plates" in reason_of(m)


def test_a_gaussian_chain_that_switches_is_declined_with_the_reason() -> None:
    m = pw.Model("switching dynamics")
    step, k = m.plate("step", ordered=True), m.plate("k", 2)
    before = m.plate("before", like=k)
    m.move = pw.Dirichlet(1.5, over=k, plates=before)
    m.z = pw.Categorical(m.move[m.lag("z")], start=m.move[0], plates=step)
    m.phi = pw.Normal(0, sd=1, plates=k)
    m.x = pw.Normal(m.phi[m.z] * m.lag("x"), sd=1, start=0.0, plates=step)
    m.y = pw.Normal(m.x, sd=1, plates=step)
    wanted = "the hidden z meets x, a Gaussian chain: every way to choose z would need a filter of its own"
    assert reason_of(m).startswith(wanted)
