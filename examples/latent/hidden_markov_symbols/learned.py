"""hidden_markov_symbols: expectation maximisation, derived and written by Platewright.

expected statistics of z by forward-backward, then the exact mode of begin, move, emit

The model:
    begin[state] ~ Dirichlet(concentration=2)
    move[origin, state] ~ Dirichlet(concentration=2)
    z[step] ~ Categorical(log_probabilities=where(first@step[step], log(begin[state]), log(move[z[step-1], state])))
    emit[state, symbol] ~ Dirichlet(concentration=2)
    y[step] ~ Categorical(probabilities=emit[z[step], symbol])

Run:  python FILE data.csv [option=value ...]

data.csv has a header and a row for each step, with these columns:
    series  the series of each row, whose rows are together
    y       a level of symbol

Options and their defaults:
    seed=0  restarts=5  iterations=1000  tolerance=1e-10
"""

import csv
import inspect
import sys

import numpy as np
from scipy import special


# -- the algorithm, as derived from the model --------------------------------------------------------------------------


def start(data, size, generator):
    """Soft guesses of the hidden variables."""
    first_of_step = data["first_of_step"]
    y = data["y"]
    size_step = size["step"]
    size_state = size["state"]
    z_probability = soft_start([], [y], (size_step,), size_state, generator)
    # guess of z.before, z
    z_pair = np.where(
        first_of_step[:, None],
        1.0 * (np.arange(size_state) == 0),
        z_probability[np.maximum(np.arange(size_step) - 1, 0)[:, None], np.arange(size_state)],
    )[:, :, None] * z_probability[:, None, :]
    return {"z_probability": z_probability, "z_pair": z_pair}


def statistics(data, size):
    """Expected statistics of all rows (Theorem 4.1)."""
    first_of_step = data["first_of_step"]
    y = data["y"]
    z_probability = data["z_probability"]
    z_pair = data["z_pair"]
    size_symbol = size["symbol"]
    # for begin given the statistics: Dirichlet
    sum_z_first_of_step = np.sum(first_of_step[:, None] * z_probability, axis=0)
    # for move given the statistics: Dirichlet
    sum_first_of_step_z = np.sum((1 - first_of_step)[:, None, None] * z_pair, axis=0)
    # for emit given the statistics: Dirichlet
    count_y_z = grouped((y,), (size_symbol,), z_probability)
    count_y_z = np.transpose(count_y_z, (1, 0))
    return {
        "sum_z_first_of_step": sum_z_first_of_step, "sum_first_of_step_z": sum_first_of_step_z, "count_y_z": count_y_z
    }


def maximise(found, data, size):
    """The mode of the parameters given statistics."""
    sum_z_first_of_step = found["sum_z_first_of_step"]
    sum_first_of_step_z = found["sum_first_of_step_z"]
    count_y_z = found["count_y_z"]
    # begin given the statistics: Dirichlet
    begin_concentration = 2 + sum_z_first_of_step
    # move given the statistics: Dirichlet
    move_concentration = 2 + sum_first_of_step_z
    # emit given the statistics: Dirichlet
    emit_concentration = 2 + count_y_z
    # emit: the peak of Dirichlet
    emit = mode_of_dirichlet(emit_concentration)
    emit = np.maximum(emit, 1e-300)
    # move: the peak of Dirichlet
    move = mode_of_dirichlet(move_concentration)
    move = np.maximum(move, 1e-300)
    # begin: the peak of Dirichlet
    begin = mode_of_dirichlet(begin_concentration)
    begin = np.maximum(begin, 1e-300)
    if not all(np.isfinite(value).all() for value in [begin, move, emit]):
        raise ArithmeticError("the objective has no upper bound from here")
    return {"begin": begin, "move": move, "emit": emit}


def improved(data, size):
    """The best parameters given expectations of the hidden variables."""
    return maximise(statistics(data, size), data, size)


