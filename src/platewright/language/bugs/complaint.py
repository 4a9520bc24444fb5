"""Errors that point: the line of the text, and a caret under the column."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from platewright.errors import BugsError
from platewright.language.bugs.syntax import Place

WIDEST = 100


def complain(source: str, place: Place | tuple[int, int], found: str, expected: str = "", hint: str = "") -> BugsError:
    """The error for one place of a text; the caller raises it."""
    line, column = (place.line, place.column) if isinstance(place, Place) else place
    lines = source.split("\n")
    if not 1 <= line <= len(lines):
        return BugsError(found, expected=expected, hint=hint, line=None, column=None)
    shown = lines[line - 1].replace("\t", " ").rstrip("\r")
    start = max(0, column - 1 - WIDEST // 2)
    piece = shown[start : start + WIDEST]
    label = f"line {line}, column {column}:   "
    caret = " " * (len("  where:    ") + len(label) + column - 1 - start) + "^"
    return BugsError(found, where=f"{label}{piece}\n{caret}", expected=expected, hint=hint, line=line, column=column)


def nearest(name: str, known: Iterable[str]) -> str:
    """A hint with the nearest known name, or nothing."""
    close = get_close_matches(name, sorted(set(known)), n=1)
    return f"did you mean `{close[0]}`?" if close else ""
