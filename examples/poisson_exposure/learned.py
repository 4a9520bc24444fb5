"""poisson_exposure: learning program, derived and written by Platewright.

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
    columns = weights.reshape(len(cell), int(np.prod(weights.shape[1:])))
    sums = [np.bincount(cell, columns[:, j], minlength=size) for j in range(columns.shape[1])]
    return np.stack(sums, axis=-1).reshape(*shape, *weights.shape[1:])


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


def statistics(data, size):
    """Sufficient statistics of a batch of rows (Theorem 4.1)."""
    where = data["where"]
    length = data["length"]
    accidents = data["accidents"]
    size_region = size["region"]
    # rate given the statistics: Gamma
    sum_where_accidents = grouped((where,), (size_region,), accidents)
    # rate given the statistics: Gamma
    sum_where_length = grouped((where,), (size_region,), length)
    # evidence
    sum_where_accidents_length = grouped((where,), (size_region,), special.xlogy(accidents, length))
    # evidence
    sum_accidents = np.sum(special.gammaln(accidents + 1))
    return {
        "sum_where_accidents": sum_where_accidents,
        "sum_where_length": sum_where_length,
        "sum_where_accidents_length": sum_where_accidents_length,
        "sum_accidents": sum_accidents,
    }


def merged(left, right):
    """Statistics of all rows from those of two parts."""
    return {
        "sum_where_accidents": left["sum_where_accidents"] + right["sum_where_accidents"],
        "sum_where_length": left["sum_where_length"] + right["sum_where_length"],
        "sum_where_accidents_length": left["sum_where_accidents_length"] + right["sum_where_accidents_length"],
        "sum_accidents": left["sum_accidents"] + right["sum_accidents"],
    }


def finish(found, data, size):
    """Posterior parameters and evidence from the statistics."""
    sum_where_accidents = found["sum_where_accidents"]
    sum_where_length = found["sum_where_length"]
    sum_where_accidents_length = found["sum_where_accidents_length"]
    sum_accidents = found["sum_accidents"]
    # rate given the statistics: Gamma
    rate_shape = 2 + sum_where_accidents
    # rate given the statistics: Gamma
    rate_rate = 1 + sum_where_length
    # evidence (Lemma 6.4)
    log_evidence = (
        np.sum(sum_where_accidents_length)
        - sum_accidents
        + np.sum(scaled_lgamma(rate_shape, rate_rate) - rate_shape)
    )
    return {
        "rate.shape": rate_shape,
        "rate.rate": rate_rate,
        "log_evidence": log_evidence,
    }


def learn(data, size):
    """All in one: statistics, then what follows from them."""
    return finish(statistics(data, size), data, size)


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


def whole(text):
    """A whole number or a truth value."""
    if text[:1].isalpha():
        return {"true": 1, "false": 0}[text.lower()]
    return int(text) if text.isdigit() else int(float(text))


def read(path):
    """Columns of a CSV file with a header, and the sizes of the plates."""
    with open(path, newline="") as file:
        table = list(csv.DictReader(file))
    data, size = {}, {"road": len(table)}
    data["where"], count = coded([r["where"] for r in table], 3)
    size.setdefault("region", count)
    data["length"] = np.array([float(r["length"]) for r in table])
    data["accidents"] = np.array([whole(r["accidents"]) for r in table])
    size["region"] = 3
    return data, size


if __name__ == "__main__":
    with np.errstate(divide="ignore"):  # the logarithm of an exact zero is minus infinity and means it
        data, size = read(sys.argv[1])
        results = learn(data, size)
    for name, value in results.items():
        print(f"{name} = {np.asarray(value).tolist()}")
