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
    start = last = monotonic()
    bar = None
    total = len(items)
    try:
        for number, item in enumerate(items):
            yield item
            now = monotonic()
            if now - start < PATIENCE:
                continue
            if sys.stderr.isatty():
                bar = bar or _bar(title, total)
                bar.update(bar.task_ids[0], completed=number + 1)
            elif now - last > 10 * PATIENCE:
                last = now
                print(f"{title}: {number + 1} of {total}", file=sys.stderr)
    finally:
        if bar is not None:
            bar.stop()


class Ticker:
    """Progress of work whose end is not known: how far it is of the most it may take, and a word on how it stands."""

    def __init__(self, title: str, total: int) -> None:
        self.title, self.total = title, total
        self.start = self.last = monotonic()
        self.bar: Any = None

    def __enter__(self) -> Ticker:
        return self

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def tick(self, number: int, word: str = "") -> None:
        """So many are done."""
        now = monotonic()
        if now - self.start < PATIENCE:
            return
        if sys.stderr.isatty():
            self.bar = self.bar or _bar(self.title, self.total)
            self.bar.update(self.bar.task_ids[0], completed=number, description=f"{self.title}: {word}")
        elif now - self.last > 10 * PATIENCE:
            self.last = now
            print(f"{self.title}: {number} of at most {self.total}, {word}", file=sys.stderr)


def _bar(title: str, total: int) -> Any:
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True))
    bar.add_task(title, total=total)
    bar.start()
    return bar
