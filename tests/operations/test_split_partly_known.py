"""Missing cells: the split graph summed over what is missing is the original graph summed likewise."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from scipy import stats

import platewright as pw
from platewright.algebra.evaluate import Environment, evaluate
from platewright.family import Array
from platewright.graph.graph import Graph, read_graph
from platewright.operation import Declined
from platewright.operations.split_partly_known import (
    missing_name,
    observed_name,
    seen_name,
    split_all,
    split_partly_known,
)

Values = dict[str, Array]
SIZES = {"n": 3, "k": 2, "j": 3}


def network() -> pw.Model:
    m = pw.Model("network")
    n, k, j = m.plate("n"), m.plate("k", 2), m.plate("j", 3)
    m.p = pw.Dirichlet(1.5, over=k)
    m.q = pw.Dirichlet(1.5, over=j, plates=k)
    m.r = pw.Beta(1.5, 1.5, plates=(k, j))
    m.a = pw.Categorical(m.p, plates=n)
    m.b = pw.Categorical(m.q[m.a], plates=n)
    m.c = pw.Bernoulli(m.r[m.a, m.b], plates=n)
    return m


VALUES: Values = {
    "p": np.array([0.3, 0.7]),
    "q": np.array([[0.2, 0.5, 0.3], [0.6, 0.1, 0.3]]),
    "r": np.array([[0.2, 0.9, 0.4], [0.7, 0.5, 0.1]]),
    "a": np.array([0, 1, 1]),
    "b": np.array([2, 0, 1]),
    "c": np.array([1, 0, 1]),
}
LEVELS = {"a": 2, "b": 3, "c": 2}


def log_joint(graph: Graph, values: Values) -> float:
    environment = Environment(values, SIZES)
    return float(sum(np.sum(evaluate(f.expression, environment, f.axes)) for f in graph.factors))


def completions(holes: dict[str, list[int]]) -> Iterator[Values]:
    """All values of the missing cells, the seen ones left alone."""
    cells = [(name, row) for name, rows in holes.items() for row in rows]
    for chosen in product(*(range(LEVELS[name]) for name, _ in cells)):
        values = {name: value.copy() for name, value in VALUES.items()}
        for (name, row), level in zip(cells, chosen, strict=True):
            values[name][row] = level
        yield values


@pytest.mark.parametrize(
    "holes",
    [
        {"a": [0]},
        {"c": [1, 2]},
        {"a": [0, 1, 2]},
        {"a": [0], "b": [0, 2]},
        {"a": [1], "b": [1], "c": [1]},
        {"b": [2], "c": [0]},
    ],
    ids=str,
)
def test_the_sum_over_missing_cells_is_the_same(holes: dict[str, list[int]]) -> None:
    graph = read_graph(network(), ["a", "b", "c"])
    whole = np.logaddexp.reduce([log_joint(graph, values) for values in completions(holes)])
    after = split_all(graph, holes)[-1].after
    given = {name: value for name, value in VALUES.items() if name in "pqr"}
    for name in "abc":
        held = np.array(VALUES[name])
        if name in holes:
            seen = np.ones(3)
            seen[holes[name]] = 0.0
            held[holes[name]] = 0  # what stands in a hole must not matter
            given[observed_name(name)] = seen
        given[seen_name(name) if seen_name(name) in after.nodes else name] = held
    unknown = [name for name in after.unknown if name not in "pqr"]
    spaces = [list(product(range(LEVELS[name[0]]), repeat=3)) for name in unknown]
    found = []
    for chosen in product(*spaces):
        point = {name: np.array(levels) for name, levels in zip(unknown, chosen, strict=True)}
        found.append(log_joint(after, {**given, **point}))
    assert np.logaddexp.reduce(found) == pytest.approx(whole, abs=1e-10)


def test_missing_responses_leave_the_evidence_of_the_rows_that_are_there() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=20)
    y = 1 + 2 * x + rng.normal(size=20)
    holed = np.where(rng.random(20) < 0.3, np.nan, y)
    m = pw.Model("regression")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.tau = pw.Gamma(2, rate=1)
    m.a = pw.Normal(0, precision=m.tau)
    m.b = pw.Normal(0, precision=m.tau)
    m.y = pw.Normal(m.a + m.b * m.x, precision=m.tau, plates=n)
    partly, dropped = m.learn({"x": x, "y": holed}), m.learn({"x": x[~np.isnan(holed)], "y": y[~np.isnan(holed)]})
    assert partly.plan.schema == "exact"
    assert partly.log_evidence == pytest.approx(dropped.log_evidence, abs=1e-10)
    assert partly["b"].mean == pytest.approx(dropped["b"].mean, abs=1e-12)


def test_a_value_that_is_a_whole_cannot_be_known_in_part() -> None:
    m = pw.Model("mixed")
    k = m.plate("k", 3)
    m.p = pw.Dirichlet(1.0, over=k, plates=m.plate("n"))
    found = split_partly_known(read_graph(m, ["p"]), "p")
    assert isinstance(found, Declined)
    assert "as a whole or not at all" in found.reason


def test_an_unknown_variable_cannot_be_split() -> None:
    found = split_partly_known(read_graph(network(), ["b"]), "a")
    assert isinstance(found, Declined)
    assert found.reason == "a is unknown in every cell"


def test_a_missing_gaussian_cause_is_read_where_it_is_missing() -> None:
    m = pw.Model("chain")
    n = m.plate("n")
    m.x = pw.Normal(1, sd=2, plates=n)
    m.y = pw.Normal(3 * m.x, sd=1, plates=n)
    graph = read_graph(m, ["x", "y"])
    after = split_all(graph, ["x"])[-1].after
    values = {
        "x": np.array([0.5, 9.9, 1.0]),
        observed_name("x"): np.array([1.0, 0.0, 1.0]),
        missing_name("x"): np.array([7.0, -0.4, 8.0]),
        "y": np.array([1.0, 2.0, 3.0]),
    }
    true = np.array([0.5, -0.4, 1.0])
    wanted = stats.norm(1, 2).logpdf(true).sum() + stats.norm(3 * true, 1).logpdf(values["y"]).sum()
    idle = stats.norm.logpdf([7.0, 8.0]).sum()
    assert log_joint(after, values) == pytest.approx(wanted + idle, abs=1e-10)


def test_missing_counts_drop_out_and_the_rest_stays_closed_form() -> None:
    m = pw.Model("counts")
    m.rate = pw.Gamma(2, rate=1)
    m.y = pw.Poisson(m.rate, plates=m.plate("n"))
    partly, dropped = m.learn({"y": [1, None, 3]}), m.learn({"y": [1, 3]})
    assert partly.plan.schema == "exact"
    assert partly.log_evidence == pytest.approx(dropped.log_evidence, abs=1e-12)


@pytest.mark.parametrize("bound", [0.0, 5.0])
def test_what_stands_in_a_hole_may_lie_outside_of_bounds(bound: float) -> None:
    m = pw.Model("truncated")
    n = m.plate("n")
    m.c = pw.Input(plates=n)
    m.r = pw.Gamma(1, rate=1)
    m.t = pw.Truncated(pw.Exponential(rate=m.r), lower=m.c, plates=n)
    partly = m.learn({"t": [1.0, 2.0, None], "c": [0.0, 0.5, bound]})
    dropped = m.learn({"t": [1.0, 2.0], "c": [0.0, 0.5]})
    assert partly.log_evidence == pytest.approx(dropped.log_evidence, abs=1e-12)
    assert partly["r"].mean == pytest.approx(dropped["r"].mean, abs=1e-12)
