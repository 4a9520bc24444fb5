"""Loops become plates: what the reader makes of index structure, with and without data."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import platewright as pw
from bugs.snippets import SNIPPETS
from platewright.errors import BugsError
from platewright.language.bugs.data import parse_data
from platewright.language.bugs.parse import parse
from platewright.language.bugs.reader import BugsModel, read_bugs


def snippet(name: str) -> BugsModel:
    return read_bugs(*SNIPPETS[name])


def axes(read: BugsModel, name: str) -> tuple[str, ...]:
    return tuple(axis.plate for axis in read.model.variables[name].axes)


def test_one_loop_is_one_plate_for_all_that_runs_in_it() -> None:
    read = snippet("line")
    assert axes(read, "y") == axes(read, "mu") == axes(read, "x") == ("i",)
    assert read.report.is_plated
    assert read.report.missing == {"y": 1}


def test_nested_loops_are_crossed_plates() -> None:
    read = snippet("corner")
    assert axes(read, "y") == ("i", "k")
    assert axes(read, "u") == ("i",)
    assert read.report.pieces["a"] == ("a_1", "a_part2")


def test_an_index_vector_is_an_input_with_levels_counted_from_zero() -> None:
    read = snippet("groups")
    assert read.model.variables["group"].domain.levels == axes(read, "alpha")[0]
    np.testing.assert_array_equal(read.data()["group"], [0, 2, 2, 1, 0])


def test_ragged_loops_are_a_long_plate_within_the_outer_one() -> None:
    read = snippet("ragged_pairs")
    (long,) = axes(read, "x")
    assert read.model.plates[long].within == axes(read, "rate")[0]
    np.testing.assert_array_equal(read.data()[f"i[{long}]"], [0, 0, 2, 2, 2])


def test_a_first_element_and_a_rule_are_a_series_on_an_ordered_plate() -> None:
    for name, variable in (("walk", "x"), ("hidden", "s"), ("markov", "z")):
        read = snippet(name)
        plate = read.model.plates[axes(read, variable)[-1]]
        assert plate.ordered
        assert f"first@{plate.name}" in read.model.variables


@pytest.mark.parametrize("name", ["entering_at_several_times", "all_released_at_once", "moving_after_a_first_state"])
def test_a_series_goes_on_from_cells_of_others(name: str) -> None:
    read = pw.read_bugs(*SNIPPETS[name])
    assert not read.read_from.report.unrolled
    assert [note for note in read.read_from.report.notes if "is a series along the ordered plate" in note]


@pytest.mark.parametrize(
    "rule, first",
    [
        ("z[i, t - 1] * phi[i]", "z[i, f[i] - 1]"),  # does not meet the steps that follow
        ("z[i, t - 2] * phi[i]", "z[i, f[i]]"),
        ("z[i, t - 1] * z[i, f[i]]", "z[i, f[i]]"),
        ("z[3 - i, t - 1] * phi[i]", "z[i, f[i]]"),
    ],
)
def test_what_is_not_the_cell_before_is_no_series(rule: str, first: str) -> None:
    text = f"""model {{ for (i in 1:2) {{ {first} <- 1
      for (t in (f[i] + 1):5) {{ z[i, t] ~ dbern({rule}) }} phi[i] ~ dunif(0, 1) }} }}"""
    try:
        read = pw.read_bugs(text, {"f": [2, 3]}).read_from
    except BugsError as refusal:
        assert "z[" in str(refusal)
    else:
        assert not [note for note in read.report.notes if "series" in note]


def test_a_longer_memory_is_unrolled_and_the_report_says_so() -> None:
    read = snippet("second_order")
    assert not read.report.is_plated
    assert "`x` over t (line 1): its cells depend on one another" in read.report.unrolled
    assert {"x_1", "x_2", "x_3", "x_4", "x_5"} <= set(read.model.variables)


def test_equal_priors_on_single_cells_are_one_variable() -> None:
    read = read_bugs("model { b[1] ~ dnorm(0, 1) b[2] ~ dnorm(0, 1) y ~ dnorm(b[1] - b[2], 1) }", {"y": 1})
    assert axes(read, "b") == ("b_axis",)
    assert read.model.plates["b_axis"].size == 2


def test_without_data_plates_stay_open() -> None:
    read = read_bugs(
        "model { for (i in 1:N) { y[i] ~ dnorm(alpha[g[i]] + b * x[i], tau) } for (k in 1:K) { alpha[k] ~ dnorm(0, 1) }"
        " b ~ dflat() tau ~ dgamma(1, 1) }"
    )
    assert read.model.plates["i"].size is None
    assert read.model.plates["k"].size is None
    assert read.model.variables["g"].domain.levels == "k"


def test_a_read_model_is_learned_like_any_other() -> None:
    text = "model { for (i in 1:N) { p[i] ~ dbeta(1, 1) r[i] ~ dbin(p[i], n[i]) } }"
    read = read_bugs(text, "list(N = 2, r = c(3, 0), n = c(10, 4))", model=pw.Model("rates"))
    fit = read.model.learn(read.data())
    np.testing.assert_allclose(fit["p"].mean, [4 / 12, 1 / 6])


def test_a_function_of_a_vector_is_taken_once_for_each_value_of_its_own_loops() -> None:
    text = """model { for (j in 1:2) { for (i in 1:3) {
        z[i, j] <- (x[i, j] - mean(x[, j])) / sd(x[, j]) + i * max(x[i, 1], x[i, 2]) + sum(x[1:i, j])
        y[i, j] ~ dnorm(z[i, j] + a, 1) } } a ~ dnorm(0, 1) }"""
    x = np.array([[1.0, 2.0], [4.0, 8.0], [5.0, 3.0]])
    read = read_bugs(text, {"x": x, "y": np.zeros((3, 2))})
    by_hand = [
        [
            (x[i, j] - x[:, j].mean()) / x[:, j].std(ddof=1) + (i + 1) * x[i].max() + x[: i + 1, j].sum()
            for j in range(2)
        ]
        for i in range(3)
    ]
    np.testing.assert_allclose(read.data()["z"], by_hand, rtol=1e-15)


def test_all_cells_of_an_array_are_found_where_they_live() -> None:
    text = """model { b[1] ~ dnorm(0, 1) for (k in 2:3) { b[k] ~ dnorm(b[1], 2) } y ~ dnorm(sum(b[]), 1) }"""
    read = read_bugs(text, {"y": 1.0})
    cells = read.cells("b")
    assert cells == {f"b[{k}]": read.cell(f"b[{k}]") for k in (1, 2, 3)}
    assert len(set(cells.values())) == 3


def test_a_few_sorted_unknowns_move_along_their_gradient() -> None:
    text = """model { for (k in 1:3) { a0[k] ~ dnorm(0, 1) } a[1:3] <- sort(a0[])
      for (i in 1:4) { for (j in 1:3) { logit(q[i, j]) <- a[j] - b * x[i] } p[i, 1] <- q[i, 1]
        for (j in 2:3) { p[i, j] <- q[i, j] - q[i, j - 1] } p[i, 4] <- 1 - q[i, 3]
        y[i] ~ dcat(p[i, ]) } b ~ dnorm(0, 1) }"""
    model = pw.read_bugs(text, {"x": [0, 1, 2, 3], "y": [1, 2, 3, 4]})
    fit = model.learn(model.read_from.data(), chains=1, warm_up=3, draws=4, backend="numpy")
    assert "{a0, b} Hamiltonian" in fit.how


@pytest.mark.parametrize("count", range(1, 8))
def test_pairs_put_any_order_right(count: int) -> None:
    from platewright.language.bugs.ordering import _pairs

    for start in itertools.product((0, 1), repeat=count):  # sorts all if it sorts zeros and ones
        found = list(start)
        for one, two in _pairs(count):
            found[one], found[two] = min(found[one], found[two]), max(found[one], found[two])
        assert found == sorted(start)


def test_a_predicted_count_has_a_largest_value() -> None:
    model = pw.read_bugs("model { for (i in 1:4) { z[i] ~ dbin(p, 20) } p ~ dbeta(2, 3) m <- max(z[]) }", {})
    fit = model.learn(model.read_from.data())
    assert 0 <= fit["m"].mean <= 20


def test_elements_that_no_row_looks_up_keep_their_prior() -> None:
    text = "model { for (k in 1:5) { x[k] ~ dnorm(0, 1) } for (k in 1:4) { y[k] ~ dnorm(x[k], 1) } }"
    model = pw.read_bugs(text, {"y": [1, 2, 3, 4]})
    fit = model.learn(model.read_from.data())
    np.testing.assert_allclose(fit["x"].mean, [0.5, 1, 1.5, 2, 0], atol=1e-12)
    np.testing.assert_allclose(fit.log_evidence, -2 * np.log(4 * np.pi) - 30 / 4)


def test_a_long_loop_that_leans_on_two_steps_stays_whole() -> None:
    read = snippet("leaning_on_two_before")
    assert not read.report.unrolled
    assert read.cell("b[30]") == ("b_part3", (27,))


def test_cells_are_found_by_their_bugs_names() -> None:
    read = snippet("corner")
    assert read.cell("a[1]") == ("a_1", ())
    assert read.cell("a[3]") == ("a_part2", (1,))
    assert read.cell("p[2,3]") == ("p", (1, 2))


def test_derived_quantities_outside_the_algebra_are_left_out_with_the_reason() -> None:
    read = read_bugs("model { x ~ dnorm(0, 1) r <- cdf.norm(x, 0, 1) }", {})
    assert read.report.dropped == {"r": "there is no function `cdf.norm` here (line 1)"}
    with pytest.raises(BugsError, match=r"no function `cdf\.norm`"):
        read.cell("r")


def test_rows_and_columns_fill_as_each_dialect_does() -> None:
    rows = parse_data("list(x = structure(.Data = c(1, 2, 3, 4, 5, NA), .Dim = c(2, 3)))")["x"]
    columns = parse_data('"x" <-\nstructure(c(1, 4, 2, 5, 3, NA), .Dim = as.integer(c(2, 3)))')["x"]
    np.testing.assert_array_equal(rows, [[1, 2, 3], [4, 5, np.nan]])
    np.testing.assert_array_equal(columns, rows)
    table = parse_data("list(n = 2)\nx[] z[,1] z[,2]\n1 2 3\n-4 5 1.0E-3\nEND\n")
    np.testing.assert_array_equal(table["z"], [[2, 3], [5, 1e-3]])
    np.testing.assert_array_equal(parse_data("y <- c(2:4, -1, 10L)")["y"], [2, 3, 4, -1, 10])


@pytest.mark.parametrize(
    "text", ["model{x<-1-2-3}", "model { x <- -a^2 * b / c }", "model { y[1,] ~ dcat(p[i-1, 1:3]) }"]
)
def test_printed_expressions_parse_to_the_same_tree(text: str) -> None:
    from platewright.language.bugs.printing import printed
    from platewright.language.bugs.syntax import Assignment

    (statement,) = parse(text).model
    if isinstance(statement, Assignment):
        (again,) = parse(f"model {{ x <- {printed(statement.value)} }}").model
        assert isinstance(again, Assignment) and again.value == statement.value
