"""The numerical functions that emitted programs carry: pools are monoids and keep their digits."""

from __future__ import annotations

import ast
import inspect
from fractions import Fraction
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from platewright.algebra import scaled_lgamma
from platewright.backends.hints import functions_of, without_hints
from platewright.backends.numpy import chained, decimals, least_rows, pooling, support, twofold
from platewright.backends.numpy.shared import shared_text

BOTH = pytest.mark.parametrize("exact", [False, True], ids=["plain", "exact"])


def random_rows(seed: int, count: int, width: int = 3) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    return generator.standard_normal((count, width)) * 10.0 ** generator.integers(-3, 4), generator.gamma(
        2.0, size=count
    )


def exact_scatter(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """By rational arithmetic, rounded once."""
    width = rows.shape[1]
    table = [[Fraction(float(value)) for value in row] for row in rows]
    w = [Fraction(float(value)) for value in weights]
    mean = [sum(a * row[j] for a, row in zip(w, table, strict=True)) / sum(w) for j in range(width)]
    found = np.empty((width, width))
    for i in range(width):
        for j in range(width):
            terms = (a * (row[i] - mean[i]) * (row[j] - mean[j]) for a, row in zip(w, table, strict=True))
            found[i, j] = float(sum(terms, Fraction(0)))
    return found


def assert_same_pool(found: tuple[np.ndarray, ...], wanted: tuple[np.ndarray, ...], digits: float = 1e-12) -> None:
    size = np.sqrt(np.diagonal(wanted[2], axis1=-2, axis2=-1))
    np.testing.assert_allclose(found[0], wanted[0], rtol=1e-13)
    np.testing.assert_allclose(found[1], wanted[1], rtol=1e-13, atol=1e-13 * (np.max(size) + 1e-300))
    error = np.abs(found[2] - wanted[2])
    assert (error <= digits * size[..., :, None] * size[..., None, :] + 1e-300).all()


# -- laws ------------------------------------------------------------------------------------------------------------


@BOTH
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 60), cut=st.integers(0, 60))
def test_the_pool_of_all_rows_is_the_merger_of_the_pools_of_parts(exact: bool, seed: int, count: int, cut: int) -> None:
    rows, weights = random_rows(seed, count)
    whole = support.pooled([rows], weights, [], (), exact)
    left = support.pooled([rows[:cut]], weights[:cut], [], (), exact)
    right = support.pooled([rows[cut:]], weights[cut:], [], (), exact)
    assert_same_pool(support.merged_pools(left, right), whole)
    assert_same_pool(support.merged_pools(right, left), whole)


@BOTH
@given(seed=st.integers(0, 2**32 - 1))
def test_taking_a_part_out_again_leaves_the_rest(exact: bool, seed: int) -> None:
    rows, weights = random_rows(seed, 40)
    left = support.pooled([rows[:25]], weights[:25], [], (), exact)
    right = support.pooled([rows[25:]], weights[25:], [], (), exact)
    assert_same_pool(support.without_pool(support.merged_pools(left, right), right), left, 1e-10)
    none = support.without_pool(right, right)
    assert all((array == 0).all() for array in none)


@BOTH
@given(seed=st.integers(0, 2**32 - 1), cells=st.integers(1, 12))
def test_a_pool_in_cells_is_a_pool_of_each_cell(exact: bool, seed: int, cells: int) -> None:
    rows, weights = random_rows(seed, 50)
    codes = np.random.default_rng(seed).integers(0, cells, 50)
    found = support.pooled([rows], weights, [codes], (cells,), exact)
    for cell in range(cells):
        alone = support.pooled([rows[codes == cell]], weights[codes == cell], [], (), exact)
        assert_same_pool(tuple(array[cell] for array in found), alone)


@BOTH
@given(seed=st.integers(0, 2**32 - 1), cells=st.integers(0, 6), count=st.sampled_from([0, 1, 20, 1200]))
def test_cells_whose_rows_follow_each_other_need_no_codes(exact: bool, seed: int, cells: int, count: int) -> None:
    rows, weights = random_rows(seed, 2 * cells * count)
    codes = [np.repeat(np.arange(2), cells * count), np.tile(np.repeat(np.arange(cells), count), 2)]
    wanted = support.pooled([rows, 1.0], weights, codes, (2, cells), exact)
    found = support.pooled_in_turn([rows, 1.0], weights, (2, cells), exact)
    assert [array.shape for array in found] == [array.shape for array in wanted]
    for place in np.ndindex(2, cells):
        assert_same_pool(tuple(array[place] for array in found), tuple(array[place] for array in wanted))


