"""The planner takes the cheapest schema that applies, and says why not those before it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

import platewright as pw
from platewright.backends.kernels import lattice
from platewright.derive import planner
from platewright.derive.cost import SWEEPS, cost_of, touched
from platewright.derive.explain import explain_plan
from platewright.derive.planner import SCHEMAS, choose_plan
from platewright.errors import NotSolvable, UnknownName
from platewright.graph.graph import Graph, read_graph
from platewright.schemas.few_numbers import ON_LATTICES, QuadraturePlan


def coin() -> Graph:
    m = pw.Model("coin")
    m.p = pw.Beta(2, 3)
    m.y = pw.Bernoulli(m.p, plates=m.plate("n"))
    return read_graph(m, ["y"])


def mixture() -> Graph:
    m = pw.Model("mixture")
    n, k = m.plate("n"), m.plate("k", 2)
    m.mu = pw.Normal(0, sd=3, plates=k)
    m.z = pw.Categorical(pw.array([0.4, 0.6], over=k), plates=n)
    m.y = pw.Normal(m.mu[m.z], sd=1, plates=n)
    return read_graph(m, ["y"])


def one_weight() -> Graph:
    m = pw.Model("one weight")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.b = pw.Normal(0, sd=2)
    m.y = pw.Bernoulli(pw.logistic(m.b * m.x), plates=n)
    return read_graph(m, ["y"])


def four_rates() -> Graph:
    """Scales and rates that no family takes: too many for a grid."""
    m = pw.Model("four rates")
    n, k = m.plate("n"), m.plate("k", 4)
    m.g = pw.Input(plates=n, levels=k)
    m.spread = pw.Gamma(2, rate=1)
    m.rate = pw.LogNormal(0.0, sd=m.spread, plates=k)
    m.y = pw.Poisson(m.rate[m.g], plates=n)
    return read_graph(m, ["y"])


def animals() -> Graph:
    """An unknown count: it has no joint mode with what it meets, and no Gaussian about it."""
    m = pw.Model("animals")
    n = m.plate("n")
    m.count = pw.Poisson(6.0)
    m.p = pw.Beta(2, 2)
    m.y = pw.Binomial(m.count, m.p, plates=n)
    return read_graph(m, ["y"])


CHOSEN: dict[tuple[Callable[[], Graph], str], tuple[str, ...]] = {
    (coin, "posterior"): ("exact",),
    (coin, "evidence"): ("exact",),
    (coin, "map"): ("exact",),
    (mixture, "posterior"): ("exact", "quadrature", "gibbs"),
    (mixture, "evidence"): ("exact", "enumeration"),
    (mixture, "map"): ("exact", "em"),
    (one_weight, "posterior"): ("exact", "quadrature"),
    (one_weight, "evidence"): ("exact", "enumeration", "quadrature"),
    (one_weight, "map"): ("exact", "em"),
    (four_rates, "posterior"): ("exact", "quadrature", "gibbs"),
}
"""Those that decline, then the one that is taken."""


@pytest.mark.parametrize("asked", CHOSEN, ids=lambda asked: f"{asked[0].__name__}-{asked[1]}")
def test_the_cheapest_that_applies_is_taken(asked: tuple[Callable[[], Graph], str]) -> None:
    graph, goal = asked[0](), asked[1]
    *before, taken = CHOSEN[asked]
    plan = choose_plan(graph, goal)  # type: ignore[arg-type]
    assert plan.schema == taken
    assert [refusal.operation for refusal in plan.declined][: len(before)] == before
    assert all(refusal.reason for refusal in plan.declined)


def three_shapes() -> Graph:
    """Three numbers that no family takes, each point of which runs a program of its own."""
    m = pw.Model("three shapes")
    n = m.plate("n")
    m.x, m.v = pw.Input(plates=n), pw.Input(plates=n)
    m.a, m.b, m.c = pw.Normal(0, sd=2), pw.Normal(0, sd=2), pw.Normal(0, sd=2)
    m.y = pw.Bernoulli(pw.logistic(m.a + m.b * m.x + m.c * m.v), plates=n)
    return read_graph(m, ["y"])


def test_a_cost_decides_where_several_apply_and_is_told() -> None:
    """Three numbers at points of a program each cost more passes than a sampler makes; one number costs less."""
    plan = choose_plan(three_shapes(), "posterior")
    against = next(refusal for refusal in plan.declined if refusal.operation == "quadrature")
    assert plan.schema == "gibbs" and touched(plan) == SWEEPS
    assert against.reason.startswith("a, b, c gone over at points: rows would be touched about 27,000 times, by gibbs")
    few = choose_plan(one_weight(), "posterior")
    assert few.schema == "quadrature" and touched(few) < SWEEPS
    asked = choose_plan(three_shapes(), "posterior", "quadrature")
    assert asked.schema == "quadrature" and touched(asked) > SWEEPS


def test_what_would_be_dearer_is_taken_where_nothing_else_applies(monkeypatch: pytest.MonkeyPatch) -> None:
    others = {**planner.AUTOMATIC, "posterior": ("exact", "quadrature", "collapsed-gibbs")}
    monkeypatch.setattr(planner, "AUTOMATIC", others)
    plan = choose_plan(three_shapes(), "posterior")
    assert plan.schema == "quadrature" and isinstance(plan, QuadraturePlan) and plan.is_chosen


@pytest.mark.parametrize("graph", [coin, mixture, one_weight], ids=lambda write: write.__name__)
def test_a_derivation_ends_with_its_cost(graph: Callable[[], Graph]) -> None:
    for goal in ("posterior", "evidence", "map"):
        plan = choose_plan(graph(), goal)  # type: ignore[arg-type]
        assert explain_plan(plan).splitlines()[-1] == f"cost: {cost_of(plan)}"


def test_the_evidence_of_what_no_grid_reaches_goes_to_draws() -> None:
    plan = choose_plan(four_rates(), "evidence")
    assert plan.schema in ("chib", "annealed")
    assert [refusal.operation for refusal in plan.declined][:3] == ["exact", "enumeration", "quadrature"]


@pytest.mark.parametrize("by", ["gibbs", "mean-field", "collapsed-gibbs", "quadrature"])
def test_what_is_asked_for_by_name_is_taken_and_nothing_else_is_tried(by: str) -> None:
    plan = choose_plan({"quadrature": one_weight}.get(by, mixture)(), "posterior", by)
    assert plan.schema == by
    assert not plan.declined
    assert not isinstance(plan, QuadraturePlan) or not plan.is_chosen


def test_a_name_that_no_schema_has_is_told() -> None:
    with pytest.raises(UnknownName, match="exakt") as error:
        choose_plan(coin(), "posterior", "exakt")
    assert "exact" in str(error.value)
    for name, _ in SCHEMAS:
        try:
            choose_plan(coin(), "evidence", name)
        except NotSolvable as refusal:
            assert f"{name} declined:" in str(refusal)


def test_where_none_applies_each_says_why_and_none_of_them_is_advised() -> None:
    with pytest.raises(NotSolvable) as error:
        choose_plan(animals(), "map")
    said = str(error.value)
    assert said.index("exact declined:") < said.index("em declined:")
    assert "quadrature" not in said and "leave out by=" not in said
    assert "goal='posterior', which can sample" in said


def test_what_declines_by_name_is_not_advised_but_to_leave_the_name_out() -> None:
    with pytest.raises(NotSolvable) as error:
        choose_plan(mixture(), "posterior", "exact")
    said = str(error.value)
    assert "exact declined:" in said and "gibbs declined:" not in said
    assert "leave out by='exact'" in said and "try by='gibbs'" in said
    with pytest.raises(NotSolvable) as error:
        choose_plan(coin(), "posterior", "mean-field")
    assert "try by='gibbs'" in str(error.value)
    with pytest.raises(NotSolvable) as error:
        choose_plan(animals(), "evidence", "laplace")
    assert "by='laplace', or" not in str(error.value)


def test_steps_say_how_the_numbers_that_are_left_are_gone_over() -> None:
    """Few on lattices, more at points that are drawn: where one ends and the other begins is known to both."""
    assert ON_LATTICES == lattice.MOST_AXES
    for scales, way in ((2, "on lattices around every mode"), (6, "at points drawn from a mixture")):
        m = pw.Model("scales")
        k, n = m.plate("k", 2), m.plate("n")
        m.g = pw.Input(plates=n, levels=k)
        mean = 0.0
        for number in range(scales - 1):
            scale = pw.HalfNormal(sd=1.0)
            setattr(m, f"s{number}", scale)
            setattr(m, f"u{number}", pw.Normal(0, sd=getattr(m, f"s{number}"), plates=k))
            mean = mean + getattr(m, f"u{number}")[m.g]
        m.noise = pw.HalfNormal(sd=1.0)
        m.y = pw.Normal(mean, sd=m.noise, plates=n)
        plan = m.derive(["y"], by="quadrature")
        assert len(plan.held) == scales
        assert way in plan.steps[-1].because and way in plan.explain() and way in plan.latex()
