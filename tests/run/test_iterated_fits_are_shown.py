"""Estimates and samples, too, have a table, a page and, where they have draws, a tree."""

from __future__ import annotations

import numpy as np
import pytest

import platewright as pw
from platewright.run.results.arviz import to_arviz
from platewright.run.results.report import report
from platewright.run.results.summary import summary


def mixture() -> tuple[pw.Model, dict[str, object]]:
    m = pw.Model("mixture")
    row, k = m.plate("row"), m.plate("k", 2)
    m.share = pw.Dirichlet(2.0, over=k)
    m.mu = pw.Normal(0, sd=5, plates=k)
    m.z = pw.Categorical(m.share, plates=row)
    m.x = pw.Normal(m.mu[m.z], sd=1, plates=row)
    rng = np.random.default_rng(1)
    return m, {"x": np.concatenate([rng.normal(-4, 1, 30), rng.normal(4, 1, 30)])}


def test_an_estimate_has_values_without_spread() -> None:
    model, data = mixture()
    fit = model.learn(data, goal="map")
    found = summary(fit)
    assert {row.family for row in found.rows} == {"estimate"}
    assert "log joint" in found.title and "nan" not in str(found)
    assert "What was learned" in report(fit.derivation, fit)
    assert "posterior" in to_arviz(fit).children  # about the estimate


def test_samples_keep_their_chains() -> None:
    model, data = mixture()
    fit = model.learn(data, by="gibbs", chains=2, draws=50, warm_up=20)
    assert any("from 100 draws" in note for note in summary(fit).notes)
    assert "What was learned" in report(fit.derivation, fit)
    pytest.importorskip("arviz_base")
    assert to_arviz(fit)["posterior"]["mu"].shape == (2, 50, 2)
