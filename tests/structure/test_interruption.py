"""Ctrl-C at any moment keeps the best network, or the draws, that are there."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer

import numpy as np
import pytest

import platewright as pw
from platewright.run.heard import told_to_stop
from structure.tables import categories


@contextmanager
def ctrl_c(after: float) -> Iterator[None]:
    """As if somebody pressed it."""
    timer = Timer(after, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


@pytest.fixture(autouse=True)
def as_in_a_terminal() -> Iterator[None]:
    """Whoever runs the tests in the background may have told them not to hear Ctrl-C."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


TABLE = categories(200, 10)
HOLED = {name: np.where(np.arange(200) % 7 == 0, np.nan, column) for name, column in TABLE.items()}
FAMILY = pw.Structures(TABLE)
ENDLESS: dict[str, Callable[[], bool]] = {
    "greedy": lambda: FAMILY.search(TABLE, by="greedy", restarts=10**6).interrupted,
    "orders": lambda: FAMILY.search(TABLE, by="orders", restarts=10**6, workers=2).interrupted,
    "chains": lambda: FAMILY.sample(TABLE, draws=10**7, warm_up=10).chains.interrupted,
    "missing cells": lambda: FAMILY.sample(HOLED, draws=10**6, warm_up=2).chains.interrupted,
}


@pytest.mark.parametrize("name", ENDLESS)
@pytest.mark.parametrize("after", [0.5, 0.531, 0.562])
def test_what_there_is_comes_back(name: str, after: float) -> None:
    before = signal.getsignal(signal.SIGINT)
    with ctrl_c(after):
        assert ENDLESS[name]()
    assert signal.getsignal(signal.SIGINT) is before


def test_structural_em_keeps_its_last_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("platewright.structure.incomplete.search_incomplete.__defaults__", (10**6,))
    with ctrl_c(2.0):
        found = FAMILY.search(HOLED)
    assert found.interrupted and len(found.trace) > 0


def test_work_inside_other_work_looks_at_the_same_word() -> None:
    with told_to_stop() as outer, told_to_stop() as inner:
        assert inner is outer and not outer.stopped
        signal.raise_signal(signal.SIGINT)
        assert outer.stopped
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
