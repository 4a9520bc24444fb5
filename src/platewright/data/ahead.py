"""Read ahead: the next piece of a file is decoded by a second thread while the last one is worked on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from queue import Empty, Queue
from threading import Event, Thread, current_thread
from typing import Any, TypeVar

Item = TypeVar("Item")

PIECES_AHEAD = 1
"""Pieces that wait to be worked on; memory grows by as many."""


def ahead(items: Iterable[Item]) -> Iterator[Item]:
    """The same items in the same order; an error of the reader is raised where its item would have come."""
    queue: Queue[tuple[str, Any]] = Queue(PIECES_AHEAD)
    stopped = Event()

    def read() -> None:
        try:
            for item in items:
                queue.put(("item", item))
                if stopped.is_set():
                    return
            queue.put(("end", None))
        except BaseException as error:  # carried over to the thread that waits
            queue.put(("error", error))

    thread = Thread(target=read, daemon=True)
    thread.start()
    try:
        while True:
            kind, value = queue.get()
            if kind == "end":
                return
            if kind == "error":
                raise value
            yield value
    finally:
        stopped.set()
        # A file that is still being read must not change or go. (The reader itself may be the one that clears up.)
        while thread.is_alive() and current_thread() is not thread:
            with suppress(Empty):
                queue.get(timeout=0.01)
