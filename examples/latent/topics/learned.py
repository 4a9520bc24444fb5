# The steps of the algorithm, to read; not one program yet: collapsed-gibbs is printed step by step

"""topics: learning program, derived and written by Platewright.

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


def statistics(data, size):
    """Sufficient statistics of a batch of rows (Theorem 4.1)."""
    doc_of_word = data["doc_of_word"]
    z = data["z"]
    w = data["w"]
    size_doc = size["doc"]
    size_topic = size["topic"]
    size_term = size["term"]
    # theta given the statistics: Dirichlet
    count_doc_of_word_z = grouped((doc_of_word, z,), (size_doc, size_topic,))
    # phi given the statistics: Dirichlet
    count_w_z = grouped((w, z,), (size_term, size_topic,))
    return {"count_doc_of_word_z": count_doc_of_word_z, "count_w_z": count_w_z}


def merged(left, right):
    """Statistics of all rows from those of two parts."""
    return {
        "count_doc_of_word_z": left["count_doc_of_word_z"] + right["count_doc_of_word_z"],
        "count_w_z": left["count_w_z"] + right["count_w_z"],
    }


def finish(found, data, size):
    """Posterior parameters and evidence from the statistics."""
    size_doc = size["doc"]
    size_topic = size["topic"]
    size_term = size["term"]
    count_doc_of_word_z = found["count_doc_of_word_z"]
    count_w_z = found["count_w_z"]
    # theta given the statistics: Dirichlet
    theta_concentration = 0.5 + count_doc_of_word_z
    # phi given the statistics: Dirichlet
    phi_concentration = 0.5 + count_w_z.T
    # evidence of the piece with theta (Lemma 6.4)
    log_evidence_theta = (
        (-0.5723649429247004) * size_doc * size_topic
        + size_doc * special.gammaln(0.5 * size_topic)
        + np.sum(
            np.sum(scaled_lgamma(theta_concentration, np.sum(theta_concentration, axis=-1)[:, None]), axis=-1)
            - scaled_lgamma(np.sum(theta_concentration, axis=-1), np.sum(theta_concentration, axis=-1))
        )
    )
    # evidence of the piece with phi (Lemma 6.4)
    log_evidence_phi = (
        (-0.5723649429247004) * size_topic * size_term
        + size_topic * special.gammaln(0.5 * size_term)
        + np.sum(
            np.sum(scaled_lgamma(phi_concentration, np.sum(phi_concentration, axis=-1)[:, None]), axis=-1)
            - scaled_lgamma(np.sum(phi_concentration, axis=-1), np.sum(phi_concentration, axis=-1))
        )
    )
    # evidence is the product over pieces (Corollary 6.1.2)
    log_evidence = log_evidence_theta + log_evidence_phi
    return {
        "theta.concentration": theta_concentration,
        "phi.concentration": phi_concentration,
        "log_evidence.theta": log_evidence_theta,
        "log_evidence.phi": log_evidence_phi,
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


def read(path):
    """Columns of a CSV file with a header, and the sizes of the plates."""
    with open(path, newline="") as file:
        table = list(csv.DictReader(file))
    data, size = {}, {"word": len(table)}
    data["doc_of_word"], count = coded([r["doc"] for r in table], None)
    size.setdefault("doc", count)
    data["z"], count = coded([r["z"] for r in table], 3)
    size.setdefault("topic", count)
    data["w"], count = coded([r["w"] for r in table], 8)
    size.setdefault("term", count)
    size["topic"] = 3
    size["term"] = 8
    return data, size


if __name__ == "__main__":
    with np.errstate(divide="ignore"):  # the logarithm of an exact zero is minus infinity and means it
        data, size = read(sys.argv[1])
        results = learn(data, size)
    for name, value in results.items():
        print(f"{name} = {np.asarray(value).tolist()}")
