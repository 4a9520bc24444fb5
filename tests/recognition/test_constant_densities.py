"""An unknown that nothing holds: its prior is read off where a constant density is a distribution."""

from __future__ import annotations

import numpy as np
import pytest

import platewright as pw
from platewright.errors import PlatewrightError


def on_an_interval(m: pw.Model) -> object:
    m.p = pw.Beta(1, 1)
    return 0.5


def on_a_simplex(m: pw.Model) -> object:
    m.p = pw.Dirichlet(1.0, over=m.plate("k", 3))
    return [1 / 3] * 3


def flat_between_ends(m: pw.Model) -> object:
    m.p = pw.Flat(lower=0, upper=1)
    return 0.5


@pytest.mark.parametrize("write", [on_an_interval, on_a_simplex, flat_between_ends])
def test_a_constant_density_of_finite_volume_is_a_prior(write: object) -> None:
    m = pw.Model("no data")
    mean = write(m)  # type: ignore[operator]
    fit = m.learn({})
    assert fit.how.startswith("exact")
    np.testing.assert_allclose(fit["p"].mean, mean)
    assert fit.log_evidence == pytest.approx(0.0)
    assert m.derive().verify().passed


@pytest.mark.parametrize("lower", [None, 0.0])
def test_a_constant_density_on_endless_space_is_refused(lower: float | None) -> None:
    m = pw.Model("no data")
    m.p = pw.Flat() if lower is None else pw.Flat(lower=lower)
    with pytest.raises(PlatewrightError, match="no family with that support"):
        m.learn({}, by="exact")
