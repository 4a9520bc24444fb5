"""weibull: learning program, derived and written by Platewright.

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


def statistics(data, size):
    """Sufficient statistics of a batch of rows (Theorem 4.1)."""
    cycles = data["cycles"]
    # rate given the statistics: Gamma
    sum_cycles = np.sum(cycles ** 1.7)
    # evidence
    sum_cycles_2 = np.sum(np.log(cycles))
    return {"sum_cycles": sum_cycles, "sum_cycles_2": sum_cycles_2}


def merged(left, right):
    """Statistics of all rows from those of two parts."""
    return {
        "sum_cycles": left["sum_cycles"] + right["sum_cycles"],
        "sum_cycles_2": left["sum_cycles_2"] + right["sum_cycles_2"],
    }


def finish(found, data, size):
    """Posterior parameters and evidence from the statistics."""
    size_part = size["part"]
    sum_cycles = found["sum_cycles"]
    sum_cycles_2 = found["sum_cycles_2"]
    # rate given the statistics: Gamma
    rate_shape = 2 + size_part
    # rate given the statistics: Gamma
    rate_rate = 1 + sum_cycles
    # evidence (Lemma 6.4)
    log_evidence = (
        0.7 * sum_cycles_2
        + 0.5306282510621704 * size_part
        + scaled_lgamma(rate_shape, rate_rate)
        - rate_shape
    )
    return {
        "rate.shape": rate_shape,
        "rate.rate": rate_rate,
        "log_evidence": log_evidence,
    }


def learn(data, size):
    """All in one: statistics, then what follows from them."""
    return finish(statistics(data, size), data, size)


def read(path):
    """Columns of a CSV file with a header, and the sizes of the plates."""
    with open(path, newline="") as file:
        table = list(csv.DictReader(file))
    data, size = {}, {"part": len(table)}
    data["cycles"] = np.array([float(r["cycles"]) for r in table])
    return data, size


if __name__ == "__main__":
    with np.errstate(divide="ignore"):  # the logarithm of an exact zero is minus infinity and means it
        data, size = read(sys.argv[1])
        results = learn(data, size)
    for name, value in results.items():
        print(f"{name} = {np.asarray(value).tolist()}")
