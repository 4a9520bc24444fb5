"""The table of posteriors."""

from __future__ import annotations

import json

import numpy as np
import pytest

import platewright as pw
from platewright.run.results.significance import alike
from platewright.run.results.summary import summary, summary_html
from shown_models import MAKERS, NAMES, coin, made, network, regression, table, vectors

GOLDEN = """\
coin: exact, log evidence -7.0495

name   family   mean     sd     5%    50%    95%
theta  Beta    0.654  0.127  0.431  0.662  0.849"""


def test_the_table_of_a_coin() -> None:
    model, _ = made(coin)
    assert str(summary(model.learn({"heads": [1, 0, 1, 1, 0, 1, 1, 1, 0, 1]}))) == GOLDEN


@pytest.mark.parametrize("maker", MAKERS, ids=NAMES)
def test_every_unknown_has_a_row_and_quantiles_rise(maker: object) -> None:
    model, data = made(maker)  # type: ignore[arg-type]
    fit = model.learn(data)
    found = summary(fit)
    assert {row.name.partition("[")[0] for row in found.rows} >= set(fit.posterior.unknown)
    for row in found.rows:
        assert np.isfinite(row.mean)
        assert row.low <= row.middle <= row.high
    json.dumps(found.to_dict(), allow_nan=False)


def test_elements_bear_the_labels_of_their_plates() -> None:
    model, data = made(regression)
    names = [row.name for row in summary(model.learn(data)).rows]
    assert names == ["tau", "w[age]", "w[size]", "w[height]"]
    model, data = made(table)
    assert "theta[1, high]" in [row.name for row in summary(model.learn(data)).rows]


def test_numbers_from_draws_are_said_to_be() -> None:
    model, data = made(vectors)
    assert any(note.startswith("S: quantiles from") for note in summary(model.learn(data)).notes)
    model, data = made(network)
    assert any("all numbers from 4000 draws" in note for note in summary(model.learn(data)).notes)


def test_a_long_array_is_shown_by_its_ends() -> None:
    m = pw.Model("many")
    k = m.plate("k", 1000)
    m.mu = pw.Normal(0, sd=1, plates=k)
    m.x = pw.Normal(m.mu, sd=1, plates=k)
    fit = m.learn({"x": np.zeros(1000)})
    found = summary(fit)
    assert [row.name for row in found.rows[-4:]] == ["...", "mu[997]", "mu[998]", "mu[999]"]
    assert found.notes == ("mu: 11 of 1,000 elements shown",)
    assert len(found.to_pandas()) == 11
    assert len(summary(fit, most=None).rows) == 1000


def test_names_are_escaped_in_html() -> None:
    m = pw.Model("<b>")
    k = m.plate("k", labels=["<script>", "&"])
    m.mu = pw.Normal(0, sd=1, plates=k)
    m.x = pw.Normal(m.mu, sd=1, plates=k)
    page = summary_html(m.learn({"x": [0.0, 1.0]}))
    assert "<script>" not in page and "&lt;script&gt;" in page and "<b>" not in page


def test_digits_follow_the_spread() -> None:
    assert alike((1.23456, 0.0123), 0.0123) == ("1.2346", "0.0123")
    assert alike((1.7e12, 1.0), 1.0) == ("1700000000000", "1")
    assert alike((-1e-9, 0.5), 0.5) == ("0.000", "0.500")
    assert alike((float("nan"), float("inf")), 0.5) == ("", "inf")


def test_the_frame_has_a_row_for_each_element() -> None:
    pytest.importorskip("pandas")
    model, data = made(regression)
    frame = summary(model.learn(data)).to_pandas()
    assert list(frame.columns) == ["family", "mean", "sd", "5%", "50%", "95%"]
    assert frame.loc["w[age]", "family"] == "StudentT"


def test_a_note_about_several_unknowns_is_told_once() -> None:
    m = pw.Model("two means")
    row = m.plate("row")
    m.a = pw.Normal(0, sd=1)
    m.b = pw.Normal(0, sd=1)
    m.y = pw.Normal(m.a + m.b, sd=1, plates=row)
    fit = m.learn({"y": [1.0, 2.0]}, by="gibbs", chains=2, draws=20, warm_up=5, backend="numpy")
    assert [note for note in fit.summary().notes if "all numbers" in note] == ["a, b: all numbers from 40 draws"]
