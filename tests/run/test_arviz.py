"""Fits as ArviZ trees."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest

import platewright as pw
from platewright.errors import MissingExtra
from platewright.run.results.arviz import to_arviz
from shown_models import MAKERS, NAMES, coin, groups, made, vectors


@pytest.mark.parametrize("maker", MAKERS, ids=NAMES)
def test_draws_are_one_chain_with_an_axis_for_each_plate(maker: object) -> None:
    pytest.importorskip("arviz_base")
    model, data = made(maker)  # type: ignore[arg-type]
    fit = model.learn(data)
    tree = to_arviz(fit, 20, 3)
    for name, values in fit.draws(20, 3).items():
        assert tree["posterior"][name].shape == (1, *values.shape)
        assert np.array_equal(tree["posterior"][name].values[0], values)


def test_labels_of_plates_are_coordinates() -> None:
    pytest.importorskip("arviz_base")
    model, data = made(groups)
    tree = to_arviz(model.learn(data), 10)
    assert tree["posterior"]["th"].dims == ("chain", "draw", "group")
    assert list(tree["posterior"].coords["group"].values) == ["a", "b", "c"]
    assert tree["observed_data"]["y"].dims == ("row",)


def test_both_axes_of_a_matrix_have_names() -> None:
    pytest.importorskip("arviz_base")
    model, data = made(vectors)
    assert to_arviz(model.learn(data), 10)["posterior"]["S"].dims == ("chain", "draw", "d", "d_too")


def test_a_plate_called_draw_does_no_harm() -> None:
    pytest.importorskip("arviz_base")
    m = pw.Model("clash")
    plate = m.plate("chain", 2)
    m.mu = pw.Normal(0, sd=1, plates=plate)
    m.x = pw.Normal(m.mu, sd=1, plates=plate)
    assert to_arviz(m.learn({"x": [0.0, 1.0]}), 5)["posterior"]["mu"].dims == ("chain", "draw", "chain_plate")


def test_without_arviz_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    real = builtins.__import__

    def without_arviz(name: str, *rest: Any) -> Any:
        if name == "arviz_base":
            raise ImportError(name)
        return real(name, *rest)

    model, data = made(coin)
    fit = model.learn(data)
    monkeypatch.setattr(builtins, "__import__", without_arviz)
    with pytest.raises(MissingExtra, match=r"platewright\[arviz\]"):
        to_arviz(fit, 5)
