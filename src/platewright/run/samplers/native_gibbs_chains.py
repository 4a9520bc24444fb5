"""Chains of compiled C side by side in threads: warm up, tune slices, keep draws.

Each chain goes its own way with its own random state and is cut into calls by the clock alone, so the draws do not
depend on threads or calls. The main thread only waits, shows progress and hears Ctrl-C.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter

import numpy as np

from platewright.backends.kernels.path_energy import Told
from platewright.backends.kernels.trials import SETTLING, WEIGHED, Heights, stayed, trial_starts
from platewright.errors import PlatewrightError
from platewright.family import Array
from platewright.run.checkpoint import Checkpoint, State
from platewright.run.checks.sanity import check_finite
from platewright.run.heard import left_alone
from platewright.run.samplers.chain_state import state_expected, values_expected
from platewright.run.samplers.extending import MOST, Longer, reached
from platewright.run.samplers.native_gibbs import NativeChain, NativeGibbs
from platewright.run.samplers.native_gibbs_moves import NativeHamiltonian, movers_of, tune_scales
from platewright.run.samplers.path_warnings import check_slopes
from platewright.run.samplers.starting import Start
from platewright.run.samplers.stored_chains import StoredChain, Wanted, packed, side_by_side, stored_chains
from platewright.run.samplers.sums_of_draws import Sums, draws_in_a_call

SECONDS_IN_A_CALL = 0.1
"""About how long a call of C lasts, so that progress and Ctrl-C come through."""


@dataclass(frozen=True)
class Counts:
    """How much to do."""

    chains: int
    draws: int
    warm_up: int
    thin: int


@dataclass(eq=False)
class _Worker:
    """One chain in its thread."""

    chain: NativeChain
    movers: Mapping[int, NativeHamiltonian]
    counts: Counts
    check: Callable[[Mapping[str, Array]], None]
    stop: threading.Event
    done: int = 0
    error: BaseException | None = None
    pace: int = 1
    begun: StoredChain | None = None
    stored: StoredChain | None = None
    """The chain as it was after its last call."""
    storing: bool = False
    sums: dict[str, Sums] = field(default_factory=dict)
    """Of the unknowns whose draws are not kept."""

    def work(self) -> None:
        try:
            unknown = self.chain.owner.source.unknown
            kept = {name: self.room(name, self.counts.draws) for name in unknown if name not in self.sums}
            at, last = 0, self.stored
            if last is None:
                self.warm()
                if self.stop.is_set():
                    return
                self.check(self.chain.values)
                if self.counts.warm_up:
                    check_slopes({tuple(mover.names): mover for mover in self.movers.values()}, self.chain.arrays)
            else:
                if self.begun is not None:
                    self.chain.set_state(self.begun.arrays)
                    self.begun = None
                at, self.sums = last.count, dict(last.sums)
                for name, values in kept.items():
                    values[:at] = last.draws[name]
            self.run(self.counts.draws, self.counts.thin, kept, at)
            check_finite(self.chain.values)
        except BaseException as error:  # handed to the main thread, which raises it
            self.error = error
            self.stop.set()

    def warm(self) -> None:
        """Sweep from stop to stop, where metrics are learned, and slice widths from the second half of the sweeps."""
        warm_up, movers = self.counts.warm_up, self.movers.values()
        widths = {n + 1 for n in (warm_up // 4, warm_up // 2, warm_up - 1) if n > 4}
        looks: set[int] = set()
        for mover in movers:
            mover.begin_warm_up(warm_up)
            looks |= mover.stops
            if warm_up:
                mover.start_high()
        keep = dict.fromkeys([*self.chain.owner.source.sliced, *(n for m in movers for n in m.names)])
        kept = {name: self.room(name, warm_up) for name in keep}
        at = 0
        for end in sorted({0, *looks, *widths, warm_up}):
            self.run(end, 1, kept, at, warming=True)
            if self.stop.is_set():
                return
            for mover in movers:
                mover.stop({name: kept[name][at:end] for name in mover.names})
            if end in widths:
                self.chain.tune({name: kept[name][end // 2 : end] for name in self.chain.owner.source.sliced})
                tune_scales(self.chain)
            at = end
        for mover in movers:
            mover.end_warm_up()

    def room(self, name: str, count: int) -> Array:
        """An array for so many draws of an unknown."""
        values = self.chain.arrays[name]
        return np.empty((count, *values.shape), values.dtype)

    def run(
        self, count: int, thin: int, kept: dict[str, Array], at: int = 0, warming: bool = False
    ) -> dict[str, Array]:
        """Draws in calls of about the same time, from number `at` on; after each the chain may be stored.

        A call is cut by its work: where one draw takes longer, it is made of several calls.
        """
        turned = 0
        most = count if warming else min(draws_in_a_call(self.sums), count)
        passing = {} if warming else {name: self.room(name, most) for name in self.sums}
        while at < count and not self.stop.is_set():
            many = min(self.pace // thin, count - at, most) if not turned else 0
            sweeps = many * thin if many else min(self.pace, thin - turned)
            begin = perf_counter()
            if many:
                self.chain.run(many, thin, {name: values[at : at + many] for name, values in kept.items()} | passing)
            elif turned + sweeps < thin:
                self.chain.run(1, sweeps)
            else:
                self.chain.run(1, sweeps, {name: values[at : at + 1] for name, values in kept.items()} | passing)
            took = perf_counter() - begin
            self.pace = int(np.clip(SECONDS_IN_A_CALL / max(took / sweeps, 1e-9), 1, 4 * self.pace))
            if not many and turned + sweeps < thin:
                turned += sweeps
                continue
            many, turned = max(many, 1), 0
            at += many
            self.done += many
            if not warming:
                # Rows before `at` are written once, so the main thread may read them while the chain goes on.
                draws = {name: values[:at] for name, values in kept.items()}
                self.sums = {name: each.after(passing[name][:many]) for name, each in self.sums.items()}
                self.stored = StoredChain(draws, {}, self.chain.state() if self.storing else {}, self.sums)
        return kept


def run_chains(
    native: NativeGibbs,
    counts: Counts,
    seed: int,
    threads: int,
    start: Start,
    check: Callable[[int, Mapping[str, Array]], None],
    tick: Callable[[int], object],
    checkpoint: Checkpoint | None = None,
    heights: Heights | None = None,
    sums: Mapping[str, Sums] | None = None,
    longer: Longer | None = None,
) -> tuple[list[StoredChain], list[Told]]:
    """Chains from jittered starts, and what their paths tell; of the unknowns in `sums` no draw is kept.

    With log densities of draws (`heights`) they start where short trials of their own have ended. With `longer` they go
    on until it asks for no more.
    """
    store = checkpoint or Checkpoint()
    stop = threading.Event()
    workers = []
    generators = np.random.default_rng(seed).spawn(counts.chains)

    def trial(number: int, values: Mapping[str, Array]) -> Mapping[str, Array]:
        return _tried(native.chain(values, generators[number]), generators[number])

    starts = trial_starts(counts.chains, counts.warm_up, lambda number: start(generators[number]), trial, heights)
    for number, generator in enumerate(generators):
        chain = native.chain(starts[number], generator)
        worker = _Worker(chain, movers_of(chain, generator), counts, partial(check, number), stop)
        worker.storing, worker.sums = store.path is not None, dict(sums or {})
        workers.append(worker)
    any_chain = workers[0].chain
    wanted = Wanted(
        counts.chains,
        counts.draws if longer is None else MOST,
        values_expected(any_chain),
        lambda stored: state_expected(any_chain, stored.arrays),
        sums=sums or {},
    )
    for number, begun in stored_chains(store, wanted).items():
        workers[number].begun = workers[number].stored = begun
    if longer is not None:
        counts = replace(counts, draws=reached([worker.stored.count for worker in workers if worker.stored]))
    while not _pass_over(workers, counts, threads, stop, tick, store) and longer is not None:
        ran = [worker.stored for worker in workers if worker.stored is not None]
        draws = longer(side_by_side(ran, counts.draws))
        if draws <= counts.draws:
            break
        counts = replace(counts, draws=draws)
    told = [mover.told() for worker in workers for mover in worker.movers.values()]
    return [StoredChain({}) if worker.stored is None else worker.stored for worker in workers], told


def _pass_over(
    workers: list[_Worker],
    counts: Counts,
    threads: int,
    stop: threading.Event,
    tick: Callable[[int], object],
    store: Checkpoint,
) -> bool:
    """All chains up to so many draws; whether Ctrl-C ended them."""
    for worker in workers:
        worker.counts = counts
    waiting = iter(workers)
    lock = threading.Lock()

    def work() -> None:
        while not stop.is_set():
            with lock:
                worker = next(waiting, None)
            if worker is None:
                return
            worker.work()

    helpers = [threading.Thread(target=work, daemon=True) for _ in range(min(threads, counts.chains))]
    ended = False
    try:
        for helper in helpers:
            helper.start()
        _wait(helpers, workers, tick, store)
    except KeyboardInterrupt:
        ended = True
        stop.set()
        left_alone(helpers)
    except BaseException:
        stop.set()
        raise
    finally:
        for helper in helpers if not ended else ():
            helper.join()
    for worker in workers:
        if worker.error is not None:
            raise worker.error
    store.save(_state(workers), force=True)
    if ended and not any(worker.stored is not None and worker.stored.count for worker in workers):
        raise KeyboardInterrupt  # nothing is there to return
    return ended


def _tried(chain: NativeChain, generator: np.random.Generator) -> Mapping[str, Array]:
    """The draws of a short trial; the start alone where there is no way from it, which the chain itself would tell."""
    values = chain.values
    counts = Counts(1, WEIGHED, SETTLING, 1)
    worker = _Worker(chain, movers_of(chain, generator), counts, lambda _: None, threading.Event())
    worker.work()
    if worker.error is not None and not isinstance(worker.error, PlatewrightError):
        raise worker.error
    if worker.error is not None or worker.stored is None:
        return stayed(values)
    return worker.stored.draws


def _state(workers: list[_Worker]) -> State:
    """All chains that have draws, each as it was after its last call."""
    return packed({number: worker.stored for number, worker in enumerate(workers) if worker.stored is not None})


def _wait(
    helpers: list[threading.Thread], workers: list[_Worker], tick: Callable[[int], object], store: Checkpoint
) -> None:
    """Until all are done; ticks tell how many more sweeps were kept or made."""
    shown = sum(worker.done for worker in workers)
    while any(helper.is_alive() for helper in helpers):
        for helper in helpers:
            helper.join(0.02)
        store.save_if_due(lambda: _state(workers))
        done = sum(worker.done for worker in workers)
        tick(done - shown)
        shown = done
