"""A search in stages: a short run from each of several starts, then the best of them carried on to its end.

    start 1 --> short run  |
    start 2 --> short run  |-->  the best of them --> until it stands still
    ...                    |

A run is whatever its algorithm makes of it, with its objective at each iteration (`history`) and whether it stands
still (`converged`). Runs are generators of their states, and so is the search: who drains it gets the best run, who
looks on may show the objective, store the state and go on from it, to the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

SHORT = 20
"""Iterations of each start before the best is carried on."""


def searched(
    begun: Callable[[np.random.Generator], Any],
    pursued: Callable[[Any, int], Iterator[Any]],
    seed: int,
    restarts: int,
    iterations: int,
    done: Sequence[Any] = (),
    now: Any = None,
) -> Generator[tuple[list[Any], Any], None, Any]:
    """The best run; yields the runs that have ended and the one at work after each of its iterations.

    `begun` makes a run from a start of its own, `pursued` yields it after each iteration up to so many. A run that
    ends in an arithmetic error gives way to the others, and its error stands in its place.
    """
    done, first = list(done), len(done)
    short = min(SHORT, iterations) if restarts > 1 else iterations
    for number, generator in enumerate(np.random.default_rng(seed).spawn(restarts)):
        if number >= first:
            start = partial(begun, generator) if now is None or number > first else partial(given, now)
            yield from one_run(done, start, pursued, short)
    runs = [run for run in done[:restarts] if not isinstance(run, Exception)]
    for place, run in enumerate(sorted(runs, key=lambda run: -run.history[-1]), start=restarts):
        if run.converged or len(run.history) >= iterations:
            return run
        if place >= first:
            start = partial(given, run if now is None or place > first else now)
            yield from one_run(done, start, pursued, iterations)
        if not isinstance(done[place], Exception):
            return done[place]
    raise done[-1]


def given(run: Any) -> Any:
    """A run that has begun already."""
    return run


def one_run(
    done: list[Any], start: Callable[[], Any], pursued: Callable[[Any, int], Iterator[Any]], iterations: int
) -> Iterator[tuple[list[Any], Any]]:
    """One run to its end, added to those that have ended; its error where it gives way."""
    try:
        run = start()
        for state in pursued(run, iterations):
            run = state
            yield done, run
    except (ArithmeticError, np.linalg.LinAlgError) as error:
        run = error
    done.append(run)


def ended(search: Generator[Any, None, Any]) -> Any:
    """What a search leads to."""
    while True:
        try:
            next(search)
        except StopIteration as end:
            return end.value
