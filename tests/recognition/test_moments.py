"""Expected statistics come from the log normaliser alone (Lemma 4.2): checked against draws of every family."""

from __future__ import annotations

import numpy as np
import pytest

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import free_indices
from platewright.families import FAMILIES
from platewright.family import EVENT, EVENT_TOO, Family
from platewright.recognition.moments import expected_statistics

RECOGNISED = [family for family in FAMILIES if family.from_natural is not None]
MATRIX = np.array([[2.0, 0.3], [0.3, 1.5]])
SETTINGS = {
    "Beta": {"a": 2.0, "b": 3.5},
    "Dirichlet": {"concentration": np.array([1.5, 4.0])},
    "Gamma": {"shape": 3.0, "rate": 2.0},
    "Geometric": {"p": 0.3},
    "InverseWishart": {"degrees": 7.0, "scale": MATRIX},
    "Normal": {"mean": 1.5, "precision": 2.0},
    "Pareto": {"shape": 6.0, "scale": 2.0},
    "Poisson": {"rate": 2.5},
    "VonMises": {"mean": 0.7, "concentration": 1.8},
    "Wishart": {"degrees": 7.0, "inverse_scale": MATRIX},
}


def draws(family: Family, parameters: dict[str, np.ndarray], count: int) -> np.ndarray:
    assert family.draw is not None
    return family.draw(np.random.default_rng(3), parameters, (count, *(2,) * family.rank))


def environment(family: Family) -> tuple[Environment, dict[str, np.ndarray]]:
    parameters = {name: np.asarray(value) for name, value in SETTINGS[family.name].items()}
    values = {**parameters, "lower": parameters.get("scale", np.zeros(()))}
    return Environment(values, {"event": 2}), parameters


@pytest.mark.parametrize("family", RECOGNISED, ids=lambda family: family.name)
def test_expected_statistics_agree_with_draws(family: Family) -> None:
    here, parameters = environment(family)
    count = 40_000
    sample = draws(family, parameters, count)
    for statistic, moment in zip(family.statistics, expected_statistics(family), strict=True):
        axes = tuple(axis for axis in (EVENT, EVENT_TOO) if axis in free_indices(statistic))
        expected = evaluate(moment, here, axes)
        values = np.array([evaluate(statistic, here.with_values({"x": x}), axes) for x in sample[:4000]])
        error = values.std(axis=0) / np.sqrt(len(values))
        assert (np.abs(values.mean(axis=0) - expected) < 5 * error + 1e-9).all()
