"""What a normal leaves when it is integrated out keeps its digits at any scale: chains once stayed at one of 1e-9."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import platewright as pw
from platewright.graph.graph import read_graph
from platewright.operation import Declined
from platewright.schemas import integrated
from platewright.schemas.gibbs import plan_gibbs
from schemas.mutation import Mutant, planted
from schemas.small_instance import log_joint

Y = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
SCALES = (1e-40, 1e-20, 1e-12, 1e-9, 1e-6, 1e-3, 1.0, 1e3, 1e6, 1e9)


def effects() -> pw.Model:
    """An effect for each row, of unknown spread, and noise of unknown size."""
    m = pw.Model("effects")
    row = m.plate("row")
    m.mu = pw.Normal(0, sd=5.0)
    m.tau = pw.HalfCauchy(5.0)
    m.sigma = pw.HalfCauchy(2.0)
    m.theta = pw.Normal(m.mu, sd=m.tau, plates=row)
    m.y = pw.Normal(m.theta, sd=m.sigma, plates=row)
    return m


def height(tau: float, sigma: float, mu: float = 3.0) -> tuple[float, float]:
    """The log density of the scales with the effects integrated out: as derived, and by the law of the sum."""
    plan = plan_gibbs(read_graph(effects(), ["y"]), "posterior")
    assert not isinstance(plan, Declined)
    (block,) = [block for block in plan.blocks if "tau" in block.variables]
    assert "theta" not in {name for factor in block.factors for name in factor.names}
    state = {"tau": np.array(tau), "sigma": np.array(sigma), "mu": np.array(mu), "y": Y}
    found = log_joint(block.factors, state, {"row": len(Y)})
    scales = stats.halfcauchy.logpdf(tau, scale=5.0) + stats.halfcauchy.logpdf(sigma, scale=2.0)
    wanted = scales + stats.norm.logpdf(mu, 0, 5) + stats.norm.logpdf(Y, mu, np.hypot(tau, sigma)).sum()
    return found, float(wanted)


def scales_law() -> None:
    start = height(1.0, 1.0)
    for tau in SCALES:
        for sigma in SCALES[2:]:
            found, wanted = height(tau, sigma)
            assert found - start[0] == pytest.approx(wanted - start[1], rel=1e-6, abs=1e-6), (tau, sigma)


def test_scales_of_any_size_keep_their_density() -> None:
    scales_law()


MUTANT = Mutant(
    "the normaliser stays as it is recognised",
    integrated._at_the_mean,
    'found.family.name != "Normal"',
    "True",
    scales_law,
)


def test_a_difference_of_large_squares_is_noticed() -> None:
    MUTANT.law()
    with planted(MUTANT), pytest.raises(AssertionError):
        MUTANT.law()
