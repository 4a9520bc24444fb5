"""Coordinates without constraints: the way there and back, the volume and the slopes, against differences."""

from __future__ import annotations

import numpy as np
import pytest

from platewright.algebra.domain import CIRCLE, MATRIX, POSITIVE, REAL, SIMPLEX, UNIT, Domain
from platewright.algebra.expression import Index
from platewright.language.variable import Variable
from platewright.run.samplers.unconstrained import unconstrained

G, D = Index("g", "g"), Index("d", "d")
SIZES = {"g": 2, "d": 3}
D2 = Index("d'", "d")
NODES = (
    Variable("real", "random", (G,), REAL),
    Variable("positive", "random", (G,), POSITIVE),
    Variable("below", "random", (), Domain("real", upper=2.0)),
    Variable("unit", "random", (G,), UNIT),
    Variable("range", "random", (), Domain("real", -1.0, 4.0)),
    Variable("ranges", "random", (G, D), Domain("real", -1.0, 4.0)),
    Variable("above", "random", (G,), Domain("real", lower=1.5)),
    Variable("belows", "random", (D,), Domain("real", upper=-0.5)),
    Variable("circles", "random", (G,), CIRCLE),
    Variable("shares", "random", (G, D), SIMPLEX, rank=1),
    Variable("matrix", "random", (G, D, D2), MATRIX, rank=2),
)


def point(seed: int) -> np.ndarray:
    return 0.5 * np.random.default_rng(seed).standard_normal(unconstrained(NODES, SIZES).size)


def test_there_and_back() -> None:
    chart = unconstrained(NODES, SIZES)
    free = point(0)
    assert chart.free(chart.values(free)[0]) == pytest.approx(free, abs=1e-10)


@pytest.mark.parametrize("node", NODES, ids=lambda node: node.name)
def test_the_volume_is_the_determinant_of_the_slopes(node: Variable) -> None:
    chart = unconstrained((node,), SIZES)
    free = 0.5 * np.random.default_rng(3).standard_normal(chart.size)

    def independent(at: np.ndarray) -> np.ndarray:
        value = chart.values(at)[0][node.name]
        if node.domain.kind == "simplex":
            return np.ravel(value[..., :-1])
        if node.domain.kind == "matrix":
            rows, columns = np.tril_indices(value.shape[-1])
            return np.ravel(value[..., rows, columns])
        return np.ravel(value)

    step = 1e-6
    slopes = [(independent(free + h) - independent(free - h)) / (2 * step) for h in step * np.eye(len(free))]
    assert chart.values(free)[1] == pytest.approx(np.linalg.slogdet(np.array(slopes))[1], abs=1e-6)


def test_gradients_follow_the_chain_rule() -> None:
    chart = unconstrained(NODES, SIZES)
    free = point(1)
    weights = {name: np.random.default_rng(5).standard_normal(np.shape(v)) for name, v in chart.values(free)[0].items()}

    def function(at: np.ndarray) -> float:
        values, volume = chart.values(at)
        return sum(float(np.sum(weights[name] * np.sin(values[name]))) for name in values) + volume

    values, _ = chart.values(free)
    slopes = {name: weights[name] * np.cos(value) for name, value in values.items()}
    step = 1e-6
    found = [(function(free + h) - function(free - h)) / (2 * step) for h in step * np.eye(len(free))]
    assert chart.gradient(free, values, slopes) == pytest.approx(np.array(found), abs=1e-7)
