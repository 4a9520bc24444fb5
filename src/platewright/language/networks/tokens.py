"""Text cut into words that remember where they stood, and errors that point there."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

from platewright.errors import FormatError, SourceError

MOST_CHARACTERS = 1 << 29
"""Refuse larger texts, packed or not, before they fill the memory."""

_GZIP = b"\x1f\x8b"


def read_text(source: str | Path) -> tuple[str, str]:
    """The text and a name for it: a path (also of a gzip file), or the text itself when it holds a line break."""
    if isinstance(source, str) and "\n" in source:
        return source, "text"
    path = Path(source)
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == _GZIP
            raw.seek(0)
            content = (gzip.GzipFile(fileobj=raw) if packed else raw).read(MOST_CHARACTERS + 1)
        text = content.decode("utf-8-sig")
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise SourceError(f"{path} cannot be read: {error}", expected="a text file, plain or gzip") from error
    if len(content) > MOST_CHARACTERS:
        raise SourceError(f"{path} is larger than {MOST_CHARACTERS} bytes", expected="a smaller file")
    return text, path.name


class Words:
    """Words of a text, read one after another."""

    def __init__(self, text: str, title: str, pattern: re.Pattern[str]) -> None:
        self.text = text
        self.title = title
        self.words: list[str] = []
        self.places: list[int] = []
        for match in pattern.finditer(text):
            if match.lastgroup != "skip":
                self.words.append(match.group())
                self.places.append(match.start())
        self.at = 0

    def is_done(self) -> bool:
        """Whether no word is left."""
        return self.at >= len(self.words)

    def peek(self) -> str:
        """The next word; empty at the end."""
        return "" if self.is_done() else self.words[self.at]

    def next(self, expected: str = "more text") -> str:
        """The next word, taken."""
        if self.is_done():
            raise self.error("the text ends too early", expected)
        self.at += 1
        return self.words[self.at - 1]

    def take(self, wanted: str) -> None:
        """The next word must be `wanted`."""
        if self.peek() != wanted:
            raise self.error(
                f"found `{_short(self.peek())}`" if not self.is_done() else "the text ends too early", wanted
            )
        self.at += 1

    def whole_number(self, expected: str, most: int = 1 << 31) -> int:
        """The next word as a whole number from 0."""
        word = self.next(expected)
        if not (word.isascii() and word.isdigit()) or int(word[:12]) > most:
            self.at -= 1
            raise self.error(f"found `{_short(word)}`", f"{expected} (a whole number from 0)")
        return int(word)

    def number(self, expected: str = "a number of at least 0") -> float:
        """The next word as a weight."""
        word = self.next(expected)
        try:
            value = float(word)
        except ValueError:
            value = -1.0
        if not 0.0 <= value < float("inf"):
            self.at -= 1
            raise self.error(f"found `{_short(word)}`", expected)
        return value

    def error(self, found: str, expected: str = "", hint: str = "", at: int | None = None) -> FormatError:
        """An error at a word (the next one by default), with its line, column and a caret."""
        place = self.at if at is None else at
        offset = self.places[place] if place < len(self.places) else len(self.text)
        start = self.text.rfind("\n", 0, offset) + 1
        line = self.text.count("\n", 0, offset) + 1
        end = self.text.find("\n", offset)
        shown = self.text[start : end if end >= 0 else len(self.text)]
        left = max(0, offset - start - 60)
        caret = " " * (offset - start - left) + "^"
        where = f"{self.title}, line {line}, column {offset - start + 1}\n    {shown[left : left + 100]}\n    {caret}"
        return FormatError(found, where=where, expected=expected, hint=hint)


def _short(word: str) -> str:
    return word if len(word) <= 40 else word[:37] + "..."
