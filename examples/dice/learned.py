"""dice: the exact posterior, derived and written by Platewright.

closed form: one pass over the data for 1 statistic, then 1 exact elimination

The model:
    theta[face] ~ Dirichlet(concentration=1)
    shown[roll] ~ Categorical(probabilities=theta[face])

Run:  python FILE data.csv

data.csv has a header and a row for each roll, with these columns:
    shown  a level of face
"""

import csv
import sys

import numpy as np
from scipy import special


# -- the algorithm, as derived from the model --------------------------------------------------------------------------


def statistics(data, size):
    """Sufficient statistics of a batch of rows (Theorem 4.1)."""
    shown = data["shown"]
    size_face = size["face"]
    # for theta given the statistics: Dirichlet
    count_shown = grouped((shown,), (size_face,))
    return {"count_shown": count_shown}


def merged(left, right):
    """Statistics of all rows from those of two parts."""
    return {name: left[name] + right[name] for name in left}


def finish(found, data, size):
    """Posterior parameters and evidence from the statistics."""
    size_face = size["face"]
    count_shown = found["count_shown"]
    # theta given the statistics: Dirichlet
    theta_concentration = count_shown + 1
    # evidence (Lemma 6.4)
    log_evidence = (
        special.gammaln(size_face)
        + np.sum(scaled_lgamma(theta_concentration, np.sum(theta_concentration)))
        - scaled_lgamma(np.sum(theta_concentration), np.sum(theta_concentration))
    )
    return {
        "theta.concentration": theta_concentration,
        "log_evidence": log_evidence,
    }


def learn(data, size):
    """All in one: statistics, then what follows from them."""
    return finish(statistics(data, size), data, size)


# -- tools that it uses ------------------------------------------------------------------------------------------------


def grouped(codes, shape, weights=None):
    """Sums of weights (or counts) of rows in each group; `codes` say for each row its position on each group axis."""
    cell = np.ravel_multi_index([np.ravel(code) for code in np.broadcast_arrays(*codes)], shape)
    size = int(np.prod(shape))
    if weights is None:
        return np.bincount(cell, minlength=size).reshape(shape)
    weights = np.asarray(weights, dtype=float)
    others = weights.shape[np.broadcast(*codes).ndim :]
    columns = weights.reshape(len(cell), int(np.prod(others)))
    sums = [np.bincount(cell, columns[:, j], minlength=size) for j in range(columns.shape[1])]
    return np.stack(sums, axis=-1).reshape(*shape, *others)


def scaled_lgamma(x, scale):
    """`lgamma(x) - x log(scale) + x`, from 10 on by Stirling's series, so that large parts do not cancel."""
    large = np.maximum(x, 10.0)
    beyond = (large - scale) / scale
    is_close = np.abs(beyond) < 0.5
    log_ratio = np.where(is_close, np.log1p(np.where(is_close, beyond, 0.0)), np.log(large / scale))
    square = 1.0 / (large * large)
    series = 1.0 / 156
    for number in (691.0 / 360360, 1.0 / 1188, 1.0 / 1680, 1.0 / 1260, 1.0 / 360, 1.0 / 12):
        series = number - square * series
    stirling = (large - 0.5) * log_ratio - 0.5 * np.log(scale) + 0.5 * np.log(2 * np.pi) + series / large
    return np.where(x < 10, special.gammaln(x) - x * np.log(scale) + x, stirling)


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


def read(path):
    """The columns that the model needs, and the sizes of its plates."""
    table = table_of(path)
    data, size = {}, {"roll": count_rows(table), "face": 6}
    face_labels = levels(table, ["shown"], 6)
    data["shown"] = codes(table, ["shown"], face_labels)[:, 0]
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
