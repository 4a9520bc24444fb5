"""multinomial: learning program, derived and written by Platewright.

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
    length = data["length"]
    counts = data["counts"]
    # share given the statistics: Dirichlet
    sum_counts = np.sum(counts, axis=(0,))
    # evidence
    sum_length = np.sum(special.gammaln(length + 1))
    # evidence
    sum_counts_2 = np.sum(special.gammaln(counts + 1), axis=(0, 1,))
    return {"sum_counts": sum_counts, "sum_length": sum_length, "sum_counts_2": sum_counts_2}


def merged(left, right):
    """Statistics of all rows from those of two parts."""
    return {
        "sum_counts": left["sum_counts"] + right["sum_counts"],
        "sum_length": left["sum_length"] + right["sum_length"],
        "sum_counts_2": left["sum_counts_2"] + right["sum_counts_2"],
    }


def finish(found, data, size):
    """Posterior parameters and evidence from the statistics."""
    size_word = size["word"]
    sum_counts = found["sum_counts"]
    sum_length = found["sum_length"]
    sum_counts_2 = found["sum_counts_2"]
    # share given the statistics: Dirichlet
    share_concentration = 0.5 + sum_counts
    # evidence (Lemma 6.4)
    log_evidence = (
        (-0.5723649429247004) * size_word
        + special.gammaln(0.5 * size_word)
        + sum_length
        - sum_counts_2
        + np.sum(scaled_lgamma(share_concentration, np.sum(share_concentration)))
        - scaled_lgamma(np.sum(share_concentration), np.sum(share_concentration))
    )
    return {
        "share.concentration": share_concentration,
        "log_evidence": log_evidence,
    }


def learn(data, size):
    """All in one: statistics, then what follows from them."""
    return finish(statistics(data, size), data, size)


def read(path):
    """Columns of a CSV file with a header, and the sizes of the plates."""
    with open(path, newline="") as file:
        table = list(csv.DictReader(file))
    data, size = {}, {"text": len(table)}
    data["length"] = np.array([float(r["length"]) for r in table])
    columns = [c for c in table[0] if c.startswith("counts[")]
    data["counts"] = np.array([[float(r[c]) for c in columns] for r in table])
    size["word"] = len(columns)
    size["word"] = 3
    return data, size


if __name__ == "__main__":
    with np.errstate(divide="ignore"):  # the logarithm of an exact zero is minus infinity and means it
        data, size = read(sys.argv[1])
        results = learn(data, size)
    for name, value in results.items():
        print(f"{name} = {np.asarray(value).tolist()}")
