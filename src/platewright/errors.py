"""Every error a user can meet: what was found, where, what was expected, and what to do.

PlateError: `y` uses `mu`, which lives on plate `k` that `y` is not on
  where:    variable y
  expected: the plates of mu among those of y (row)
  try:      index it (m.mu[m.z]) or reduce it (over=k)
"""

from __future__ import annotations

import re
import sys
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

    def __str__(self) -> str:
        return str(self.args[0])  # some of us are errors of Python too, which would put it in quotes

    def __reduce__(self) -> tuple[object, ...]:
        """An error comes back from another process as it was, whatever its constructor asks for."""
        return _again, (type(self), self.args, dict(self.__dict__))

    def _told(self) -> str:
        lines = [self.found]
        for label, text in (("where:   ", self.where), ("expected:", self.expected), ("try:     ", self.hint)):
            if text:
                lines.append(f"  {label} {text}")
        return shown_text("\n".join(lines))

    def add_place(self, place: str) -> None:
        """Say where it was met, seen from further out: the file and line of a model."""
        self.where = f"{place}: {self.where}" if self.where else place
        self.args = (self._told(),)


def _again(kind: type[PlatewrightError], args: tuple[object, ...], said: dict[str, object]) -> PlatewrightError:
    error = kind.__new__(kind)
    error.args = args
    error.__dict__.update(said)
    return error


class ModelError(PlatewrightError):
    """The model as written has no meaning."""


class UnknownName(ModelError, AttributeError, KeyError):
    """A name that the model does not have: to Python an attribute, or a key, that is not there."""

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


class TextError(ModelError):
    """A text of another language that cannot be read, with the line and column of the trouble."""

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


class BugsError(TextError):
    """A BUGS text or data file that cannot be read."""


class StanError(TextError):
    """A Stan text, or its data, that cannot be read."""


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
    """No schema or operation applies; the message says which condition failed for each."""

    declined: object = None
    """The refusal of a graph operation as a value: which operation, and the condition that failed."""


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


class NoMaximum(Unbounded):
    """An estimate that is none: the objective does not fall in some direction, however far one goes."""

    def __init__(self, found: str, hint: str = "") -> None:
        PlatewrightError.__init__(self, found, hint=hint)


class NotLearned(PlatewrightError, AttributeError):
    """Something that this kind of result does not have; to Python an attribute that is not there."""


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


class CheckpointWarning(UserWarning):
    """A checkpoint cannot be written any more: the run goes on in memory, and tries again."""


class DivergenceWarning(UserWarning):
    """Paths of a Hamiltonian block lost the energy they should keep: draws near there are too few."""


class ConvergenceWarning(UserWarning):
    """Chains that have not found each other, or are worth few independent draws: their numbers are rough."""


class EnergyWarning(UserWarning):
    """Paths of a Hamiltonian block changed their energy too little: long tails are visited too seldom."""


class ImpossibleWarning(UserWarning):
    """The data have probability zero under the model, so that its evidence is zero too."""


class UnsureWarning(UserWarning):
    """Importance weights with so long a tail that their mean is not to be trusted."""


class LeftOutWarning(UserWarning):
    """A group of an ArviZ tree that cannot be made of this result, and why."""


# -- text of others: what a terminal would obey is written as Python writes it, a\x1b[2Jb, and never sent

OBEYED = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]")
"""Control characters but for tab and line feed; marks that change the direction of text, or cannot be seen."""


def shown_text(text: str) -> str:
    """The same text, with what a terminal would obey written as Python writes it."""
    return OBEYED.sub(_escaped, text)


def shown_name(text: str) -> str:
    """A name or label inside a line: line feeds and tabs would break it too."""
    return shown_text(text).replace("\n", "\\n").replace("\t", "\\t")


def _escaped(found: re.Match[str]) -> str:
    code = ord(found.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


def users_line() -> int:
    """The `stacklevel` of a warning that is to name the line of the user's that called, not one of ours."""
    ours, level, frame = ("platewright", "contextlib"), 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").split(".")[0] in ours:
        level, frame = level + 1, frame.f_back
    return level
