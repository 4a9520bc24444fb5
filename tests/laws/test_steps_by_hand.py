"""The law of steps for eliminations by hand, in orders that no plan takes: what is left may be a matrix over a plate.

Unknowns go beside others that they share no scale with, through functions of them, and one after another; the density
after each step is the integral of the one before, its pieces add up to it, and every question has an answer.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import platewright as pw
from laws.steps import Values, assert_holds
from platewright.errors import NotSolvable, ShapeError
from platewright.operable import OperableGraph
from platewright.operation import Declined
from platewright.run.checks.simulating import small_data


def random_slopes() -> OperableGraph:
    m = pw.Model("random slopes")
    group, row, j = m.plate("group", 2), m.plate("row"), m.plate("j", 2)
    m.x = pw.Input(plates=(row, j))
    m.g = pw.Input(levels=group, plates=row)
    m.mu = pw.Normal(0, sd=1, plates=j)
    m.between, m.within = pw.Gamma(2, rate=1), pw.Gamma(2, rate=1)
    m.b = pw.Normal(m.mu, precision=m.between, plates=(group, j))
    m.y = pw.Normal(pw.dot(m.x, m.b[m.g], over=j), precision=m.within, plates=row)
    return m.graph(known="y")


def vectors() -> OperableGraph:
    m = pw.Model("mixture of vectors")
    row, k, d = m.plate("row"), m.plate("k", 2), m.plate("d", 2)
    m.z = pw.Categorical([0.4, 0.6], plates=row, over=k)
    m.P = pw.Wishart(4, scale=np.eye(2), over=d, plates=k)
    m.mu = pw.Normal(0, sd=3, plates=(k, d))
    m.x = pw.MultivariateNormal(m.mu[m.z], precision=m.P[m.z], over=d, plates=row)
    return m.graph(known="x")


def chain() -> OperableGraph:
    m = pw.Model("chain")
    t = m.plate("t", ordered=True)
    m.q, m.r = pw.Gamma(2, rate=1), pw.Gamma(2, rate=1)
    m.h = pw.Normal(m.lag("h"), precision=m.q, plates=t, start=0.0)
    m.y = pw.Normal(m.h, precision=m.r, plates=t)
    return m.graph(known="y")


def uneven() -> OperableGraph:
    """Figure 32: the noise of a row is a function of unknowns and its inputs."""
    m = pw.Model("heterogeneous variance")
    row, j = m.plate("row"), m.plate("j", 2)
    m.x = pw.Input(plates=(row, j))
    m.v = pw.Normal(0, sd=1, plates=j)
    m.w = pw.Normal(0, sd=1, plates=j)
    m.mean = pw.dot(m.x, m.w, over=j)
    m.sd = pw.exp(0.3 * pw.dot(m.x, m.v, over=j))
    m.y = pw.Normal(m.mean, sd=m.sd, plates=row)
    return m.graph(known="y")


def factor() -> OperableGraph:
    m = pw.Model("factor")
    row, column = m.plate("row"), m.plate("column", 2)
    m.load = pw.Normal(0, sd=1, plates=column)
    m.tau = pw.Gamma(2, rate=1, plates=column)
    m.f = pw.Normal(0, sd=1, plates=row)
    m.y = pw.Normal(m.load * m.f, precision=m.tau, plates=(row, column))
    return m.graph(known="y")


def mixed_regressions() -> OperableGraph:
    m = pw.Model("regressions of classes")
    row, k, j = m.plate("row"), m.plate("k", 2), m.plate("j", 2)
    m.x = pw.Input(plates=(row, j))
    m.p = pw.Dirichlet(1.0, over=k)
    m.tau = pw.Gamma(2, rate=1, plates=k)
    m.z = pw.Categorical(m.p, plates=row)
    m.w = pw.Normal(0, sd=1, plates=(k, j))
    m.y = pw.Normal(pw.dot(m.x, m.w[m.z], over=j), precision=m.tau[m.z], plates=row)
    return m.graph(known="y")


ORDERS = [
    (random_slopes, ("b", "mu")),
    (random_slopes, ("within", "between")),
    (vectors, ("mu",)),
    (vectors, ("z",)),
    (chain, ("h",)),
    (chain, ("q",)),
    (uneven, ("w",)),
    (factor, ("load",)),
    (factor, ("f",)),
    (factor, ("tau",)),
    (mixed_regressions, ("w", "p")),
    (mixed_regressions, ("tau",)),
]
NAMES = [f"{write.__name__}: {', '.join(order)}" for write, order in ORDERS]


def point_of(graph: OperableGraph, seed: int = 3) -> tuple[Values, dict[str, int]]:
    """Values of all nodes but functions of others."""
    values, sizes = small_data(graph, seed)
    return {n: value for n, value in values.items() if graph.nodes[n].kind != "deterministic"}, dict(sizes)


@pytest.mark.parametrize(("write", "order"), ORDERS, ids=NAMES)
def test_each_elimination_by_hand_is_an_integral(write: Callable[[], OperableGraph], order: tuple[str, ...]) -> None:
    graph = write()
    values, sizes = point_of(graph)
    for name in order:
        step = graph.eliminate(name)
        assert name not in step.after.nodes
        assert_holds(step, values, sizes)
        assert step.svg().startswith("<svg") and name in step.latex() and str(step.after)
        graph = step.after
        answers_hold(graph, {n: value for n, value in values.items() if n in graph.nodes}, sizes)


def answers_hold(graph: OperableGraph, point: Values, sizes: dict[str, int]) -> None:
    pieces = graph.decompose()
    parts = [*pieces, pieces.rest]
    total = sum(part.log_density({n: v for n, v in point.items() if n in part.nodes}, sizes) for part in parts)
    assert total == pytest.approx(graph.log_density(point, sizes), rel=1e-9)
    for name in graph.unknown:
        assert name not in graph.blanket(name)
        assert graph.conditional(name)


@pytest.mark.parametrize(("write", "name"), [(random_slopes, "b"), (vectors, "mu"), (chain, "h"), (uneven, "w")])
def test_the_best_value_by_hand_is_the_maximum(write: Callable[[], OperableGraph], name: str) -> None:
    graph = write()
    assert_holds(graph.maximise(name), *point_of(graph))


def test_what_is_computed_from_an_unknown_is_a_function_of_it() -> None:
    """Figure 33: the statistics are there, but they are functions of the unknowns of the noise."""
    left = uneven().eliminate("w").after
    arrays = [name for name, node in left.nodes.items() if node.reads]
    assert len(arrays) == 2 and all(left.nodes[name].kind == "deterministic" for name in arrays)
    assert all(left.parents[name] == {"x", "v", "y"} for name in arrays)
    tied = random_slopes().eliminate("b").after
    assert "within" in tied.blanket("between") and len(tied.decompose()) == 1
    assert not tied.separated("between", "within")
    assert random_slopes().separated("between", "within", given=["b", "g", "x"])
    for refused in (left.eliminate, left.maximise, left.differentiate):
        with pytest.raises(NotSolvable, match="is computed from v where the program runs"):
            refused("v")
    assert isinstance(left.conditional("v"), Declined)


def test_nodes_that_computed_arrays_are_made_of_cannot_be_taken_from_them() -> None:
    left = uneven().eliminate("w").after
    with pytest.raises(NotSolvable, match=r"which an elimination left, is computed from x|computed from y") as caught:
        left.expand(row=2)
    assert caught.value.declined is not None


@pytest.mark.parametrize("write", [uneven, vectors, random_slopes])
def test_precision_and_mean_of_a_block_hold_none_of_it(write: Callable[[], OperableGraph]) -> None:
    """The best values solve `precision u = precision_times_mean`, which the slope there confirms."""
    graph = write()
    name = {"uneven": "w", "vectors": "mu", "random_slopes": "b"}[write.__name__]
    found = graph.conditional(name)
    assert not isinstance(found, Declined) and found.family == "Normal"
    for value in found.parameters.values():
        assert f"{name}[" not in str(value)


def test_a_plate_that_no_node_is_on_wants_its_size() -> None:
    left = factor().eliminate("tau").after
    rest = left.decompose().rest
    with pytest.raises(ShapeError, match="no node of the point is on plate"):
        rest.log_density({})


def test_no_conditional_is_taken_past_a_function() -> None:
    """What stands behind a function is part of the conditional: it is written out, or the call says what to do."""
    graph = uneven()
    with pytest.raises(NotSolvable, match="w is looked at through mean: remove deterministic nodes first"):
        graph.conjugate_update("w")
    found, flat = graph.conditional("w"), graph.remove_deterministic().after.conditional("w")
    assert not isinstance(found, Declined) and not isinstance(flat, Declined)
    assert "y[row]" in str(found) and dict(found.parameters) == dict(flat.parameters)
