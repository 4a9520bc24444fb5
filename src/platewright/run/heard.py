"""Ctrl-C is heard within a second, also while C is at work.

    main thread  ---- waits, and can be interrupted ----> KeyboardInterrupt
    helper       ---- one call of C -------------------->  its end, which nobody waits for

One rule for every schema: what there is comes back, and says that it was interrupted; where there is nothing yet,
`KeyboardInterrupt` goes on to the caller, after the checkpoint was written. Work that has something to keep at any
moment asks to be told (`told_to_stop`) and is not torn out of the line it is in.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

PATIENCE = 0.4
"""Seconds that a call at work is waited for after Ctrl-C; then it is left to end by itself."""
LISTENING = 0.05
"""Seconds between looks at a helper: locks are waited for without hearing signals on some systems."""


def heard(call: Callable[[], Any]) -> Any:
    """What a long call returns. After Ctrl-C it is left alone: nobody may use what it writes to any more."""
    if threading.current_thread() is not threading.main_thread():
        return call()
    found: list[Any] = []
    trouble: list[BaseException] = []

    def work() -> None:
        try:
            found.append(call())
        except BaseException as error:  # raised by the thread that waits
            trouble.append(error)

    helper = threading.Thread(target=work, daemon=True)
    helper.start()
    while helper.is_alive():
        helper.join(LISTENING)
    if trouble:
        raise trouble[0]
    return found[0]


def in_threads(count: int, threads: int, work: Callable[[int], int]) -> list[int]:
    """Do pieces of work by several threads; which thread does which piece changes nothing.

    After an error, or Ctrl-C, no more pieces are begun, and those at work are waited for: they write into arrays that
    belong to the caller.
    """
    waiting, lock, codes = iter(range(count)), threading.Lock(), [0] * count
    ended = threading.Event()

    def worker() -> None:
        while not ended.is_set():
            with lock:
                k = next(waiting, None)
            if k is None:
                return
            codes[k] = work(k)

    others = [threading.Thread(target=worker) for _ in range(min(threads, count) - 1)]
    try:
        for thread in others:
            thread.start()
        worker()
        for thread in others:
            thread.join()
    except BaseException:
        ended.set()
        for thread in others:
            while thread.is_alive():
                with suppress(KeyboardInterrupt):
                    thread.join()
        raise
    return codes


def left_alone(helpers: list[threading.Thread], patience: float = PATIENCE) -> None:
    """Wait a little for helpers that were told to stop; one that is deep in a call ends by itself later."""
    for helper in helpers:
        helper.join(patience / len(helpers))


@dataclass(frozen=True, eq=False)
class Listener:
    """What hears Ctrl-C: a word that is set by it, for Python and for C. The second time it is `KeyboardInterrupt`."""

    word: NDArray[np.int32]

    @property
    def stopped(self) -> bool:
        """Whether Ctrl-C came."""
        return bool(self.word[0])

    @property
    def address(self) -> int:
        """Where C looks."""
        return int(self.word.ctypes.data)

    def stop(self) -> None:
        """As if it had come."""
        self.word[0] = 1

    def __call__(self, number: int, frame: object) -> None:
        """It came."""
        if self.stopped:
            raise KeyboardInterrupt
        self.stop()


@contextmanager
def told_to_stop() -> Iterator[Listener]:
    """While this lasts, Ctrl-C sets a word and tears no line apart; work inside other work looks at the same word."""
    listener = Listener(np.zeros(1, dtype=np.int32))
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread():  # which alone hears it
        yield listener
    elif isinstance(before, Listener):
        yield before
    elif before is not signal.default_int_handler:  # the program that we are in has a way of its own with it
        yield listener
    else:
        signal.signal(signal.SIGINT, listener)
        try:
            yield listener
        finally:
            signal.signal(signal.SIGINT, before)