def expect(data, size):
    """Expectations of the hidden variables given parameters, and log p(data, parameters)."""
    first_of_step = data["first_of_step"]
    y = data["y"]
    begin = data["begin"]
    move = data["move"]
    emit = data["emit"]
    size_state = size["state"]
    size_symbol = size["symbol"]
    with np.errstate(all="ignore"):
        # log weights of z at each step
        z_single = np.where(first_of_step[:, None], np.log(begin), 0) + np.log(emit[np.arange(size_state), y[:, None]])
        # log weights of neighbours of z
        z_pair_weight = np.log(move)
        # z: forward and backward along step
        z_probability, z_pair, z_norm = forward_backward(z_single, z_pair_weight[None], first_of_step)
        # log p(data, parameters): hidden variables summed out, then the factors without them
        objective = np.sum(z_norm)
        # begin
        objective = objective + np.sum(np.sum(np.log(begin)) + special.gammaln(2 * size_state))
        # move
        objective = objective + np.sum(np.sum(np.log(move), axis=-1) + special.gammaln(2 * size_state))
        # emit
        objective = objective + np.sum(np.sum(np.log(emit), axis=-1) + special.gammaln(2 * size_symbol))
        return {"z_probability": z_probability, "z_pair": z_pair}, float(objective)


def climbed(values, data, size, iterations, tolerance):
    """EM from given parameters until the objective stands still: parameters, objective, whether it converged."""
    history = []
    while True:
        expectations, objective = expect({**data, **values}, size)
        if not np.isfinite(objective):
            raise ArithmeticError("the objective has no upper bound from this start")
        if history and objective < history[-1] - 1e-9 * (1 + abs(history[-1])):
            raise ArithmeticError("the objective fell, which it never may")
        history.append(objective)
        if len(history) > 1 and abs(history[-1] - history[-2]) <= tolerance * (1 + abs(objective)):
            return values, history, True
        if len(history) == iterations:
            return values, history, False
        values = improved({**data, **values, **expectations}, size)


def learn(data, size, seed=0, restarts=5, iterations=1000, tolerance=1e-10):
    """The best of several short runs, carried on until it stands still."""
    short = []
    for generator in np.random.default_rng(seed).spawn(restarts):
        try:
            values = improved({**data, **start(data, size, generator)}, size)
            short.append(climbed(values, data, size, min(20, iterations) if restarts > 1 else iterations, tolerance))
        except (ArithmeticError, np.linalg.LinAlgError):
            continue  # another start may do better
    for values, history, converged in sorted(short, key=lambda run: -run[1][-1]):
        if converged or len(history) >= iterations:
            return {**values, "log_joint": history[-1]}
        try:
            values, history, converged = climbed(values, data, size, iterations - len(history), tolerance)
        except (ArithmeticError, np.linalg.LinAlgError):
            continue
        return {**values, "log_joint": history[-1]}
    raise ArithmeticError("no start leads to a mode: the objective has no upper bound, or the data are impossible")


# -- tools that it uses ------------------------------------------------------------------------------------------------


def grouped(codes, shape, weights=None):
    """Sums of weights (or counts) of rows in each group; `codes` say for each row its position on each group axis.

    Rows may lie along several axes, over which codes are broadcast; weights may have more axes after them.
    """
    cell = np.ravel_multi_index(tuple(codes), shape)
    size = int(np.prod(shape))
    if weights is None:
        return np.bincount(cell.ravel(), minlength=size).reshape(shape)
    weights = np.asarray(weights, dtype=float)
    if weights.ndim == cell.ndim:
        return np.bincount(cell.ravel(), weights.ravel(), minlength=size).reshape(shape)
    columns = weights.reshape(cell.size, int(np.prod(weights.shape[cell.ndim :])))
    sums = [np.bincount(cell.ravel(), columns[:, j], minlength=size) for j in range(columns.shape[1])]
    return np.stack(sums, axis=-1).reshape(*shape, *weights.shape[cell.ndim :])


def mode_of_dirichlet(concentration):
    """The peak; without one (no concentration above 1) the corner with most mass, and the centre if all are 1."""
    excess = np.maximum(concentration - 1, 0)
    total = excess.sum(axis=-1, keepdims=True)
    corner = np.arange(concentration.shape[-1]) == np.argmax(concentration, axis=-1)[..., None]
    is_flat = (concentration == 1).all(axis=-1, keepdims=True)
    ends = np.where(is_flat, 1 / concentration.shape[-1], corner)
    return np.where(total > 0, excess / np.where(total > 0, total, 1), ends)


