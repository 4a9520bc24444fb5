"""The compiled part of this room: counting, searching and summing, around evidences printed from their derivation.

It is compiled once for each number of 64-bit words that a set of nodes needs. The sums over all networks are compiled
apart, without the flags that let a compiler reorder sums: double-double arithmetic lives from their order.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from threading import Thread
from typing import Any

import numpy as np

from platewright.backends.c.compile import FLAGS, compiled, find_compiler
from platewright.run.heard import LISTENING, told_to_stop
from platewright.structure.derived import Evidence, derived_source

EXACT = (*(flag for flag in FLAGS if flag not in ("-fassociative-math", "-ffp-contract=fast")), "-ffp-contract=off")
PARTS = ("distinct.c", "bitmaps.c", "scores.c", "joint.c", "climbing.c", "orders.c", "tables.c", "moves.c", "classes.c")
HEAD = """#include <float.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#define WORDS {words}
#define UNKNOWN DBL_MAX
#define LEAST_GAIN {least}
"""
LEAST_GAIN = 1e-9
"""A move between classes that gains less is none."""
_POINTER, _LONG, _DOUBLE = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double
_SIGNATURES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "distinct_rows": (_LONG, (_LONG, _LONG, _POINTER, _POINTER, _POINTER, _POINTER)),
    "open_scorer": (_POINTER, (_POINTER,)),
    "close_scorer": (None, (_POINTER,)),
    "scorer_counts": (_LONG, (_POINTER, _LONG)),
    "evidence_of": (_DOUBLE, (_POINTER, _LONG, _POINTER)),
    "local_score": (_DOUBLE, (_POINTER, _LONG, _POINTER)),
    "climb": (_DOUBLE, (_POINTER, _POINTER, _LONG, _LONG, _POINTER)),
    "shake": (None, (_POINTER, _POINTER, _LONG, ctypes.c_uint64)),
    "open_forest": (_POINTER, (_POINTER,)),
    "close_forest": (None, (_POINTER,)),
    "best_order": (_DOUBLE, (_POINTER, _POINTER, _POINTER, _POINTER, _POINTER)),
    "outcomes": (_LONG, (_POINTER, _POINTER, _LONG, _POINTER, _POINTER, _POINTER)),
    "walk": (_LONG, (_POINTER, _POINTER, _LONG, _LONG, _POINTER, _POINTER, _POINTER, _POINTER, _POINTER)),
    "fill_scores": (_LONG, (_POINTER, _POINTER, _LONG, _POINTER)),
    "climb_classes": (_DOUBLE, (_POINTER, _POINTER, _LONG, _POINTER)),
    "class_of": (_LONG, (_LONG, _POINTER, _POINTER, _POINTER)),
    "turns_of": (_LONG, (_POINTER, _POINTER, _LONG, _LONG, _LONG, _LONG, _POINTER, _POINTER)),
}
_SUMS: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "best_networks": (_LONG, (_LONG, _POINTER, _POINTER, _POINTER, _POINTER)),
    "sum_networks": (_LONG, (_LONG, _POINTER, _POINTER, _POINTER, _POINTER, _POINTER)),
}


def _text(name: str) -> str:
    return Path(__file__).with_name("native").joinpath(name).read_text(encoding="utf-8")


def score_source(words: int, forms: Sequence[Evidence] = ()) -> str:
    """The C of scores and searches, with the derived evidences in it, and those of columns with models of their own."""
    named = [replace(form, name=f"{form.name}_{number}") for number, form in enumerate(forms)]
    cases = [f"    case {number}: return {form.called('at')};" for number, form in enumerate(named)]
    choice = ("static double grouped(int64_t form, const double *at)", "{", "    switch (form) {", *cases)
    head = HEAD.format(words=words, least=LEAST_GAIN)
    return "\n".join((head, derived_source(*named), *choice, "    }", "    return UNKNOWN;", "}", *map(_text, PARTS)))


@lru_cache(maxsize=8)
def _score_library(source: str) -> ctypes.CDLL | None:
    return _loaded(source, FLAGS, _SIGNATURES)


def score_library(words: int, forms: Sequence[Evidence] = ()) -> ctypes.CDLL | None:
    """Scores and searches for sets of so many words; nothing where there is no compiler."""
    return _score_library(score_source(words, forms))


@lru_cache(maxsize=1)
def sum_library() -> ctypes.CDLL | None:
    """Sums and maxima over all networks."""
    return _loaded(_text("networks.c"), EXACT, _SUMS)


def _loaded(
    source: str, flags: tuple[str, ...], signatures: dict[str, tuple[Any, tuple[Any, ...]]]
) -> ctypes.CDLL | None:
    compiler = find_compiler()
    if compiler is None:
        return None
    found = compiled(source, compiler, flags)
    for name, (result, arguments) in signatures.items():
        function = getattr(found, name)
        function.restype, function.argtypes = result, list(arguments)
    return found


def at_once(work: Callable[[Any], Any]) -> tuple[Any, bool]:
    """Run short work in C; it cannot be interrupted."""
    stop = np.zeros(1, dtype=np.int32)
    return work(stop.ctypes.data), False


def interruptible(work: Callable[[Any], Any]) -> tuple[Any, bool]:
    """Run C in a thread, so that Ctrl-C sets the word it looks at: what it returned, and whether Ctrl-C came."""
    found: Future[Any] = Future()
    with told_to_stop() as listener:

        def run() -> None:
            try:
                found.set_result(work(listener.address))
            except BaseException as error:  # raised again by result(), in the thread that asked
                found.set_exception(error)

        thread = Thread(target=run, daemon=True)
        thread.start()
        while thread.is_alive():
            try:
                thread.join(LISTENING)
            except KeyboardInterrupt:  # again, or heard by the program that we are in
                listener.stop()
    return found.result(), listener.stopped


def side_by_side(works: Sequence[Callable[[Any], Any]]) -> tuple[list[Any], bool]:
    """Several pieces of work in C, each in a thread of its own; Ctrl-C stops all."""
    if len(works) == 1:
        found, interrupted = interruptible(works[0])
        return [found], interrupted

    def run(stop: Any) -> list[Any]:
        with ThreadPoolExecutor(len(works)) as pool:
            return [each.result() for each in [pool.submit(work, stop) for work in works]]

    return interruptible(run)
