"""A search in stages: a short run from each of several starts, then the best of them carried on to its end.

    start 1 --> short run  |
    start 2 --> short run  |-->  the best of them --> until it stands still
    ...                    |

What is searched says how a run begins, goes on and is stored. The state is written on the way, so that a search that
was broken off goes on where it was and ends at the same bits; Ctrl-C ends it with the best that it has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np

from platewright.errors import PlatewrightError, Unbounded
from platewright.family import Array
from platewright.run.checkpoint import Checkpoint, State
from platewright.run.ticking import Ticker

SHORT = 20
"""Iterations of each start before the best is carried on."""


class Staged(Protocol):
    """A run so far: a dataclass with its objective at each iteration, and how it ended."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    @property
    def history(self) -> Sequence[float]: ...
    @property
    def converged(self) -> bool: ...
    @property
    def interrupted(self) -> bool: ...


Run = TypeVar("Run", bound=Staged)


class Stages(Generic[Run]):
    """The stages of a search: one for each start, then those that carry on, the best first."""

    gives_way: tuple[type[PlatewrightError], ...] = ()
    """Errors that end a stage and not the search: the next best is carried on."""
    objective = "objective"

    def __init__(self, iterations: int, tolerance: float, checkpoint: Checkpoint | None, ticker: Ticker) -> None:
        self.iterations, self.tolerance = int(iterations), tolerance
        self.checkpoint, self.ticker = checkpoint or Checkpoint(), ticker
        self.done: list[Run | None] = []
        """Stages that ended; nothing for one that gave way."""
        self.trouble: PlatewrightError | None = None
        self.current: Run | None = None
        """The run that a stored state was in the middle of."""
        self.last: State | None = None
        """The state at the last iteration, from which a search goes on bit by bit."""

    # -- what is searched ---

    def begun(self, generator: np.random.Generator) -> Run:
        """A run from a start of its own."""
        raise NotImplementedError

    def again(self, run: Run) -> Run:
        """A run that goes on where another ended."""
        raise NotImplementedError

    def pursued(self, run: Run, iterations: int) -> Run:
        """A run carried on to so many iterations, each of them told; after Ctrl-C as it is, if there is anything."""
        raise NotImplementedError

    def stored(self, run: Run) -> tuple[dict[str, object], Mapping[str, Array]]:
        """Facts beside the history, and the arrays from which a run goes on."""
        raise NotImplementedError

    def taken_up(self, facts: Mapping[str, Any], arrays: Mapping[str, Array]) -> Run:
        """The run that was stored."""
        raise NotImplementedError

    # -- the search ---

    def run(self, seed: int, restarts: int) -> Run:
        """All stages, from the beginning or from where a stored state left off."""
        self.take_up()
        short = min(SHORT, self.iterations) if restarts > 1 else self.iterations
        for number, generator in enumerate(np.random.default_rng(seed).spawn(restarts)):
            ended = self.stage(number, partial(self.begun, generator), short)
            if ended is not None and ended.interrupted:
                return replace(self.best(), interrupted=True)
        order = sorted((run for run in self.done[:restarts] if run is not None), key=lambda run: -run.history[-1])
        for place, begun in enumerate(order):
            if begun.converged or len(begun.history) >= self.iterations:
                return begun
            ended = self.stage(restarts + place, partial(self.again, begun), self.iterations)
            if ended is not None:
                return ended
        assert self.trouble is not None
        raise self.trouble

    def stage(self, number: int, begin: Callable[[], Run], iterations: int) -> Run | None:
        """One run; a stored one is not repeated."""
        if number < len(self.done):
            return self.done[number]
        self.last = None
        found: Run | None = None
        try:
            start = begin() if self.current is None else self.current
            self.current = None
            found = self.pursued(start, iterations)
        except self.gives_way as error:
            self.trouble = error
        except KeyboardInterrupt:
            if not any(self.done):
                raise  # nothing is there to return
            found = replace(self.best(), interrupted=True)
            self.done.append(found)
            return found
        if found is not None and found.interrupted:
            self.checkpoint.save(self.last or self.state(found), force=True)
            self.done.append(found)
            return found
        self.done.append(found)
        self.checkpoint.save(self.state(None), force=True)
        return found

    def best(self) -> Run:
        """The highest run so far."""
        return max((run for run in self.done if run is not None), key=lambda run: run.history[-1])

    def told(self, now: Run) -> None:
        """After each iteration: show the objective, and store the state from time to time."""
        self.ticker.tick(len(now.history), f"{self.objective} {now.history[-1]:.6g}")
        if self.checkpoint.path is not None:
            last = self.last = self.state(now)
            self.checkpoint.save_if_due(lambda: last)

    # -- stored states ---

    def state(self, now: Run | None) -> State:
        """Everything needed to go on: ended stages, and the one at work before its next step."""
        told: list[dict[str, object] | None] = []
        arrays: dict[str, Array] = {}
        for number, run in enumerate([*self.done, now] if now is not None else self.done):
            if run is None:
                told.append(None)
                continue
            facts, values = self.stored(run)
            told.append({"history": list(run.history), "converged": run.converged, **facts})
            arrays |= {f"{number}:{name}": np.asarray(value) for name, value in values.items()}
        return State({"stages": told, "at_work": now is not None}, arrays)

    def take_up(self) -> None:
        """Go on from a stored state."""
        state = self.checkpoint.load()
        if state is None:
            return
        for number, facts in enumerate(state.facts["stages"]):
            if facts is None:
                self.done.append(None)
                self.trouble = Unbounded()
                continue
            mine = {name.split(":", 1)[1]: v for name, v in state.arrays.items() if name.startswith(f"{number}:")}
            self.done.append(self.taken_up(facts, mine))
        if state.facts["at_work"]:
            self.current = self.done.pop()
