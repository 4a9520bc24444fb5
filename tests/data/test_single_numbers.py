"""A variable without plates has one value, and keeps no axis whatever type the value comes as."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import platewright as pw

ONES = {"int": 1, "float": 1.0, "array": np.array(1.0), "unsigned": np.uint64(1), "bool": True}


@pytest.mark.parametrize("kind", ONES)
def test_one_count_has_no_axis(kind: str, tmp_path: Path) -> None:
    m = pw.Model("single")
    m.x = pw.Normal(0, sd=1)
    m.z = pw.Bernoulli(pw.probit(m.x))
    m.w = pw.Poisson(pw.exp(m.x))
    data = {"z": ONES[kind], "w": ONES[kind]}
    fit = m.learn(data, draws=50, chains=1)
    assert fit.columns["z"].shape == fit.columns["w"].shape == ()
    fit.save(tmp_path / "single.fit")
    assert pw.load(tmp_path / "single.fit")["x"].mean == fit["x"].mean
    assert np.isfinite(m.learn(data, goal="map").log_joint)


def test_one_category_has_no_axis() -> None:
    m = pw.Model("single category")
    k = m.plate("k", 3)
    m.share = pw.Dirichlet(1.0, over=k)
    m.z = pw.Categorical(m.share)
    np.testing.assert_allclose(m.learn({"z": 1.0})["share"].mean, [0.25, 0.5, 0.25])
