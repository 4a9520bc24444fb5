"""Where chains start: each makes short trials, and starts where one of them ended that is not in a negligible mode.

    log weight of a mode  =  mean log density of its draws  +  their entropy,  element by element

Chains that begin in a mode of probability 1e-10 may stay in it. All trials of all chains are weighed together, and a
chain starts from the first of its own whose mode has some weight beside the best, so chains in modes that do matter
stay apart, and R-hat tells of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from platewright.family import Array

Heights = Callable[[Mapping[str, Array]], Array]
"""Log densities of draws, whose first axis numbers them."""
SETTLING = 8
"""Sweeps of a trial before its draws are weighed."""
WEIGHED = 8
"""Draws of a trial that are weighed."""
LEAST_TRIALS = 8
"""Trials of all chains together."""
MOST_TRIALS = 12
"""Trials of a chain that has found but negligible modes."""
LEAST_WARM_UP = 100
"""Sweeps of warm-up below which there are no trials: they would cost more than the run."""
MOST_ELEMENTS = 100_000
"""Elements of unknowns above which there are none: their draws would not fit."""
NARROW = 1e-3
"""A spread below this part of that of all trials counts as this: draws that did not move say nothing about it."""


def trial_starts(
    chains: int,
    warm_up: int,
    start: Callable[[int], Mapping[str, Array]],
    trial: Callable[[int, Mapping[str, Array]], Mapping[str, Array]],
    heights: Heights | None,
) -> list[Mapping[str, Array]]:
    """Values for each chain to start from: where one of its trials ended.

    `start` makes a start of a chain, `trial` the draws of a trial of it; `heights` are log densities of draws, without
    which there are no trials.
    """
    starts = [start(number) for number in range(chains)]
    elements = sum(np.size(values) for values in starts[0].values())
    if heights is None or warm_up < LEAST_WARM_UP or elements > MOST_ELEMENTS:
        return starts
    tried: list[list[Mapping[str, Array]]] = [[] for _ in range(chains)]
    high: list[list[Array]] = [[] for _ in range(chains)]
    waiting = [number for number in range(chains) for _ in range(-(-LEAST_TRIALS // chains))]
    while waiting:
        made = []
        for number in waiting:
            made.append(trial(number, start(number) if tried[number] else starts[number]))
            tried[number].append(made[-1])
        for number, height in zip(waiting, np.split(heights(joined(made)), len(made)), strict=True):
            high[number].append(height)
        weights = log_weights([draws for mine in tried for draws in mine], [part for mine in high for part in mine])
        least = np.max(weights) - negligible(elements)
        mine = np.split(weights, np.cumsum([len(draws) for draws in tried])[:-1])
        waiting = [n for n in range(chains) if not (mine[n] >= least).any() and len(mine[n]) < MOST_TRIALS]
    first = [int(np.argmax(np.where(own >= least, np.inf, own))) for own in mine]
    return [{name: values[-1] for name, values in tried[n][first[n]].items()} for n in range(chains)]


def stayed(values: Mapping[str, Array]) -> dict[str, Array]:
    """Draws of a trial that did not get anywhere."""
    return {name: np.repeat(np.asarray(found)[None], WEIGHED, axis=0) for name, found in values.items()}


def joined(trials: Sequence[Mapping[str, Array]]) -> dict[str, Array]:
    """The draws of all trials one after another."""
    return {name: np.concatenate([draws[name] for draws in trials]) for name in trials[0]}


def negligible(elements: int) -> float:
    """By how much the log weight of a mode lies below the best when it does not matter: noise grows with elements."""
    return 6.0 + 0.5 * float(np.sqrt(elements))


def log_weights(trials: Sequence[Mapping[str, Array]], heights: Sequence[Array]) -> Array:
    """The log weight of the mode in which each trial ended."""
    every = joined(trials)
    least = {name: NARROW * values.std(axis=0) for name, values in every.items() if values.dtype.kind == "f"}
    found = [float(np.mean(h)) + entropy(draws, least) for draws, h in zip(trials, heights, strict=True)]
    return np.where(np.isfinite(found), found, -np.inf)


def entropy(draws: Mapping[str, Array], least: Mapping[str, Array]) -> float:
    """The entropy of draws as if elements were apart: of a normal with their spread, and of the shares of levels."""
    total = 0.0
    for name, values in draws.items():
        if name in least:
            spread = np.maximum(values.std(axis=0), least[name])
            total += float(np.log(spread[spread > 0]).sum())
            continue
        rows = values.reshape(len(values), -1)
        same = (rows[:, None, :] == rows[None, :, :]).sum(axis=0)
        total -= float(np.log(same / len(rows)).mean(axis=0).sum())
    return total
