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


def _bar(title: str, total: int) -> Any:
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True))
    bar.add_task(title, total=total)
    bar.start()
    return bar
