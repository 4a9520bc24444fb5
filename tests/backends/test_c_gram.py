"""Squares of columns in C: every width and every number of rows that fills tiles and blocks in another way."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

from platewright.algebra.build import call
from platewright.algebra.expression import ONE, Constant, Expression, Index, Reference
from platewright.backends.c.compile import FLAGS, find_compiler
from platewright.backends.c.gram import ROOM
from platewright.backends.c.support import BLOCK
from platewright.program.program import Program
from platewright.program.statements import Feature, Pool
from platewright.run.exact import native
from platewright.run.exact.native import native_statistics
from platewright.run.execute import arguments, loaded

pytestmark = [
    pytest.mark.skipif(find_compiler() is None, reason="no C compiler"),
    pytest.mark.filterwarnings("error"),  # falling back to NumPy would say so
]

N, J = Index("n", "n"), Index("j", "j")
X, Y, W = Reference("x", (N, J)), Reference("y", (N,)), Reference("w", (N,))
WIDTHS = (*range(1, 13), 20, 21, ROOM - 2, ROOM - 1, ROOM, 77)
COUNTS = (1, 2, 3, 5, 9, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 13)


@pytest.fixture(autouse=True, scope="module")
def one_cache(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLATEWRIGHT_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def pooled(weight: Expression, *features: Feature) -> Program:
    columns = {"x": (N, J), "y": (N,), "w": (N,)}
    return Program("pool", columns, (Pool("pool", (N,), (), features, weight),), ())


def data(rows: int, width: int) -> dict[str, Any]:
    generator = np.random.default_rng([rows, width])
    x = 1e6 + generator.standard_normal((rows, width))
    return {"x": x, "y": generator.standard_normal(rows) - 3, "w": generator.gamma(1.0, size=rows)}


def moments(program: Program, columns: Mapping[str, Any]) -> tuple[Any, ...]:
    sizes = dict(zip("nj", columns["x"].shape))
    (found,) = native_statistics(program)(*arguments(program, loaded(program), columns, sizes)).values()
    return found


def assert_moments(found: tuple[Any, ...], rows: Any, weight: Any) -> None:
    """Against sums about the mean in long double, where that is longer."""
    rows, weight = rows.astype(np.longdouble), np.asarray(weight, np.longdouble)
    mean = weight @ rows / weight.sum()
    centred = rows - mean
    scatter = (weight[:, None] * centred).T @ centred
    np.testing.assert_allclose(found[0], float(weight.sum()), rtol=1e-13)
    np.testing.assert_allclose(found[1], mean.astype(float), rtol=1e-13)
    size = np.sqrt(np.outer(np.diagonal(scatter), np.diagonal(scatter))).astype(float)
    assert np.all(np.abs(found[2] - scatter.astype(float)) <= 1e-9 * size + 1e-18)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("weight", [ONE, W], ids=["plain", "weighted"])
def test_every_width_and_count_gives_the_moments(width: int, weight: Expression) -> None:
    program = pooled(weight, Feature(X, (J,)), Feature(Y))
    for rows in COUNTS:
        columns = data(rows, width)
        found = moments(program, columns)
        assert_moments(found, np.c_[columns["x"], columns["y"]], columns["w"] if weight == W else np.ones(rows))


def test_a_function_of_a_matrix_fills_columns_too() -> None:
    program = pooled(W, Feature(Y), Feature(call("log", X), (J,)), Feature(call("exp", Y)))
    columns = data(3 * BLOCK + 13, 7)
    found = moments(program, columns)
    rows = np.c_[columns["y"], np.log(columns["x"]), np.exp(columns["y"])]
    assert_moments(found, rows, columns["w"])


def beside(x: Any) -> Any:
    """The same matrix with each column in one piece of memory, and a gap between them."""
    held = np.empty((x.shape[1], len(x) + 3))
    held[:, : len(x)] = x.T
    return held[:, : len(x)].T


@pytest.mark.parametrize("laid", [np.asfortranarray, beside], ids=["touching", "apart"])
def test_a_matrix_may_lie_column_by_column(laid: Callable[[Any], Any]) -> None:
    program = pooled(W, Feature(call("exp", Y)), Feature(X, (J,)), Feature(call("log", X), (J,)))
    for rows in COUNTS:
        columns = data(rows, 7)
        upright = {**columns, "x": laid(columns["x"])}
        for one, other in zip(moments(program, upright), moments(program, columns)):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("weight", [ONE, W], ids=["plain", "weighted"])
def test_without_a_column_that_varies_only_the_weight_is_summed(weight: Expression) -> None:
    columns = data(3 * BLOCK + 13, 1)
    total, mean, scatter, _ = moments(pooled(weight, Feature(Constant(2.0))), columns)
    np.testing.assert_allclose(total, columns["w"].sum() if weight == W else len(columns["w"]), rtol=1e-13)
    assert (mean, scatter) == (2.0, 0.0)


X86 = pytest.mark.skipif(platform.machine() != "x86_64", reason="flags of x86")


@pytest.mark.parametrize(
    "flag", ["-DPLATEWRIGHT_PLAIN", pytest.param("-mno-avx512f", marks=X86), pytest.param("-mno-avx", marks=X86)]
)
def test_other_vectors_give_the_same_moments(flag: str, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled = native.compiled_library
    monkeypatch.setattr(native, "compiled_library", lambda source, compiler: compiled(source, compiler, (*FLAGS, flag)))
    program = pooled(W, Feature(X, (J,)), Feature(Y))
    for width in WIDTHS:
        columns = data(BLOCK + 7, width)
        assert_moments(moments(program, columns), np.c_[columns["x"], columns["y"]], columns["w"])