def test_exact_pools_in_turn_stand_beside_those_that_had_nothing_to_gain() -> None:
    generator = np.random.default_rng(0)
    far = np.round(1e6 + generator.normal(size=70_000), 7)  # decimals whose floats have lost digits
    near = generator.integers(0, 9, 70_000).astype(float)
    found = support.pooled_in_turn([np.concatenate([far, near])], 1.0, (2,), exact=True)
    lengths = []
    for cell, values in enumerate((far, near)):
        wanted = support.pooled([values], 1.0, [], (), exact=True)
        assert_same_pool(tuple(array[cell] for array in found)[: len(wanted)], wanted)
        lengths.append(len(wanted))
    assert len(found) == 5 and lengths == [5, 4]


@given(seed=st.integers(0, 2**32 - 1))
def test_an_exact_pool_is_right_to_the_last_digit_whatever_the_condition(seed: int) -> None:
    rows, weights = random_rows(seed, 12)
    rows[:, 2] = rows[:, 0] + 1e-9 * rows[:, 1] + 1e6
    pool = support.pooled([rows], weights, [], (), exact=True)
    wanted = exact_scatter(rows, weights)
    np.testing.assert_allclose(pool[2], wanted, rtol=1e-15, atol=0)


@given(seed=st.integers(0, 2**32 - 1), width=st.integers(1, 6), rank=st.integers(0, 6))
def test_a_root_has_the_squares_of_its_scatter_whatever_the_rank(seed: int, width: int, rank: int) -> None:
    factor = np.random.default_rng(seed).standard_normal((rank, width))
    scatter = factor.T @ factor
    root = support.root_of_scatter(scatter)
    size = np.sqrt(np.diagonal(scatter))
    assert (np.abs(root.T @ root - scatter) <= 1e-7 * np.outer(size, size) + 1e-300).all()
    assert (np.tril(root, -1) == 0).all()


@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(1, 9), width=st.integers(1, 5), batch=st.integers(0, 3))
def test_reflections_keep_all_squares(seed: int, rows: int, width: int, batch: int) -> None:
    design = np.random.default_rng(seed).standard_normal((*[2] * batch, rows, width))
    upper = support.reflected(design)
    wanted = np.swapaxes(design, -1, -2) @ design
    np.testing.assert_allclose(np.swapaxes(upper, -1, -2) @ upper, wanted, atol=1e-12)
    assert (np.tril(upper, -1) == 0).all()


# -- hard numbers ----------------------------------------------------------------------------------------------------


@BOTH
@pytest.mark.parametrize("step", [1, 777, 10_000], ids=lambda step: f"batches of {step}" if step > 1 else "whole")
def test_a_mean_of_1_7e12_with_unit_sd_comes_out_right_in_batches_too(exact: bool, step: int) -> None:
    values = 1.7e12 + np.sort(np.random.default_rng(1).standard_normal(20_000))
    wanted = float(exact_scatter(values[:, None], np.ones(len(values)))[0, 0])
    pool = support.pooled([values], 1, [], (), exact)
    if step > 1:
        parts = [support.pooled([values[k : k + step]], 1, [], (), exact) for k in range(0, len(values), step)]
        pool = parts[0]
        for part in parts[1:]:
            pool = support.merged_pools(pool, part)
    assert abs(pool[2][0, 0] / wanted - 1) < 1e-12
    assert pool[1][0] == float(sum(map(Fraction, values.tolist())) / len(values))


@BOTH
@pytest.mark.parametrize("value", [0.1, 1e300, 1e-300, -7.0, 0.0])
def test_a_constant_column_has_exactly_no_scatter(exact: bool, value: float) -> None:
    weights = np.random.default_rng(2).gamma(0.3, size=10_000)
    total, mean, scatter, *_ = support.pooled([value, np.arange(10_000.0)], weights, [], (), exact)
    assert mean[0] == value
    assert (scatter[0] == 0).all() and (scatter[:, 0] == 0).all()
    assert total == pytest.approx(weights.sum(), rel=1e-13)


