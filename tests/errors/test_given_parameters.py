"""Parameters that come from columns: what the family does not allow is refused, and named by its row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import platewright as pw
from platewright.errors import SupportError


def trials() -> pw.Model:
    m = pw.Model("trials")
    row = m.plate("row")
    m.n = pw.Input(plates=row)
    m.p = pw.Beta(1, 1)
    m.y = pw.Binomial(m.n, m.p, plates=row)
    return m


def votes() -> pw.Model:
    m = pw.Model("votes")
    row, k = m.plate("row"), m.plate("k", 3)
    m.n = pw.Input(plates=row)
    m.p = pw.Dirichlet(1, over=k)
    m.y = pw.Multinomial(m.n, m.p, over=k, plates=row)
    return m


def readings() -> pw.Model:
    m = pw.Model("readings")
    row = m.plate("row")
    m.w = pw.Input(plates=row)
    m.p = pw.Normal(0, sd=1)
    m.y = pw.Normal(m.p, precision=2 * m.w, plates=row)
    return m


def errors() -> pw.Model:
    m = pw.Model("errors")
    row = m.plate("row")
    m.se = pw.Input(plates=row)
    m.p = pw.Normal(0, sd=1)
    m.y = pw.Normal(m.p, sd=m.se, plates=row)
    return m


BAD = [
    (trials, {"n": [3, 3.5, 4], "y": [1, 1, 1]}, ("count of `y` is 3.5", "row 1")),
    (trials, {"n": [3, -3, 4], "y": [1, 0, 1]}, ("count of `y` is -3", "row 1")),
    (trials, {"n": [3, 2, 4], "y": [1, 1, 5]}, ("`y` is 5", "row 2", "at most its count")),
    (votes, {"n": [3, 4], "y": [[1, 1, 1], [1, 1, 1]]}, ("`y` sums to 3", "row 1")),
    (readings, {"w": [1.0, -1.0], "y": [1.0, 2.0]}, ("precision of `y` is -2", "row 1")),
    (readings, {"w": [0.0, 1.0], "y": [1.0, 2.0]}, ("precision of `y` is 0", "row 0")),
    (errors, {"se": [1.0, 0.0], "y": [1.0, 2.0]}, ("sd of `y` is 0", "row 1")),
]


@pytest.mark.parametrize("by", ["exact", "gibbs"])
@pytest.mark.parametrize(("build", "data", "words"), BAD, ids=range(len(BAD)))
def test_a_parameter_out_of_range_is_named(
    build: Callable[[], pw.Model], data: dict[str, object], words: tuple[str, ...], by: str
) -> None:
    with pytest.raises(SupportError) as caught:
        build().learn(data, by=by)
    assert all(word in str(caught.value) for word in words)


def test_the_edges_of_the_range_are_allowed() -> None:
    fit = trials().learn({"n": [0, 3, 3], "y": [0, 0, 3]})
    assert fit["p"].parameters["a"] == 4 and fit["p"].parameters["b"] == 4
    votes().learn({"n": [0, 3], "y": [[0, 0, 0], [1, 1, 1]]})


def test_a_missing_count_drops_out_whatever_its_trials() -> None:
    fit = trials().learn({"n": [2, 3, 1], "y": [np.nan, 3, np.nan]})
    alone = trials().learn({"n": [3], "y": [3]})
    assert fit["p"].parameters["a"] == 4 and fit["p"].parameters["b"] == 1
    assert fit.log_evidence == pytest.approx(alone.log_evidence, abs=1e-12)


def test_a_table_looked_up_by_a_code_with_holes_is_no_table_of_wrong_sums() -> None:
    m = pw.Model("holes")
    row, k, j = m.plate("row"), m.plate("k", 2), m.plate("j", 2)
    m.p = pw.Input(plates=(j, k))
    m.q = pw.Beta(1, 1)
    m.a = pw.Categorical(pw.array([0.5, 0.5], over=j), plates=row)
    m.b = pw.Categorical(m.p[m.a], plates=row)
    m.y = pw.Bernoulli(m.q, plates=row)
    data = {"p": [[0.9, 0.1], [0.2, 0.8]], "a": [0, None, 1], "b": [0, 1, 1], "y": [1, 0, 1]}
    assert 0.5 < float(m.learn(data)["q"].mean) < 0.7
    with pytest.raises(SupportError, match="sum to"):
        m.learn({**data, "a": [0, 1, 1], "p": [[0.9, 0.3], [0.2, 0.8]]})
