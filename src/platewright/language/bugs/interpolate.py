"""Piecewise linear interpolation as an expression: a sum over segments, each rising along its own stretch.

    f(x) = y_1 + sum_k slope_k clip(x - x_k, 0, x_{k+1} - x_k)

Beyond the table the line stays at the height of its end, as in JAGS; BUGS leaves that open.
"""

from __future__ import annotations

from platewright.algebra import build
from platewright.algebra.expression import Constant, Expression, Literal
from platewright.language.bugs.frame import Frame
from platewright.language.bugs.value import Value


def interpolate(x: Expression, at: Value, values: Value, frame: Frame) -> Expression:
    """The value at x of the line through the points (at, values)."""
    if len(at.axes) != 1 or len(values.axes) != 1 or at.axes[0].size != values.axes[0].size or at.axes[0].size < 2:
        raise ValueError("interp.lin needs two vectors of equal length")
    last = at.axes[0].size - 2
    k = frame.fresh_index(frame.draft.slice_plate(last + 1))
    # A segment is no element of the table: its left end is looked up.
    left = Literal(tuple(map(float, range(last + 1))), (last + 1,), (k.plate,), (k,))
    width = at.at(k + 1.0) - at.at(left)
    slope = (values.at(k + 1.0) - values.at(left)) / width
    rise = build.call("maximum", 0.0, build.call("minimum", x - at.at(left), width))
    return build.add(values.at(Constant(0.0)), build.total(build.multiply(slope, rise), k))
