"""von_mises: learning program, derived and written by Platewright.

Run: python FILE data.csv
"""


import csv
import sys

import numpy as np
from scipy import special


def log_bessel0(x):
    """`log I0(x)` without overflow."""
    return np.log(special.i0e(x)) + np.abs(x)


def statistics(data, size):
    """Sufficient statistics of a batch of rows (Theorem 4.1)."""
    wind = data["wind"]
    # direction given the statistics: VonMises
    sum_wind = np.sum(np.sin(wind))
    # direction given the statistics: VonMises
    sum_wind_2 = np.sum(np.cos(wind))
    return {"sum_wind": sum_wind, "sum_wind_2": sum_wind_2}


def merged(left, right):
    """Statistics of all rows from those of two parts."""
    return {
        "sum_wind": left["sum_wind"] + right["sum_wind"],
        "sum_wind_2": left["sum_wind_2"] + right["sum_wind_2"],
    }


def finish(found, data, size):
    """Posterior parameters and evidence from the statistics."""
    size_hour = size["hour"]
    sum_wind = found["sum_wind"]
    sum_wind_2 = found["sum_wind_2"]
    # direction given the statistics: VonMises
    direction_mean = np.arctan2(2 * sum_wind, 0.5 + 2 * sum_wind_2)
    # direction given the statistics: VonMises
    direction_concentration = np.sqrt((0.5 + 2 * sum_wind_2) ** 2 + 4 * sum_wind ** 2)
    # evidence (Lemma 6.4)
    log_evidence = (
        -log_bessel0(0.5)
        - size_hour * log_bessel0(2)
        + (-1.8378770664093453) * size_hour
        + log_bessel0(direction_concentration)
    )
    return {
        "direction.mean": direction_mean,
        "direction.concentration": direction_concentration,
        "log_evidence": log_evidence,
    }


def learn(data, size):
    """All in one: statistics, then what follows from them."""
    return finish(statistics(data, size), data, size)


def read(path):
    """Columns of a CSV file with a header, and the sizes of the plates."""
    with open(path, newline="") as file:
        table = list(csv.DictReader(file))
    data, size = {}, {"hour": len(table)}
    data["wind"] = np.array([float(r["wind"]) for r in table])
    return data, size


if __name__ == "__main__":
    with np.errstate(divide="ignore"):  # the logarithm of an exact zero is minus infinity and means it
        data, size = read(sys.argv[1])
        results = learn(data, size)
    for name, value in results.items():
        print(f"{name} = {np.asarray(value).tolist()}")
