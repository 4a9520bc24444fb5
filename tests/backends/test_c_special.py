"""Functions that emitted samplers carry along, against SciPy, over their whole range."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
from scipy import special

from backends.test_c_draws import HEADER, needs_compiler, pointer
from platewright.backends.c.compile import compiled, find_compiler
from platewright.backends.c_gibbs.support import shared_text
from platewright.family import Array

GRID = np.concatenate([[0.0], np.geomspace(1e-6, 1e6, 241)])
SHAPES = np.geomspace(1e-2, 1e3, 26)
SHARES = np.concatenate([np.geomspace(1e-9, 0.5, 30), 1 - np.geomspace(1e-9, 0.4, 30)])


def by_c(name: str, *arguments: Array) -> Array:
    """A function of C at many places."""
    given = [np.array(part, float, order="C") for part in np.broadcast_arrays(*arguments)]
    inner = ", ".join(f"p{k}[i]" for k in range(len(given)))
    listed = ", ".join(f"const double *p{k}" for k in range(len(given)))
    loop = f"for (int64_t i = 0; i < n; i++)\n        out[i] = {name}({inner});"
    body = f"void at(int64_t n, {listed}, double *out)\n{{\n    {loop}\n}}"
    compiler = find_compiler()
    assert compiler is not None
    out = np.empty(given[0].shape)
    compiled("\n".join([HEADER, *shared_text(body), body]), compiler).at(
        ctypes.c_int64(out.size), *map(pointer, given), pointer(out)
    )
    return out


@needs_compiler
@pytest.mark.parametrize(
    ("name", "expected", "arguments"),
    [
        ("log_bessel0", lambda x: np.log(special.i0e(x)) + np.abs(x), (np.concatenate([-GRID, GRID]),)),
        ("bessel_ratio", lambda x: special.i1e(x) / special.i0e(x), (np.concatenate([-GRID, GRID]),)),
        ("normal_quantile", special.ndtri, (np.concatenate([np.geomspace(1e-280, 1e-9, 99), SHARES]),)),
        ("gamma_cdf", special.gammainc, (SHAPES[:, None], GRID)),
        ("beta_cdf", special.betainc, (SHAPES[:, None, None], SHAPES[:, None], SHARES)),
    ],
)
def test_c_has_the_values_of_scipy(name: str, expected: object, arguments: tuple[Array, ...]) -> None:
    found, wanted = by_c(name, *arguments), expected(*arguments)  # type: ignore[operator]
    assert np.all(np.isfinite(found))
    assert np.max(np.abs(found - wanted) / (np.abs(wanted) + 1e-3)) < 1e-11
