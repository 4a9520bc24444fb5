"""Learning operations on the paper's figures; each test names its figure. Then the laws, on every example."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

import platewright as pw
from example_models import MAKERS
from language import unlisted_gaussian, unlisted_others
from learning_models import figure_11
from platewright.algebra.evaluate import Environment, evaluate
from platewright.elimination.stepping import eliminate
from platewright.errors import NotSolvable
from platewright.graph.graph import Graph, read_graph
from platewright.operation import Declined, Step
from platewright.operations.conjugate_update import conjugate_update
from platewright.operations.remove_deterministic import remove_deterministic
from platewright.operations.remove_plate import remove_plate, sufficient_statistics
from platewright.run.density import log_density
from run.row_examples import example


def after(step: Step | Declined) -> Graph:
    assert isinstance(step, Step), step
    return step.after


def kinds(graph: Graph, kind: str) -> list[str]:
    return [name for name, node in graph.nodes.items() if node.kind == kind]


def coin() -> Graph:
    m = pw.Model("coin")
    toss = m.plate("toss")
    m.theta = pw.Beta(1.5, 1.5)
    m.heads = pw.Bernoulli(m.theta, plates=toss)
    return read_graph(m, ["heads"])


def regression() -> Graph:
    """Figure 20 with its basis functions as columns and the same sigma in prior and noise."""
    m = pw.Model("regression")
    n, j = m.plate("n"), m.plate("j", 3)
    m.basis = pw.Input(plates=(n, j))
    m.sigma = pw.Flat(lower=0)
    m.theta = pw.Normal(0, sd=m.sigma, plates=j)
    m.m = pw.dot(m.basis, m.theta, over=j)
    m.y = pw.Normal(m.m, sd=m.sigma, plates=n)
    return read_graph(m, ["y"])


def test_figure_13_becomes_figure_17() -> None:
    removed = after(remove_plate(coin(), "toss"))
    assert list(removed.plates) == []
    assert kinds(removed, "random") == ["theta"]
    statistics = kinds(removed, "statistic")
    assert len(statistics) == 2
    updated = conjugate_update(removed, "theta")
    assert isinstance(updated, Step)
    heads, tails = statistics
    assert updated.formulas == (f"theta_a = 1.5 + {heads}", f"theta_b = 1.5 + {tails}")


@pytest.mark.parametrize("family", ["Bernoulli", "Poisson", "Normal", "Categorical", "Exponential"])
def test_figure_18_an_exponential_family_loses_its_plate(family: str) -> None:
    m = pw.Model(family)
    n, k = m.plate("n"), m.plate("k", 3)
    m.y = pw.Input(plates=n)
    if family == "Categorical":
        m.theta = pw.Dirichlet(1, over=k)
        m.x = pw.Categorical(m.theta, plates=n)
    elif family == "Bernoulli":
        m.theta = pw.Beta(1, 1)
        m.x = pw.Bernoulli(m.theta, plates=n)
    elif family == "Normal":
        m.theta = pw.Normal(0, sd=1)
        m.x = pw.Normal(m.theta * m.y, sd=1, plates=n)
    else:
        m.theta = pw.Gamma(1, rate=1)
        make = pw.Poisson(m.theta * m.y, plates=n) if family == "Poisson" else pw.Exponential(rate=m.theta, plates=n)
        m.x = make
    removed = after(remove_plate(read_graph(m, ["x"]), "n"))
    assert "n" not in removed.plates and "x" not in removed.nodes and "y" not in removed.nodes
    assert 1 <= len(kinds(removed, "statistic")) <= 4


def test_figure_18_no_statistics_outside_the_exponential_family() -> None:
    m = pw.Model("cauchy-like")
    n = m.plate("n")
    m.theta = pw.Normal(0, sd=1)
    m.x = pw.StudentT(3, m.theta, scale=1.0, plates=n)
    found = remove_plate(read_graph(m, ["x"]), "n")
    assert isinstance(found, Declined)
    assert "no statistics of fixed size" in found.reason and "theta" in found.reason


def test_figure_20_becomes_figure_21() -> None:
    graph = regression()
    assert isinstance(remove_plate(graph, "n"), Declined)
    graph = after(remove_deterministic(graph))
    step = remove_plate(graph, "n")
    removed = after(step)
    assert list(removed.plates) == ["j"]
    assert set(kinds(removed, "random")) == {"sigma", "theta"}
    # S over pairs of basis functions, q over basis functions, ysq, and N: nothing else is known.
    found = sufficient_statistics(graph, "n")
    assert not isinstance(found, Declined)
    shapes = {statistic.name: len(statistic.indices) for statistic in found}
    assert sorted(shapes.values()) == [0, 1, 2]
    assert set(kinds(removed, "statistic")) == {*shapes, "count_n"}
    rng = np.random.default_rng(0)
    data = {"basis": rng.normal(size=(7, 3)), "y": rng.normal(size=7)}
    values = {s.name: statistic_value(s, Environment(data, {"n": 7, "j": 3})) for s in found}
    by_rank = {rank: values[name] for name, rank in shapes.items()}
    np.testing.assert_allclose(by_rank[0], data["y"] @ data["y"])
    np.testing.assert_allclose(by_rank[1], data["basis"].T @ data["y"])
    np.testing.assert_allclose(by_rank[2], data["basis"].T @ data["basis"])


def test_figure_21_then_theta_and_sigma_follow_by_conjugacy() -> None:
    removed = after(remove_plate(after(remove_deterministic(regression())), "n"))
    found = conjugate_update(removed, "sigma")
    assert isinstance(found, Step) and "Gamma" in found.because


def test_figure_24_becomes_figure_27_with_statistics_only() -> None:
    graph = figure_11()
    removed = after(remove_plate(graph, "case"))
    assert list(removed.plates) == ["one", "two"]
    assert kinds(removed, "random") == ["theta1", "theta2", "sigma1", "mu1", "sigma2", "mu2"]
    assert not any(name in removed.nodes for name in ("var1", "var2", "x1", "x2"))
    known = {name for name in removed.nodes if removed.is_known(name)}
    assert known == set(kinds(removed, "statistic"))
    for name in ("theta1", "theta2", "mu1", "mu2"):
        assert isinstance(conjugate_update(removed, name), Step)


def test_figure_27_each_parameter_keeps_its_own_statistics() -> None:
    removed = after(remove_plate(figure_11(), "case"))
    for name, wanted in (("theta1", "count_var1"), ("theta2", "count_var1_var2")):
        step = conjugate_update(removed, name)
        assert isinstance(step, Step)
        assert wanted in step.formulas[0]
        left = eliminate(removed, name)
        assert isinstance(left, Step) and left.gone == (name,)
        assert name not in left.after.nodes


# -- laws: nothing is mutated, and the log joint of the unknowns stays what it was ------------------------------------


def statistic_value(statistic: Any, environment: Environment) -> np.ndarray:
    whole = np.array(evaluate(statistic.summand, environment, (*statistic.over, *statistic.indices)))
    axes = tuple(range(len(statistic.over)))
    return whole.sum(axis=axes) if statistic.kind == "sum" else getattr(whole, statistic.kind)(axis=axes)


def log_joint(graph: Graph, environment: Environment) -> float:
    return float(evaluate(graph.log_joint, environment))


UNLISTED = {f.__name__: f for f in (*unlisted_gaussian.PROBLEMS, *unlisted_others.PROBLEMS)}


def learned(name: str) -> tuple[Any, Graph, dict[str, Any]]:
    model, data = example(name, rows=9) if name in MAKERS else UNLISTED[name]()
    try:
        fit = model.learn(data, by="exact")
    except NotSolvable:
        pytest.skip("not in closed form")
    graph = fit.plan.graph
    plain = remove_deterministic(graph)
    return fit, plain.after if isinstance(plain, Step) else graph, fit.draws(3, seed=1)


NAMES = [*MAKERS, *UNLISTED]


@pytest.mark.parametrize("name", NAMES)
def test_removing_plates_keeps_the_log_joint(name: str) -> None:
    fit, graph, drawn = learned(name)
    tried = [plate for plate in graph.plates if isinstance(remove_plate(graph, plate), Step)]
    for plate in tried:
        removed = after(remove_plate(graph, plate))
        statistics = sufficient_statistics(graph, plate)
        assert not isinstance(statistics, Declined)
        for k in range(3):
            point = {unknown: drawn[unknown][k] for unknown in graph.unknown}
            environment = fit.posterior.environment.with_values(point)
            values = {s.name: statistic_value(s, environment) for s in statistics}
            values[f"count_{plate}"] = np.array(float(fit.sizes[plate]))
            known = Environment({**environment.values, **values}, environment.sizes)
            np.testing.assert_allclose(log_joint(removed, known), log_joint(graph, environment), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_conjugate_updates_keep_the_log_joint(name: str) -> None:
    fit, graph, drawn = learned(name)
    before = repr(graph)
    for node in graph.unknown:
        step = conjugate_update(graph, node)
        if isinstance(step, Declined):
            assert node in step.reason or step.reason
            continue
        for k in range(3):
            point = {unknown: drawn[unknown][k] for unknown in graph.unknown}
            environment = fit.posterior.environment.with_values(point)
            np.testing.assert_allclose(
                log_joint(step.after, environment), log_joint(graph, environment), rtol=1e-9, atol=1e-9
            )
    assert repr(graph) == before


@pytest.mark.parametrize("name", NAMES)
def test_eliminating_leaves_what_does_not_depend_on_the_node(name: str) -> None:
    """log joint - log joint without the node = log density of the node: the update says which."""
    fit, graph, drawn = learned(name)
    for node in graph.unknown:
        step, update = eliminate(graph, node), conjugate_update(graph, node)
        if isinstance(update, Declined):
            continue
        assert isinstance(step, Step) and node not in step.after.nodes
        if step.gone != (node,):
            continue
        own = next(factor for factor in update.after.factors if factor.owner == node)
        for k in range(3):
            point = {unknown: drawn[unknown][k] for unknown in graph.unknown}
            environment = fit.posterior.environment.with_values(point)
            density = float(np.sum(evaluate(own.expression, environment, own.axes)))
            whole, left = log_joint(graph, environment), log_density(step.after, environment.values, environment.sizes)
            np.testing.assert_allclose(whole - density, left, rtol=1e-8, atol=1e-8)


SCALARS = {
    "coin": ("p", 0.0, 1.0),
    "exposure": ("p", 0.0, np.inf),
    "known_scales": ("mu", -np.inf, np.inf),
    "direction": ("t", -np.pi, np.pi),
}


@pytest.mark.parametrize("name", SCALARS)
def test_the_updated_density_integrates_to_one(name: str) -> None:
    node, low, high = SCALARS[name]
    fit, graph, drawn = learned(name)
    update = conjugate_update(graph, node)
    if isinstance(update, Declined):
        pytest.skip(update.reason)
    own = next(factor for factor in update.after.factors if factor.owner == node)
    point = {unknown: drawn[unknown][0] for unknown in fit.posterior.unknown}

    def density(value: float) -> float:
        environment = fit.posterior.environment.with_values({**point, node: np.array(value)})
        return float(np.exp(evaluate(own.expression, environment)))

    assert quad(density, low, high)[0] == pytest.approx(1.0, abs=1e-6)


def test_refusals_say_which_node_and_why() -> None:
    graph = coin()
    assert remove_plate(graph, "nowhere") == Declined("remove_plate", "there is no plate nowhere")
    assert conjugate_update(graph, "heads") == Declined("conjugate_update", "heads is known or not random")
    assert conjugate_update(graph, "tails") == Declined("conjugate_update", "there is no node tails")
    assert eliminate(graph, "heads") == Declined("eliminate", "heads is known")
    unknown = read_graph(pw.Model("empty"), [])
    assert isinstance(remove_plate(unknown, "n"), Declined)