def soft_start(numbers, labels, shape, levels, generator):
    """Soft assignments of rows to seeds; seeds are rows far from each other by preference.

    Numbers are standardised; labels are as far apart as if each had a standardised column of zeros and ones.
    """
    rows = int(np.prod(shape))
    if not rows or not (numbers or labels):
        return generator.dirichlet(np.ones(levels), shape)
    features = [np.zeros((rows, 0)), *(standardised(np.reshape(column, (rows, -1))) for column in numbers)]
    wide = np.concatenate(features, axis=1)
    codes = [code for column in labels for code in np.asarray(column, dtype=np.intp).reshape(rows, -1).T]
    weights = [label_weights(code) for code in codes]
    nearest, distance = np.zeros(rows, dtype=np.intp), np.full(rows, np.inf)
    for level in range(levels):
        share = np.full(rows, 1.0 / rows) if not 0 < distance.sum() < np.inf else distance / distance.sum()
        seed = int(generator.choice(rows, p=share)) if level else int(generator.integers(rows))
        here = ((wide - wide[seed]) ** 2).sum(axis=1)
        for code, weight in zip(codes, weights):
            here += np.where(code == code[seed], 0.0, weight[code] + weight[code[seed]])
        nearest[here < distance] = level
        distance = np.minimum(distance, here)
    soft = np.full((rows, levels), 0.1 / levels)
    soft[np.arange(rows), nearest] += 0.9
    return soft.reshape(*shape, levels)


