"""A float stands for the decimal that it was written as: the answer is that of the decimals, whatever was added."""

from __future__ import annotations

import csv
import math
import subprocess
import sys
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import platewright as pw
from outside import classical
from platewright.backends.numpy import support
from platewright.backends.numpy.pooling import MANY_ROWS

DECIMALS = st.builds(
    lambda whole, places: f"{whole}e{-places}", st.integers(-(10**15) + 1, 10**15 - 1), st.integers(-3, 40)
)


@given(text=DECIMALS)
def test_a_decimal_of_fifteen_digits_is_a_float_and_its_rest(text: str) -> None:
    value = np.array([float(text)])
    rest = support.decimal_rest(value)
    wanted = Fraction(text)
    assert abs(Fraction(float(value[0])) + Fraction(float(rest[0])) - wanted) <= abs(wanted) * Fraction(1, 2**100)


@given(value=st.floats(allow_nan=False, allow_infinity=False, width=64))
def test_the_rest_is_at_most_half_of_the_last_digit_and_long_decimals_have_none(value: float) -> None:
    rest = float(support.decimal_rest(np.array([value]))[0])
    digits = len(Decimal(repr(value)).normalize().as_tuple().digits)
    assert math.isnan(rest) == (not value.is_integer() and (digits > 15 or abs(value) < 1e-285))
    assert math.isnan(rest) or abs(rest) <= math.ulp(value) / 2


@pytest.mark.parametrize("value", [0.1, 999999999999.999, 99999999999999.9, 1e-7, 0.00123456789012345, -2.5e-250])
def test_numbers_at_the_edge_of_a_power_of_ten_are_read_too(value: float) -> None:
    rest = float(support.decimal_rest(np.array([value]))[0])
    assert abs(Fraction(value) + Fraction(rest) - Fraction(repr(value))) <= abs(Fraction(value)) / 2**100


@given(texts=st.lists(DECIMALS, min_size=1, max_size=8), others=st.lists(st.floats(-1e6, 1e6), max_size=2))
def test_beside_others_in_its_column_a_number_is_read_as_alone(texts: list[str], others: list[float]) -> None:
    column = np.array([*map(float, texts), *others])
    alone = [support.decimal_rest(np.array([value]))[0] for value in column]
    together = support.decimal_rest(np.stack([column, column[::-1]], axis=1))
    np.testing.assert_allclose(together, np.stack([alone, alone[::-1]], axis=1), rtol=1e-9)


def decimals(seed: int, count: int, offset: int, places: int, steps: int = 60) -> list[str]:
    """Decimals with so many places around an offset, as text."""
    generator = np.random.default_rng(seed)
    found = [offset * 10**places + int(step) for step in generator.integers(-steps, steps + 1, count)]
    return [f"{whole}e-{places}" for whole in found]


OFFSETS = st.sampled_from([0, 7, -1000, 10**6, 10**9, -(10**11), 10**12])


@given(seed=st.integers(0, 2**32 - 1), offset=OFFSETS, cut=st.integers(0, 30))
def test_an_exact_pool_is_that_of_the_decimals_in_parts_too(seed: int, offset: int, cut: int) -> None:
    texts = decimals(seed, 30, offset, 2)
    values = np.array([float(text) for text in texts])
    exact = [Fraction(text) for text in texts]
    mean = sum(exact) / len(exact)
    left, right = (support.pooled([1.0, part], 1.0, [], (), exact=True) for part in (values[:cut], values[cut:]))
    for pool in (support.pooled([1.0, values], 1.0, [], (), exact=True), support.merged_pools(left, right)):
        square = sum((value - mean) ** 2 for value in exact)
        assert pool[2][1, 1] == pytest.approx(float(square), rel=1e-14)
        found = Fraction(float(pool[1][1])) + Fraction(float(pool[3][1]))
        assert abs(found - mean) <= max(abs(mean), 1) / 2**90


@given(seed=st.integers(0, 2**32 - 1), offset=OFFSETS, places=st.integers(1, 2))
def test_a_fit_to_decimals_has_the_rational_answer_of_the_decimals(seed: int, offset: int, places: int) -> None:
    texts = decimals(seed, 25, offset, places)
    exact = [Fraction(text) for text in texts]
    mean = sum(exact) / len(exact)
    sd = math.sqrt(sum((value - mean) ** 2 for value in exact) / (len(exact) - 1))
    found = classical.mean_and_sd([float(text) for text in texts])
    assert found[0] == pytest.approx(float(mean), rel=1e-15, abs=1e-15)
    assert found[1] == pytest.approx(sd, rel=1e-10)