@BOTH
def test_no_rows_pool_to_nothing_and_change_nothing(exact: bool) -> None:
    rows, weights = random_rows(4, 10)
    empty = support.pooled([rows[:0]], weights[:0], [], (), exact)
    assert all((array == 0).all() for array in empty)
    some = support.pooled([rows], weights, [], (), exact)
    for merged in (support.merged_pools(empty, some), support.merged_pools(some, empty)):
        for found, wanted in zip(merged, some, strict=True):
            np.testing.assert_array_equal(found, wanted)
    assert not support.is_ill_conditioned(empty)
    rows = support.rows_of_pool(*empty)
    assert (rows[:, :-1] * rows[:, -1:] == 0).all()


@BOTH
def test_one_code_for_all_rows_stands_for_itself_in_each(exact: bool) -> None:
    rows, weights = random_rows(5, 10)
    codes = np.arange(10) % 2
    found = support.pooled([rows], weights, [np.int64(1), codes], (3, 2), exact)
    for one, wanted in zip(found, support.pooled([rows], weights, [np.full(10, 1), codes], (3, 2), exact), strict=True):
        np.testing.assert_array_equal(one, wanted)
    single = support.pooled([2.5], 1.0, [np.int64(2)], (3,), exact)
    assert single[0].tolist() == [0, 0, 1] and single[1][2] == 2.5


@BOTH
@pytest.mark.parametrize("weight", [1e-200, 1e-8, 1e8, 1e200])
def test_weights_of_any_size_scale_the_pool(exact: bool, weight: float) -> None:
    rows, weights = random_rows(6, 30)
    plain = support.pooled([rows], weights, [], (), exact)
    heavy = support.pooled([rows], weights * weight, [], (), exact)
    np.testing.assert_allclose(heavy[0], plain[0] * weight, rtol=1e-12)
    np.testing.assert_allclose(heavy[1], plain[1], rtol=1e-9)
    np.testing.assert_allclose(np.diagonal(heavy[2]), np.diagonal(plain[2]) * weight, rtol=1e-9)


@BOTH
def test_one_huge_weight_among_small_ones_keeps_the_small_ones(exact: bool) -> None:
    rows = np.array([[0.0], [1.0], [3.0]])
    weights = np.array([1e12, 1.0, 1.0])
    pool = support.pooled([rows], weights, [], (), exact)
    np.testing.assert_allclose(pool[2], exact_scatter(rows, weights), rtol=1e-14)


def test_a_merger_of_an_exact_pool_with_a_plain_one_is_plain() -> None:
    rows, weights = random_rows(7, 20)
    left = support.pooled([rows[:10]], weights[:10], [], (), exact=True)
    right = support.pooled([rows[10:]], weights[10:], [], ())
    assert len(support.merged_pools(left, right)) == 4
    assert_same_pool(support.merged_pools(left, right), support.pooled([rows], weights, [], ()))


def test_a_pool_of_three_arrays_as_compiled_code_returns_it_merges_too() -> None:
    rows, weights = random_rows(8, 20)
    left, right = (support.pooled([rows[s]], weights[s], [], ())[:3] for s in (slice(10), slice(10, 20)))
    assert_same_pool(support.merged_pools(left, right), support.pooled([rows], weights, [], ()))


# -- when to look again ----------------------------------------------------------------------------------------------


def test_a_well_spread_pool_is_trusted_and_a_nearly_collinear_one_is_not() -> None:
    rows, _ = random_rows(9, 100)
    assert not support.is_ill_conditioned(support.pooled([1, rows], 1, [], ()))
    rows[:, 1] = rows[:, 0] * (1 + 1e-4 * np.sin(np.arange(100)))
    pool = support.pooled([1, rows], 1, [], ())
    assert support.is_ill_conditioned(pool)
    assert not support.is_ill_conditioned(support.pooled([1, rows], 1, [], (), exact=True))
    assert len(support.well_pooled([1, rows], 1, [], ())) == 5


