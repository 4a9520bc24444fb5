"""mixture_of_hidden_markov: Gibbs sampling, derived and written by Platewright.

3 blocks: {p, begin, move, emit} exact; {c} exact; {z} forward-backward

Run: python FILE data.csv
"""


import csv
import sys

import numpy as np
from scipy import special


def grouped(codes, shape, weights=None):
    """Sums of weights (or counts) of rows in each group; `codes` say for each row its position on each group axis."""
    cell = np.ravel_multi_index([np.ravel(code) for code in codes], shape)
    size = int(np.prod(shape))
    if weights is None:
        return np.bincount(cell, minlength=size).reshape(shape)
    weights = np.asarray(weights, dtype=float)
    if weights.ndim == 1:
        return np.bincount(cell, weights, minlength=size).reshape(shape)
    columns = weights.reshape(len(cell), -1)
    sums = [np.bincount(cell, columns[:, j], minlength=size) for j in range(columns.shape[1])]
    return np.stack(sums, axis=-1).reshape(*shape, *weights.shape[1:])


def previous(values):
    """The value at the previous position; the first position repeats itself and must be masked."""
    return np.concatenate([values[:1], values[:-1]])


def draw_shares(generator, concentration):
    """Dirichlet, as gammas over their sum."""
    gammas = generator.standard_gamma(concentration)
    return gammas / gammas.sum(axis=-1, keepdims=True)


def draw_levels(generator, log_weights):
    """A value for each row of log weights, which need no normalisation: the largest after Gumbel noise."""
    return np.argmax(log_weights + generator.gumbel(size=log_weights.shape), axis=-1)


def draw_chain(generator, single, pair, first):
    """Hidden chains as a whole: filtered forwards, sampled backwards.

    `single[t, j]` and `pair[t, i, j]` are log weights; a chain begins where `first[t]` is 1.
    """
    begins = np.asarray(first) != 0
    filtered = np.array(single)
    for t in range(len(single)):
        if not begins[t]:
            filtered[t] += special.logsumexp(filtered[t - 1][:, None] + pair[t], axis=0)
        filtered[t] -= special.logsumexp(filtered[t])
    noise = generator.gumbel(size=filtered.shape)
    path = np.empty(len(single), dtype=np.int64)
    for t in reversed(range(len(single))):
        row = filtered[t] + noise[t]
        if t + 1 < len(single) and not begins[t + 1]:
            row = row + pair[t + 1, :, path[t + 1]]
        path[t] = np.argmax(row)
    return path


def start(data, size, generator):
    """Values to start from, jittered."""
    size_series = size["series"]
    size_step = size["step"]
    size_kind = size["kind"]
    size_state = size["state"]
    size_origin = size["origin"]
    size_symbol = size["symbol"]
    p = draw_shares(generator, np.full((size_kind,), 5.0))
    begin = draw_shares(generator, np.full((size_kind, size_state,), 5.0))
    move = draw_shares(generator, np.full((size_kind, size_origin, size_state,), 5.0))
    emit = draw_shares(generator, np.full((size_state, size_symbol,), 5.0))
    c = generator.integers(0, size_kind, (size_series,))
    z = generator.integers(0, size_state, (size_step,))
    return {"p": p, "begin": begin, "move": move, "emit": emit, "c": c, "z": z}


def draw_0(data, size, generator):
    """Draw p, begin, move, emit given all else."""
    series_of_step = data["series_of_step"]
    first_of_step = data["first_of_step"]
    c = data["c"]
    z = data["z"]
    y = data["y"]
    size_kind = size["kind"]
    size_state = size["state"]
    size_origin = size["origin"]
    size_symbol = size["symbol"]
    # p given the statistics: Dirichlet
    count_c = grouped((c,), (size_kind,))
    # begin given the statistics: Dirichlet
    sum_c_series_of_step_z_first_of_step = grouped((c[series_of_step], z,), (size_kind, size_state,), first_of_step)
    # move given the statistics: Dirichlet
    sum_first_of_step_c_series_of_step_z = grouped(
        (c[series_of_step], previous(z), z,), (size_kind, size_origin, size_state,), 1 - first_of_step
    )
    # emit given the statistics: Dirichlet
    count_y_z = grouped((y, z,), (size_symbol, size_state,))
    count_y_z = np.transpose(count_y_z, (1, 0))
    # p given the statistics: Dirichlet
    p_concentration = 2 + count_c
    # begin given the statistics: Dirichlet
    begin_concentration = 2 + sum_c_series_of_step_z_first_of_step
    # move given the statistics: Dirichlet
    move_concentration = 2 + sum_first_of_step_c_series_of_step_z
    # emit given the statistics: Dirichlet
    emit_concentration = 2 + count_y_z
    # emit: Dirichlet
    emit = draw_shares(generator, emit_concentration)
    # move: Dirichlet
    move = draw_shares(generator, move_concentration)
    # begin: Dirichlet
    begin = draw_shares(generator, begin_concentration)
    # p: Dirichlet
    p = draw_shares(generator, p_concentration)
    return {"p": p, "begin": begin, "move": move, "emit": emit}


