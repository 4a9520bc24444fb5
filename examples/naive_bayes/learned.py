"""naive_bayes: learning program, derived and written by Platewright.

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
    label = data["label"]
    first = data["first"]
    second = data["second"]
    size_kind = size["kind"]
    size_low = size["low"]
    size_mid = size["mid"]
    # share given the statistics: Dirichlet
    count_label = grouped((label,), (size_kind,))
    # table1 given the statistics: Dirichlet
    count_first_label = grouped((first, label,), (size_low, size_kind,))
    count_first_label = np.transpose(count_first_label, (1, 0))
    # table2 given the statistics: Dirichlet
    count_label_second = grouped((label, second,), (size_kind, size_mid,))
    return {
        "count_label": count_label, "count_first_label": count_first_label, "count_label_second": count_label_second
    }


def merged(left, right):
    """Statistics of all rows from those of two parts."""
    return {
        "count_label": left["count_label"] + right["count_label"],
        "count_first_label": left["count_first_label"] + right["count_first_label"],
        "count_label_second": left["count_label_second"] + right["count_label_second"],
    }


def finish(found, data, size):
    """Posterior parameters and evidence from the statistics."""
    size_kind = size["kind"]
    size_low = size["low"]
    size_mid = size["mid"]
    count_label = found["count_label"]
    count_first_label = found["count_first_label"]
    count_label_second = found["count_label_second"]
    # share given the statistics: Dirichlet
    share_concentration = count_label + 1
    # table1 given the statistics: Dirichlet
    table1_concentration = count_first_label + 1
    # table2 given the statistics: Dirichlet
    table2_concentration = count_label_second + 1
    # evidence of the piece with share (Lemma 6.4)
    log_evidence_share = (
        special.gammaln(size_kind)
        + np.sum(scaled_lgamma(share_concentration, np.sum(share_concentration)))
        - scaled_lgamma(np.sum(share_concentration), np.sum(share_concentration))
    )
    # evidence of the piece with table1 (Lemma 6.4)
    log_evidence_table1 = (
        size_kind * special.gammaln(size_low)
        + np.sum(
            np.sum(scaled_lgamma(table1_concentration, np.sum(table1_concentration, axis=-1)[:, None]), axis=-1)
            - scaled_lgamma(np.sum(table1_concentration, axis=-1), np.sum(table1_concentration, axis=-1))
        )
    )
    # evidence of the piece with table2 (Lemma 6.4)
    log_evidence_table2 = (
        size_kind * special.gammaln(size_mid)
        + np.sum(
            np.sum(scaled_lgamma(table2_concentration, np.sum(table2_concentration, axis=-1)[:, None]), axis=-1)
            - scaled_lgamma(np.sum(table2_concentration, axis=-1), np.sum(table2_concentration, axis=-1))
        )
    )
    # evidence is the product over pieces (Corollary 6.1.2)
    log_evidence = log_evidence_share + log_evidence_table1 + log_evidence_table2
    return {
        "share.concentration": share_concentration,
        "table1.concentration": table1_concentration,
        "table2.concentration": table2_concentration,
        "log_evidence.share": log_evidence_share,
        "log_evidence.table1": log_evidence_table1,
        "log_evidence.table2": log_evidence_table2,
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
    data, size = {}, {"case_2": len(table)}
    data["label"], count = coded([r["label"] for r in table], 2)
    size.setdefault("kind", count)
    data["first"], count = coded([r["first"] for r in table], 2)
    size.setdefault("low", count)
    data["second"], count = coded([r["second"] for r in table], 3)
    size.setdefault("mid", count)
    size["kind"] = 2
    size["low"] = 2
    size["mid"] = 3
    return data, size


if __name__ == "__main__":
    with np.errstate(divide="ignore"):  # the logarithm of an exact zero is minus infinity and means it
        data, size = read(sys.argv[1])
        results = learn(data, size)
    for name, value in results.items():
        print(f"{name} = {np.asarray(value).tolist()}")
