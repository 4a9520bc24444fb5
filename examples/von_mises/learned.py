"""von_mises: the exact posterior, derived and written by Platewright.

closed form: one pass over the data for 2 statistics, then 1 exact elimination

The model:
    direction ~ VonMises(mean=0, concentration=0.5)
    wind[hour] ~ VonMises(mean=direction, concentration=2)

Run:  python FILE data.csv

data.csv has a header and a row for each hour, with these columns:
    wind  an angle
"""

import csv
import sys

import numpy as np
from scipy import special


# -- the algorithm, as derived from the model --------------------------------------------------------------------------


def statistics(data, size):
    """Sufficient statistics of a batch of rows (Theorem 4.1)."""
    wind = data["wind"]
    # for direction given the statistics: VonMises
    sum_wind = np.sum(np.sin(wind))
    sum_wind_2 = np.sum(np.cos(wind))
    return {"sum_wind": sum_wind, "sum_wind_2": sum_wind_2}


def merged(left, right):
    """Statistics of all rows from those of two parts."""
    return {name: left[name] + right[name] for name in left}


def finish(found, data, size):
    """Posterior parameters and evidence from the statistics."""
    size_hour = size["hour"]
    sum_wind = found["sum_wind"]
    sum_wind_2 = found["sum_wind_2"]
    # direction given the statistics: VonMises
    direction_mean = np.arctan2(2 * sum_wind, 0.5 + 2 * sum_wind_2)
    direction_concentration = np.sqrt((0.5 + 2 * sum_wind_2) ** 2 + 4 * sum_wind ** 2)
    # evidence (Lemma 6.4)
    log_evidence = (
        -log_bessel0(0.5)
        - size_hour * log_bessel0(2)
        - 1.8378770664093453 * size_hour
        + log_bessel0(direction_concentration)
    )
    return {
        "direction.mean": direction_mean,
        "direction.concentration": direction_concentration,
        "log_evidence": log_evidence,
    }


def learn(data, size):
    """All in one: statistics, then what follows from them."""
    return finish(statistics(data, size), data, size)


# -- tools that it uses ------------------------------------------------------------------------------------------------


def log_bessel0(x):
    """`log I0(x)` without overflow."""
    return np.log(special.i0e(x)) + np.abs(x)


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
    data, size = {}, {"hour": count_rows(table)}
    data["wind"] = numbers(table, ["wind"], "an angle")[:, 0]
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
