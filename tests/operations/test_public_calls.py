"""The paper's operations as public calls of `m.graph(...)`: what they give, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betaln

import platewright as pw
from laws import integrals
from platewright.errors import NotSolvable, ShapeError, UnknownName
from platewright.operable import OperableGraph
from platewright.operation import Declined, Step

HEADS = [1, 0, 1, 1]


def coin() -> OperableGraph:
    m = pw.Model("coin")
    toss = m.plate("toss")
    m.theta = pw.Beta(1.5, 1.5)
    m.heads = pw.Bernoulli(m.theta, plates=toss)
    return m.graph(known=["heads"])


def schools() -> OperableGraph:
    m = pw.Model("schools")
    school = m.plate("school")
    pupil = m.plate("pupil", within=school)
    m.tau = pw.Gamma(2, rate=2)
    m.mu = pw.Normal(0, precision=0.1 * m.tau)
    m.effect = pw.Normal(m.mu, precision=m.tau, plates=school)
    m.score = pw.Normal(m.effect, precision=2 * m.tau, plates=pupil)
    return m.graph(known="score")


SCHOOLS = {"tau": 0.7, "mu": 0.4, "effect": [0.1, -0.5], "score": [0.3, 1.0, -0.2], "school": [0, 1, 1]}


def test_a_step_shows_itself() -> None:
    step = coin().eliminate("theta")
    assert isinstance(step, Step)
    assert step.before.unknown == ("theta",) and step.after.unknown == ()
    assert "Beta" in step.because and "Lemma" in step.reference
    assert str(step).startswith("eliminate theta")
    assert step.svg().startswith("<svg") and step.svg().count("<svg") == 3
    assert "\\begin{align*}" in step.latex()


def test_what_an_elimination_leaves_is_the_evidence() -> None:
    left = coin().eliminate("theta").after.log_density({"heads": HEADS})
    assert left == pytest.approx(betaln(4.5, 2.5) - betaln(1.5, 1.5), rel=1e-12)


def test_eliminations_chain_to_the_evidence_with_matrices_over_a_plate() -> None:
    now = schools()
    data = {name: SCHOOLS[name] for name in ("score", "school")}
    for name in ("effect", "mu", "tau"):
        now = now.eliminate(name).after
    m = pw.Model("schools")
    school = m.plate("school")
    pupil = m.plate("pupil", within=school)
    m.tau = pw.Gamma(2, rate=2)
    m.mu = pw.Normal(0, precision=0.1 * m.tau)
    m.effect = pw.Normal(m.mu, precision=m.tau, plates=school)
    m.score = pw.Normal(m.effect, precision=2 * m.tau, plates=pupil)
    assert now.log_density(data) == pytest.approx(m.learn(data).log_evidence, rel=1e-10)


def test_an_order_that_leads_nowhere_is_allowed_by_hand() -> None:
    """The planner would not begin with the scale: it leaves a logarithm. The step is right all the same."""
    graph = schools()
    step = graph.eliminate("tau")
    values = {name: np.asarray(value) for name, value in SCHOOLS.items()}
    left = {name: value for name, value in SCHOOLS.items() if name != "tau"}
    expected = integrals.integrated(lambda v: graph.log_density(v), values, "tau", 0.0, np.inf)
    assert step.after.log_density(left) == pytest.approx(expected, rel=1e-9)


def test_maximising_puts_the_best_value_in() -> None:
    graph = schools()
    step = graph.maximise("effect")
    values = {name: np.asarray(value) for name, value in SCHOOLS.items()}
    left = {name: value for name, value in SCHOOLS.items() if name != "effect"}
    best = integrals.gaussian(lambda v: graph.log_density(v), values, ("effect",), maximum=True)
    assert step.after.log_density(left) == pytest.approx(best, rel=1e-9)


def test_a_discrete_unknown_is_summed_out() -> None:
    m = pw.Model("two classes")
    row = m.plate("row")
    k = m.plate("k", 2)
    m.p = pw.Dirichlet(1.0, over=k)
    m.mu = pw.Normal(0, sd=2, plates=k)
    m.z = pw.Categorical(m.p, plates=row)
    m.y = pw.Normal(m.mu[m.z], sd=1, plates=row)
    graph = m.graph(known=["y"])
    point = {"p": [0.3, 0.7], "mu": [0.5, -1.0], "y": [0.2, 1.4, -0.9], "z": [0, 1, 1]}
    expected = integrals.summed(
        lambda v: graph.log_density(v), {n: np.asarray(x) for n, x in point.items()}, "z", levels=2
    )
    del point["z"]
    assert graph.eliminate("z").after.log_density(point) == pytest.approx(expected, rel=1e-12)


def test_a_plate_written_out_keeps_the_density() -> None:
    graph = coin()
    step = graph.expand(toss=4)
    assert "heads[3]" in step.after.known and "heads" not in step.after.nodes
    apart = {f"heads[{n}]": x for n, x in enumerate(HEADS)}
    assert step.after.log_density({"theta": 0.3, **apart}) == pytest.approx(
        graph.log_density({"theta": 0.3, "heads": HEADS}), rel=1e-12
    )


def test_a_sequence_written_out_keeps_the_density() -> None:
    m = pw.Model("walk")
    t = m.plate("t", ordered=True)
    m.x = pw.Normal(m.lag("x"), sd=0.5, start=pw.Normal(0, sd=1), plates=t)
    m.y = pw.Normal(m.x, sd=1, plates=t)
    graph = m.graph(known="y")
    x, y = [0.3, 0.1, -0.4], [0.5, 0.0, -1.0]
    step = graph.expand(t=3)
    apart = {**{f"x[{n}]": v for n, v in enumerate(x)}, **{f"y[{n}]": v for n, v in enumerate(y)}}
    apart |= {"first@t[0]": 1, "first@t[1]": 0, "first@t[2]": 0}
    shown = {name: value for name, value in apart.items() if name in step.after.nodes}
    assert step.after.log_density(shown) == pytest.approx(graph.log_density({"x": x, "y": y}), rel=1e-12)


def test_a_place_that_data_choose_becomes_a_choice() -> None:
    m = pw.Model("groups")
    row = m.plate("row")
    k = m.plate("k", 3)
    m.z = pw.Input(levels=k, plates=row)
    m.mu = pw.Normal(0, sd=2, plates=k)
    m.y = pw.Normal(m.mu[m.z], sd=1, plates=row)
    graph = m.graph(known=["y"])
    point = {"mu": [0.3, 1.0, -2.0], "y": [0.1, 0.2], "z": [2, 0]}
    apart = {"mu[0]": 0.3, "mu[1]": 1.0, "mu[2]": -2.0, "y": [0.1, 0.2], "z": [2, 0]}
    assert graph.expand(k=3).after.log_density(apart) == pytest.approx(graph.log_density(point), rel=1e-12)


def test_questions_have_values() -> None:
    graph = coin()
    assert graph.separated("theta", "heads", given=[]) is False
    assert graph.blanket("theta") == frozenset({"heads"})
    assert frozenset({"theta"}) in graph.components()
    assert [piece.unknown for piece in graph.decompose()] == [("theta",)]
    found = graph.conditional("theta")
    assert not isinstance(found, Declined)
    assert found.family == "Beta" and str(found.parameters["a"]) == "1.5 + sum_toss heads[toss]"


def test_a_conditional_without_a_family_says_why() -> None:
    m = pw.Model("logistic")
    row = m.plate("row")
    m.x = pw.Input(plates=row)
    m.b = pw.Normal(0, sd=1)
    m.y = pw.Bernoulli(logit=m.b * m.x, plates=row)
    found = m.graph(known="y").conditional("b")
    assert isinstance(found, Declined) and "`b`" in found.reason


def test_slope_and_curvature_are_expressions_with_numbers() -> None:
    m = pw.Model("logistic")
    row, j = m.plate("row"), m.plate("j", 2)
    m.x = pw.Input(plates=(row, j))
    m.w = pw.Normal(0, sd=1, plates=j)
    m.eta = pw.dot(m.x, m.w, over=j)
    m.y = pw.Bernoulli(logit=m.eta, plates=row)
    graph = m.graph(known="y")
    rng = np.random.default_rng(0)
    x, y, w = rng.normal(size=(5, 2)), np.array([0, 1, 1, 0, 1]), np.array([0.3, -0.2])
    slope, curvature = graph.differentiate("w").at({"x": x, "y": y, "w": w})
    p = 1 / (1 + np.exp(-x @ w))
    np.testing.assert_allclose(slope, x.T @ (y - p) - w, rtol=1e-10)
    np.testing.assert_allclose(curvature, -(x.T * (p * (1 - p))) @ x - np.eye(2), rtol=1e-10)


def test_a_refused_call_carries_the_refusal() -> None:
    with pytest.raises(NotSolvable) as caught:
        coin().reverse_arc("theta", "heads")
    assert isinstance(caught.value.declined, Declined)
    assert caught.value.declined.operation == "reverse_arc"
    with pytest.raises(NotSolvable, match="heads is known"):
        coin().eliminate("heads")


def test_a_point_is_checked() -> None:
    with pytest.raises(UnknownName, match="no value for `theta`"):
        coin().log_density({"heads": HEADS})
    with pytest.raises(ShapeError, match="axes"):
        coin().log_density({"heads": HEADS, "theta": [0.1, 0.2]})
    with pytest.raises(UnknownName, match="tails"):
        coin().log_density({"heads": HEADS, "theta": 0.1, "tails": 3})


def test_a_variable_called_like_a_younger_method_wins() -> None:
    m = pw.Model("old text")
    m.graph = pw.Normal(0, sd=1)
    m.y = pw.Normal(m.graph, sd=1)
    assert m.learn({"y": 2.0})["graph"].mean == pytest.approx(1.0)


def test_nothing_is_changed_in_place() -> None:
    graph = schools()
    before = str(graph)
    graph.eliminate("effect")
    graph.expand(school=2)
    assert str(graph) == before
