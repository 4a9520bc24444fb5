"""Sweeps of the emitted C sampler keep the joint distribution of parameters and data, for every model (level 1e-5)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from platewright.backends.c_gibbs.gibbs import GibbsSource, gibbs_source
from platewright.family import Array
from platewright.run.samplers.native_gibbs import NativeGibbs, compiled_gibbs, integer_names
from platewright.schemas.gibbs import GibbsPlan
from schemas.joint_distribution import Verdict, compare
from schemas.small_instance import Case, Instance
from schemas.test_conditional_ratio import EVERY
from schemas.test_native_conditionals import QUICK, needs_compiler


def marked(case: Case) -> object:
    return pytest.param(case, id=case.name, marks=[] if case.name in QUICK else [pytest.mark.slow])


class Sweeper:
    """Four sweeps of C from the present values; the file is written once."""

    def __init__(self, build: Callable[..., NativeGibbs]) -> None:
        self.build = build
        self.source: GibbsSource | None = None

    def __call__(self, plan: GibbsPlan, small: Instance, generator: np.random.Generator) -> dict[str, Array]:
        """Unknowns after the sweeps."""
        self.source = self.source or gibbs_source(plan, integer_names(small.columns))
        chain = self.build(plan, small.columns, small.sizes, self.source).chain(small.hidden, generator)
        chain.run(4, 1)
        return chain.values


def compared(case: Case, rounds: int = 3, build: Callable[..., NativeGibbs] = compiled_gibbs) -> Verdict:
    return compare(case, Sweeper(build), rounds=rounds)


@needs_compiler
@pytest.mark.parametrize("case", [marked(case) for case in EVERY])
def test_a_sweep_in_c_keeps_the_joint_distribution(case: Case) -> None:
    found = compared(case)
    assert found.passed, found
