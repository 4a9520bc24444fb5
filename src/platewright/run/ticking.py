"""Progress on work that takes more than a second: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from time import monotonic
from typing import Any, TypeVar

Item = TypeVar("Item")

PATIENCE = 1.0
"""Seconds of silence before anything is shown."""


def progress(items: Sequence[Item], title: str) -> Iterator[Item]:
    """The items one after another, with progress shown once a second has passed."""
    with Ticker(title, len(items)) as ticker:
        for item in items:
            yield item
            ticker.advance()


class Ticker:
    """Progress of work: how far it is, or how far of the most it may take, with a word on how it stands."""

    def __init__(self, title: str, total: int) -> None:
        self.title, self.total, self.done = title, total, 0
        self.start = self.last = monotonic()
        self.bar: Any = None

    def __enter__(self) -> Ticker:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def advance(self, count: int = 1) -> None:
        """So many more are done."""
        self.done += count
        self.tick(self.done)

    def tick(self, number: int, word: str = "") -> None:
        """So many are done; where the end is not known, a word on how it stands."""
        now = monotonic()
        if now - self.start < PATIENCE:
            return
        if sys.stderr.isatty():
            self.bar = self.bar or _bar(self.title, self.total)
            shown = f"{self.title}: {word}" if word else self.title
            self.bar.update(self.bar.task_ids[0], completed=number, description=shown)
        elif now - self.last > 10 * PATIENCE:
            self.last = now
            whole = f"at most {self.total}, {word}" if word else f"{self.total}"
            print(f"{self.title}: {number} of {whole}", file=sys.stderr)


def _bar(title: str, total: int) -> Any:
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True))
    bar.add_task(title, total=total)
    bar.start()
    return bar
