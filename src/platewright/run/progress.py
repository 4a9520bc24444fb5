"""Say that work is going on, once it has taken a second: a spinner on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock, Timer
from time import perf_counter
from typing import Any, TextIO

from platewright.run.ticking import PATIENCE


@contextmanager
def working(what: str, stream: TextIO | None = None, patience: float = PATIENCE) -> Iterator[None]:
    """Around work that may take long; quick work leaves no trace. Results go elsewhere, this writes to stderr."""
    out = sys.stderr if stream is None else stream
    start = perf_counter()
    shown = _Shown(what, out)
    timer = Timer(patience, shown.begin)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        shown.end(perf_counter() - start)


class _Shown:
    """What is on the screen: nothing, a spinner, or a line. The timer's thread and ours take turns by a lock."""

    def __init__(self, what: str, out: TextIO) -> None:
        self.what, self.out = what, out
        self.status: Any = None
        self.begun = self.ended = False
        self.lock = Lock()

    def begin(self) -> None:
        with self.lock:
            if self.ended:
                return
            self.begun = True
            if not self.out.isatty():
                print(f"{self.what} ...", file=self.out, flush=True)
                return
            from rich.console import Console  # slow to load, and only for terminals

            self.status = Console(file=self.out).status(self.what)
            self.status.start()

    def end(self, seconds: float) -> None:
        with self.lock:
            self.ended = True
            if self.status is not None:
                self.status.stop()
            if self.begun:
                print(f"{self.what}: {seconds:.1f} s", file=self.out, flush=True)
