"""Law of backends: compiled passes give the numbers of the NumPy module, to 1e-10 of the largest, on every example."""

from __future__ import annotations

import platform
import shlex
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import special

import platewright as pw
from example_models import MAKERS, bound_program, regression
from platewright.algebra.build import call, power
from platewright.algebra.expression import (
    Constant,
    Expression,
    Index,
    Indicator,
    Inverse,
    Literal,
    LogDeterminant,
    LogSumExp,
    Quadratic,
    Reference,
    Root,
    Sum,
    Where,
)
from platewright.algebra.substitution import substitute
from platewright.backends.c.compile import find_compiler
from platewright.backends.c.program import c_program
from platewright.program.program import Program
from platewright.program.statements import Cell, Feature, Pool, Statistic
from platewright.run.exact import native_blocks
from platewright.run.exact.native import native_statistics
from platewright.run.exact.native_blocks import ROWS_IN_BLOCK
from platewright.run.execute import arguments, loaded

pytestmark = [
    pytest.mark.skipif(find_compiler() is None, reason="no C compiler"),
    pytest.mark.filterwarnings("error::platewright.errors.NoCompilerWarning"),  # NumPy would agree with itself
]

N, K, J = Index("n", "n"), Index("k", "k"), Index("j", "j")


@pytest.fixture(autouse=True, scope="module")
def one_cache(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLATEWRIGHT_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def parts(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def assert_same(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    assert list(found) == list(wanted)
    for name in wanted:
        assert len(parts(found[name])) == len(parts(wanted[name])), name
        for number, (one, other) in enumerate(zip(parts(found[name]), parts(wanted[name]))):
            one, other = np.asarray(one), np.asarray(other)
            assert one.shape == other.shape, name
            if number == 3:  # what rounding took from the mean: below its last digit
                continue
            largest = np.max(np.abs(other), initial=1e-300, where=np.isfinite(other))
            np.testing.assert_allclose(one, other, rtol=1e-10, atol=1e-10 * largest, err_msg=name)


def compare(program: Program, given: tuple[Any, Any]) -> Mapping[str, Any]:
    found = native_statistics(program)(*given)
    assert_same(found, loaded(program).statistics(*given))
    return found


def by_hand(passes: tuple[Statistic | Pool, ...], columns: Mapping[str, Any], **sizes: int) -> Mapping[str, Any]:
    """Compare a program of given passes over rows n; columns have axes (n) or (n, j), a table has (k)."""
    axes = {"t": (K,)}
    shapes = {name: axes.get(name, (N, J)[: np.ndim(values)]) for name, values in columns.items()}
    program = Program("by hand", shapes, passes, ())
    module = loaded(program)
    known = {"n": len(next(v for name, v in columns.items() if name != "t")), **sizes}
    return compare(program, arguments(program, module, columns, known))


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("rows", [2, 50, 1000])
def test_every_example_has_the_same_statistics(name: str, rows: int) -> None:
    program, given = bound_program(*MAKERS[name](np.random.default_rng(rows), rows))
    compare(program, given)
    assert c_program(program).left == ()


@pytest.mark.parametrize("name", ["groups", "regression", "autoregression", "markov_chain", "exposure", "table"])
def test_many_ranges_merge_to_the_same(name: str) -> None:
    compare(*bound_program(*MAKERS[name](np.random.default_rng(3), 3 * ROWS_IN_BLOCK + 17)))


ROWS = st.sampled_from([0, 1, 2, 7, 8, 9, 63, 127, 128, 129, 255, 256, 257, 511, 512, 513, 700])


@settings(max_examples=60)
@given(rows=ROWS, columns=st.integers(1, 60), seed=st.integers(0, 2**16), integer=st.booleans())
def test_any_shape_of_a_regression_agrees(rows: int, columns: int, seed: int, integer: bool) -> None:
    rng = np.random.default_rng(seed)
    program, _ = bound_program(*regression(rng, 5, 2))
    X = rng.integers(-5, 6, (rows, columns)) if integer else rng.normal(size=(rows, columns))
    data = {"X": X, "y": rng.normal(size=rows)}
    compare(program, arguments(program, loaded(program), data, {"n": rows, "c": columns}))


@settings(max_examples=40)
@given(rows=ROWS, cells=st.integers(1, 9), wide=st.integers(0, 5), seed=st.integers(0, 2**16), weighted=st.booleans())
def test_any_pool_agrees(rows: int, cells: int, wide: int, seed: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    z, y, w = (Reference(name, (N,)) for name in "zyw")
    features = [Feature(Constant(1.0)), Feature(y), Feature(y * 2.0 + w)]
    if wide:
        features.append(Feature(Reference("X", (N, J)) * y, (J,)))
    weight: Expression = w if weighted else Constant(1.0)
    passes = (
        Pool("grouped_rows", (N,), (Cell(K, z),), tuple(features), weight),
        Pool("all_rows", (N,), (), tuple(features), weight),
        Pool("plain", (N,), (), (Feature(Reference("X", (N, J)), (J,)), *features[:2]), weight),
    )
    data = {"z": rng.integers(0, cells, rows), "y": rng.normal(size=rows), "w": rng.integers(0, 3, rows) / 2}
    data["X"] = rng.normal(size=(rows, wide))
    by_hand(passes if wide else passes[:2], data, k=cells, j=wide)


@pytest.mark.parametrize("narrower", ["-DPLATEWRIGHT_PLAIN", "-mno-avx512f", "-mno-avx"])
def test_narrower_machines_agree(narrower: str, monkeypatch: pytest.MonkeyPatch) -> None:
    if narrower.startswith("-m") and platform.machine() not in ("x86_64", "AMD64"):
        pytest.skip("a flag of another machine")
    compiler = find_compiler()
    assert compiler is not None
    monkeypatch.setenv("CC", f"{shlex.join(compiler.command)} {narrower}")
    for columns in (1, 6, 7, 30):
        compare(*bound_program(*regression(np.random.default_rng(columns), 700, columns)))


def test_a_huge_mean_costs_no_digits() -> None:
    rng, rows = np.random.default_rng(0), 2 * ROWS_IN_BLOCK + 5
    x = 1.7e12 + rng.normal(size=rows)
    z = rng.integers(0, 3, rows)
    X = np.stack([x, x[::-1], *(1.7e12 + rng.normal(size=(6, rows)))], axis=1)
    feature = Feature(Reference("x", (N,)))
    passes = (
        Pool("few", (N,), (), (Feature(Constant(1.0)), feature), Constant(1.0)),
        Pool("cells", (N,), (Cell(K, Reference("z", (N,))),), (feature,), Constant(1.0)),
        Pool("many", (N,), (), (Feature(Reference("X", (N, J)), (J,)), feature), Constant(1.0)),
    )
    found = by_hand(passes, {"x": x, "z": z, "X": X}, k=3, j=8)
    for pool, chosen in ((found["few"], x), (found["many"], x), (tuple(p[1] for p in found["cells"]), x[z == 1])):
        near = chosen - 1.7e12  # exact, by Sterbenz
        mean = near.sum() / len(near)
        exactly = Fraction(float(pool[1][-1])) + Fraction(float(pool[3][-1])) - Fraction(1.7e12)
        assert float(exactly) == pytest.approx(mean, rel=1e-10, abs=1e-12)
        assert pool[2][-1, -1] == pytest.approx(np.sum((near - mean) ** 2), rel=1e-12)


def test_a_column_that_never_varies_has_no_scatter() -> None:
    x = np.full(5000, 0.1)
    found = by_hand((Pool("p", (N,), (), (Feature(Reference("x", (N,))),), Constant(1.0)),), {"x": x})
    assert found["p"][1][0] == 0.1
    assert found["p"][2][0, 0] == 0.0


@pytest.mark.parametrize("where", [0, 5, 299])
def test_not_a_number_stays_not_a_number(where: int) -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=300), rng.normal(size=300)
    x[where] = np.nan
    X, Y = Reference("x", (N,)), Reference("y", (N,))
    passes = (
        Statistic("largest", (), (N,), X, "max"),
        Statistic("least", (), (N,), X, "min"),
        Statistic("total", (), (N,), X),
        Pool("pool", (N,), (), (Feature(X), Feature(Y)), Constant(1.0)),
    )
    found = by_hand(passes, {"x": x, "y": y})
    assert np.isnan([found["largest"], found["least"], found["total"]]).all()
    assert np.isnan(found["pool"][2]).tolist() == [[True, True], [True, False]]


def test_counts_are_exact_integers() -> None:
    program, given = bound_program(*MAKERS["table"](np.random.default_rng(0), 500))
    assert all(np.asarray(value).dtype == np.int64 for value in native_statistics(program)(*given).values())


def test_products_of_integer_columns_do_not_wrap_around() -> None:
    x = np.full(10, 2**40)
    program = Program("squares", {"x": (N,)}, (Statistic("s", (), (N,), power(Reference("x", (N,)), 2.0)),), ())
    given = arguments(program, loaded(program), {"x": x}, {"n": 10})
    assert native_statistics(program)(*given)["s"] == 10 * 2.0**80


def test_all_that_can_be_printed_agrees() -> None:
    rng = np.random.default_rng(5)
    x, y, z = (Reference(name, (N,)) for name in "xyz")
    functions = ["log", "exp", "log1p", "expm1", "absolute", "lgamma", "logistic", "log_logistic", "cos", "sin", "tanh"]
    functions += ["normal_cdf", "log_normal_cdf", "floor", "digamma"]
    passes = [Statistic(f"s_{name}", (), (N,), call(name, x)) for name in functions]
    passes += [Statistic(f"s_{name}", (), (N,), call(name, x, y)) for name in ("arctan2", "maximum", "minimum", "less")]
    passes += [Statistic(f"e_{k}", (), (N,), power(x, value)) for k, value in enumerate((-1, -2, 0.5, 2, 3.5, -1.5))]
    table = Literal((0.5, 1.5, 2.5), (3,), ("k",), (z,))
    grouped = Indicator(z, K)
    passes += [
        Statistic("shared", (), (N,), call("log", x) * y),
        Statistic("choice", (), (N,), Where(Indicator(z, Constant(1.0)), x, y)),
        Statistic("looked_up", (K,), (N,), grouped * table * Reference("t", (z,))),
        Statistic("inner", (), (N,), call("exp", Sum(J, Reference("X", (N, J)) * Constant(0.1)))),
        Statistic("columns", (J, K), (N,), grouped * (Reference("X", (N, J)) + y)),
        Statistic("position", (), (N,), N * x / y),
        Statistic("largest", (J,), (N,), Reference("X", (N, J)), "max"),
        Statistic("log_sum", (), (N,), LogSumExp(J, Reference("X", (N, J)) * x)),
        Statistic("nothing", (), (N,), call("exp", LogSumExp(J, Constant(-np.inf) + 0.0 * Reference("X", (N, J))))),
    ]
    data = {"x": rng.uniform(0.5, 3, 600), "y": rng.uniform(0.5, 3, 600), "z": rng.integers(0, 3, 600)}
    data |= {"X": rng.normal(size=(600, 4)), "t": rng.normal(size=3)}
    by_hand(tuple(passes), data, k=3, j=4)


def test_digamma_is_that_of_scipy_element_by_element() -> None:
    x = np.concatenate([np.linspace(-9.9, 30, 2001), np.logspace(-12, 15, 1001), [0.0, -3.0, np.nan, np.inf]])
    with np.errstate(all="ignore"):
        wanted = special.digamma(x)
    program = Program(
        "each", {"X": (N, J)}, (Statistic("each", (J,), (N,), call("digamma", Reference("X", (N, J)))),), ()
    )
    given = arguments(program, loaded(program), {"X": x[None]}, {"n": 1, "j": len(x)})
    found = native_statistics(program)(*given)["each"]
    np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-14)


def test_matrices_of_numbers_become_tables() -> None:
    other = Index("j'", "j")
    numbers = (2.0, 0.5, 0.1, 0.5, 1.5, 0.3, 0.1, 0.3, 1.0)
    matrix = Literal(numbers, (3, 3), ("j", "j"), (J, other))
    inverse = Inverse(matrix, J, other, J, other)
    root = Root(inverse, J, other, J, other)
    row = Reference("X", (N, J))
    whitened = Sum(other, substitute(root, {J: other, other: J}) * substitute(row, {J: other}))
    passes = (
        Statistic("table", (J,), (N,), Sum(other, inverse * substitute(row, {J: other}))),
        Statistic("square", (), (N,), Quadratic(row, inverse, J, other)),
        Statistic("volume", (), (N,), LogDeterminant(matrix, J, other) * Sum(J, row)),
        Pool("white", (N,), (), (Feature(whitened, (J,)),), Constant(1.0)),
    )
    assert c_program(Program("matrices", {"X": (N, J)}, passes, ())).left == ()
    by_hand(passes, {"X": np.random.default_rng(3).normal(size=(700, 3))}, j=3)


def test_what_has_no_c_stays_with_numpy_and_says_why() -> None:
    x, t = Reference("x", (N,)), Reference("t", (K,))
    other = Index("k'", "k")
    spread = Where(Indicator(K, other), t**2, Constant(0.0))
    passes = (
        Statistic("total", (), (N,), x),
        Statistic("hard", (), (N,), call("trigamma", x)),
        Statistic("harder", (), (N,), LogDeterminant(spread, K, other) * x),
        Pool("soft_cells", (N,), (), (Feature(call("log_bessel0", x)),), Constant(1.0)),
    )
    rng = np.random.default_rng(2)
    by_hand(passes, {"x": rng.uniform(1, 2, 300), "t": rng.normal(size=4)}, k=4)
    left = dict(c_program(Program("left", {"x": (N,), "t": (K,)}, passes, ())).left)
    assert left["hard"] == "C has no function trigamma"
    assert set(left) == {"hard", "harder", "soft_cells"}


def test_a_code_outside_its_plate_is_refused_as_by_numpy() -> None:
    program, (data, size) = bound_program(*MAKERS["groups"](np.random.default_rng(0), 30))
    data = {**data, "z": np.full(30, 3)}
    with pytest.raises(ValueError, match="invalid entry"):
        native_statistics(program)(data, size)


@pytest.mark.parametrize("name", ["groups", "regression", "exposure", "autoregression", "hierarchy"])
def test_one_thread_and_many_give_the_same_bits(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_blocks, "WORK_FOR_A_THREAD", 1)
    program, given = bound_program(*MAKERS[name](np.random.default_rng(9), 4 * ROWS_IN_BLOCK + 3))
    one, two, three = (native_statistics(program, threads)(*given) for threads in (1, 2, 3))
    for key in one:
        for first, second, third in zip(parts(one[key]), parts(two[key]), parts(three[key])):
            assert np.array_equal(first, second) and np.array_equal(first, third), key


def test_no_rows_and_no_groups_leave_the_prior() -> None:
    m = pw.Model("groups to come")
    n, k = m.plate("n"), m.plate("k")
    m.g = pw.Input(plates=n, levels=k)
    m.a = pw.Normal(0, sd=1.0, plates=k)
    m.y = pw.Normal(m.a[m.g], sd=1.0, plates=n)
    fit = m.learn({"g": [], "y": []}, backend="c")
    assert fit.made_by and fit.how.endswith(f"(c: {fit.made_by})")
    assert fit.log_evidence == 0 and fit["a"].mean.shape == (0,)
