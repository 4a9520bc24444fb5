"""Few numbers and many, positive or not, have the logarithm of the same Gamma function."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
from scipy import special

from platewright.algebra.lgamma import FEW, lgamma


def test_it_is_that_of_scipy_for_few_and_for_many() -> None:
    x = np.concatenate([np.linspace(1e-3, 5, 2 * FEW), np.logspace(-300, 300, 20 * FEW), [1, 2, np.inf, 0.5]])
    assert lgamma(x) == pytest.approx(special.gammaln(x), rel=0, abs=0)
    for part in np.array_split(x, 40):
        assert part.size <= FEW
        np.testing.assert_allclose(lgamma(part), special.gammaln(part), rtol=2e-15, atol=2e-15)


def test_poles_and_what_is_no_number_are_those_of_scipy() -> None:
    x = np.array([[0.0, -1.0, -2.5], [np.nan, -np.inf, 3.0]])
    np.testing.assert_array_equal(lgamma(x), special.gammaln(x))


def test_few_numbers_do_not_load_scipy() -> None:
    code = "import sys, numpy; from platewright.algebra.lgamma import lgamma; lgamma(numpy.ones(3)); "
    said = subprocess.run(
        [sys.executable, "-c", code + "print('scipy' in sys.modules)"], capture_output=True, text=True
    )
    assert said.stdout.strip() == "False", said.stderr
