"""inverse_gaussian: learning program, derived and written by Platewright.

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
    passage = data["passage"]
    # shape given the statistics: Gamma
    sum_passage = np.sum((passage + -1.5) ** 2 / passage)
    # evidence
    sum_passage_2 = np.sum(np.log(passage))
    return {"sum_passage": sum_passage, "sum_passage_2": sum_passage_2}


def merged(left, right):
    """Statistics of all rows from those of two parts."""
    return {
        "sum_passage": left["sum_passage"] + right["sum_passage"],
        "sum_passage_2": left["sum_passage_2"] + right["sum_passage_2"],
    }


def finish(found, data, size):
    """Posterior parameters and evidence from the statistics."""
    size_run = size["run"]
    sum_passage = found["sum_passage"]
    sum_passage_2 = found["sum_passage_2"]
    # shape given the statistics: Gamma
    shape_shape = 2 + 0.5 * size_run
    # shape given the statistics: Gamma
    shape_rate = 1 + 0.2222222222222222 * sum_passage
    # evidence (Lemma 6.4)
    log_evidence = (
        (-1.5) * sum_passage_2
        + (-0.9189385332046727) * size_run
        + scaled_lgamma(shape_shape, shape_rate)
        - shape_shape
    )
    return {
        "shape.shape": shape_shape,
        "shape.rate": shape_rate,
        "log_evidence": log_evidence,
    }


def learn(data, size):
    """All in one: statistics, then what follows from them."""
    return finish(statistics(data, size), data, size)


def read(path):
    """Columns of a CSV file with a header, and the sizes of the plates."""
    with open(path, newline="") as file:
        table = list(csv.DictReader(file))
    data, size = {}, {"run": len(table)}
    data["passage"] = np.array([float(r["passage"]) for r in table])
    return data, size


if __name__ == "__main__":
    with np.errstate(divide="ignore"):  # the logarithm of an exact zero is minus infinity and means it
        data, size = read(sys.argv[1])
        results = learn(data, size)
    for name, value in results.items():
        print(f"{name} = {np.asarray(value).tolist()}")
