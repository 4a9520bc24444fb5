"""The samples of a page: its fenced blocks, each with the mark in the comment above it.

    <!-- not run -->    the Python block below is shown only
    <!-- raises -->     the Python block below ends in one of our errors, and prints it
    <!-- output -->     the block below is what the last Python block printed; `...` stands for anything:
                        lines where it is alone on its line, characters inside a line

A Python block without a mark is run, after those above it on the page and with their names.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from contextlib import redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path

from platewright.errors import PlatewrightError

FENCE = re.compile(r"^(?P<mark>`{3,})(?P<language>[^\n`]*)\n(?P<text>.*?)^(?P=mark)[ ]*$", re.MULTILINE | re.DOTALL)
MARK = re.compile(r"<!--\s*(not run|raises|output)\s*-->\s*\Z")


@dataclass(frozen=True)
class Sample:
    """One fenced block."""

    language: str
    text: str
    mark: str
    line: int
    start: int
    """Where the text begins on the page."""


def samples(page: str) -> Iterator[Sample]:
    """All fenced blocks of a page, in order."""
    for found in FENCE.finditer(page):
        mark = MARK.search(page[: found.start()])
        line = page.count("\n", 0, found.start("text")) + 1
        yield Sample(found["language"].strip(), found["text"], mark[1] if mark else "", line, found.start("text"))


@dataclass
class Run:
    """A page being run: the names so far, and what the last block printed."""

    page: Path
    names: dict[str, object] = field(default_factory=lambda: {"__name__": "sample"})
    printed: str = ""

    def run(self, sample: Sample) -> None:
        """Run a Python block, or compare a block of output with what was printed."""
        if sample.mark == "output":
            assert is_excerpt(sample.text, self.printed), self._differs(sample)
        elif sample.language == "python" and sample.mark != "not run":
            self._execute(sample)

    def _execute(self, sample: Sample) -> None:
        # Empty lines before the block make the line numbers of a traceback those of the page.
        code = compile("\n" * (sample.line - 1) + sample.text, str(self.page), "exec")
        printed = io.StringIO()
        raised = False
        with redirect_stdout(printed):
            try:
                exec(code, self.names)
            except PlatewrightError as error:
                if sample.mark != "raises":
                    raise
                raised = True
                print(f"{type(error).__name__}: {error}")
        assert raised == (sample.mark == "raises"), f"{self.page.name}, line {sample.line}: nothing was raised"
        self.printed = printed.getvalue()

    def _differs(self, sample: Sample) -> str:
        return f"{self.page.name}, line {sample.line}: the page shows\n{sample.text}\nbut printed was\n{self.printed}"


def is_excerpt(shown: str, printed: str) -> bool:
    """Whether the shown lines are the printed ones, but for `...`; spaces at the end of a line do not count."""
    parts = [_line(line.rstrip()) for line in shown.splitlines()]
    text = "".join(f"{line.rstrip()}\n" for line in printed.splitlines())
    return re.fullmatch("".join(parts), text) is not None


def _line(shown: str) -> str:
    """The pattern of one line."""
    if shown.strip() == "...":
        return "(?:.*\n)*?"
    return ".*?".join(re.escape(part) for part in shown.split("...")) + "\n"
