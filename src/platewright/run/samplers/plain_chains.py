"""Chains by NumPy, one after another: warm up, keep draws, store them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from platewright.backends.kernels.path_energy import Told
from platewright.backends.kernels.trials import Heights, trial_starts
from platewright.family import Array
from platewright.run.checkpoint import Checkpoint, State
from platewright.run.door import as_values_of
from platewright.run.samplers.chain_state import LEAST
from platewright.run.samplers.extending import FIRST, MOST, Longer, reached
from platewright.run.samplers.gibbs import NOW, Keeping, Sampler, run_chain, tried
from platewright.run.samplers.native_gibbs_chains import Counts
from platewright.run.samplers.path_warnings import warn_of_paths
from platewright.run.samplers.starting import Start
from platewright.run.samplers.stored_chains import StoredChain, Wanted, ended, packed, side_by_side, stored_chains
from platewright.run.samplers.sums_of_draws import Sums
from platewright.schemas.gibbs import GibbsPlan


def one_by_one(
    plan: GibbsPlan,
    columns: Mapping[str, Array],
    sizes: Mapping[str, int],
    counts: Counts,
    seed: int,
    start: Start,
    store: Checkpoint,
    tick: Callable[[], object],
    heights: Heights | None,
    sums: Mapping[str, Sums],
    longer: Longer | None = None,
) -> list[StoredChain]:
    """Chains by NumPy, one after another; with `longer` they go on until it asks for no more."""
    run = (plan, columns, sizes, counts, seed, start, store, tick, heights, sums)
    if longer is None:
        return [ended(chain) for chain in _up_to(*run, counts.draws)]
    ran, draws = _up_to(*run, FIRST, {}, MOST), FIRST
    while all(chain.count >= draws for chain in ran) and len(ran) == counts.chains:
        draws, asked = longer(side_by_side(ran, draws)), draws
        if draws <= asked:
            break
        ran = _up_to(*run, draws, dict(enumerate(ran)), MOST)
    return [ended(chain) for chain in ran]


def _up_to(
    plan: GibbsPlan,
    columns: Mapping[str, Array],
    sizes: Mapping[str, int],
    counts: Counts,
    seed: int,
    start: Start,
    store: Checkpoint,
    tick: Callable[[], object],
    heights: Heights | None,
    sums: Mapping[str, Sums],
    draws: int,
    before: Mapping[int, StoredChain] | None = None,
    most: int = 0,
) -> list[StoredChain]:
    """All chains up to so many draws, those that were begun from where they are; `most` draws may have been stored."""
    found: list[StoredChain] = []
    paths: list[Told] = []
    generators = np.random.default_rng(seed).spawn(counts.chains)
    first = Sampler(plan, columns, sizes, generators[0], dict(start(np.random.default_rng(seed))))
    values = {name: as_values_of(plan.graph.nodes[name], sizes) for name in first.values}
    widths = {name: replace(values[name], kind="real", lower=LEAST, upper=np.inf) for name in first.sliced}
    widths |= {NOW + name: values[name] for name in sums}
    kind = type(generators[0].bit_generator).__name__
    wanted = Wanted(counts.chains, max(most, draws), values, lambda chain: widths, kind, sums)
    stored = dict(before) if before else stored_chains(store, wanted)

    if most:
        draws = max(draws, reached([chain.count for chain in stored.values()]))

    def trial(number: int, values: Mapping[str, Array]) -> Mapping[str, Array]:
        return tried(first.begun_at(values, generators[number]))

    starts = trial_starts(counts.chains, counts.warm_up, lambda number: start(generators[number]), trial, heights)
    for number, generator in enumerate(generators):
        begun = stored.get(number)
        if begun is not None and begun.count == draws:
            found.append(begun if most else ended(begun))
            continue
        sampler = first.begun_at(starts[number], generator)
        keeping = Keeping(sums)

        def state(keeping: Keeping = keeping) -> State:
            at_work = [keeping.stored()] if keeping.last[0] else []
            return packed(dict(enumerate([*found, *at_work])))

        def told(keeping: Keeping = keeping, state: Callable[[], State] = state) -> None:
            tick()
            if keeping.last[0]:  # a warm-up leaves nothing to store
                store.save_if_due(state)

        try:
            chain = run_chain(sampler, counts.warm_up, draws, counts.thin, told, keeping, begun)
        except KeyboardInterrupt:
            part = keeping.stored()
            if not found and not part.count:
                raise
            store.save(state(), force=True)
            found.append(part)
            break
        found.append(chain if most else ended(chain))
        paths += sampler.told()
        store.save(packed(dict(enumerate(found))), force=True)
    warn_of_paths(paths)
    return found
