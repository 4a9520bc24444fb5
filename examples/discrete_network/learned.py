"""discrete_network: learning program, derived and written by Platewright.

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
    rained = data["rained"]
    sprinkled = data["sprinkled"]
    wetness = data["wetness"]
    size_rain = size["rain"]
    size_sprinkler = size["sprinkler"]
    size_wet = size["wet"]
    # t_rain given the statistics: Dirichlet
    count_rained = grouped((rained,), (size_rain,))
    # t_sprinkler given the statistics: Dirichlet
    count_rained_sprinkled = grouped((rained, sprinkled,), (size_rain, size_sprinkler,))
    # t_wet given the statistics: Dirichlet
    count_rained_sprinkled_wetness = grouped((rained, sprinkled, wetness,), (size_rain, size_sprinkler, size_wet,))
    return {
        "count_rained": count_rained,
        "count_rained_sprinkled": count_rained_sprinkled,
        "count_rained_sprinkled_wetness": count_rained_sprinkled_wetness,
    }


def merged(left, right):
    """Statistics of all rows from those of two parts."""
    return {
        "count_rained": left["count_rained"] + right["count_rained"],
        "count_rained_sprinkled": left["count_rained_sprinkled"] + right["count_rained_sprinkled"],
        "count_rained_sprinkled_wetness": left[
            "count_rained_sprinkled_wetness"
        ] + right["count_rained_sprinkled_wetness"],
    }


def finish(found, data, size):
    """Posterior parameters and evidence from the statistics."""
    size_rain = size["rain"]
    size_sprinkler = size["sprinkler"]
    size_wet = size["wet"]
    count_rained = found["count_rained"]
    count_rained_sprinkled = found["count_rained_sprinkled"]
    count_rained_sprinkled_wetness = found["count_rained_sprinkled_wetness"]
    # t_rain given the statistics: Dirichlet
    t_rain_concentration = count_rained + 1
    # t_sprinkler given the statistics: Dirichlet
    t_sprinkler_concentration = count_rained_sprinkled + 1
    # t_wet given the statistics: Dirichlet
    t_wet_concentration = count_rained_sprinkled_wetness + 1
    # evidence of the piece with t_rain (Lemma 6.4)
    log_evidence_t_rain = (
        special.gammaln(size_rain)
        + np.sum(scaled_lgamma(t_rain_concentration, np.sum(t_rain_concentration)))
        - scaled_lgamma(np.sum(t_rain_concentration), np.sum(t_rain_concentration))
    )
    # evidence of the piece with t_sprinkler (Lemma 6.4)
    log_evidence_t_sprinkler = (
        size_rain * special.gammaln(size_sprinkler)
        + np.sum(
            np.sum(
                scaled_lgamma(t_sprinkler_concentration, np.sum(t_sprinkler_concentration, axis=-1)[:, None]),
                axis=-1,
            )
            - scaled_lgamma(np.sum(t_sprinkler_concentration, axis=-1), np.sum(t_sprinkler_concentration, axis=-1))
        )
    )
    # evidence of the piece with t_wet (Lemma 6.4)
    log_evidence_t_wet = (
        size_sprinkler * size_rain * special.gammaln(size_wet)
        + np.sum(
            np.sum(
                np.sum(
                    scaled_lgamma(
                        np.transpose(t_wet_concentration, (1, 0, 2)),
                        np.sum(np.transpose(t_wet_concentration, (1, 0, 2)), axis=-1)[:, :, None],
                    ),
                    axis=-1,
                )
                - scaled_lgamma(
                    np.sum(np.transpose(t_wet_concentration, (1, 0, 2)), axis=-1),
                    np.sum(np.transpose(t_wet_concentration, (1, 0, 2)), axis=-1),
                ),
                axis=-1,
            )
        )
    )
    # evidence is the product over pieces (Corollary 6.1.2)
    log_evidence = log_evidence_t_rain + log_evidence_t_sprinkler + log_evidence_t_wet
    return {
        "t_rain.concentration": t_rain_concentration,
        "t_sprinkler.concentration": t_sprinkler_concentration,
        "t_wet.concentration": t_wet_concentration,
        "log_evidence.t_rain": log_evidence_t_rain,
        "log_evidence.t_sprinkler": log_evidence_t_sprinkler,
        "log_evidence.t_wet": log_evidence_t_wet,
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
    data["rained"], count = coded([r["rained"] for r in table], 2)
    size.setdefault("rain", count)
    data["sprinkled"], count = coded([r["sprinkled"] for r in table], 2)
    size.setdefault("sprinkler", count)
    data["wetness"], count = coded([r["wetness"] for r in table], 3)
    size.setdefault("wet", count)
    size["rain"] = 2
    size["sprinkler"] = 2
    size["wet"] = 3
    return data, size


if __name__ == "__main__":
    with np.errstate(divide="ignore"):  # the logarithm of an exact zero is minus infinity and means it
        data, size = read(sys.argv[1])
        results = learn(data, size)
    for name, value in results.items():
        print(f"{name} = {np.asarray(value).tolist()}")
