"""coin: learning program, derived and written by Platewright.

Run: python FILE data.csv
"""


import csv
import sys

import numpy as np
from scipy import special


def statistics(data, size):
    """Sufficient statistics of a batch of rows (Theorem 4.1)."""
    heads = data["heads"]
    # theta given the statistics: Beta
    sum_heads = np.sum(heads)
    # theta given the statistics: Beta
    sum_heads_2 = np.sum(1 - heads)
    return {"sum_heads": sum_heads, "sum_heads_2": sum_heads_2}


def merged(left, right):
    """Statistics of all rows from those of two parts."""
    return {
        "sum_heads": left["sum_heads"] + right["sum_heads"],
        "sum_heads_2": left["sum_heads_2"] + right["sum_heads_2"],
    }


def finish(found, data, size):
    """Posterior parameters and evidence from the statistics."""
    sum_heads = found["sum_heads"]
    sum_heads_2 = found["sum_heads_2"]
    # theta given the statistics: Beta
    theta_a = 1.5 + sum_heads
    # theta given the statistics: Beta
    theta_b = 1.5 + sum_heads_2
    # evidence (Lemma 6.4)
    log_evidence = (
        0.9347116558304358
        + special.gammaln(theta_a)
        + special.gammaln(theta_b)
        - special.gammaln(theta_a + theta_b)
    )
    return {
        "theta.a": theta_a,
        "theta.b": theta_b,
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
    data, size = {}, {"toss": len(table)}
    data["heads"] = np.array([whole(r["heads"]) for r in table])
    size["heads_levels"] = 2
    return data, size


if __name__ == "__main__":
    with np.errstate(divide="ignore"):  # the logarithm of an exact zero is minus infinity and means it
        data, size = read(sys.argv[1])
        results = learn(data, size)
    for name, value in results.items():
        print(f"{name} = {np.asarray(value).tolist()}")
