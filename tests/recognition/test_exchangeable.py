"""Exchangeable labels: the joint stays the same under every relabelling found; near misses are told apart."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import platewright as pw
from platewright.graph.graph import Graph, read_graph
from platewright.recognition.exchangeable import Symmetry, find_symmetries
from platewright.run.checks.simulating import small_sizes
from platewright.schemas.exact import prepare
from schemas import mixtures, sequences
from schemas.small_instance import Case, instance, log_joint

CASES = (*mixtures.MIXTURES, mixtures.CLASSES_OF_GROUPS, *sequences.CHAINS)
NAMED = ("zero_inflated", "misclassified", "contaminated", "sticky_switch")
"""Models whose hidden values mean something."""


def symmetries(graph: Graph) -> tuple[Symmetry, ...]:
    now = prepare(graph).graph
    return find_symmetries(now, now.factors, small_sizes(now))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_every_relabelling_keeps_the_joint(case: Case) -> None:
    small = instance(case, 3)
    now = prepare(case.graph).graph
    found = find_symmetries(now, now.factors, small.sizes)
    assert bool(found) != (case.name in NAMED)
    before = log_joint(now.factors, small.values, small.sizes)
    for symmetry in found:
        for to in symmetry.relabellings():
            moved = {**small.values, **symmetry.moved(small.hidden, to)}
            assert log_joint(now.factors, moved, small.sizes) == pytest.approx(before, abs=1e-9)


def labels_as_numbers(read: Callable[[pw.Model], object]) -> pw.Model:
    """A mixture whose readings depend on the number of the class."""
    m = pw.Model("numbers")
    n, k = m.plate("n"), m.plate("k", 3)
    m.p = pw.Dirichlet(1, over=k)
    m.mu = pw.Normal(0, sd=2, plates=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.y = pw.Normal(read(m), sd=1, plates=n)
    return m


@pytest.mark.parametrize(
    "read",
    [
        lambda m: m.z,
        lambda m: 2.0 * m.z + m.mu[m.z],
        lambda m: pw.exp(0.3 * m.z),
        lambda m: m.mu[m.z] ** m.z,
        lambda m: pw.where(m.z, m.mu[m.z], 0.0),
        lambda m: pw.where(pw.less(m.z, 2), m.mu[m.z], 0.0),
        lambda m: pw.where(pw.equal(m.z, 2), m.mu[m.z], 0.0),
        lambda m: m.mu[m.z] + pw.where(pw.equal(m.z, 1), 1.0, 0.0),
    ],
    ids=range(8),
)
@pytest.mark.parametrize("seed", range(3))
def test_a_relabelling_of_numbers_keeps_the_joint_or_is_not_found(
    read: Callable[[pw.Model], object], seed: int
) -> None:
    case = Case("numbers", lambda: labels_as_numbers(read), ("y",), {"n": 6})
    small, now = instance(case, seed), case.graph
    before = log_joint(now.factors, small.values, small.sizes)
    for symmetry in find_symmetries(now, now.factors, small.sizes):
        for to in symmetry.relabellings():
            moved = {**small.values, **symmetry.moved(small.hidden, to)}
            assert log_joint(now.factors, moved, small.sizes) == pytest.approx(before, abs=1e-9)


def test_undirected_states_read_as_numbers_have_names() -> None:
    m = pw.Model("field")
    n = m.plate("n", ordered=True)
    m.x = pw.Undirected(levels=2, plates=n)
    m.potential("tie", 0.8 * pw.equal(m.x, m.lag("x")))
    assert classes(m) == [((0, 1),)]
    m.y = pw.Normal(m.x, sd=1, plates=n)
    assert classes(m, "y") == []


def mixture(share: object = 1.0, table: object = 0.0) -> tuple[pw.Model, pw.Plate, pw.Plate]:
    m = pw.Model("mixture")
    n, k = m.plate("n"), m.plate("k", 3)
    m.p = pw.Dirichlet(share, over=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.mu = pw.Normal(table, sd=2, plates=k)
    m.y = pw.Normal(m.mu[m.z], sd=1, plates=n)
    return m, n, k


def classes(m: pw.Model, *known: str) -> list[tuple[tuple[int, ...], ...]]:
    return [symmetry.classes for symmetry in symmetries(read_graph(m, known))]


def test_equal_elements_are_exchangeable() -> None:
    assert classes(mixture()[0], "y") == [((0, 1, 2),)]


def test_known_classes_have_names_of_their_own() -> None:
    assert classes(mixture()[0], "y", "z") == []


def test_known_means_tell_the_classes_apart() -> None:
    assert classes(mixture()[0], "y", "mu") == []


def test_a_prior_that_differs_splits_the_classes() -> None:
    assert classes(mixture(share=[1.0, 1.0, 3.0])[0], "y") == [((0, 1),)]
    assert classes(mixture(share=[1.0, 2.0, 3.0])[0], "y") == []


def test_an_input_along_the_plate_tells_elements_apart() -> None:
    m = pw.Model("anchored")
    n, k = m.plate("n"), m.plate("k", 3)
    m.centre = pw.Input(plates=k)
    m.p = pw.Dirichlet(1, over=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.mu = pw.Normal(m.centre, sd=2, plates=k)
    m.y = pw.Normal(m.mu[m.z], sd=1, plates=n)
    assert classes(m, "y") == []


def test_two_plates_move_on_their_own() -> None:
    found = symmetries(read_graph(mixtures.two_causes(), ["y"]))
    assert [symmetry.plates[0] for symmetry in found] == ["a", "b"]


def test_a_fixed_position_tells_its_element_apart() -> None:
    m, n, _ = mixture()
    m.w = pw.Normal(m.mu[0], sd=1, plates=n)
    assert classes(m, "y", "w") == [((1, 2),)]


def test_a_chain_moves_both_axes_of_its_transitions() -> None:
    found = symmetries(read_graph(sequences.counts(), ["y"]))
    assert found[0].plates == ("k", "before") and found[0].along["move"] == (0, 1)


def test_moving_twice_by_inverses_changes_nothing() -> None:
    found = symmetries(read_graph(mixture()[0], ["y"]))[0]
    values = {"mu": np.array([1.0, 2.0, 3.0]), "z": np.array([0, 2, 1, 1])}
    for to in found.relabellings():
        back = tuple(int(k) for k in np.argsort(to))
        again = found.moved(found.moved(values, to), back)
        assert all((again[name] == values[name]).all() for name in values)
