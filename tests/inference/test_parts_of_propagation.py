"""The parts of exact inference in networks, each against arrays of NumPy: blocks, products, sums, draws, words."""

from __future__ import annotations

import numpy as np
import pytest

import platewright as pw
from platewright.errors import ModelError, NotSolvable, ParameterError, UnknownName
from platewright.inference.blocks import LEAST, SMALL, cut, steps_of
from platewright.inference.factor import check_logs
from platewright.inference.infer import infer
from platewright.inference.junction_tree import shown_bytes
from platewright.inference.propagation import probabilities
from platewright.inference.semiring import LOG_SUM, SUM, Named, product_of, sum_down


def test_neighbouring_levels_are_as_far_apart_as_in_an_array() -> None:
    table = np.zeros((2, 3, 4, 5))
    assert steps_of((0, 1, 2, 3), (2, 3, 4, 5)) == [step // table.itemsize for step in table.strides]


@pytest.mark.parametrize("sizes", [(2, 3, 4), (2,) * 20, (3,) * 14, (500, 400, 300), (5000, 3, 3, 3), (2, 5000, 5000)])
def test_a_block_holds_as_many_axes_as_fit(sizes: tuple[int, ...]) -> None:
    axes = tuple(range(len(sizes)))
    parts = cut(axes, sizes)
    assert parts.inner[0] == 0
    assert sorted((*parts.outer, *parts.inner)) == list(axes)
    assert parts.count * parts.entries == np.prod([float(size) for size in sizes])
    inner = [sizes[axis] for axis in parts.inner[1:]]
    assert parts.entries <= SMALL or sizes[0] * np.prod(inner[1:]) < LEAST, "the last axis was not needed"
    if parts.outer:
        assert parts.entries >= LEAST, "a block is too small"
        assert parts.entries * sizes[parts.outer[-1]] > SMALL, "another axis would have fitted"


def test_a_product_holds_every_operand() -> None:
    sizes, rng = (2, 3, 2, 3, 2), np.random.default_rng(0)
    tables = [Named(axes, rng.uniform(size=[sizes[a] for a in axes])) for axes in ((0, 1, 2), (1, 2, 3), (2, 3, 4))]
    found = product_of([*tables, Named((0, 4), np.full((2, 2), 0.5))], (0, 1, 2, 3, 4), sizes, SUM)
    wanted = 0.5 * np.einsum("abc,bcd,cde->abcde", *(table.values for table in tables))
    np.testing.assert_allclose(found, wanted, rtol=1e-13)


@pytest.mark.parametrize("left", [(), (0,), (2,), (0, 2), (0, 3), (1, 3), (3,), (0, 1, 2, 3)])
def test_a_table_is_summed_over_what_goes(left: tuple[int, ...]) -> None:
    table = np.random.default_rng(1).uniform(size=(2, 3, 4, 5))
    gone = tuple(axis for axis in range(4) if axis not in left)
    np.testing.assert_allclose(sum_down(Named((0, 1, 2, 3), table), left, SUM), table.sum(axis=gone), rtol=1e-13)
    logs = sum_down(Named((0, 1, 2, 3), np.log(table)), left, LOG_SUM)
    np.testing.assert_allclose(np.exp(logs), table.sum(axis=gone), rtol=1e-12)


def test_weights_far_below_one_are_made_to_sum_to_one() -> None:
    found = probabilities(np.array([-5000.0, -5001.0, -np.inf]), LOG_SUM)
    np.testing.assert_allclose(found, np.array([1.0, np.exp(-1.0), 0.0]) / (1 + np.exp(-1.0)), rtol=1e-12)


@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_weights_that_are_no_numbers_are_refused(wrong: float) -> None:
    with pytest.raises(ParameterError, match="not a number"):
        check_logs("x", np.array([0.0, wrong]))
    assert check_logs("x", np.array([0.0, -np.inf]))[1] == -np.inf


def test_bytes_are_shown_in_the_unit_that_fits() -> None:
    assert [shown_bytes(count) for count in (999, 1000, 2.5e6)] == ["999 bytes", "1 kB", "2.5 MB"]


def test_draws_of_several_real_variables_have_their_covariance() -> None:
    m = pw.Model("two")
    m.a = pw.Normal(1.0, sd=2.0)
    m.b = pw.Normal(0.5 * m.a, sd=1.5)
    m.c = pw.Normal(m.a - m.b, sd=0.5)
    found = infer(m, {"c": 0.4})
    drawn = found.draws(40_000, seed=3)
    joint = found.joint(["a", "b"])
    assert joint.covariance[0, 1] > 1.0  # far from independent
    np.testing.assert_allclose(np.cov(drawn["a"], drawn["b"]), joint.covariance, rtol=0.05)
    np.testing.assert_allclose([drawn["a"].mean(), drawn["b"].mean()], joint.mean, atol=0.05)


def test_levels_of_a_plate_like_another_are_as_many() -> None:
    m = pw.Model("like")
    kind = m.plate("kind", 3)
    other = m.plate("other", like=kind)
    m.z = pw.Categorical(pw.array([0.2, 0.3, 0.5], over=other), over=other)
    np.testing.assert_allclose([infer(m).marginal("z")[level] for level in range(3)], [0.2, 0.3, 0.5])


def test_levels_that_nobody_counted_are_named() -> None:
    m = pw.Model("open")
    m.z = pw.Categorical(pw.array([0.2, 0.3, 0.5], over=m.plate("kind")))
    with pytest.raises(ModelError, match="number of levels of `z`"):
        infer(m)


def test_what_was_left_out_is_told_from_what_is_not_there() -> None:
    m = pw.Model("about")
    m.a = pw.Bernoulli(0.3)
    m.b = pw.Bernoulli(0.1 + 0.5 * m.a)
    m.c = pw.Bernoulli(0.2)
    found = infer(m, {"b": 1}, about=["a"])
    assert found.marginal("a")[1] == pytest.approx(0.3 * 0.6 / (0.3 * 0.6 + 0.7 * 0.1))
    with pytest.raises(NotSolvable, match="left out by about="):
        found.marginal("c")
    with pytest.raises(UnknownName):
        found.marginal("d")


def test_what_the_question_is_not_about_need_not_be_solvable() -> None:
    m = pw.Model("beside")
    m.a = pw.Bernoulli(0.3)
    m.b = pw.Bernoulli(0.1 + 0.5 * m.a)
    m.r = pw.Gamma(2.0, rate=1.0)
    m.s = pw.Normal(m.r, sd=1.0)
    m.x = pw.Normal(2.0 * m.a, sd=1.5)
    m.y = pw.Gamma(2.0, rate=pw.exp(m.x))
    m.v = pw.Undirected()
    m.potential("well", -(m.v**2))
    assert infer(m, {"b": 1}, about=["a"]).marginal("a")[1] == pytest.approx(0.18 / 0.25)
    mixture = infer(m, {"b": 1}, about=["x"]).marginal("x")
    assert float(mixture.mean) == pytest.approx(2.0 * 0.18 / 0.25)


def test_a_potential_reaches_what_it_ties_and_not_more() -> None:
    m = pw.Model("tied")
    m.a, m.b, m.c = pw.Bernoulli(0.3), pw.Bernoulli(0.4), pw.Bernoulli(0.6)
    m.potential("tie", 1.5 * m.a * m.b)
    wanted = [0.7 * (0.6 + 0.4), 0.3 * (0.6 + 0.4 * np.exp(1.5))]
    found = infer(m, about=["a"])
    assert found.marginal("a")[1] == pytest.approx(wanted[1] / sum(wanted))
    assert infer(m, about=["c"]).marginal("c")[1] == pytest.approx(0.6)
