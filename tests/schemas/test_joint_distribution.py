"""Sweeps keep the joint distribution of parameters and data, for every model (level 1e-5)."""

from __future__ import annotations

import pytest

from schemas.joint_distribution import compare
from schemas.small_instance import Case
from schemas.test_conditional_ratio import EVERY

QUICK = (
    "conjugate_precisions",
    "poissons",
    "topics",
    "counts",
    "mean_and_scale",
    "two_exponents",
    "logistic_weights",
    "conjugate_scale",
    "hidden_count",
    "two_steps",
)
"""One of each kind of block; the others take longer together."""


def _marked(case: Case) -> object:
    return pytest.param(case, id=case.name, marks=[] if case.name in QUICK else [pytest.mark.slow])


@pytest.mark.parametrize("case", [_marked(case) for case in EVERY])
def test_a_sweep_keeps_the_joint_distribution(case: Case) -> None:
    found = compare(case)
    assert found.passed, found
