"""spike_and_slab: learning program, derived and written by Platewright.

Run: python FILE data.csv
"""


import csv
import sys

import numpy as np
from scipy import special


def statistics(data, size):
    """Sufficient statistics of a batch of rows (Theorem 4.1)."""
    x = data["x"]
    y = data["y"]
    # evidence
    sum_y = np.sum(y ** 2)
    # evidence
    sum_x = np.sum(x ** 2)
    # evidence
    sum_x_y = np.sum(x * y)
    return {"sum_y": sum_y, "sum_x": sum_x, "sum_x_y": sum_x_y}


def merged(left, right):
    """Statistics of all rows from those of two parts."""
    return {
        "sum_y": left["sum_y"] + right["sum_y"],
        "sum_x": left["sum_x"] + right["sum_x"],
        "sum_x_y": left["sum_x_y"] + right["sum_x_y"],
    }


def finish(found, data, size):
    """Posterior parameters and evidence from the statistics."""
    size_row = size["row"]
    size_active_levels = size["active_levels"]
    sum_y = found["sum_y"]
    sum_x = found["sum_x"]
    sum_x_y = found["sum_x_y"]
    # evidence (Lemma 6.4)
    log_evidence = (
        -0.6931471805599453
        + special.logsumexp(
            0.5 * np.log(np.where(np.arange(size_active_levels), 0.25, 400))
            + (-0.5) * sum_y
            + (-0.9189385332046727) * size_row
            + 0.125 * (np.where(np.arange(size_active_levels), 0.25, 400) + sum_x) * sum_x_y ** 2 * (
                (-0.5) * np.where(np.arange(size_active_levels), 0.25, 400) + (-0.5) * sum_x
            ) ** (-2.0)
            + (-0.5) * np.log(np.where(np.arange(size_active_levels), 0.25, 400) + sum_x)
        )
    )
    return {
        "log_evidence": log_evidence,
    }


def learn(data, size):
    """All in one: statistics, then what follows from them."""
    return finish(statistics(data, size), data, size)


def read(path):
    """Columns of a CSV file with a header, and the sizes of the plates."""
    with open(path, newline="") as file:
        table = list(csv.DictReader(file))
    data, size = {}, {"row": len(table)}
    data["x"] = np.array([float(r["x"]) for r in table])
    data["y"] = np.array([float(r["y"]) for r in table])
    size["active_levels"] = 2
    return data, size


if __name__ == "__main__":
    with np.errstate(divide="ignore"):  # the logarithm of an exact zero is minus infinity and means it
        data, size = read(sys.argv[1])
        results = learn(data, size)
    for name, value in results.items():
        print(f"{name} = {np.asarray(value).tolist()}")