@given(seed=st.integers(0, 2**32 - 1), offset=OFFSETS)
def test_a_regression_on_decimals_has_the_rational_answer_of_the_decimals(seed: int, offset: int) -> None:
    x = np.array([float(text) for text in decimals(seed, 20, offset, 1)])[:, None]
    y = np.array([float(text) for text in decimals(seed + 1, 20, -offset, 2)])
    found = classical.regression(x, y)
    solution, square = classical.exact_regression(x, y)
    assert found["estimate"][1] == pytest.approx(float(solution[1]), rel=1e-9)
    assert found["residual_sd"] == pytest.approx(math.sqrt(square / 18), rel=1e-10)


def test_one_long_number_leaves_its_column_as_stored() -> None:
    values = np.array([1e9 + k / 10 for k in range(40)])
    values[7] = 1e9 + 1 / 3
    pool = support.pooled([values], 1.0, [], (), exact=True)
    exact = [Fraction(value) for value in values.tolist()]
    mean = sum(exact) / len(exact)
    assert pool[2][0, 0] == pytest.approx(float(sum((value - mean) ** 2 for value in exact)), rel=1e-15)


def large_offset(seed: int) -> tuple[np.ndarray, np.ndarray]:
    texts = decimals(seed, 60_000, 10**12, 1)
    return np.array([float(text) for text in texts]), np.array([int(text.split("e")[0]) - 10**13 for text in texts])


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_compiled_passes_are_looked_at_again_too(backend: str) -> None:
    values, tenths = large_offset(3)
    m = classical.scaled_model("far out")
    m.mu = pw.Flat()
    m.y = pw.Normal(m.mu, precision=m.tau, plates=m.plates["row"])
    fit = m.learn({"y": values}, backend=backend)
    square = (tenths @ tenths - Fraction(int(tenths.sum()) ** 2, len(tenths))) / 100
    assert classical.residual_sd(fit) == pytest.approx(math.sqrt(square / (len(tenths) - 1)), rel=1e-13)


def test_the_emitted_file_reads_decimals_too(tmp_path: Path) -> None:
    texts = [f"1000000000000.{digit}" for digit in (4, 3, 5, 2, 4, 6)]
    m = classical.scaled_model("far out")
    m.mu = pw.Flat()
    m.y = pw.Normal(m.mu, precision=m.tau, plates=m.plates["row"])
    (tmp_path / "learned.py").write_text(m.derive(known=["y"]).source())
    with (tmp_path / "rows.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["y"], *([text] for text in texts)])
    done = subprocess.run(
        [sys.executable, "learned.py", "rows.csv"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    rate = next(float(line.split(" = ")[1]) for line in done.stdout.splitlines() if line.startswith("tau.rate = "))
    assert rate == pytest.approx(0.1 / 2, rel=1e-14)


@given(seed=st.integers(0, 2**32 - 1))
def test_rows_far_out_can_be_added_and_forgotten(seed: int) -> None:
    values = np.array([float(text) for text in decimals(seed, 30, 10**12, 1)])
    m = classical.scaled_model("far out")
    m.mu = pw.Flat()
    m.y = pw.Normal(m.mu, precision=m.tau, plates=m.plates["row"])
    whole, part = m.learn({"y": values}), m.learn({"y": values[:20]})
    for found, wanted in ((part.update({"y": values[20:]}), whole), (whole.forget(range(20, 30)), part)):
        assert classical.residual_sd(found) == pytest.approx(classical.residual_sd(wanted), rel=1e-12)


@pytest.mark.parametrize("kind", ["whole", "computed", "decimal"])
def test_many_rows_far_out_are_pooled_exactly_only_where_that_says_more(kind: str) -> None:
    tenths = np.random.default_rng(4).integers(-50, 51, MANY_ROWS + 100)
    values = {"whole": 1e12 + tenths, "computed": 1e9 + tenths / 7, "decimal": (10**13 + tenths) / 10}[kind]
    pool = support.well_pooled([1.0, values], 1.0, [], ())
    assert len(pool) == (5 if kind == "decimal" else 4)
    off = {"whole": tenths, "computed": values - 1e9, "decimal": tenths / 10}[kind]  # subtracted without rounding
    assert pool[2][1, 1] == pytest.approx(float(np.var(off) * len(off)), rel=1e-12)


def test_many_collinear_rows_of_whole_numbers_are_pooled_exactly() -> None:
    x = np.arange(MANY_ROWS + 100.0)
    y = x + np.random.default_rng(5).integers(0, 2, len(x)) * 1e-3
    assert len(support.well_pooled([1.0, x, np.floor(y), np.floor(x) % 2], 1.0, [], ())) == 5
