"""Derivatives of log factors as they are computed: slopes by occurrence, predictors with curvature, scaled unknowns.

`schemas/slopes.py`, `schemas/predictors.py` and `schemas/scaling.py` derive them; printers and runners read them here.
"""

from __future__ import annotations

from dataclasses import dataclass

from platewright.algebra.expression import Expression, Index, Reference

Axes = tuple[Index, ...]


@dataclass(frozen=True)
class Slope:
    """`expression`, over the indices `over`, is added to the gradient of `variable` at the place `at`."""

    variable: str
    at: tuple[Expression, ...]
    over: tuple[Index, ...]
    expression: Expression

    def __str__(self) -> str:
        place = f"[{', '.join(map(str, self.at))}]" if self.at else ""
        rows = f", over {', '.join(index.name for index in self.over)}" if self.over else ""
        return f"d/d {self.variable}{place}{rows}: {self.expression}"


@dataclass(frozen=True)
class Predictor:
    """A part of a log factor that is linear in the unknowns, what stands for it, and its coefficients by unknown."""

    mark: Reference
    expression: Expression
    parts: tuple[Slope, ...]

    @property
    def axes(self) -> Axes:
        """The rows it differs between, and axes inside a row."""
        return tuple(index for index in self.mark.indices if isinstance(index, Index))


@dataclass(frozen=True)
class Bend:
    """The second derivative of a log factor in two of its predictors (by number), over rows and axes inside them.

    Axes inside a row of the second predictor bear other names, in `second_axes`.
    """

    first: int
    second: int
    over: Axes
    second_axes: Axes
    expression: Expression


@dataclass(frozen=True)
class Bent:
    """Rows of a log factor as a function of predictors, with all first and second derivatives."""

    owner: str
    axes: Axes
    predictors: tuple[Predictor, ...]
    value: Expression
    slopes: tuple[Expression, ...]
    """The derivative in each predictor, over the rows and its own axes."""
    bends: tuple[Bend, ...]

    def over(self, number: int) -> Axes:
        """The axes of a derivative in a predictor."""
        own = self.predictors[number].axes
        return (*self.axes, *(index for index in own if index not in self.axes))

    def __str__(self) -> str:
        shown = [f"{one.mark} = {one.expression}" for one in self.predictors]
        bends = [
            f"d^2/d {self.predictors[one.first].mark} d {self.predictors[one.second].mark}: {one.expression}"
            for one in self.bends
        ]
        return "; ".join([*shown, *bends])


@dataclass(frozen=True)
class Scaled:
    """An unknown with the location and the precision of its density."""

    name: str
    mean: Expression
    precision: Expression
