"""Drive a printed search: show how far it is, store its state, and let Ctrl-C end it with what there is.

The search itself is `backends/kernels/search.py`, which an emitted file carries along. Its state is written on the way,
so that a search that was broken off goes on where it was and ends at the same bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from platewright.backends.kernels.accelerated import Unlimited
from platewright.backends.kernels.search import searched
from platewright.family import Array
from platewright.run.checkpoint import Checkpoint, State
from platewright.run.door import stages_admitted
from platewright.run.ticking import Ticker

TRIED = 20
"""Starts that are tried for an example of what is stored."""


class Staged(Protocol):
    """A run so far: its objective at each iteration, and whether it stands still."""

    @property
    def history(self) -> tuple[float, ...]: ...
    @property
    def converged(self) -> bool: ...


Run = TypeVar("Run", bound=Staged)


class Stages(Generic[Run]):
    """A search with progress and stored states; what is searched says how a run begins, goes on and is stored."""

    objective = "objective"

    def __init__(
        self,
        begun: Callable[[np.random.Generator], Run],
        pursued: Callable[[Run, int], Iterator[Run]],
        stored: Callable[[Run], tuple[Mapping[str, object], Mapping[str, Array]]],
        taken_up: Callable[[Mapping[str, Any], Mapping[str, Array]], Run],
    ) -> None:
        self.begun, self.pursued, self.stored, self.taken_up = begun, pursued, stored, taken_up
        self.done: list[Run | Exception] = []
        """Runs that have ended, or the errors of those that gave way."""
        self.last: tuple[int, Run] | None = None
        """How many had ended at the last iteration, and the run at work as it was then."""
        self.interrupted = False

    @property
    def now(self) -> Run | None:
        """The run at work, if it has not ended since its last iteration."""
        return None if self.last is None or self.last[0] < len(self.done) else self.last[1]

    def run(self, seed: int, restarts: int, iterations: int, checkpoint: Checkpoint | None, ticker: Ticker) -> Run:
        """The best run, from the beginning or from where a stored state left off."""
        self.checkpoint, self.ticker = checkpoint or Checkpoint(), ticker
        search = searched(self.begun, self.pursued, seed, restarts, iterations, *self.take_up())
        count = 0
        try:
            while True:
                self.done, now = next(search)
                self.last = len(self.done), now
                if len(self.done) > count:
                    self.checkpoint.save(self.state(), force=True)
                count = len(self.done)
                self.told(now)
        except StopIteration as end:
            best: Run = end.value
            self.checkpoint.save(self.state(), force=True)
            return best
        except KeyboardInterrupt:
            self.interrupted = True
            self.checkpoint.save(self.state(), force=True)
            return self.best(restarts)

    def best(self, restarts: int) -> Run:
        """What there is after Ctrl-C: the run that is carried on, or the best of those that came to the end of a stage.

        A short run in the middle counts where it is the only one: so a file with the iterations that ran ends there.
        """
        ended = [run for run in self.done if not isinstance(run, Exception)]
        if self.now is not None and (len(self.done) >= restarts or not ended):
            return self.now
        if not ended:
            raise KeyboardInterrupt
        return max(ended, key=lambda run: run.history[-1])

    def ran(self, options: Mapping[str, Any], best: Run) -> dict[str, Any]:
        """The options with which a file gives the run that was returned: after Ctrl-C what ran by then."""
        found = {name: float(n) if name == "tolerance" else int(n) for name, n in options.items()}
        if not self.interrupted:
            return found
        if len(self.done) < found["restarts"]:
            found["restarts"] = max(len(self.done), 1)
        return {**found, "iterations": len(best.history)}

    def told(self, now: Run) -> None:
        """After each iteration: show the objective, and store the state from time to time."""
        self.ticker.tick(len(now.history), f"{self.objective} {now.history[-1]:.6g}")
        self.checkpoint.save_if_due(self.state)

    # -- stored states ---

    def state(self) -> State:
        """Everything needed to go on: ended runs, and the one at work."""
        told: list[dict[str, object] | None] = []
        arrays: dict[str, Array] = {}
        for number, run in enumerate([*self.done, self.now] if self.now is not None else self.done):
            if isinstance(run, Exception):
                told.append(None)
                continue
            facts, values = self.stored(run)
            told.append({"history": list(run.history), "converged": run.converged, **facts})
            arrays |= {f"{number}:{name}": np.asarray(value) for name, value in values.items()}
        return State({"stages": told, "at_work": self.now is not None}, arrays)

    def take_up(self) -> tuple[list[Run | Exception], Run | None]:
        """The runs of a stored state to go on from, and the one that was at work; its arrays are those of a start."""
        state = self.checkpoint.load()
        if state is None:
            return [], None
        with self.checkpoint.looked_at():
            facts, arrays = self.stored(self.example())
            stages, at_work = stages_admitted(state, arrays, facts)
        for told, mine in stages:
            self.done.append(Unlimited() if told is None else self.taken_up(told, mine))
        if not at_work:
            return self.done, None
        *ended, now = self.done
        assert not isinstance(now, Exception)
        self.done, self.last = ended, (len(ended), now)
        return ended, now

    def example(self) -> Run:
        """A run that has begun."""
        for seed in range(TRIED):
            with suppress(ArithmeticError, np.linalg.LinAlgError):
                return self.begun(np.random.default_rng(seed))
        return self.begun(np.random.default_rng(TRIED))
