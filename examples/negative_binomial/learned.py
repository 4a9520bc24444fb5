"""negative_binomial: learning program, derived and written by Platewright.

Run: python FILE data.csv
"""


import csv
import sys

import numpy as np
from scipy import special


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
    failures = data["failures"]
    # p given the statistics: Beta
    sum_failures = np.sum(failures)
    # evidence
    sum_failures_2 = np.sum(special.gammaln(failures + 3))
    # evidence
    sum_failures_3 = np.sum(special.gammaln(failures + 1))
    return {"sum_failures": sum_failures, "sum_failures_2": sum_failures_2, "sum_failures_3": sum_failures_3}


def merged(left, right):
    """Statistics of all rows from those of two parts."""
    return {
        "sum_failures": left["sum_failures"] + right["sum_failures"],
        "sum_failures_2": left["sum_failures_2"] + right["sum_failures_2"],
        "sum_failures_3": left["sum_failures_3"] + right["sum_failures_3"],
    }


def finish(found, data, size):
    """Posterior parameters and evidence from the statistics."""
    size_trial = size["trial"]
    sum_failures = found["sum_failures"]
    sum_failures_2 = found["sum_failures_2"]
    sum_failures_3 = found["sum_failures_3"]
    # p given the statistics: Beta
    p_a = 3 * size_trial + 1
    # p given the statistics: Beta
    p_b = sum_failures + 1
    # evidence (Lemma 6.4)
    log_evidence = sum_failures_2 - sum_failures_3 + (-0.693147180559945) * size_trial + log_beta(p_a, p_b)
    return {
        "p.a": p_a,
        "p.b": p_b,
        "log_evidence": log_evidence,
    }


def learn(data, size):
    """All in one: statistics, then what follows from them."""
    return finish(statistics(data, size), data, size)


def whole(text):
    """A whole number or a truth value."""
    if text[:1].isalpha():
        return {"true": 1, "false": 0}[text.lower()]
    return int(text) if text.isdigit() else int(float(text))


def read(path):
    """Columns of a CSV file with a header, and the sizes of the plates."""
    with open(path, newline="") as file:
        table = list(csv.DictReader(file))
    data, size = {}, {"trial": len(table)}
    data["failures"] = np.array([whole(r["failures"]) for r in table])
    return data, size


if __name__ == "__main__":
    with np.errstate(divide="ignore"):  # the logarithm of an exact zero is minus infinity and means it
        data, size = read(sys.argv[1])
        results = learn(data, size)
    for name, value in results.items():
        print(f"{name} = {np.asarray(value).tolist()}")
