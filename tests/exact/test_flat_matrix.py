"""A flat prior of a covariance or a precision: its mode is the estimate of maximum likelihood."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import platewright as pw
from laws.identity import check_identity
from platewright.errors import ImproperPosterior


def model(word: str, known_mean: bool) -> pw.Model:
    m = pw.Model("flat matrix")
    n, d = m.plate("n"), m.plate("d", 3)
    m.S = pw.Flat(over=d)
    mean: Any = [0.0, 0.0, 0.0]
    if not known_mean:
        m.mu = pw.Flat(plates=d)
        mean = m.mu
    m.y = pw.MultivariateNormal(mean, **{word: m.S}, over=d, plates=n)
    return m


@pytest.mark.parametrize("units", [1.0, 1e6])
@pytest.mark.parametrize("known_mean", [True, False])
@pytest.mark.parametrize("word", ["covariance", "precision"])
def test_the_mode_is_that_of_maximum_likelihood(word: str, known_mean: bool, units: float) -> None:
    rng = np.random.default_rng(2)
    y = rng.normal(size=(12, 3)) @ rng.normal(size=(3, 3)) * [units, 1.0, 1 / units]
    centred = y if known_mean else y - y.mean(axis=0)
    expected = centred.T @ centred / 12
    expected = expected if word == "covariance" else np.linalg.inv(expected)
    found = model(word, known_mean).learn({"y": y}, goal="map")["S"].value
    np.testing.assert_allclose(found, expected, rtol=1e-7)
    check_identity(model(word, known_mean).learn({"y": y}))


def test_too_few_rows_are_refused_and_counted() -> None:
    y = np.random.default_rng(3).normal(size=(20, 3))
    for rows, more in ((2, 2), (3, 1)):
        with pytest.raises(ImproperPosterior, match=rf"at least {more} more"):
            model("precision", known_mean=False).learn({"y": y[:rows]})
    assert model("precision", known_mean=False).learn({"y": y[:4]}).log_evidence
    for rows, more in ((2, 5), (6, 1)):
        with pytest.raises(ImproperPosterior, match=rf"at least {more} more"):
            model("covariance", known_mean=True).learn({"y": y[:rows]})