def test_cells_of_few_rows_are_no_reason_to_look_again() -> None:
    generator = np.random.default_rng(10)
    codes = np.repeat(np.arange(2000), 3)
    x, y = generator.standard_normal((2, 6000))
    assert not support.is_ill_conditioned(support.pooled([1, x, y], 1, [codes], (2000,)))


def test_cells_that_are_all_collinear_are_a_reason_to_look_again() -> None:
    x = np.tile(np.arange(30.0), 40)
    codes = np.repeat(np.arange(40), 30)
    y = np.random.default_rng(11).standard_normal(1200)
    assert support.is_ill_conditioned(support.pooled([1, x, x**2, x**3, x**4, y], 1, [codes], (40,)))


def with_weights(design: np.ndarray) -> np.ndarray:
    """Rows with nothing lost from their one output, of weight one."""
    return np.concatenate([design, np.zeros((len(design), 1)), np.ones((len(design), 1))], axis=1)


def test_rows_of_very_different_size_keep_their_digits() -> None:
    """A prior of weight 1e-24 beside data of weight 1: the data decide what they can, the prior the rest."""
    design = np.array([[1.0, 1.0, 2.0], [1e-12, 0.0, 1e-12], [0.0, 1e-12, 3e-12]])
    found = support.triangularised(with_weights(design), 2, 1)
    solution = np.linalg.solve(found["root"], found["right"])[:, 0]
    np.testing.assert_allclose(solution, [0.0, 2.0], atol=1e-9)


def test_too_few_rows_are_improper() -> None:
    with pytest.raises(ArithmeticError, match="at least 1 more independent"):
        support.triangularised(with_weights(np.array([[1.0, 1.0, 2.0]])), 2, 1)


# -- what is copied into emitted files ---------------------------------------------------------------------------------


def test_every_function_of_the_support_files_is_on_the_list_of_shared_ones() -> None:
    listed = {function.__name__ for function in support.SHARED}
    for module in (support, pooling, least_rows, chained, support.two_sum.__module__, support.decimal_rest.__module__):
        text = inspect.getsource(module if not isinstance(module, str) else __import__("sys").modules[module])
        assert set(functions_of(text)) <= listed


class WithoutHints(ast.NodeTransformer):
    """Assignments of locals without the hints that they were written with."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.Assign:
        assert node.value is not None
        return ast.Assign(targets=[node.target], value=node.value)


def test_shared_functions_are_emitted_without_hints_and_otherwise_as_they_stand() -> None:
    for function in support.SHARED:
        emitted = ast.parse(shared_text(function.__name__))
        for node in ast.walk(emitted):
            assert not isinstance(node, ast.AnnAssign)
            assert getattr(node, "annotation", None) is None
            assert getattr(node, "returns", None) is None
        written = ast.parse(inspect.getsource(function)).body[0]
        assert isinstance(written, ast.FunctionDef)
        ours = emitted.body[0]
        assert isinstance(ours, ast.FunctionDef)
        plain = WithoutHints().visit(written)
        assert [ast.dump(node) for node in ours.body] == [ast.dump(node) for node in plain.body]


def test_hints_are_cut_from_signatures_of_any_shape() -> None:
    text = '''def f(
    a: dict[str, tuple[int, ...]], *rest: "list[int]", b: Callable[[int], str] | None = None, **more: int
) -> tuple[dict[str, int], ...]:
    """Says a: b -> c."""
    x: list[int] = [1]
    return {"a": x, "b: c": (lambda q: q)}
'''
    wanted = '''def f(a, *rest, b=None, **more):
    """Says a: b -> c."""
    x = [1]
    return {"a": x, "b: c": (lambda q: q)}'''
    assert without_hints(text) == wanted


@pytest.mark.parametrize("module", [support, pooling, least_rows, chained, decimals, twofold, scaled_lgamma])
def test_functions_are_cut_from_a_file_where_the_parser_would_cut_them(module: ModuleType) -> None:
    text = inspect.getsource(module)
    lines = text.splitlines(keepends=True)
    parsed = [node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef)]
    assert functions_of(text) == {one.name: "".join(lines[one.lineno - 1 : one.end_lineno]) for one in parsed}
