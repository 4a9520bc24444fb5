"""A sampling plan proves the densities and gradients that its moves follow, and a planted defect is found out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from platewright.program.program import EVIDENCE
from platewright.run.checks.simulating import small_data
from platewright.run.checks.verifying_moves import verify_moves
from platewright.schemas.blocks import ExactBlock, HamiltonianBlock, WeighedBlock
from platewright.schemas.gibbs import GibbsPlan, plan_gibbs
from schemas import coupled, sequences
from schemas.small_instance import Case
from schemas.switches import SWITCHES
from schemas.test_sites import TIED

CASES = (*coupled.COUPLED, *sequences.CHAINS, TIED)


def planned(case: Case) -> GibbsPlan:
    plan = plan_gibbs(case.graph, "posterior")
    assert isinstance(plan, GibbsPlan)
    return plan


def moved(plan: GibbsPlan) -> list:
    """Blocks without a closed form that hold all unknowns they depend on."""
    return [b for b in plan.blocks if not isinstance(b, ExactBlock) and not getattr(b, "without", ())]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_move_has_a_law_that_holds(case: Case) -> None:
    plan = planned(case)
    found = {law.name for law in plan_laws(plan)}
    assert all(law.passed for law in plan_laws(plan))
    for block in moved(plan):
        assert f"log density of {', '.join(block.variables)}" in found
        if isinstance(block, HamiltonianBlock):
            assert f"gradient of {', '.join(block.variables)}" in found


def plan_laws(plan: GibbsPlan, seed: int = 0) -> tuple:
    values, sizes = small_data(plan.graph, seed)
    return verify_moves(plan, values, sizes, seed)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_lost_factor_is_found_out(case: Case) -> None:
    plan = planned(case)
    for at, block in enumerate(plan.blocks):
        if block not in moved(plan) or not block.factors:
            continue
        lost = replace(block, factors=block.factors[:-1])
        blocks = (*plan.blocks[:at], lost, *plan.blocks[at + 1 :])
        assert not all(law.passed for law in plan_laws(replace(plan, blocks=blocks)))


@pytest.mark.parametrize(
    "case", [c for c in CASES if any(isinstance(b, HamiltonianBlock) for b in planned(c).blocks)], ids=str
)
def test_a_slope_that_is_a_little_off_is_found_out(case: Case) -> None:
    plan = planned(case)
    for at, block in enumerate(plan.blocks):
        if not isinstance(block, HamiltonianBlock):
            continue
        first = replace(block.slopes[0], expression=1.01 * block.slopes[0].expression)
        wrong = replace(block, slopes=(first, *block.slopes[1:]))
        laws = plan_laws(replace(plan, blocks=(*plan.blocks[:at], wrong, *plan.blocks[at + 1 :])))
        assert [law.name for law in laws if not law.passed] == [f"gradient of {', '.join(block.variables)}"]


@pytest.mark.parametrize("case", SWITCHES, ids=str)
def test_what_a_value_weighs_is_proved(case: Case) -> None:
    plan = planned(case)
    (at,) = [number for number, block in enumerate(plan.blocks) if isinstance(block, WeighedBlock)]
    block = plan.blocks[at]
    name = f"log density of {', '.join(block.variables)}"
    assert [law.passed for law in plan_laws(plan) if law.name == name] == [True]
    program = block.plan.program
    halved = [replace(one, expression=0.5 * one.expression) if one.name == EVIDENCE else one for one in program.body]
    wrong = replace(block, plan=replace(block.plan, program=replace(program, body=tuple(halved))))
    blocks = (*plan.blocks[:at], wrong, *plan.blocks[at + 1 :])
    assert [law.passed for law in plan_laws(replace(plan, blocks=blocks)) if law.name == name] == [False]
