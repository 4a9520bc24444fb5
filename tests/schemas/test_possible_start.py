"""A start that the model allows: factors that no search looks at are finite at any start, and the search finds one."""

from __future__ import annotations

import numpy as np
import pytest

import platewright as pw
from platewright.algebra.evaluate import Environment, evaluate
from platewright.run.samplers import possible_state as searching
from platewright.run.samplers.possible_state import possible_state
from platewright.run.samplers.starting import starting_values
from platewright.schemas.doubtful import doubtful_factors
from platewright.schemas.gibbs import GibbsPlan, plan_gibbs
from schemas.small_instance import Case, instance
from schemas.test_conditional_ratio import EVERY


def is_possible(factors: object, environment: Environment) -> bool:
    with np.errstate(all="ignore"):
        return all(np.isfinite(evaluate(f.expression, environment, f.axes)).all() for f in factors)  # type: ignore[attr-defined]


@pytest.mark.parametrize("case", EVERY, ids=lambda case: case.name)
def test_factors_without_doubt_are_finite_at_any_start(case: Case) -> None:
    plan = plan_gibbs(case.graph, "posterior")
    assert isinstance(plan, GibbsPlan)
    wanted = list(dict.fromkeys(name for block in plan.blocks for name in block.variables))
    doubtful = doubtful_factors(plan.graph, plan.factors, wanted)
    sure = [factor for factor in plan.factors if factor not in doubtful]
    small = instance(case, 0)
    for seed in range(20):
        start = starting_values(plan.graph, wanted, small.sizes, np.random.default_rng(seed))
        assert is_possible(sure, Environment({**small.columns, **start}, small.sizes))


def trials() -> pw.Model:
    m = pw.Model("unknown numbers of trials")
    n = m.plate("n")
    m.rate = pw.Gamma(2, rate=0.1)
    m.tries = pw.Poisson(m.rate, plates=n)
    m.hits = pw.Binomial(m.tries, 0.5, plates=n)
    return m


def state(seed: int) -> tuple[bool, bool]:
    """Whether the start is possible, before the search and after it."""
    plan = plan_gibbs(trials().derive(["hits"], by="gibbs").plan.graph, "posterior")
    assert isinstance(plan, GibbsPlan)
    columns, sizes = {"hits": np.array([0, 9, 40])}, {"n": 3}
    generator = np.random.default_rng(seed)
    wanted = list(dict.fromkeys(name for block in plan.blocks for name in block.variables))
    start = starting_values(plan.graph, wanted, sizes, generator)
    found = possible_state(plan.graph, plan.factors, columns, sizes, start, generator)
    return tuple(is_possible(plan.factors, Environment({**columns, **v}, sizes)) for v in (start, found))  # type: ignore[return-value]


def test_the_search_finds_a_possible_state(monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(5):
        assert state(seed) == (False, True)
    monkeypatch.setattr(searching, "doubtful_factors", lambda *_: ())
    assert state(0) == (False, False)
