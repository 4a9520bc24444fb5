"""Gradients are those of the log density: against finite differences, and against direct evaluation, on every model."""

from __future__ import annotations

import numpy as np
import pytest

import platewright as pw
from platewright.algebra.build import exp, log
from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Index, Reference, Sum
from platewright.algebra.tape import Tape
from platewright.graph.graph import Factor, read_graph
from platewright.operation import Declined
from platewright.run.samplers.block_density import BlockDensity
from platewright.schemas.slopes import slopes_of
from schemas.small_instance import Case, Instance, instance, log_joint
from schemas.test_conditional_ratio import EVERY

WIDTH = 1e-5
JUMPS = {"jump", "jumping_shares", "ordered_pair", "thresholds"}
"""Models with a condition on an unknown: they have no gradient, and must be refused."""


def smooth_unknowns(small: Instance) -> list[str]:
    return [name for name in small.graph.unknown if not small.graph.nodes[name].domain.is_discrete]


def differences(density: BlockDensity, u: np.ndarray) -> np.ndarray:
    found = [
        (density.log_density(u + WIDTH * direction) - density.log_density(u - WIDTH * direction)) / (2 * WIDTH)
        for direction in np.eye(len(u))
    ]
    return np.array(found)


def check_gradient(case: Case, seed: int) -> None:
    small = instance(case, seed)
    block = smooth_unknowns(small)
    factors = tuple(factor for factor in small.graph.factors if factor.names & set(block))
    slopes = slopes_of(factors, block)
    assert not isinstance(slopes, Declined), slopes
    density = BlockDensity(small.graph, block, factors, slopes, small.sizes)
    density.given(small.values)
    u = density.coordinates.free(small.values)
    found, gradient = density.with_gradient(u)
    values, volume = density.coordinates.values(u)
    for name in block:
        np.testing.assert_allclose(values[name], small.values[name], rtol=1e-9, atol=1e-12)
    assert found == pytest.approx(log_joint(factors, {**small.values, **values}, small.sizes) + volume, abs=1e-8)
    np.testing.assert_allclose(gradient, differences(density, u), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("case", [case for case in EVERY if case.name not in JUMPS], ids=str)
def test_the_gradient_is_the_limit_of_differences(case: Case) -> None:
    for seed in range(2):
        check_gradient(case, seed)


@pytest.mark.parametrize("case", EVERY, ids=str)
def test_a_tape_gives_what_direct_evaluation_gives(case: Case) -> None:
    small = instance(case, 1)
    tape = Tape(small.sizes, small.graph.unknown)
    slots = [tape.broadcast(tape.add(factor.expression), factor.axes) for factor in small.graph.factors]
    tape.careful = True
    tape.fix(small.values)
    tape.run(small.values)
    for factor, slot in zip(small.graph.factors, slots, strict=True):
        wanted = evaluate(factor.expression, Environment(small.values, small.sizes), factor.axes)
        np.testing.assert_allclose(tape[slot], wanted, rtol=1e-12, atol=1e-12)


def test_the_volume_factor_of_coordinates_is_that_of_their_differences() -> None:
    from platewright.algebra.domain import CIRCLE, MATRIX, POSITIVE, REAL, SIMPLEX, UNIT, Domain
    from platewright.backends.kernels.coordinates import Plain
    from platewright.run.samplers.unconstrained import coordinates

    generator = np.random.default_rng(4)
    ends = Domain("real", -1.0, 3.5), Domain("real", upper=2.0)
    for domain, shape in [(d, (3,)) for d in (REAL, POSITIVE, UNIT, CIRCLE, *ends, SIMPLEX)] + [(MATRIX, (2, 2))]:
        place = coordinates("x", domain, shape)
        u = 0.5 * generator.standard_normal(place.size)

        def free_part(u: np.ndarray, place: Plain = place, domain: Domain = domain) -> np.ndarray:
            """The elements of a value that determine the others."""
            x = place.value(u)[0]
            if domain == MATRIX:
                return x[np.tril_indices(2)]
            return x[:-1] if domain == SIMPLEX else x

        table = np.array([(free_part(u + WIDTH * e) - free_part(u - WIDTH * e)) / (2 * WIDTH) for e in np.eye(len(u))])
        assert place.value(u)[1] == pytest.approx(np.linalg.slogdet(table)[1], abs=1e-6), domain
        np.testing.assert_allclose(place.free(place.value(u)[0]), u, rtol=1e-9, atol=1e-9)


def check_shadow() -> None:
    """`y[i] (g[i] - log sum_i exp(g[i]))`: one name for the row and for the sum inside it."""
    i = Index("i", "i")
    g = Reference("g", (i,))
    row = Reference("y", (i,)) * (g - log(Sum(i, exp(g))))
    m = pw.Model("shadow")
    m.g = pw.Normal(0, sd=1, plates=m.plate("i", 3))
    factors = (Factor("y", (i,), row),)
    slopes = slopes_of(factors, ("g",))
    assert not isinstance(slopes, Declined)
    density = BlockDensity(read_graph(m), ("g",), factors, slopes, {"i": 3})
    density.given({"y": np.array([1.0, 0.0, 2.0])})
    u = np.array([0.3, -1.0, 0.7])
    found, gradient = density.with_gradient(u)
    assert found == pytest.approx(0.3 + 1.4 - 3 * np.log(np.exp(u).sum()))
    np.testing.assert_allclose(gradient, np.array([1.0, 0.0, 2.0]) - 3 * np.exp(u) / np.exp(u).sum())


def test_an_index_may_have_the_name_of_one_around_it() -> None:
    check_shadow()


REFUSED = {
    "a condition on it": lambda m: pw.where(pw.less(m.a, m.b), 0.0, 1.0),
    "a floor": lambda m: _floor(m.a) + m.b,
    "an indicator": lambda m: pw.equal(m.a, m.b),
}


def _floor(x: object) -> object:
    from platewright.algebra.build import call

    return call("floor", x)


@pytest.mark.parametrize("name", REFUSED)
def test_what_jumps_has_no_gradient(name: str) -> None:
    m = pw.Model("jumps")
    m.a, m.b = pw.Normal(0, sd=1), pw.Normal(0, sd=1)
    m.y = pw.Normal(REFUSED[name](m), sd=1)
    graph = read_graph(m, ("y",))
    found = slopes_of(graph.factors, ("a", "b"))
    assert isinstance(found, Declined)
    assert "`y`" in found.reason


def test_a_bound_that_an_unknown_moves_has_no_gradient() -> None:
    m = pw.Model("bound")
    n = m.plate("n")
    m.a, m.b = pw.Gamma(2, rate=1), pw.Gamma(2, rate=1)
    m.y = pw.Uniform(0, m.a + m.b, plates=n)
    found = slopes_of(read_graph(m, ("y",)).factors, ("a", "b"))
    assert isinstance(found, Declined)
    plan = m.derive("y", by="gibbs")
    assert plan.how == "gibbs: 2 blocks: {a} slice; {b} slice"
