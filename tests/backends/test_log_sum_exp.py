"""The sums of logs and of groups that emitted NumPy carries along, beside SciPy and tables of indicators."""

from __future__ import annotations

import numpy as np
from scipy import special

from platewright.backends.numpy.support import grouped, log_sum_exp


def test_logs_of_sums_are_those_of_scipy_where_they_are_finite_and_where_not() -> None:
    generator = np.random.default_rng(0)
    for shape in ((5,), (7, 1), (50, 3), (4, 5, 6)):
        logs = 300 * generator.normal(size=shape)
        np.testing.assert_allclose(log_sum_exp(logs), special.logsumexp(logs, axis=-1), rtol=1e-14)
    inf = np.inf
    odd = np.array([[-inf, -inf], [1.0, inf], [np.nan, 1.0], [1e308, 1e308], [-inf, 3.0], [-1e300, -1e300]])
    np.testing.assert_array_equal(log_sum_exp(odd), special.logsumexp(odd, axis=-1))


def test_sums_of_groups_with_a_code_for_each_position_are_those_of_indicators() -> None:
    generator = np.random.default_rng(1)
    codes, weights = generator.integers(0, 4, (30, 5)), generator.random((30, 2))
    wide = np.broadcast_to(weights[:, None, :], (30, 5, 2))
    found = grouped((np.arange(5), codes), (5, 4), wide)
    indicator = (codes[:, :, None] == np.arange(4)).astype(float)
    np.testing.assert_allclose(found, np.einsum("njv,nk->jvk", indicator, weights), rtol=1e-13)
    np.testing.assert_array_equal(grouped((np.arange(5), codes), (5, 4)), indicator.sum(axis=0))
    np.testing.assert_allclose(
        grouped((codes[:, 0],), (4,), weights[:, 0]), np.bincount(codes[:, 0], weights[:, 0], minlength=4), rtol=1e-14
    )
