"""Break long lines of emitted Python, inside brackets, the way a person would.

    total = first(one, two) + second(three)        becomes        total = (
                                                                      first(one, two)
                                                                      + second(three)
                                                                  )
Lines that fit stay as they are.
"""

from __future__ import annotations

import itertools
import re

WIDTH = 120
CALL = 90
"""Calls that are longer take a line for each argument."""
ENDLESS = 4_000
"""Characters of a line that nobody reads, in lines or not."""
_OPEN, _CLOSE = "([{", ")]}"
_ASSIGNED = (" = ", " += ")
_CALLED = re.compile(r"[\w.]+\(.*\),?$")
"""A call that is a statement of its own, or an argument on a line of its own."""


def laid_out(text: str, width: int = WIDTH) -> str:
    """The same program with no code line over the width where a bracket allows it."""
    lines: list[str] = []
    quoted = False
    for line in text.split("\n"):
        if quoted or len(line) <= width or len(line) > ENDLESS or not _may_break(line):
            lines.append(line)
            if line.count('"""') % 2:
                quoted = not quoted
            continue
        lines.extend(_broken(line, width))
    return "\n".join(lines)


def _may_break(line: str) -> bool:
    """Assignments and results without comments and loops: all that an emitter makes long."""
    start = line.lstrip()
    if start.startswith(('"""', "#")) or " # " in line or " for " in line or " lambda" in line:
        return False
    return bool(start.startswith(("return ", '"')) or _CALLED.match(start) or _top_level(line, _ASSIGNED))


def _broken(line: str, width: int) -> list[str]:
    if len(line) <= width:
        return [line]
    indent = len(line) - len(line.lstrip())
    pair = _last_pair(line)
    equals = _top_level(line, _ASSIGNED)
    terms = [at for at in _top_level(line, (" + ", " - ")) if not equals or at > equals[0]]
    if equals and terms and line.rstrip()[-1] not in "{[":
        return _as_sum(line, line.index("= ", equals[0]) + 2, terms, indent, width)
    if line.lstrip().startswith("return ") and terms:
        return _as_sum(line, indent + len("return "), terms, indent, width)
    if pair is None:
        return [line]
    if pair[0] >= width and (first := _first_pair(line)) is not None:
        pair = first  # what stands before the widest bracket is too long by itself
    start, stop = pair
    content = line[start + 1 : stop].strip()
    items = _items(content)
    inner = " " * (indent + 4)
    head, tail = line[: start + 1], line[stop:]
    if len(items) == 1 and not content.endswith(","):
        # One value in brackets: a comma would make it a tuple.
        body = _inside(inner, items[0], width)
    elif len(inner + content) <= width and not any(_is_long(item) for item in items):
        body = [inner + content]
    else:
        body = [found for item in items for found in _with_comma(_inside(inner, item, width - 1))]
    after = _broken(" " * indent + tail[1:], width)
    return [head, *body, " " * indent + tail[0] + after[0].removeprefix(" " * indent), *after[1:]]


def _inside(inner: str, item: str, width: int) -> list[str]:
    """One value inside brackets that are open already: a sum may be broken as it is."""
    line = inner + item
    if len(line) <= width:
        return [line]
    terms = [at for at in _top_level(line, (" + ", " - ")) if at > len(inner)]
    if not terms or _top_level(line, ("=", " for ", " if ")):
        return _broken(line, width)
    cuts = [len(inner), *terms, len(line)]
    parts = [line[left:right].strip() for left, right in itertools.pairwise(cuts)]
    return [found for part in parts for found in _broken(inner + part, width)]


def _with_comma(lines: list[str]) -> list[str]:
    return [*lines[:-1], lines[-1] + ","]


def _is_long(item: str) -> bool:
    return len(item) > 60


def _as_sum(line: str, start: int, terms: list[int], indent: int, width: int) -> list[str]:
    """A long sum in brackets, one term a line, signs in front."""
    inner = " " * (indent + 4)
    cuts = [start, *(at for at in terms if at > start), len(line)]
    found = [line[:start] + "("]
    for left, right in itertools.pairwise(cuts):
        found += _broken(inner + line[left:right].strip(), width)
    return [*found, " " * indent + ")"]


def _scan(line: str) -> list[tuple[int, int, str]]:
    """Position, bracket depth and character of everything outside strings."""
    found = []
    depth = 0
    quote = ""
    for at, character in enumerate(line):
        if quote:
            quote = "" if character == quote else quote
            continue
        if character in "\"'":
            quote = character
            continue
        if character in _CLOSE:
            depth -= 1
        found.append((at, depth, character))
        if character in _OPEN:
            depth += 1
    return found


def _top_level(line: str, marks: tuple[str, ...]) -> list[int]:
    """Where a mark stands outside all brackets and strings."""
    return [at for at, depth, _ in _scan(line) if depth == 0 and any(line.startswith(mark, at) for mark in marks)]


def _last_pair(line: str) -> tuple[int, int] | None:
    """The last outermost bracket pair that is long enough to be worth opening."""
    opened: int | None = None
    pairs = []
    for at, depth, character in _scan(line):
        if depth == 0 and character in _OPEN:
            opened = at
        if depth == 0 and character in _CLOSE and opened is not None:
            pairs.append((opened, at))
    wide = [pair for pair in pairs if pair[1] - pair[0] > 20]
    return max(wide, key=lambda pair: pair[1] - pair[0]) if wide else None


def _first_pair(line: str) -> tuple[int, int] | None:
    """The first outermost bracket pair that is long enough to be worth opening."""
    opened: int | None = None
    for at, depth, character in _scan(line):
        if depth == 0 and character in _OPEN:
            opened = at
        if depth == 0 and character in _CLOSE and opened is not None and at - opened > 20:
            return opened, at
    return None


def _items(text: str) -> list[str]:
    """What commas part at the top level."""
    cuts = [at for at, depth, character in _scan(text) if depth == 0 and character == ","]
    edges = [-1, *cuts, len(text)]
    return [part for a, b in itertools.pairwise(edges) if (part := text[a + 1 : b].strip())]


def called(name: str, *arguments: str) -> str:
    """A call, on several lines where it is long."""
    flat = f"{name}({', '.join(arguments)})"
    if len(flat) <= CALL and "\n" not in flat:
        return flat
    return "\n".join([f"{name}(", *(indented(f"{argument},") for argument in arguments), ")"])


def indented(text: str) -> str:
    """Lines further in."""
    return "\n".join(f"    {line}" for line in text.splitlines())
