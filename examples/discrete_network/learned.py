"""discrete_network: the exact posterior, derived and written by Platewright.

closed form: one pass over the data for 3 statistics, then 3 exact eliminations

The model:
    t_rain[rain] ~ Dirichlet(concentration=1)
    t_sprinkler[rain, sprinkler] ~ Dirichlet(concentration=1)
    t_wet[rain, sprinkler, wet] ~ Dirichlet(concentration=1)
    rained[case] ~ Categorical(probabilities=t_rain[rain])
    sprinkled[case] ~ Categorical(probabilities=t_sprinkler[rained[case], sprinkler])
    wetness[case] ~ Categorical(probabilities=t_wet[rained[case], sprinkled[case], wet])

Run:  python FILE data.csv

data.csv has a header and a row for each case, with these columns:
    rained     a level of rain
    sprinkled  a level of sprinkler
    wetness    a level of wet
"""

import csv
import sys

import numpy as np
from scipy import special


# -- the algorithm, as derived from the model --------------------------------------------------------------------------


def statistics(data, size):
    """Sufficient statistics of a batch of rows (Theorem 4.1)."""
    rained = data["rained"]
    sprinkled = data["sprinkled"]
    wetness = data["wetness"]
    size_rain = size["rain"]
    size_sprinkler = size["sprinkler"]
    size_wet = size["wet"]
    # for t_rain given the statistics: Dirichlet
    count_rained = grouped((rained,), (size_rain,))
    # for t_sprinkler given the statistics: Dirichlet
    count_rained_sprinkled = grouped((rained, sprinkled), (size_rain, size_sprinkler))
    # for t_wet given the statistics: Dirichlet
    count_rained_sprinkled_wetness = grouped((rained, sprinkled, wetness), (size_rain, size_sprinkler, size_wet))
    return {
        "count_rained": count_rained,
        "count_rained_sprinkled": count_rained_sprinkled,
        "count_rained_sprinkled_wetness": count_rained_sprinkled_wetness,
    }


def merged(left, right):
    """Statistics of all rows from those of two parts."""
    return {name: left[name] + right[name] for name in left}


def finish(found, data, size):
    """Posterior parameters and evidence from the statistics."""
    size_rain = size["rain"]
    size_sprinkler = size["sprinkler"]
    size_wet = size["wet"]
    count_rained = found["count_rained"]
    count_rained_sprinkled = found["count_rained_sprinkled"]
    count_rained_sprinkled_wetness = found["count_rained_sprinkled_wetness"]
    # t_rain given the statistics: Dirichlet
    t_rain_concentration = count_rained + 1
    # t_sprinkler given the statistics: Dirichlet
    t_sprinkler_concentration = count_rained_sprinkled + 1
    # t_wet given the statistics: Dirichlet
    t_wet_concentration = count_rained_sprinkled_wetness + 1
    # evidence of the piece with t_rain (Lemma 6.4)
    log_evidence_t_rain = (
        special.gammaln(size_rain)
        + np.sum(scaled_lgamma(t_rain_concentration, np.sum(t_rain_concentration)))
        - scaled_lgamma(np.sum(t_rain_concentration), np.sum(t_rain_concentration))
    )
    # evidence of the piece with t_sprinkler (Lemma 6.4)
    log_evidence_t_sprinkler = (
        size_rain * special.gammaln(size_sprinkler)
        + np.sum(
            np.sum(
                scaled_lgamma(t_sprinkler_concentration, np.sum(t_sprinkler_concentration, axis=-1)[:, None]),
                axis=-1,
            )
            - scaled_lgamma(np.sum(t_sprinkler_concentration, axis=-1), np.sum(t_sprinkler_concentration, axis=-1))
        )
    )
    # evidence of the piece with t_wet (Lemma 6.4)
    log_evidence_t_wet = (
        size_sprinkler * size_rain * special.gammaln(size_wet)
        + np.sum(
            np.sum(
                np.sum(
                    scaled_lgamma(
                        np.transpose(t_wet_concentration, (1, 0, 2)),
                        np.sum(np.transpose(t_wet_concentration, (1, 0, 2)), axis=-1)[:, :, None],
                    ),
                    axis=-1,
                )
                - scaled_lgamma(
                    np.sum(np.transpose(t_wet_concentration, (1, 0, 2)), axis=-1),
                    np.sum(np.transpose(t_wet_concentration, (1, 0, 2)), axis=-1),
                ),
                axis=-1,
            )
        )
    )
    # evidence is the product over pieces (Corollary 6.1.2)
    log_evidence = log_evidence_t_rain + log_evidence_t_sprinkler + log_evidence_t_wet
    return {
        "t_rain.concentration": t_rain_concentration,
        "t_sprinkler.concentration": t_sprinkler_concentration,
        "t_wet.concentration": t_wet_concentration,
        "log_evidence.t_rain": log_evidence_t_rain,
        "log_evidence.t_sprinkler": log_evidence_t_sprinkler,
        "log_evidence.t_wet": log_evidence_t_wet,
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
    data, size = {}, {"case_2": count_rows(table), "rain": 2, "sprinkler": 2, "wet": 3}
    rain_labels = levels(table, ["rained"], 2)
    data["rained"] = codes(table, ["rained"], rain_labels)[:, 0]
    sprinkler_labels = levels(table, ["sprinkled"], 2)
    data["sprinkled"] = codes(table, ["sprinkled"], sprinkler_labels)[:, 0]
    wet_labels = levels(table, ["wetness"], 3)
    data["wetness"] = codes(table, ["wetness"], wet_labels)[:, 0]
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
