"""markov_chain: learning program, derived and written by Platewright.

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


def previous(values):
    """The value at the previous position; the first position repeats itself and must be masked."""
    return np.concatenate([values[:1], values[:-1]])


def statistics(data, size):
    """Sufficient statistics of a batch of rows (Theorem 4.1)."""
    first_of_day = data["first_of_day"]
    weather = data["weather"]
    size_state = size["state"]
    size_origin = size["origin"]
    # begin given the statistics: Dirichlet
    sum_weather_first_of_day = grouped((weather,), (size_state,), first_of_day)
    # move given the statistics: Dirichlet
    sum_first_of_day_weather = grouped((previous(weather), weather,), (size_origin, size_state,), 1 - first_of_day)
    return {"sum_weather_first_of_day": sum_weather_first_of_day, "sum_first_of_day_weather": sum_first_of_day_weather}


def merged(left, right):
    """Statistics of all rows from those of two parts."""
    return {
        "sum_weather_first_of_day": left["sum_weather_first_of_day"] + right["sum_weather_first_of_day"],
        "sum_first_of_day_weather": left["sum_first_of_day_weather"] + right["sum_first_of_day_weather"],
    }


def finish(found, data, size):
    """Posterior parameters and evidence from the statistics."""
    size_state = size["state"]
    size_origin = size["origin"]
    sum_weather_first_of_day = found["sum_weather_first_of_day"]
    sum_first_of_day_weather = found["sum_first_of_day_weather"]
    # begin given the statistics: Dirichlet
    begin_concentration = sum_weather_first_of_day + 1
    # move given the statistics: Dirichlet
    move_concentration = sum_first_of_day_weather + 1
    # evidence (Lemma 6.4)
    log_evidence = (
        special.gammaln(size_state)
        + size_origin * special.gammaln(size_state)
        + np.sum(
            np.sum(scaled_lgamma(move_concentration, np.sum(move_concentration, axis=-1)[:, None]), axis=-1)
            - scaled_lgamma(np.sum(move_concentration, axis=-1), np.sum(move_concentration, axis=-1))
        )
        + np.sum(scaled_lgamma(begin_concentration, np.sum(begin_concentration)))
        - scaled_lgamma(np.sum(begin_concentration), np.sum(begin_concentration))
    )
    return {
        "begin.concentration": begin_concentration,
        "move.concentration": move_concentration,
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
    data, size = {}, {"day": len(table)}
    # one sequence; for several, a column that is 1 where one begins
    data["first_of_day"] = np.array([int(r.get("first@day", k == 0)) for k, r in enumerate(table)])
    data["weather"], count = coded([r["weather"] for r in table], 3)
    size.setdefault("state", count)
    size["state"] = 3
    size["origin"] = 3
    size["first_of_day_levels"] = 2
    return data, size


if __name__ == "__main__":
    with np.errstate(divide="ignore"):  # the logarithm of an exact zero is minus infinity and means it
        data, size = read(sys.argv[1])
        results = learn(data, size)
    for name, value in results.items():
        print(f"{name} = {np.asarray(value).tolist()}")
