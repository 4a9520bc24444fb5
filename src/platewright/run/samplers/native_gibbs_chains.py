"""Chains of compiled C side by side in threads: warm up, tune slices, keep draws.

Each chain goes its own way with its own random state and is cut into calls by the clock alone, so the draws do not
depend on threads or calls. The main thread only waits, shows progress and hears Ctrl-C.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from platewright.family import Array
from platewright.run.checks.sanity import check_finite
from platewright.run.samplers.native_gibbs import NativeChain, NativeGibbs
from platewright.run.samplers.native_gibbs_moves import NativeHamiltonian, movers_of, tune_scales
from platewright.run.samplers.path_warnings import Told
from platewright.run.samplers.starting import starting_values

SECONDS_IN_A_CALL = 0.1
"""About how long a call of C lasts, so that progress and Ctrl-C come through."""


@dataclass(frozen=True)
class Counts:
    """How much to do, and where to begin if that was said."""

    chains: int
    draws: int
    warm_up: int
    thin: int
    initial: Mapping[str, object] | None = None


@dataclass(eq=False)
class _Worker:
    """One chain in its thread."""

    chain: NativeChain
    movers: Mapping[int, NativeHamiltonian]
    counts: Counts
    check: Callable[[Mapping[str, Array]], None]
    stop: threading.Event
    done: int = 0
    found: dict[str, Array] = field(default_factory=dict)
    error: BaseException | None = None
    pace: int = 1

    def work(self) -> None:
        try:
            self.warm()
            self.check(self.chain.values)
            self.found = self.run(self.counts.draws, self.counts.thin, self.chain.owner.source.unknown)
            check_finite(self.chain.values)
        except BaseException as error:  # handed to the main thread, which raises it
            self.error = error
            self.stop.set()

    def warm(self) -> None:
        """Sweep, and set slice widths from the second half of the sweeps so far, as NumPy's sampler does."""
        warm_up, sliced = self.counts.warm_up, tuple(self.chain.owner.source.sliced)
        recent: dict[str, list[Array]] = {name: [] for name in sliced}
        ends = sorted({n for n in (warm_up // 4, warm_up // 2, warm_up - 1) if n > 4})
        for mover in self.movers.values():
            mover.begin_warm_up(warm_up)
        start = 0
        for end in (*ends, warm_up - 1):
            if end < start:
                continue
            found = self.learn(end + 1 - start, sliced) if self.movers else self.run(end + 1 - start, 1, sliced)
            for name, values in found.items():
                recent[name].append(values)
            start = end + 1
            if end in ends:
                whole = {name: np.concatenate(parts) for name, parts in recent.items()}
                self.chain.tune({name: values[len(values) // 2 :] for name, values in whole.items()})
                tune_scales(self.chain)
        for mover in self.movers.values():
            mover.end_warm_up()

    def learn(self, count: int, keep: tuple[str, ...]) -> dict[str, Array]:
        """Sweeps block by block, so that paths are learned from as they come."""
        kept: dict[str, list[Array]] = {name: [] for name in keep}
        blocks = range(len(self.chain.owner.plan.blocks))
        for _ in range(count):
            if self.stop.is_set():
                break
            for number in blocks:
                if number in self.movers:
                    self.movers[number].path()
                else:
                    self.chain.run(1, 1, only=number)
            for name, values in kept.items():
                values.append(np.array(self.chain.arrays[name]))
            self.done += 1
        return {name: np.array(values) for name, values in kept.items()}

    def run(self, count: int, thin: int, keep: tuple[str, ...]) -> dict[str, Array]:
        """Draws in calls of about the same time."""
        arrays = self.chain.arrays
        kept = {name: np.empty((count, *arrays[name].shape), arrays[name].dtype) for name in keep}
        at = 0
        while at < count and not self.stop.is_set():
            many = min(self.pace, count - at)
            begin = perf_counter()
            self.chain.run(many, thin, {name: values[at : at + many] for name, values in kept.items()})
            took = perf_counter() - begin
            at += many
            self.done += many
            self.pace = int(np.clip(SECONDS_IN_A_CALL / max(took / many, 1e-9), 1, 4 * self.pace))
        return kept


def run_chains(
    native: NativeGibbs,
    counts: Counts,
    seed: int,
    threads: int,
    check: Callable[[Mapping[str, Array]], None],
    tick: Callable[[], object],
) -> tuple[dict[str, Array], list[Told]]:
    """Independent chains from jittered starts, and what their paths tell; the first axis of a result numbers them."""
    plan = native.plan
    stop = threading.Event()
    workers = []
    for generator in np.random.default_rng(seed).spawn(counts.chains):
        start = starting_values(plan.graph, native.source.unknown, native.sizes, generator, counts.initial)
        chain = native.chain(start, generator)
        workers.append(_Worker(chain, movers_of(chain, generator), counts, check, stop))
    waiting = iter(workers)
    lock = threading.Lock()

    def work() -> None:
        while not stop.is_set():
            with lock:
                worker = next(waiting, None)
            if worker is None:
                return
            worker.work()

    helpers = [threading.Thread(target=work) for _ in range(min(threads, counts.chains))]
    try:
        for helper in helpers:
            helper.start()
        _wait(helpers, workers, tick)
    finally:
        stop.set()
        for helper in helpers:
            helper.join()
    for worker in workers:
        if worker.error is not None:
            raise worker.error
    order = [name for name in plan.graph.nodes if name in workers[0].found]
    told = [mover.told() for worker in workers for mover in worker.movers.values()]
    return {name: np.stack([worker.found[name] for worker in workers]) for name in order}, told


def _wait(helpers: list[threading.Thread], workers: list[_Worker], tick: Callable[[], object]) -> None:
    """Until all are done; one tick for each sweep kept or made."""
    shown = 0
    while any(helper.is_alive() for helper in helpers):
        for helper in helpers:
            helper.join(0.02)
        done = sum(worker.done for worker in workers)
        for _ in range(done - shown):
            tick()
        shown = done
