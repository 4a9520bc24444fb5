"""Laplace's method: a Gaussian around the mode, on coordinates that fill the whole space.

    log p(data) = log p(data, mode) + log Jacobian + d/2 log 2 pi - 1/2 log det(-Hessian), about

The Hessian is taken from gradients on both sides of the mode. Exchangeable labels give as many modes, which count
alike.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from platewright.backends.kernels.density import Density
from platewright.family import Array
from platewright.recognition.exchangeable import Symmetry

STEP = 1e-5
"""How far apart gradients are taken, relative to the root of a coordinate; coordinates are logs or of unit scale."""
SAME = 1e-4
"""Relabelled modes nearer than this are one."""
FLAT = 1e-6
"""The largest gradient at a mode, relative to the objective."""


class NoMode(ArithmeticError):
    """No place about which a Gaussian fits."""


class Unbounded(NoMode):
    """A log joint that rises without end."""


def hessian(density: Density, u: Array) -> Array:
    """Second derivatives, from gradients on both sides."""
    columns = []
    for k in range(len(u)):
        step = np.zeros(len(u))
        step[k] = STEP * np.sqrt(1 + abs(u[k]))  # far from zero too it stays below the width of a mode
        columns.append((density.with_gradient(u + step)[1] - density.with_gradient(u - step)[1]) / (2 * step[k]))
    found = np.array(columns).reshape(len(u), len(u))
    return (found + found.T) / 2


def top_near(density: Density, start: Array) -> tuple[Array, float]:
    """A mode near a start: quasi-Newton, then Newton steps while they help."""
    from scipy.optimize import minimize

    def downwards(u: Array) -> tuple[float, Array]:
        value, slope = density.with_gradient(u)
        return (-value, -slope) if np.isfinite(value) else (1e300, slope)

    found = minimize(downwards, start, jac=True, method="L-BFGS-B", options={"maxiter": 2000, "maxfun": 4000})
    u, value = found.x, -float(found.fun)
    for _ in range(20):
        slope = density.with_gradient(u)[1]
        if np.abs(slope).max(initial=0.0) < 1e-9 * (1 + abs(value)):
            break
        step = np.linalg.lstsq(hessian(density, u), slope, rcond=None)[0]
        ahead = density.log_density(u - step)
        if not ahead > value:
            break
        u, value = u - step, ahead
    return u, value


def highest(density: Density, starts: Sequence[Array]) -> tuple[Array, float]:
    """The highest of the modes near some starts."""
    u, value = np.zeros(density.coordinates.size), -np.inf
    for start in starts:
        tried, reached = top_near(density, start)
        if reached > value:
            u, value = tried, reached
    if not np.isfinite(value) or np.abs(u).max(initial=0.0) > 1e8:
        raise Unbounded("the log joint rises without end")
    slope = float(np.abs(density.with_gradient(u)[1]).max(initial=0.0))
    if not slope < FLAT * (1 + abs(value)):
        raise NoMode(f"no mode was found: the slope is {slope:.2g}")
    return u, value


def bends(density: Density, u: Array) -> tuple[Array, Array]:
    """Minus the second derivatives at a mode as curvatures along directions."""
    curvature, turn = np.linalg.eigh(-hessian(density, u))
    if not (curvature > 1e-10 * max(1.0, float(curvature[-1]))).all():
        raise NoMode("the log joint is flat or bent upwards at its mode, so no Gaussian fits there")
    return curvature, turn


def volume_about(density: Density, u: Array) -> float:
    """The log of the volume under the Gaussian of height one about a mode."""
    if not len(u):
        return 0.0
    return 0.5 * len(u) * float(np.log(2 * np.pi)) - 0.5 * float(np.log(bends(density, u)[0]).sum())


def modes_alike(density: Density, u: Array, symmetries: Sequence[Symmetry]) -> int:
    """How many different points the relabellings of a mode are; one with equal components has fewer."""
    found = 1
    values, _ = density.coordinates.values(u)
    for symmetry in symmetries:
        moved = [density.coordinates.free(symmetry.moved(values, to)) for to in symmetry.relabellings()]
        apart = [np.abs(one - moved[0]).max(initial=0.0) > SAME * (1 + np.abs(u).max(initial=0.0)) for one in moved]
        found *= len(moved) // (len(moved) - sum(apart))
    return found
