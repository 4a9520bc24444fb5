"""spike_and_slab: the exact posterior, derived and written by Platewright.

closed form: one pass over the data for 3 statistics, then 2 exact eliminations

The model:
    x[row]: given
    active ~ Bernoulli(p=0.5)
    effect ~ Normal(mean=0, precision=where(active, 0.25, 400))
    y[row] ~ Normal(mean=effect x[row], precision=1)

Run:  python FILE data.csv

data.csv has a header and a row for each row, with these columns:
    x  a real number
    y  a real number
"""

import csv
import sys

import numpy as np


# -- the algorithm, as derived from the model --------------------------------------------------------------------------


def statistics(data, size):
    """Sufficient statistics of a batch of rows (Theorem 4.1)."""
    x = data["x"]
    y = data["y"]
    # for evidence
    sum_y = np.sum(y ** 2)
    sum_x = np.sum(x ** 2)
    sum_x_y = np.sum(x * y)
    return {"sum_y": sum_y, "sum_x": sum_x, "sum_x_y": sum_x_y}


def merged(left, right):
    """Statistics of all rows from those of two parts."""
    return {name: left[name] + right[name] for name in left}


def finish(found, data, size):
    """Posterior parameters and evidence from the statistics."""
    size_row = size["row"]
    size_active_levels = size["active_levels"]
    sum_y = found["sum_y"]
    sum_x = found["sum_x"]
    sum_x_y = found["sum_x_y"]
    # evidence (Lemma 6.4)
    log_evidence = (
        -0.6931471805599453
        + log_sum_exp(
            0.5 * np.log(np.where(np.arange(size_active_levels), 0.25, 400))
            - 0.5 * sum_y
            - 0.9189385332046727 * size_row
            + 0.125 * (np.where(np.arange(size_active_levels), 0.25, 400) + sum_x) * sum_x_y ** 2 * (
                -0.5 * np.where(np.arange(size_active_levels), 0.25, 400) - 0.5 * sum_x
            ) ** (-2.0)
            - 0.5 * np.log(np.where(np.arange(size_active_levels), 0.25, 400) + sum_x)
        )
    )
    return {
        "log_evidence": log_evidence,
    }


def learn(data, size):
    """All in one: statistics, then what follows from them."""
    return finish(statistics(data, size), data, size)


# -- tools that it uses ------------------------------------------------------------------------------------------------


def log_sum_exp(logs):
    """The log of a sum along the last axis, from the logs of its terms; minus infinity where nothing is possible."""
    top = np.max(logs, axis=-1)
    top = np.where(np.isfinite(top), top, 0.0)  # an infinity less itself is no number
    with np.errstate(over="ignore", divide="ignore"):
        return top + np.log(np.sum(np.exp(logs - top[..., None]), axis=-1))


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


def read(path):
    """The columns that the model needs, and the sizes of its plates."""
    table = table_of(path)
    data, size = {}, {"row": count_rows(table), "active_levels": 2}
    data["x"] = numbers(table, ["x"], "a real number")[:, 0]
    data["y"] = numbers(table, ["y"], "a real number")[:, 0]
    return data, size


def main(words):
    """Learn from the file that the first word names, and print what was learned."""
    if words and words[0] in ("-h", "--help"):
        print(__doc__)
        return
    if len(words) != 1:
        sys.exit(__doc__)
    try:
        with np.errstate(divide="ignore"):  # the logarithm of an exact zero is minus infinity and means it
            data, size = read(words[0])
            results = learn(data, size)
    except (OSError, ValueError, ArithmeticError) as error:
        sys.exit(f"{words[0]}: {error}")
    for name, value in results.items():
        print(f"{name} = {np.asarray(value).tolist()}")


if __name__ == "__main__":
    main(sys.argv[1:])
