"""Read BUGS data files by our own parser: S-style lists, R dump, rectangular tables and JSON.

    list(N = 3, y = c(1.5, NA, -2), X = structure(.Data = c(1,2,3,4), .Dim = c(2,2)))      rows first, as BUGS fills
    "X" <- structure(c(1,3,2,4), .Dim = c(2L,2L))                                          columns first, as R fills
    x[] y[]  1 2  3 4  END                                                                 one row a line

Everything becomes arrays of numbers with NaN for NA. Nothing is executed: the few words understood are listed below.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from platewright.errors import BugsError
from platewright.language.bugs.complaint import complain, nearest
from platewright.language.bugs.nested_lists import as_array, parse_json

Array = np.ndarray
MOST_CHARACTERS = 50_000_000
MOST_LEVELS = 30
MOST_CELLS = 2_000_000
"""Cells that ranges and repetitions may fill in one text: so few letters must not ask for so much memory."""

_TOKEN = re.compile(
    r"""(?P<skip>[\s;]+|\#[^\n]*)
    |(?P<number>(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?L?(?![A-Za-z_]))
    |(?P<keyword>\.\s*(Data|Dim|Dimnames|Names)(?![A-Za-z0-9._]))
    |(?P<name>[A-Za-z.][A-Za-z0-9._]*)
    |(?P<string>"[^"\n]*"|'[^'\n]*'|`[^`\n]*`)
    |(?P<arrow><-)
    |(?P<mark>[()\[\],=:+-])""",
    re.VERBOSE,
)
_SPECIAL = {
    "NA": math.nan,
    "NA_real_": math.nan,
    "NA_integer_": math.nan,
    "NaN": math.nan,
    "Inf": math.inf,
    "TRUE": 1.0,
    "FALSE": 0.0,
    "T": 1.0,
    "F": 0.0,
}
_CASTS = {"as.integer", "as.numeric", "as.double", "as.vector", "as.array"}
_WORDS = {"c", "list", "structure", "rep", *_CASTS}


def read_data(source: Any) -> dict[str, Array]:
    """Data from a path, a text, or a mapping of numbers and nested lists; None and NA become NaN."""
    if isinstance(source, Mapping):
        return {str(name): as_array(str(name), value) for name, value in source.items()}
    text = source
    if isinstance(source, Path) or ("\n" not in source and len(source) < 1000 and not re.search(r"[({=]|<-", source)):
        try:
            text = Path(source).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as trouble:
            raise BugsError(f"cannot read the data file {source}: {trouble}") from None
    return parse_data(str(text))


def parse_data(text: str) -> dict[str, Array]:
    """Data from a text in any of the four forms."""
    if len(text) > MOST_CHARACTERS:
        raise BugsError(f"the data have {len(text):,} characters", expected=f"at most {MOST_CHARACTERS:,}")
    if text.lstrip().startswith("{"):
        return parse_json(text)
    return _Reader(text).read()


class _Reader:
    """One pass over the tokens of a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(self._tokens())
        self.at = 0
        self.filled = 0
        """Cells that ranges and repetitions have filled so far."""

    def _tokens(self) -> Any:
        position = 0
        for match in _TOKEN.finditer(self.text):
            if match.start() > position:
                break
            if match.lastgroup != "skip":
                yield _kind(match), match.group(), position
            position = match.end()
        if position < len(self.text):
            raise self._complain(position, f"unexpected `{self.text[position]}`", "numbers, c(...) or list(...)")
        yield "end", "", len(self.text)

    def _complain(self, position: int, found: str, expected: str = "", hint: str = "") -> BugsError:
        line = self.text.count("\n", 0, position) + 1
        column = position - (self.text.rfind("\n", 0, position) + 1) + 1
        return complain(self.text, (line, column), found, expected, hint)

    def _stop(self, expected: str, hint: str = "") -> BugsError:
        kind, token, position = self.tokens[self.at]
        return self._complain(position, "the data end too early" if kind == "end" else f"unexpected `{token}`",
                              expected, hint)  # fmt: skip

    def _peek(self, ahead: int = 0) -> str:
        return str(self.tokens[min(self.at + ahead, len(self.tokens) - 1)][1])

    def _take(self, wanted: str) -> None:
        if self._peek() != wanted:
            raise self._stop(f"`{wanted}`")
        self.at += 1

    def read(self) -> dict[str, Array]:
        """All assignments, lists and tables of the text, together."""
        found: dict[str, Array] = {}
        while self.tokens[self.at][0] != "end":
            kind, token, _ = self.tokens[self.at]
            if kind == "name" and token == "list" and self._peek(1) == "(":
                found.update(self._list(0))
            elif kind in ("name", "string") and self._peek(1) in ("<-", "="):
                self.at += 2
                value = self._value(0)
                if isinstance(value, dict):
                    found.update(value)
                else:
                    found[token.strip("\"'`")] = value
            elif kind == "name" and self._peek(1) == "[":
                found.update(self._table())
            else:
                raise self._stop("list(...), `name <- value` or a table headed `name[]`")
        return found

    def _list(self, depth: int) -> dict[str, Array]:
        self.at += 1
        self._take("(")
        found: dict[str, Array] = {}
        while self._peek() != ")":
            kind, token, position = self.tokens[self.at]
            if kind not in ("name", "string") or self._peek(1) not in ("=", "<-"):
                raise self._stop("`name = value`")
            self.at += 2
            value = self._value(depth + 1)
            if isinstance(value, dict):
                raise self._complain(position, f"`{token}` is a list inside a list", "numbers")
            found[token.strip("\"'`")] = value
            if self._peek() == ",":
                self.at += 1
            elif self._peek() != ")":
                raise self._stop("`,` or `)`")
        self.at += 1
        return found

    def _value(self, depth: int) -> Any:
        if depth > MOST_LEVELS:
            raise self._stop("less deeply nested data")
        kind, token, position = self.tokens[self.at]
        if kind == "number" or token in ("-", "+") or (token in _SPECIAL and self._peek(1) != "("):
            first = self._number()
            if self._peek() != ":":
                return np.array(first)
            self.at += 1
            return self._span(first, self._number(), position)
        if kind != "name" or self._peek(1) != "(":
            raise self._stop("a number, NA, c(...) or structure(...)", nearest(token, _WORDS) if token else "")
        if token == "list":
            return self._list(depth)
        if token not in _WORDS:
            hint = nearest(token, _WORDS) or "nothing in a data file is executed"
            raise self._complain(position, f"`{token}` is not understood in data", ", ".join(sorted(_WORDS)), hint)
        self.at += 2
        return self._call(token, position, depth)

    def _number(self) -> float:
        sign = 1.0
        while self._peek() in ("-", "+"):
            sign = -sign if self._peek() == "-" else sign
            self.at += 1
        kind, token, _ = self.tokens[self.at]
        if kind == "number":
            self.at += 1
            return sign * float(token.rstrip("L"))
        if token in _SPECIAL:
            self.at += 1
            return sign * _SPECIAL[token]
        raise self._stop("a number or NA")

    def _span(self, first: float, last: float, position: int) -> Array:
        self._fill(abs(last - first) + 1, position, f"the range {first:g}:{last:g} is too long")
        return first + (1.0 if last >= first else -1.0) * np.arange(int(abs(last - first)) + 1)

    def _fill(self, count: float, position: int, found: str) -> None:
        """Count cells that the text does not spell out, before memory is taken for them."""
        if not self.filled + count <= MOST_CELLS:  # written so that NaN is too many
            raise self._complain(position, found, f"at most {MOST_CELLS:,} numbers by ranges and rep in one text")
        self.filled += int(count)

    def _call(self, word: str, position: int, depth: int) -> Array:
        values: list[Array] = []
        named: dict[str, Any] = {}
        while self._peek() != ")":
            kind, token, where = self.tokens[self.at]
            if kind in ("keyword", "name", "string") and self._peek(1) == "=":
                self.at += 2
                item = self._strings() if "ames" in token else self._value(depth + 1)
                if isinstance(item, dict):
                    raise self._complain(where, f"{token} is a list", "numbers")
                named["".join(token.split())] = item
            else:
                item = self._value(depth + 1)
                if isinstance(item, dict):
                    raise self._complain(where, "a list inside an array", "numbers")
                values.append(item)
            if self._peek() == ",":
                self.at += 1
            elif self._peek() != ")":
                raise self._stop("`,` or `)`")
        self.at += 1
        if word == "structure":
            return self._structure(values, named, position)
        if word == "rep":
            return self._repeat(values, position)
        return np.concatenate([np.ravel(value) for value in values]) if values else np.zeros(0)

    def _strings(self) -> Array:
        """Skip names of dimensions: nested calls of strings, which carry no numbers."""
        depth = 0
        while True:
            kind, token, _ = self.tokens[self.at]
            if kind == "end":
                raise self._stop("`)`")
            if depth == 0 and token in (",", ")"):
                return np.zeros(0)
            depth += (token == "(") - (token == ")")
            self.at += 1

    def _structure(self, values: list[Array], named: dict[str, Any], position: int) -> Array:
        """`.Data` fills row by row as BUGS does; an unnamed vector fills column by column as R does."""
        by_row = ".Data" in named
        cells = named.get(".Data", values[0] if values else np.zeros(0))
        shape = named.get(".Dim")
        if shape is None:
            return np.ravel(cells)
        sizes = [int(size) if math.isfinite(size) and size >= 0 else -1 for size in np.ravel(shape)]
        huge = math.prod(max(size, 1) for size in sizes) > max(np.size(cells), MOST_CELLS)  # beside a dimension of 0
        if math.prod(sizes) != np.size(cells) or min(sizes, default=0) < 0 or len(sizes) > MOST_LEVELS or huge:
            shown = " x ".join(str(size) for size in sizes)
            raise self._complain(position, f"{np.size(cells)} numbers do not fill .Dim = {shown}", "equal numbers")
        return np.reshape(np.ravel(cells), sizes, order="C" if by_row else "F")

    def _repeat(self, values: list[Array], position: int) -> Array:
        if len(values) != 2 or np.size(values[1]) != 1 or not float(np.ravel(values[1])[0]) >= 0:
            raise self._complain(position, "rep is called oddly", "rep(value, times)")
        times = float(np.ravel(values[1])[0])
        self._fill(times * np.size(values[0]), position, f"rep repeats {np.size(values[0]):,} numbers {times:g} times")
        return np.tile(np.ravel(values[0]), int(times))

    def _table(self) -> dict[str, Array]:
        """Columns headed `x[]`, or `x[,1] x[,2]`, then numbers row by row, then END."""
        heads: list[tuple[str, str]] = []
        while self.tokens[self.at][0] == "name" and self._peek(1) == "[":
            name, start = self._peek(), self.at
            while self._peek() not in ("]", ""):
                self.at += 1
            inside = "".join(token for _, token, _ in self.tokens[start + 2 : self.at])
            self._take("]")
            heads.append((name, inside))
        cells: list[float] = []
        while self._peek() != "END":
            cells.append(self._number())
        self.at += 1
        if len(cells) % len(heads):
            raise self._stop(f"whole rows of {len(heads)} numbers before END")
        rows = np.reshape(np.array(cells), (-1, len(heads)))
        found: dict[str, Array] = {}
        for name in dict.fromkeys(name for name, _ in heads):
            columns = [number for number, (head, _) in enumerate(heads) if head == name]
            plain = len(columns) == 1 and heads[columns[0]][1] == ""
            found[name] = rows[:, columns[0]] if plain else rows[:, columns]
        return found


def _kind(match: re.Match[str]) -> str:
    return str(match.lastgroup)
