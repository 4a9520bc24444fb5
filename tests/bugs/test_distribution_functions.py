"""Densities and distribution functions as functions: the same numbers as SciPy's, inside the support and outside."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bugs.direct import COUNTS, _law
from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Constant, Reference
from platewright.language.bugs.bounds import CUMULATIVE
from platewright.language.bugs.densities import FORMS
from platewright.language.bugs.distribution_functions import function_of

ARGUMENTS: dict[str, tuple[float, ...]] = {
    "dnorm": (0.3, 2.0), "dlnorm": (0.3, 2.0), "dgamma": (2.5, 1.5), "dinvgamma": (2.5, 1.5), "dbeta": (2.0, 3.5),
    "dexp": (1.5,), "dweib": (1.7, 0.8), "dt": (0.2, 1.5, 4.0),
    "ddexp": (0.2, 1.5), "dlogis": (0.2, 1.5), "dpar": (2.5, 0.4),
    "dunif": (-0.5, 1.5), "dchisqr": (3.0,), "dggamma": (1.5, 0.8, 1.3), "dbern": (0.3,), "dbin": (0.3, 4.0),
    "dpois": (1.7,), "dnegbin": (0.4, 2.0), "dgeom": (0.4,), "dgeom0": (0.4,),
}  # fmt: skip


def value(word: str, x: float, *numbers: float) -> float:
    found = function_of(word)
    assert found is not None
    count, function = found
    assert count == 1 + len(numbers)
    with np.errstate(all="ignore"):
        expression = function(Reference("x"), *map(Constant, numbers))
        return float(evaluate(expression, Environment({"x": np.asarray(x)})))


@pytest.mark.parametrize("name", ARGUMENTS)
def test_a_density_is_that_of_scipy(name: str) -> None:
    law = _law(name, list(ARGUMENTS[name]))
    for x in (1.0, 2.0 - (name == "dbern")) if name in COUNTS else (-0.7, 0.45, 0.8, 2.2):
        expected = law.logpmf(x) if name in COUNTS else law.logpdf(x)
        assert value(f"logdensity.{name[1:]}", x, *ARGUMENTS[name]) == pytest.approx(expected, rel=1e-10)
        assert value(name, x, *ARGUMENTS[name]) == pytest.approx(math.exp(expected), rel=1e-10)


@pytest.mark.parametrize("name", [name for name in ARGUMENTS if function_of(f"p{name[1:]}") is not None])
def test_a_distribution_function_is_that_of_scipy(name: str) -> None:
    law = _law(name, list(ARGUMENTS[name]))
    for x in (-0.7, 0.0, 0.45, 0.8, 1.0, 2.2, 9.0):
        assert value(f"p{name[1:]}", x, *ARGUMENTS[name]) == pytest.approx(float(law.cdf(x)), rel=1e-9, abs=1e-15)


def test_every_scalar_family_with_a_distribution_function_is_tried() -> None:
    missing = {name for name in FORMS if function_of(f"p{name[1:]}") is not None} - set(ARGUMENTS)
    assert not missing and set(CUMULATIVE) <= set(ARGUMENTS)


def test_other_names_are_none() -> None:
    assert function_of("phi") is None and function_of("pmnorm") is None and function_of("dflat") is None
    assert function_of("pow") is None and function_of("pbern") is None