def draw_1(data, size, generator):
    """Draw c given all else."""
    series_of_step = data["series_of_step"]
    first_of_step = data["first_of_step"]
    p = data["p"]
    begin = data["begin"]
    move = data["move"]
    z = data["z"]
    size_series = size["series"]
    size_kind = size["kind"]
    # c: a log weight for each of its values
    c_log_weight = (
        np.log(p)
        + grouped(
            [series_of_step],
            (size_series,),
            np.where(
                first_of_step[:, None],
                np.log(begin[np.arange(size_kind), z[:, None]]),
                np.log(move[np.arange(size_kind), previous(z)[:, None], z[:, None]]),
            ),
        )
    )
    c = draw_levels(generator, c_log_weight)
    return {"c": c}


def draw_2(data, size, generator):
    """Draw z given all else."""
    series_of_step = data["series_of_step"]
    first_of_step = data["first_of_step"]
    begin = data["begin"]
    move = data["move"]
    emit = data["emit"]
    c = data["c"]
    y = data["y"]
    size_step = size["step"]
    size_state = size["state"]
    # z: a chain along step; weights of values and of neighbours
    z_single = np.zeros((size_step, size_state))
    z_pair_weight = np.zeros((size_step, size_state, size_state))
    z_table = np.where(
        first_of_step[:, None, None],
        np.log(begin[c[series_of_step][:, None], np.arange(size_state)])[:, None, :],
        np.log(move[c[series_of_step][:, None, None], np.arange(size_state)[:, None], np.arange(size_state)]),
    )
    z_pair_weight += np.where(first_of_step[:, None, None] != 0, 0.0, z_table)
    z_single += np.where(first_of_step[:, None] != 0, z_table[:, 0, :], 0.0)
    z_single += np.log(emit[np.arange(size_state), y[:, None]])
    z = draw_chain(generator, z_single, z_pair_weight, first_of_step)
    return {"z": z}


def sweep(values, data, size, generator):
    """Draw every block once, in order, each given the newest values of the others."""
    values = dict(values)
    with np.errstate(all="ignore"):
        values |= draw_0({**data, **values}, size, generator)
        values |= draw_1({**data, **values}, size, generator)
        values |= draw_2({**data, **values}, size, generator)
    return values


def learn(data, size, seed=0, chains=4, draws=1000, warm_up=500):
    """Draws from the posterior by name: chain, draw, then the axes of the variable."""
    kept = {}
    for generator in np.random.default_rng(seed).spawn(chains):
        values = start(data, size, generator)
        for name in values:
            kept.setdefault(name, []).append([])
        for number in range(warm_up + draws):
            values = sweep(values, data, size, generator)
            if number >= warm_up:
                for name, value in values.items():
                    kept[name][-1].append(value)
    return {name: np.array(found) for name, found in kept.items()}


def summary(drawn):
    """Means and standard deviations over all draws. Hidden labels may differ from draw to draw."""
    found = {}
    for name, values in drawn.items():
        if np.issubdtype(values.dtype, np.floating):
            found[f"{name} mean"] = values.mean(axis=(0, 1))
            found[f"{name} sd"] = values.std(axis=(0, 1))
    return found


def coded(values, count, labels=None):
    """Codes of labels: in the order given, else numbers from 0 on stand for themselves and others are sorted."""
    levels = labels
    if labels is None and all(value.lstrip("+-").isdigit() for value in values):
        values = [str(int(value)) for value in values]
        numbers = sorted(set(map(int, values)))
        is_codes = count is not None or numbers[:1] == [0]
        levels = [str(k) for k in (range(numbers[-1] + 1 if count is None else count) if is_codes else numbers)]
    elif labels is None:
        levels = sorted(set(values))
    return np.array([levels.index(value) for value in values], dtype=int), len(levels)


def read(path):
    """Columns of a CSV file with a header, and the sizes of the plates."""
    with open(path, newline="") as file:
        table = list(csv.DictReader(file))
    data, size = {}, {"step": len(table)}
    data["series_of_step"], count = coded([r["series"] for r in table], None)
    size.setdefault("series", count)
    # one sequence; for several, a column that is 1 where one begins
    data["first_of_step"] = np.array([int(r.get("first@step", k == 0)) for k, r in enumerate(table)])
    data["y"], count = coded([r["y"] for r in table], 3)
    size.setdefault("symbol", count)
    size["kind"] = 2
    size["state"] = 2
    size["origin"] = 2
    size["symbol"] = 3
    size["first_of_step_levels"] = 2
    return data, size


if __name__ == "__main__":
    with np.errstate(divide="ignore"):  # the logarithm of an exact zero is minus infinity and means it
        data, size = read(sys.argv[1])
        results = summary(learn(data, size))
    for name, value in results.items():
        print(f"{name} = {np.asarray(value).tolist()}")
