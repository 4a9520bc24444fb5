"""The judge of random models against closed forms and one integral, where its grid is hardest to lay."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from independent.brute_force import BruteForce, Space

SHARE = Space((), low=0.0, high=1.0)


@pytest.mark.parametrize("ends", [(3.03, 0.86), (0.7, 0.6), (0.8, 4.0)])
@pytest.mark.parametrize("count", [0, 2, 4])
def test_a_density_may_be_infinite_at_an_end(ends: tuple[float, float], count: int) -> None:
    lines = ('n = m.plate("n")', f"m.q = pw.Beta({ends[0]}, {ends[1]})", "m.y = pw.Binomial(4, m.q, plates=n)")
    found = BruteForce(lines, {"y": np.array([count])}, {}, {"n": 1}, {"q": SHARE}).integrated(1e-8)
    assert found.log_evidence == pytest.approx(stats.betabinom.logpmf(count, 4, *ends), abs=1e-8)


def test_what_matters_may_lie_away_from_all_axes() -> None:
    """A number whose precision is unknown has a tail only where the precision is small."""
    lines = (
        'n = m.plate("n")', "m.a = pw.Exponential(rate=0.87)", "m.y = pw.Poisson(m.a, plates=n)",
        "m.w = pw.Normal(0.3, precision=m.a, plates=n)",
    )  # fmt: skip
    unknown = {"a": Space((), low=0.0), "w": Space((2,), known=np.array([np.nan, 1.94]))}
    found = BruteForce(lines, {"y": np.array([0, 0])}, {}, {"n": 2}, unknown).integrated(1e-6)

    def joint(a: float) -> float:
        return float(0.87 * np.exp(-2.87 * a) * stats.norm.pdf(1.94, 0.3, a**-0.5))

    assert found.log_evidence == pytest.approx(np.log(integrate.quad(joint, 0, 60, epsabs=1e-13)[0]), abs=1e-7)