def standardised(columns):
    """Columns with mean zero and spread one; those that never change are zero."""
    columns = np.asarray(columns, dtype=float)
    spread = columns.std(axis=0)
    return (columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def label_weights(codes):
    """For each label one over the variance of its column of zeros and ones; of one that never changes, one."""
    share = np.bincount(codes) / len(codes)
    variance = share * (1 - share)
    return 1.0 / np.where(variance > 0, variance, 1.0)


def forward_backward(single, pair, first, chains=1):
    """Probabilities of values and of pairs of neighbours along chains, and the log weight that each step adds.

    `single[t, ..., j]` and `pair[t, ..., i, j]` are log weights, `pair` of length 1 where all steps have the same; a
    chain begins where `first[t]` is 1. Several chains have an axis each and count as one.
    """
    shape, count = single.shape, int(np.prod(single.shape[single.ndim - chains :]))
    single = single.reshape(*shape[: single.ndim - chains], count)
    pair = pair.reshape(*pair.shape[: pair.ndim - 2 * chains], count, count)
    single, pair = (np.where(weights < -1e299, -np.inf, weights) for weights in (single, pair))
    begins = np.asarray(first) != 0
    filtered, added = np.empty(single.shape), np.empty(single.shape[:-1])
    for t in range(len(single)):
        row = single[t]
        if not begins[t]:
            row = row + special.logsumexp(filtered[t - 1][..., :, None] + pair[t % len(pair)], axis=-2)
        added[t] = special.logsumexp(row, axis=-1)
        if np.isneginf(added[t]).all():
            raise ArithmeticError(f"the data have probability zero at step {t}")
        filtered[t] = relative_to(row, added[t][..., None])
    ahead = np.zeros(single.shape[1:])
    probability, pairs = np.empty(single.shape), np.zeros((*single.shape, count))
    for t in reversed(range(len(single))):
        smooth = filtered[t] + ahead
        probability[t] = np.exp(relative_to(smooth, special.logsumexp(smooth, axis=-1, keepdims=True)))
        if begins[t]:
            ahead = np.zeros(single.shape[1:])
            pairs[t, ..., 0, :] = probability[t]  # before a first step the first value stands for any
            continue
        arriving = pair[t % len(pair)] + (single[t] + ahead)[..., None, :]
        joint = filtered[t - 1][..., :, None] + arriving
        pairs[t] = np.exp(relative_to(joint, special.logsumexp(joint, axis=(-2, -1), keepdims=True)))
        ahead = special.logsumexp(arriving, axis=-1)
        ahead = relative_to(ahead, special.logsumexp(ahead, axis=-1, keepdims=True))
    return probability.reshape(shape), pairs.reshape(*shape, *shape[len(shape) - chains :]), added


def relative_to(weights, norm):
    """Log weights less their norm; where nothing is possible there is none."""
    return weights - np.where(np.isneginf(norm), 0.0, norm)


# -- the table and the command line ------------------------------------------------------------------------------------


MISSING = ("", "na", "n/a", "nan", "null", "none")
"""What a cell holds when nothing is known."""


def table_of(path):
    """The columns of a CSV file as texts, by the names in its header."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        lines = [line for line in csv.reader(file) if line]
    if not lines:
        raise ValueError("the file is empty; expected a header with the names of columns, then rows")
    header, *rows = lines
    for number, row in enumerate(rows):
        if len(row) != len(header):
            raise ValueError(f"row {number} (the first is 0) has {len(row)} cells, the header {len(header)}")
    return {name: [row[k].strip() for row in rows] for k, name in enumerate(header)}


def count_rows(table, expected=None):
    """The number of rows, which the model may fix."""
    found = len(next(iter(table.values())))
    if expected is not None and found != expected:
        raise ValueError(f"the file has {found} rows; expected {expected}")
    return found


def cells(table, names):
    """Column, row and text of every cell of some columns, row by row."""
    for name in names:
        if name not in table:
            raise ValueError(f"there is no column {name!r}; the file has {', '.join(table)}")
    for row in range(count_rows(table)):
        for name in names:
            yield name, row, table[name][row]


def misfit(name, row, text, expected):
    """The error for a cell that is not what the model needs."""
    found = "nothing" if text.lower() in MISSING else repr(text)
    return ValueError(f"column {name!r}, row {row} (the first is 0): found {found}, expected {expected}")


def levels(table, names, count=None):
    """The labels in some columns: numbers are codes if there is a 0 or a known count; all else is sorted."""
    texts = {text for _, _, text in cells(table, names) if text.lower() not in MISSING}
    if not texts or not all(text.lstrip("+-").isdigit() for text in texts):
        if count is not None and texts and len(texts) != count:
            raise ValueError(f"columns {', '.join(names)} show {len(texts)} labels; expected {count}")
        return sorted(texts)
    values = sorted({int(text) for text in texts})
    if count is None and values[0] != 0:
        return [str(value) for value in values]
    return [str(code) for code in range(values[-1] + 1 if count is None else count)]


def codes(table, names, labels):
    """Some columns side by side as the positions of their labels."""
    position = {label: code for code, label in enumerate(labels)}
    found = []
    for name, row, text in cells(table, names):
        label = str(int(text)) if text.lstrip("+-").isdigit() and text not in position else text
        if label not in position:
            raise misfit(name, row, text, f"one of {', '.join(labels)}")
        found.append(position[label])
    return np.array(found, dtype=int).reshape(-1, len(names))


def beginnings(groups):
    """Ones where a sequence begins: at the first row of each group, whose rows are together."""
    begins = [k == 0 or groups[k] != groups[k - 1] for k in range(len(groups))]
    if sum(begins) != len(set(groups)):
        raise ValueError("the rows of a sequence are not together")
    return np.array(begins, dtype=int)


def options(words):
    """The options of `learn` from words such as seed=1."""
    parameters = inspect.signature(learn).parameters.values()
    known = {given.name: given.default for given in parameters if given.default != given.empty}
    found = {}
    for word in words:
        name, _, value = word.partition("=")
        try:
            found[name] = type(known[name])(value)
        except (KeyError, ValueError):
            shown = " ".join(f"{option}={default}" for option, default in known.items())
            raise ValueError(f"{word!r} is not an option; expected some of {shown}") from None
    return found


def read(path):
    """The columns that the model needs, and the sizes of its plates."""
    table = table_of(path)
    data, size = {}, {"step": count_rows(table), "state": 3, "symbol": 4}
    data["first_of_step"] = beginnings([text for _, _, text in cells(table, ["series"])])
    symbol_labels = levels(table, ["y"], 4)
    data["y"] = codes(table, ["y"], symbol_labels)[:, 0]
    return data, size


def main(words):
    """Learn from the file that the first word names, and print what was learned."""
    if words and words[0] in ("-h", "--help"):
        print(__doc__)
        return
    if not words:
        sys.exit(__doc__)
    try:
        with np.errstate(divide="ignore"):  # the logarithm of an exact zero is minus infinity and means it
            data, size = read(words[0])
            results = learn(data, size, **options(words[1:]))
    except (OSError, ValueError, ArithmeticError) as error:
        sys.exit(f"{words[0]}: {error}")
    for name, value in results.items():
        print(f"{name} = {np.asarray(value).tolist()}")


if __name__ == "__main__":
    main(sys.argv[1:])
