"""pareto: learning program, derived and written by Platewright.

Run: python FILE data.csv
"""


import csv
import sys

import numpy as np
from scipy import special


def statistics(data, size):
    """Sufficient statistics of a batch of rows (Theorem 4.1)."""
    size_2 = data["size_2"]
    # steepness given the statistics: Gamma
    sum_size = np.sum(np.log(size_2))
    return {"sum_size": sum_size}


def merged(left, right):
    """Statistics of all rows from those of two parts."""
    return {
        "sum_size": left["sum_size"] + right["sum_size"],
    }


def finish(found, data, size):
    """Posterior parameters and evidence from the statistics."""
    size_city = size["city"]
    sum_size = found["sum_size"]
    # steepness given the statistics: Gamma
    steepness_shape = 2 + size_city
    # steepness given the statistics: Gamma
    steepness_rate = 1 + sum_size
    # evidence (Lemma 6.4)
    log_evidence = -sum_size + special.gammaln(steepness_shape) - steepness_shape * np.log(steepness_rate)
    return {
        "steepness.shape": steepness_shape,
        "steepness.rate": steepness_rate,
        "log_evidence": log_evidence,
    }


def learn(data, size):
    """All in one: statistics, then what follows from them."""
    return finish(statistics(data, size), data, size)


def read(path):
    """Columns of a CSV file with a header, and the sizes of the plates."""
    with open(path, newline="") as file:
        table = list(csv.DictReader(file))
    data, size = {}, {"city": len(table)}
    data["size_2"] = np.array([float(r["size"]) for r in table])
    return data, size


if __name__ == "__main__":
    with np.errstate(divide="ignore"):  # the logarithm of an exact zero is minus infinity and means it
        data, size = read(sys.argv[1])
        results = learn(data, size)
    for name, value in results.items():
        print(f"{name} = {np.asarray(value).tolist()}")
