"""A reader that reads ahead has stopped when nobody wants more: its file may change or go right after."""

from __future__ import annotations

from collections.abc import Iterator
from threading import enumerate as every_thread
from time import sleep

from platewright.data.ahead import ahead


def slow() -> Iterator[int]:
    for number in range(100):
        sleep(0.05)
        yield number


def test_nothing_is_read_after_the_last_wanted_piece() -> None:
    before = set(every_thread())
    pieces = ahead(slow())
    assert next(pieces) == 0
    assert len(set(every_thread()) - before) == 1
    pieces.close()  # type: ignore[attr-defined]
    assert not set(every_thread()) - before


def test_items_keep_their_order() -> None:
    assert list(ahead(range(20))) == list(range(20))
