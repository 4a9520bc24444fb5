"""classes_of_schools_and_pupils: expectation maximisation, derived and written by Platewright.

expected statistics of g, z, then the exact mode of kinds, shares, right

The model:
    kinds[kind] ~ Dirichlet(concentration=2)
    shares[kind, ability] ~ Dirichlet(concentration=1.5)
    right[ability, question] ~ Beta(a=1.5, b=1.5)
    g[school] ~ Categorical(probabilities=kinds[kind])
    z[pupil] ~ Categorical(probabilities=shares[g[school@pupil[pupil]], ability])
    y[pupil, question] ~ Bernoulli(p=right[z[pupil], question])

Run:  python FILE data.csv [option=value ...]

data.csv has a header and a row for each pupil, with these columns:
    school           a level of school
    y[0], y[1], ...  an integer in [0, 1]

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
    school_of_pupil = data["school_of_pupil"]
    y = data["y"]
    size_pupil = size["pupil"]
    size_school = size["school"]
    size_kind = size["kind"]
    size_ability = size["ability"]
    g_probability = soft_start([], [], (size_school,), size_kind, generator)
    z_probability = soft_start([y], [], (size_pupil,), size_ability, generator)
    # guess of z, g
    z_g_probability = z_probability[:, :, None] * g_probability[
        school_of_pupil[:, None], np.arange(size_kind)
    ][:, None, :]
    return {"g_probability": g_probability, "z_probability": z_probability, "z_g_probability": z_g_probability}


def statistics(data, size):
    """Expected statistics of all rows (Theorem 4.1)."""
    y = data["y"]
    g_probability = data["g_probability"]
    z_probability = data["z_probability"]
    z_g_probability = data["z_g_probability"]
    # for kinds given the statistics: Dirichlet
    count_g = np.sum(g_probability, axis=0)
    # for shares given the statistics: Dirichlet
    count_g_school_of_pupil_z = np.sum(z_g_probability, axis=0)
    # for right given the statistics: Beta
    sum_z_y = np.sum(y[:, None, :] * z_probability[:, :, None], axis=0)
    sum_y_z = np.sum((1 - y)[:, None, :] * z_probability[:, :, None], axis=0)
    return {
        "count_g": count_g,
        "count_g_school_of_pupil_z": count_g_school_of_pupil_z,
        "sum_z_y": sum_z_y,
        "sum_y_z": sum_y_z,
    }


def maximise(found, data, size):
    """The mode of the parameters given statistics."""
    count_g = found["count_g"]
    count_g_school_of_pupil_z = found["count_g_school_of_pupil_z"]
    sum_z_y = found["sum_z_y"]
    sum_y_z = found["sum_y_z"]
    # kinds given the statistics: Dirichlet
    kinds_concentration = 2 + count_g
    # shares given the statistics: Dirichlet
    shares_concentration = 1.5 + count_g_school_of_pupil_z.T
    # right given the statistics: Beta
    right_a = 1.5 + sum_z_y
    right_b = 1.5 + sum_y_z
    # right: the peak of Beta
    right = mode_of_beta(right_a, right_b)
    right = np.maximum(right, 1e-300)
    right = np.minimum(right, 0.9999999999999998)
    # shares: the peak of Dirichlet
    shares = mode_of_dirichlet(shares_concentration)
    shares = np.maximum(shares, 1e-300)
    # kinds: the peak of Dirichlet
    kinds = mode_of_dirichlet(kinds_concentration)
    kinds = np.maximum(kinds, 1e-300)
    if not all(np.isfinite(value).all() for value in [kinds, shares, right]):
        raise ArithmeticError("the objective has no upper bound from here")
    return {"kinds": kinds, "shares": shares, "right": right}


def improved(data, size):
    """The best parameters given expectations of the hidden variables."""
    return maximise(statistics(data, size), data, size)


def expect(data, size):
    """Expectations of the hidden variables given parameters, and log p(data, parameters)."""
    school_of_pupil = data["school_of_pupil"]
    y = data["y"]
    kinds = data["kinds"]
    shares = data["shares"]
    right = data["right"]
    size_school = size["school"]
    size_kind = size["kind"]
    size_ability = size["ability"]
    with np.errstate(all="ignore"):
        # log p(z, g = level, its data | parameters)
        z_log_weight = (
            np.log(shares.T)
            + np.sum(np.log(right) * y[:, None, :] + special.xlogy((1 - y)[:, None, :], 1 - right), axis=-1)[:, :, None]
        )
        # z summed out
        z_message = np.maximum(log_sum_exp(np.transpose(z_log_weight, (0, 2, 1))), -1e+300)
        # log p(g = level, its data | parameters)
        g_log_weight = np.log(kinds) + grouped([school_of_pupil], (size_school,), z_message)
        # g summed out
        g_log_norm = log_sum_exp(g_log_weight)
        # posterior of g
        g_probability = np.exp(g_log_weight + (-g_log_norm)[:, None])
        # posterior of z, g
        z_g_probability = np.exp(z_log_weight + (-z_message)[:, None, :]) * g_probability[
            school_of_pupil[:, None], np.arange(size_kind)
        ][:, None, :]
        # posterior of z
        z_probability = np.sum(z_g_probability, axis=-1)
        # log p(data, parameters): hidden variables summed out, then the factors without them
        objective = np.sum(g_log_norm)
        # kinds
        objective = objective + np.sum(np.sum(np.log(kinds)) + special.gammaln(2 * size_kind))
        # shares
        objective = (
            objective
            + np.sum(
                0.5 * np.sum(np.log(shares), axis=-1)
                + 0.12078223763524543 * size_ability
                + special.gammaln(1.5 * size_ability)
            )
        )
        # right
        objective = objective + np.sum(0.5 * np.log(right) + 0.5 * np.log(1 - right) + 0.9347116558304358)
        return {
            "g_probability": g_probability, "z_g_probability": z_g_probability, "z_probability": z_probability
        }, float(objective)


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


def mode_of_beta(a, b):
    """The peak; without one (a, b <= 1) the end with more mass, and the middle if both are 1."""
    left, right = np.maximum(a - 1, 0), np.maximum(b - 1, 0)
    total = left + right
    ends = np.where((a == 1) & (b == 1), 0.5, a > b)
    return np.where(total > 0, left / np.where(total > 0, total, 1), ends)


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
    data, size = {}, {"pupil": count_rows(table), "kind": 2, "ability": 3}
    school_labels = levels(table, ["school"])
    size["school"] = len(school_labels)
    data["school_of_pupil"] = codes(table, ["school"], school_labels)[:, 0]
    y_columns = indexed(table, "y", 4)
    data["y"] = numbers(table, y_columns, "an integer in [0, 1]", lower=0, upper=1, whole=True)
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
