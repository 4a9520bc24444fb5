"""latent_class: expectation maximisation, derived and written by Platewright.

expected statistics of z, then the exact mode of p, habit

The model:
    p[k] ~ Dirichlet(concentration=2)
    z[n] ~ Categorical(probabilities=p[k])
    habit[k, question, answer] ~ Dirichlet(concentration=1.5)
    x[n, question] ~ Categorical(probabilities=habit[z[n], question, answer])

Run:  python FILE data.csv [option=value ...]

data.csv has a header and a row for each n, with these columns:
    x[0], x[1], ...  a level of answer

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
    x = data["x"]
    size_n = size["n"]
    size_k = size["k"]
    z_probability = soft_start([], [x], (size_n,), size_k, generator)
    return {"z_probability": z_probability}


def statistics(data, size):
    """Expected statistics of all rows (Theorem 4.1)."""
    x = data["x"]
    z_probability = data["z_probability"]
    size_n = size["n"]
    size_question = size["question"]
    size_k = size["k"]
    size_answer = size["answer"]
    # for p given the statistics: Dirichlet
    count_z = np.sum(z_probability, axis=0)
    # for habit given the statistics: Dirichlet
    count_x_z = grouped(
        (x, np.arange(size_question)),
        (size_answer, size_question),
        np.broadcast_to(z_probability[:, None, :], (size_n, size_question, size_k)),
    )
    count_x_z = np.transpose(count_x_z, (0, 2, 1))
    return {"count_z": count_z, "count_x_z": count_x_z}


def maximise(found, data, size):
    """The mode of the parameters given statistics."""
    count_z = found["count_z"]
    count_x_z = found["count_x_z"]
    # p given the statistics: Dirichlet
    p_concentration = 2 + count_z
    # habit given the statistics: Dirichlet
    habit_concentration = 1.5 + np.transpose(count_x_z, (1, 2, 0))
    # habit: the peak of Dirichlet
    habit = mode_of_dirichlet(habit_concentration)
    habit = np.maximum(habit, 1e-300)
    # p: the peak of Dirichlet
    p = mode_of_dirichlet(p_concentration)
    p = np.maximum(p, 1e-300)
    if not all(np.isfinite(value).all() for value in [p, habit]):
        raise ArithmeticError("the objective has no upper bound from here")
    return {"p": p, "habit": habit}


def improved(data, size):
    """The best parameters given expectations of the hidden variables."""
    return maximise(statistics(data, size), data, size)


def expect(data, size):
    """Expectations of the hidden variables given parameters, and log p(data, parameters)."""
    x = data["x"]
    p = data["p"]
    habit = data["habit"]
    size_question = size["question"]
    size_k = size["k"]
    size_answer = size["answer"]
    with np.errstate(all="ignore"):
        # log p(z = level, its data | parameters)
        z_log_weight = (
            np.log(p)
            + np.sum(np.log(habit[np.arange(size_k)[:, None], np.arange(size_question), x[:, None, :]]), axis=-1)
        )
        # z summed out
        z_log_norm = log_sum_exp(z_log_weight)
        # posterior of z
        z_probability = np.exp(z_log_weight + (-z_log_norm)[:, None])
        # log p(data, parameters): hidden variables summed out, then the factors without them
        objective = np.sum(z_log_norm)
        # p
        objective = objective + np.sum(np.sum(np.log(p)) + special.gammaln(2 * size_k))
        # habit
        objective = (
            objective
            + np.sum(
                0.5 * np.sum(np.log(habit), axis=-1)
                + 0.12078223763524543 * size_answer
                + special.gammaln(1.5 * size_answer)
            )
        )
        return {"z_probability": z_probability}, float(objective)


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


def log_sum_exp(logs):
    """The log of a sum along the last axis, from the logs of its terms; minus infinity where nothing is possible."""
    top = np.max(logs, axis=-1)
    top = np.where(np.isfinite(top), top, 0.0)  # an infinity less itself is no number
    with np.errstate(over="ignore", divide="ignore"):
        return top + np.log(np.sum(np.exp(logs - top[..., None]), axis=-1))


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


def indexed(table, name, count=None, labels=None):
    """The columns name[0], name[1], ... (or name_0, name_1, ...) that side by side make one variable, in order."""
    found = [column for column in table if column.startswith(f"{name}[") and column.endswith("]")]
    if labels is not None:
        found = [f"{name}[{label}]" for label in labels]
    elif sorted(found) == sorted(f"{name}[{k}]" for k in range(len(found))):
        found = [f"{name}[{k}]" for k in range(len(found))]
    if not found:
        while f"{name}_{len(found)}" in table:
            found.append(f"{name}_{len(found)}")
    if not found or (count is not None and len(found) != count):
        wanted = "several" if count is None else f"{count}"
        raise ValueError(f"expected {wanted} columns {name}[0], {name}[1], ...; the file has {', '.join(table)}")
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
    data, size = {}, {"n": count_rows(table), "k": 3, "answer": 4}
    x_columns = indexed(table, "x")
    size["question"] = len(x_columns)
    answer_labels = levels(table, x_columns, 4)
    data["x"] = codes(table, x_columns, answer_labels)
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
