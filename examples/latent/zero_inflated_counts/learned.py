"""zero_inflated_counts: expectation maximisation, derived and written by Platewright.

expected statistics of active, then the exact mode of share, rate

The model:
    share ~ Beta(a=2, b=2)
    rate ~ Gamma(shape=2, rate=1)
    active[n] ~ Bernoulli(p=share)
    y[n] ~ Poisson(rate=where(active[n], rate, 0))

Run:  python FILE data.csv [option=value ...]

data.csv has a header and a row for each n, with these columns:
    y  an integer >= 0

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
    y = data["y"]
    size_n = size["n"]
    size_active_levels = size["active_levels"]
    active_probability = soft_start([y], [], (size_n,), size_active_levels, generator)
    return {"active_probability": active_probability}


def statistics(data, size):
    """Expected statistics of all rows (Theorem 4.1)."""
    y = data["y"]
    active_probability = data["active_probability"]
    size_active_levels = size["active_levels"]
    # for share given the statistics: Beta
    sum_active = np.sum(active_probability * np.arange(size_active_levels), axis=(0, 1))
    sum_active_2 = np.sum(active_probability * (1 - np.arange(size_active_levels)), axis=(0, 1))
    # for rate given the statistics: Gamma
    sum_active_y = np.sum(active_probability * np.arange(size_active_levels) * y[:, None], axis=(0, 1))
    return {"sum_active": sum_active, "sum_active_2": sum_active_2, "sum_active_y": sum_active_y}


def maximise(found, data, size):
    """The mode of the parameters given statistics."""
    sum_active = found["sum_active"]
    sum_active_2 = found["sum_active_2"]
    sum_active_y = found["sum_active_y"]
    # share given the statistics: Beta
    share_a = 2 + sum_active
    share_b = 2 + sum_active_2
    # rate given the statistics: Gamma
    rate_shape = 2 + sum_active_y
    rate_rate = 1 + sum_active
    # rate: the peak of Gamma
    rate = mode_of_gamma(rate_shape, rate_rate)
    rate = np.maximum(rate, 1e-300)
    # share: the peak of Beta
    share = mode_of_beta(share_a, share_b)
    share = np.maximum(share, 1e-300)
    share = np.minimum(share, 0.9999999999999998)
    if not all(np.isfinite(value).all() for value in [share, rate]):
        raise ArithmeticError("the objective has no upper bound from here")
    return {"share": share, "rate": rate}


def improved(data, size):
    """The best parameters given expectations of the hidden variables."""
    return maximise(statistics(data, size), data, size)


def expect(data, size):
    """Expectations of the hidden variables given parameters, and log p(data, parameters)."""
    y = data["y"]
    share = data["share"]
    rate = data["rate"]
    size_active_levels = size["active_levels"]
    with np.errstate(all="ignore"):
        # log p(active = level, its data | parameters)
        active_log_weight = (
            np.log(share) * np.arange(size_active_levels)
            + np.log(1 - share) * (1 - np.arange(size_active_levels))
            + special.xlogy(y[:, None], np.where(np.arange(size_active_levels), rate, 0))
            + (-special.gammaln(y + 1))[:, None]
            - np.where(np.arange(size_active_levels), rate, 0)
        )
        # active summed out
        active_log_norm = log_sum_exp(active_log_weight)
        # posterior of active
        active_probability = np.exp(active_log_weight + (-active_log_norm)[:, None])
        # log p(data, parameters): hidden variables summed out, then the factors without them
        objective = np.sum(active_log_norm)
        # share
        objective = objective + np.sum(np.log(share) + np.log(1 - share) + 1.7917594692280554)
        # rate
        objective = objective + np.sum(np.log(rate) - rate)
        return {"active_probability": active_probability}, float(objective)


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


def log_sum_exp(logs):
    """The log of a sum along the last axis, from the logs of its terms; minus infinity where nothing is possible."""
    top = np.max(logs, axis=-1)
    top = np.where(np.isfinite(top), top, 0.0)  # an infinity less itself is no number
    with np.errstate(over="ignore", divide="ignore"):
        return top + np.log(np.sum(np.exp(logs - top[..., None]), axis=-1))


def mode_of_beta(a, b):
    """The peak; without one (a, b <= 1) the end with more mass, and the middle if both are 1."""
    left, right = np.maximum(a - 1, 0), np.maximum(b - 1, 0)
    total = left + right
    ends = np.where((a == 1) & (b == 1), 0.5, a > b)
    return np.where(total > 0, left / np.where(total > 0, total, 1), ends)


def mode_of_gamma(shape, rate):
    """The peak, at zero for shapes below one."""
    return np.maximum(shape - 1, 0) / rate


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


# -- the table and the command line ------------------------------------------------------------------------------------


MISSING = ("", "na", "n/a", "nan", "null", "none")
"""What a cell holds when nothing is known."""
TRUTH = {"true": 1, "false": 0}


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


def numbers(table, names, expected, lower=-np.inf, upper=np.inf, above=-np.inf, whole=False):
    """Some columns side by side as numbers in their range; true and false are 1 and 0."""
    found = []
    for name, row, text in cells(table, names):
        try:
            value = TRUTH[text.lower()] if text.lower() in TRUTH else int(text) if text.isdigit() else float(text)
        except ValueError:
            raise misfit(name, row, text, expected) from None
        is_inside = np.isfinite(value) and lower <= value <= upper and above < value
        if not is_inside or (whole and value != int(value)):
            raise misfit(name, row, text, expected)
        found.append(int(value) if whole else float(value))
    return np.array(found, dtype=int if whole else float).reshape(-1, len(names))


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
    data, size = {}, {"n": count_rows(table), "active_levels": 2}
    data["y"] = numbers(table, ["y"], "an integer >= 0", lower=0, whole=True)[:, 0]
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
