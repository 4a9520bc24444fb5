"""A hidden series of no rows: everything else keeps its prior, whoever runs it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import platewright as pw

EMPTY = {"y": np.zeros(0)}


def level(noise: bool, slope: bool = False) -> pw.Model:
    m = pw.Model("level")
    step = m.plate("step", ordered=True)
    if slope:
        m.a = pw.Normal(1.0, sd=0.5)
    m.s = pw.Gamma(2.0, rate=2.0)
    m.x = pw.Normal((m.a if slope else 1.0) * m.lag("x"), sd=1.0, start=pw.Normal(0.0, sd=1.0), plates=step)
    m.y = pw.Normal(m.x, sd=m.s if noise else 0.5, plates=step)
    return m


@pytest.mark.parametrize("goal", ["posterior", "map"])
def test_the_closed_form_has_the_evidence_of_no_data(goal: Any) -> None:
    m = pw.Model("walk")
    m.x = pw.Normal(m.lag("x"), sd=1.0, start=pw.Normal(0.0, sd=1.0), plates=m.plate("step", ordered=True))
    m.y = pw.Normal(m.x, sd=0.5, plates=m.plates["step"])
    fit = m.learn(EMPTY, goal)
    assert (fit.log_evidence if goal == "posterior" else fit.log_joint) == 0.0
    assert np.shape(fit["x"].value if goal == "map" else fit["x"].mean) == (0,)


@pytest.mark.parametrize("slope", [False, True], ids=["fixed", "slope"])
@pytest.mark.parametrize(("backend", "draws"), [("numpy", 15), ("c", 2000)])
def test_samplers_draw_the_prior(backend: str, draws: int, slope: bool) -> None:
    fit = level(True, slope).learn(EMPTY, by="gibbs", backend=backend, draws=draws, warm_up=draws)
    for name, mean, sd in (("s", 1.0, 0.5**0.5), ("a", 1.0, 0.5))[: 1 + slope]:
        error = sd / np.sqrt(fit.diagnostics()[name]["effective_size"])
        assert abs(fit[name].mean - mean) < 5 * error, name
        assert backend == "numpy" or fit[name].sd == pytest.approx(sd, rel=0.1)
    assert fit.chains["x"].shape == (4, draws, 0)


def test_a_plate_of_which_nobody_knows_the_size_is_told() -> None:
    m = pw.Model("two plates")
    m.a = pw.Normal(0.0, sd=1.0)
    m.q = pw.Normal(m.a, sd=2.0, plates=m.plate("g"))
    m.y = pw.Normal(m.a, sd=1.0, plates=m.plate("row"))
    fit = m.learn({"y": [1.0, 2.0]})
    assert any(note.startswith("q: no size") for note in fit.summary().notes)
    with pytest.raises(pw.errors.UnknownName, match="nobody said how large `g` is"):
        fit["q"]
