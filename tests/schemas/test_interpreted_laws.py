"""The laws of emitted C hold when it is interpreted too: its conditionals are NumPy's, its sweeps keep the joint."""

from __future__ import annotations

import pytest

from platewright.run.samplers.native_choice import interpreted_gibbs
from schemas.small_instance import Case
from schemas.test_conditional_ratio import EVERY
from schemas.test_native_conditionals import QUICK, check_case, needs_compiler
from schemas.test_native_joint_distribution import compared


@needs_compiler
@pytest.mark.parametrize("case", EVERY, ids=str)
def test_interpreted_c_computes_the_conditionals_of_numpy(case: Case) -> None:
    check_case(case, seeds=2, build=interpreted_gibbs)


@needs_compiler
@pytest.mark.parametrize("case", [case for case in EVERY if case.name in QUICK], ids=str)
def test_an_interpreted_sweep_keeps_the_joint_distribution(case: Case) -> None:
    found = compared(case, rounds=2, build=interpreted_gibbs)
    assert found.passed, found
