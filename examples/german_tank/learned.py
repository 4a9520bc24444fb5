"""german_tank: learning program, derived and written by Platewright.

Run: python FILE data.csv
"""


import csv
import sys

import numpy as np


def statistics(data, size):
    """Sufficient statistics of a batch of rows (Theorem 4.1)."""
    serial = data["serial"]
    # total given the statistics: Pareto
    max_serial = np.max(serial, axis=(0,), initial=-np.inf)
    return {"max_serial": max_serial}


def merged(left, right):
    """Statistics of all rows from those of two parts."""
    return {
        "max_serial": np.maximum(left["max_serial"], right["max_serial"]),
    }


def finish(found, data, size):
    """Posterior parameters and evidence from the statistics."""
    size_tank = size["tank"]
    max_serial = found["max_serial"]
    # total given the statistics: Pareto
    total_shape = 1 + size_tank
    # total given the statistics: Pareto
    total_scale = np.maximum(10, max_serial)
    # evidence (Lemma 6.4)
    log_evidence = 2.302585092994046 - np.log(total_shape) - total_shape * np.log(total_scale)
    return {
        "total.shape": total_shape,
        "total.scale": total_scale,
        "log_evidence": log_evidence,
    }


def learn(data, size):
    """All in one: statistics, then what follows from them."""
    return finish(statistics(data, size), data, size)


def read(path):
    """Columns of a CSV file with a header, and the sizes of the plates."""
    with open(path, newline="") as file:
        table = list(csv.DictReader(file))
    data, size = {}, {"tank": len(table)}
    data["serial"] = np.array([float(r["serial"]) for r in table])
    return data, size


if __name__ == "__main__":
    with np.errstate(divide="ignore"):  # the logarithm of an exact zero is minus infinity and means it
        data, size = read(sys.argv[1])
        results = learn(data, size)
    for name, value in results.items():
        print(f"{name} = {np.asarray(value).tolist()}")
