"""Every error a user can meet: what was found, where, what was expected, and what to do.

PlateError: `y` uses `mu`, which lives on plate `k` that `y` is not on
  where:    variable y
  expected: the plates of mu among those of y (row)
  try:      index it (m.mu[m.z]) or reduce it (over=k)
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches


class PlatewrightError(Exception):
    """The root of all errors raised on purpose; `except PlatewrightError` catches them all."""

    def __init__(self, found: str, *, where: str = "", expected: str = "", hint: str = "") -> None:
        self.found = found
        self.where = where
        self.expected = expected
        self.hint = hint
        super().__init__(self._told())

    def _told(self) -> str:
        lines = [self.found]
        for label, text in (("where:   ", self.where), ("expected:", self.expected), ("try:     ", self.hint)):
            if text:
                lines.append(f"  {label} {text}")
        return "\n".join(lines)

    def add_place(self, place: str) -> None:
        """Say where it was met, seen from further out: the file and line of a model."""
        self.where = f"{place}: {self.where}" if self.where else place
        self.args = (self._told(),)


class ModelError(PlatewrightError):
    """The model as written has no meaning."""


class UnknownName(ModelError):
    """A name that the model does not have."""

    def __init__(
        self, name: str, known: Iterable[str], *, where: str = "", found: str = "", hint: str | None = None
    ) -> None:
        names = sorted(str(word) for word in known)
        if hint is None:
            near = nearest(str(name), names)
            hint = f"did you mean `{near}`?" if near else ""
        listed = "one of: " + ", ".join(names) if names else "none: there is nothing to choose from"
        super().__init__(found or f"there is no `{name}` here", where=where, expected=listed, hint=hint)


def nearest(name: str, names: Iterable[str]) -> str:
    """The name that was probably meant, whatever its capitals; empty where none is close."""
    by_small = {known.lower(): known for known in names}
    near = get_close_matches(name.lower(), by_small, n=1)
    return by_small[near[0]] if near else ""


class NameTaken(ModelError):
    """A name that is used twice, or that Python or Platewright keeps for itself."""


class PlateError(ModelError):
    """A variable used across a plate that it does not share."""


class ParameterError(ModelError):
    """A distribution called with parameters that it does not take, or out of their range."""


class CycleError(ModelError):
    """Directed arcs that lead back to where they came from."""


class BugsError(ModelError):
    """A BUGS text or data file that cannot be read, with the line and column of the trouble."""

    def __init__(
        self,
        found: str,
        *,
        where: str = "",
        expected: str = "",
        hint: str = "",
        line: int | None = None,
        column: int | None = None,
    ) -> None:
        super().__init__(found, where=where, expected=expected, hint=hint)
        self.line = line
        self.column = column


class DataError(PlatewrightError):
    """The data do not fit the model."""


class MissingColumn(DataError):
    """The model needs a column that the data do not have."""


class DuplicateColumn(DataError):
    """Two columns of the data have one name."""


class ShapeError(DataError):
    """An array whose axes do not fit the plates of its variable."""


class SupportError(DataError):
    """A value outside what its distribution can produce."""


class MissingValue(DataError):
    """A cell without a value (null or NaN) where a value is needed."""


class NotFinite(DataError):
    """An infinite value."""


class MixedTypes(DataError):
    """A column that holds numbers and text, or another mixture."""


class WrongType(DataError):
    """Text, dates, complex numbers or objects where numbers (or categories) are needed."""


class SourceError(DataError):
    """A file, or an object given as data, that cannot be read."""


class UnseenLevel(DataError):
    """A category that the model, or the data it learned from, does not know."""


class FormatError(PlatewrightError):
    """A saved model or result that is damaged, foreign, or of another version."""


class MissingExtra(PlatewrightError):
    """A library that an optional part of Platewright needs is not installed."""


class SizeError(PlatewrightError):
    """A table too large to build; refused before any memory is taken."""


class NotSolvable(PlatewrightError):
    """No schema applies; the message says which condition failed for each."""


class ImproperPosterior(PlatewrightError):
    """Prior and data together do not determine a distribution."""


class Unbounded(PlatewrightError):
    """An objective without a maximum: a component has shrunk onto rows, or a parameter has run to its edge."""

    def __init__(self, objective: str = "the objective of EM", edge: str = "") -> None:
        shrinks = "a component shrinks onto a single value, or has no rows"
        runs = f"`{edge}` runs to the edge of its range, where a density is infinite"
        scales = "give the scales proper priors, share them between components, or use fewer components"
        super().__init__(
            f"{objective} has no upper bound: {runs if edge else shrinks}",
            hint="goal='posterior', which needs no mode, or a prior that vanishes at that edge" if edge else scales,
        )


class BackendError(PlatewrightError):
    """A backend that cannot run here."""


class LostSlope(PlatewrightError):
    """A chain that no path leads away from: the slope of its log density is not finite where it is."""

    def __init__(self, variables: Sequence[str]) -> None:
        shown = ", ".join(f"`{name}`" for name in variables)
        super().__init__(
            f"after warm-up a chain stands where the log density of {shown} has no finite slope, and would stay",
            expected="a density that is smooth where it is not zero",
            hint="look for powers below 1, absolute values and quotients at 0; start elsewhere with `initial=`",
        )


class NoCompilerWarning(UserWarning):
    """No C compiler was found, so NumPy runs the program."""


class DivergenceWarning(UserWarning):
    """Paths of a Hamiltonian block lost the energy they should keep: draws near there are too few."""


class EnergyWarning(UserWarning):
    """Paths of a Hamiltonian block changed their energy too little: long tails are visited too seldom."""


class ImpossibleWarning(UserWarning):
    """The data have probability zero under the model, so that its evidence is zero too."""
