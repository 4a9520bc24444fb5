"""What is wrong with a Stan text, and where: raised inside this room, and shown as a `StanError` that points."""

from __future__ import annotations

from platewright.language.bugs.syntax import Place


class Trouble(Exception):
    """A complaint with its place; the reader adds the line of the text."""

    def __init__(self, place: Place, found: str, expected: str = "", hint: str = "") -> None:
        self.place = place
        self.found = found
        self.expected = expected
        self.hint = hint
        super().__init__(found)
