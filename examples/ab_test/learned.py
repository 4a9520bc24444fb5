"""ab_test: learning program, derived and written by Platewright.

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


def log_beta(a, b):
    """`lgamma(a) + lgamma(b) - lgamma(a + b)`, also where these are large."""
    return scaled_lgamma(a, a + b) + scaled_lgamma(b, a + b) - scaled_lgamma(a + b, a + b)


def statistics(data, size):
    """Sufficient statistics of a batch of rows (Theorem 4.1)."""
    shown = data["shown"]
    visits = data["visits"]
    conversions = data["conversions"]
    size_variant = size["variant"]
    # rate given the statistics: Beta
    sum_shown_conversions = grouped((shown,), (size_variant,), conversions)
    # rate given the statistics: Beta
    sum_shown_visits_conversions = grouped((shown,), (size_variant,), visits - conversions)
    # evidence
    sum_visits = np.sum(special.gammaln(visits + 1))
    # evidence
    sum_conversions = np.sum(special.gammaln(conversions + 1))
    # evidence
    sum_visits_conversions = np.sum(special.gammaln(visits - conversions + 1))
    # evidence
    sum_conversions_visits = np.sum(np.where((conversions <= visits), 0.0, -np.inf))
    return {
        "sum_shown_conversions": sum_shown_conversions,
        "sum_shown_visits_conversions": sum_shown_visits_conversions,
        "sum_visits": sum_visits,
        "sum_conversions": sum_conversions,
        "sum_visits_conversions": sum_visits_conversions,
        "sum_conversions_visits": sum_conversions_visits,
    }


def merged(left, right):
    """Statistics of all rows from those of two parts."""
    return {
        "sum_shown_conversions": left["sum_shown_conversions"] + right["sum_shown_conversions"],
        "sum_shown_visits_conversions": left["sum_shown_visits_conversions"] + right["sum_shown_visits_conversions"],
        "sum_visits": left["sum_visits"] + right["sum_visits"],
        "sum_conversions": left["sum_conversions"] + right["sum_conversions"],
        "sum_visits_conversions": left["sum_visits_conversions"] + right["sum_visits_conversions"],
        "sum_conversions_visits": left["sum_conversions_visits"] + right["sum_conversions_visits"],
    }


def finish(found, data, size):
    """Posterior parameters and evidence from the statistics."""
    size_variant = size["variant"]
    sum_shown_conversions = found["sum_shown_conversions"]
    sum_shown_visits_conversions = found["sum_shown_visits_conversions"]
    sum_visits = found["sum_visits"]
    sum_conversions = found["sum_conversions"]
    sum_visits_conversions = found["sum_visits_conversions"]
    sum_conversions_visits = found["sum_conversions_visits"]
    # rate given the statistics: Beta
    rate_a = sum_shown_conversions + 1
    # rate given the statistics: Beta
    rate_b = 9 + sum_shown_visits_conversions
    # evidence (Lemma 6.4)
    log_evidence = (
        2.1972245773362182 * size_variant
        + sum_visits
        - sum_conversions
        - sum_visits_conversions
        + sum_conversions_visits
        + np.sum(log_beta(rate_a, rate_b))
    )
    return {
        "rate.a": rate_a,
        "rate.b": rate_b,
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
    data, size = {}, {"day": len(table)}
    data["shown"], count = coded([r["shown"] for r in table], 2, ['A', 'B'])
    size.setdefault("variant", count)
    data["visits"] = np.array([float(r["visits"]) for r in table])
    data["conversions"] = np.array([whole(r["conversions"]) for r in table])
    size["variant"] = 2
    return data, size


if __name__ == "__main__":
    with np.errstate(divide="ignore"):  # the logarithm of an exact zero is minus infinity and means it
        data, size = read(sys.argv[1])
        results = learn(data, size)
    for name, value in results.items():
        print(f"{name} = {np.asarray(value).tolist()}")
