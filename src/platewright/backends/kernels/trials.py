"""Where chains start: each makes short trials, and starts where one of them ended that is not in a negligible mode.

    log weight of a mode  =  mean log density of its draws  +  their entropy,  element by element

Chains that begin in a mode of probability 1e-10 may stay in it. All trials of all chains are weighed together, and a
chain starts from the first of its own whose mode has some weight beside the best, so chains in modes that do matter
stay apart, and R-hat tells of them. Only a chain that has found no such mode takes a trial of another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from platewright.family import Array

Heights = Callable[[Mapping[str, Array]], Array]
"""Log densities of draws, whose first axis numbers them."""
SETTLING = 8
"""Sweeps of a trial before its draws are weighed."""
WEIGHED = 16
"""Draws of a trial that are weighed."""
LEAST_TRIALS = 8
"""Trials of all chains together."""
MOST_TRIALS = 8
"""Trials of a chain that has found but negligible modes."""
LEAST_WARM_UP = 100
"""Sweeps of warm-up below which there are no trials: they would cost more than the run."""
MOST_ELEMENTS = 100_000
"""Elements of unknowns above which there are none: their draws would not fit."""
MOST_SHARED = 2
"""Movements shared by the elements of an unknown that are not counted as their spread."""
NEGLIGIBLE = 6.0
"""The log of how much less weight than the best a mode has that does not matter."""
SURE = 2.5
"""Standard errors beyond which a difference is believed."""
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
        every = [draws for mine in tried for draws in mine], [part for mine in high for part in mine]
        weights, ends = log_weights(*every), np.cumsum([len(draws) for draws in tried])[:-1]
        good = np.split(matter(weights, errors_of(*every)), ends)
        waiting = [n for n in range(chains) if not good[n].any() and len(good[n]) < MOST_TRIALS]
    return [{name: values[-1] for name, values in tried[n][k].items()} for n, k in taken(good)]


def taken(good: Sequence[Array]) -> list[tuple[int, int]]:
    """For each chain whose trial it starts from, and which: its own first good one, else one that others can spare."""
    mine = [np.flatnonzero(own).tolist() for own in good]
    spare = [(n, k) for n, own in enumerate(mine) for k in own[1:]] + [(n, own[0]) for n, own in enumerate(mine) if own]
    found = []
    for n, own in enumerate(mine):
        found.append((n, own[0]) if own else spare[0])
        spare = spare if own else [*spare[1:], spare[0]]
    return found


def stayed(values: Mapping[str, Array]) -> dict[str, Array]:
    """Draws of a trial that did not get anywhere."""
    return {name: np.repeat(np.asarray(found)[None], WEIGHED, axis=0) for name, found in values.items()}


def joined(trials: Sequence[Mapping[str, Array]]) -> dict[str, Array]:
    """The draws of all trials one after another."""
    return {name: np.concatenate([draws[name] for draws in trials]) for name in trials[0]}


def matter(weights: Array, errors: Array) -> Array:
    """Which modes matter: all but those whose log weight is surely below the best by more than `NEGLIGIBLE`."""
    best = int(np.argmax(weights))
    return weights >= weights[best] - NEGLIGIBLE - SURE * np.hypot(errors, errors[best])


def errors_of(trials: Sequence[Mapping[str, Array]], heights: Sequence[Array]) -> Array:
    """Standard errors of log weights: heights vary, draws come in runs, and few of them know spreads roughly."""
    numbers = [sum(v[0].size for v in draws.values() if v.dtype.kind == "f") for draws in trials]
    with np.errstate(invalid="ignore"):
        of_means = np.nan_to_num([2 * np.var(high) / len(high) for high in heights])
    return np.sqrt(of_means + np.array(numbers) / (2 * (WEIGHED - 1)))


def log_weights(trials: Sequence[Mapping[str, Array]], heights: Sequence[Array]) -> Array:
    """The log weight of the mode in which each trial ended."""
    every = joined(trials)
    least = {name: NARROW * values.std(axis=0) for name, values in every.items() if values.dtype.kind == "f"}
    found = [float(np.mean(h)) + entropy(draws, least) for draws, h in zip(trials, heights, strict=True)]
    return np.where(np.isfinite(found), found, -np.inf)


def entropy(draws: Mapping[str, Array], least: Mapping[str, Array]) -> float:
    """The entropy of draws: of a normal with the own spread of each element, and of the shares of levels."""
    total = 0.0
    for name, values in draws.items():
        rows = values.reshape(len(values), -1)
        if name in least:
            spread = np.maximum(own_spread(rows), least[name].ravel())
            total += float(np.log(spread[spread > 0]).sum())
            continue
        same = (rows[:, None, :] == rows[None, :, :]).sum(axis=0)
        total -= float(np.log(same / len(rows)).mean(axis=0).sum())
    return total


def own_spread(rows: Array) -> Array:
    """The spread of each column without what many of them share: all follow their common mean, or a slow drift.

    Counted in each of many elements, such a movement would make a narrow place among them look wide.
    """
    spread = rows.std(axis=0)
    shared = min(MOST_SHARED, rows.shape[1] // 5)
    if not shared:
        return spread
    moves = (rows - rows.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    courses = np.linalg.eigh(moves @ moves.T)[1][:, -shared:]  # draws are few, elements may be many
    left = moves - courses @ (courses.T @ moves)
    return spread * np.sqrt((left**2).mean(axis=0))
