"""Piecewise linear interpolation as an expression: a sum over segments, each rising along its own stretch.

    f(x) = y_1 + sum_k slope_k clip(x - x_k, 0, x_{k+1} - x_k)

The first segment has no lower end and the last no upper end, so that the line goes on beyond the table.
"""

from __future__ import annotations

from platewright.algebra import build
from platewright.algebra.expression import Constant, Expression
from platewright.language.bugs.frame import Frame
from platewright.language.bugs.value import Value

FAR = 1e300


def interpolate(x: Expression, at: Value, values: Value, frame: Frame) -> Expression:
    """The value at x of the line through the points (at, values)."""
    if len(at.axes) != 1 or len(values.axes) != 1 or at.axes[0].size != values.axes[0].size or at.axes[0].size < 2:
        raise ValueError("interp.lin needs two vectors of equal length")
    last = at.axes[0].size - 2
    k = frame.fresh_index(frame.draft.slice_plate(last + 1))
    width = at.at(k + 1.0) - at.at(k)
    slope = (values.at(k + 1.0) - values.at(k)) / width
    low = build.where(build.equal(k, 0.0), -FAR, 0.0)
    high = build.where(build.equal(k, float(last)), FAR, width)
    rise = build.call("maximum", low, build.call("minimum", x - at.at(k), high))
    return build.add(values.at(Constant(0.0)), build.total(build.multiply(slope, rise), k))
