"""Which examples have rows that can be taken one at a time, and how to take some of their rows."""

from __future__ import annotations

from typing import Any

import numpy as np

import platewright as pw
from example_models import MAKERS

ONE_PLATE_OF_ROWS = (
    "coin",
    "normal_gamma",
    "normal_inverse_gamma",
    "regression",
    "groups",
    "normal_wishart",
    "normal_inverse_wishart",
    "many_outputs",
    "hierarchy",
    "hierarchy_of_scale",
    "bound",
    "direction",
    "exposure",
    "table",
    "crossed_in_a_long_table",
)
"""Examples whose data all lie on one plate, in any order."""


def example(name: str, rows: int = 30, seed: int = 5) -> tuple[pw.Model, dict[str, Any]]:
    """An example with its data as arrays."""
    model, data = MAKERS[name](np.random.default_rng(seed), rows)
    return model, {key: np.asarray(values) for key, values in data.items()}


def chosen(data: dict[str, Any], rows: Any) -> dict[str, Any]:
    """Some rows of all columns."""
    return {key: values[rows] for key, values in data.items()}


def same_posterior(one: Any, two: Any, tolerance: float = 1e-10) -> None:
    """Equal evidence, and equal closed marginals for all unknowns that have them."""
    np.testing.assert_allclose(one.log_evidence, two.log_evidence, rtol=tolerance, atol=tolerance)
    for name in one.posterior.unknown:
        left, right = one.posterior.marginal(name), two.posterior.marginal(name)
        assert (left is None) == (right is None)
        if left is None or right is None:
            continue
        assert left.family.name == right.family.name
        for key, value in left.parameters.items():
            scale = 1 + np.max(np.abs(value), initial=0)
            np.testing.assert_allclose(right.parameters[key], value, rtol=tolerance, atol=tolerance * scale)
