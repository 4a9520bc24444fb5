"""zero_inflated_counts: expectation maximisation, derived and written by Platewright.

expected statistics of active, then the exact mode of share, rate

Run: python FILE data.csv        (then options of `learn`, such as seed=1)
"""


import csv
import sys

import numpy as np
from scipy import special


def mode_of_beta(a, b):
    """The peak; without one (a, b <= 1) the end with more mass, and the middle if both are 1."""
    left, right = np.maximum(a - 1, 0), np.maximum(b - 1, 0)
    total = left + right
    ends = np.where((a == 1) & (b == 1), 0.5, a > b)
    return np.where(total > 0, left / np.where(total > 0, total, 1), ends)


def mode_of_gamma(shape, rate):
    """The peak, at zero for shapes below one."""
    return np.maximum(shape - 1, 0) / rate


def soft_start(columns, shape, levels, generator):
    """Soft assignments of rows to seeds; seeds are rows far from each other by preference."""
    rows = int(np.prod(shape))
    if not rows or not columns:
        return generator.dirichlet(np.ones(levels), shape)
    parts = []
    for column in columns:
        flat = np.asarray(column, dtype=float).reshape(rows, -1)
        spread = flat.std(axis=0)
        parts.append((flat - flat.mean(axis=0)) / np.where(spread > 0, spread, 1.0))
    features = np.concatenate(parts, axis=1)
    seeds = [features[generator.integers(rows)]]
    for _ in range(levels - 1):
        distance = np.min([((features - seed) ** 2).sum(axis=1) for seed in seeds], axis=0)
        weights = distance / distance.sum() if distance.sum() > 0 else np.full(rows, 1.0 / rows)
        seeds.append(features[generator.choice(rows, p=weights)])
    nearest = np.argmin([((features - seed) ** 2).sum(axis=1) for seed in seeds], axis=0)
    soft = np.full((rows, levels), 0.1 / levels)
    soft[np.arange(rows), nearest] += 0.9
    return soft.reshape(*shape, levels)


def start(data, size, generator):
    """Soft guesses of the hidden variables."""
    y = data["y"]
    size_n = size["n"]
    size_active_levels = size["active_levels"]
    active_probability = soft_start([y], (size_n,), size_active_levels, generator)
    return {"active_probability": active_probability}


def statistics(data, size):
    """Expected statistics of all rows (Theorem 4.1)."""
    y = data["y"]
    active_probability = data["active_probability"]
    size_active_levels = size["active_levels"]
    # share given the statistics: Beta
    sum_active = np.sum(active_probability * np.arange(size_active_levels), axis=(0, 1,))
    # share given the statistics: Beta
    sum_active_2 = np.sum(active_probability * (1 - np.arange(size_active_levels)), axis=(0, 1,))
    # rate given the statistics: Gamma
    sum_active_y = np.sum(active_probability * np.arange(size_active_levels) * y[:, None], axis=(0, 1,))
    return {"sum_active": sum_active, "sum_active_2": sum_active_2, "sum_active_y": sum_active_y}


def maximise(found, data, size):
    """The mode of the parameters given statistics."""
    sum_active = found["sum_active"]
    sum_active_2 = found["sum_active_2"]
    sum_active_y = found["sum_active_y"]
    # share given the statistics: Beta
    share_a = 2 + sum_active
    # share given the statistics: Beta
    share_b = 2 + sum_active_2
    # rate given the statistics: Gamma
    rate_shape = 2 + sum_active_y
    # rate given the statistics: Gamma
    rate_rate = 1 + sum_active
    # rate: the peak of Gamma
    rate = mode_of_gamma(rate_shape, rate_rate)
    rate = np.maximum(rate, 1e-300)
    # share: the peak of Beta
    share = mode_of_beta(share_a, share_b)
    share = np.maximum(share, 1e-300)
    share = np.minimum(share, 0.9999999999999998)
    if not all(np.isfinite(value).all() for value in (share, rate,)):
        raise ArithmeticError("the objective has no upper bound from here")
    return {"share": share, "rate": rate}


def improved(data, size):
    """The best parameters given expectations of the hidden variables."""
    return maximise(statistics(data, size), data, size)


def expect(data, size):
    """Expectations of the hidden variables given parameters, and log p(data, parameters)."""
    y = data["y"]
    share = data["share"]
    rate = data["rate"]
    size_active_levels = size["active_levels"]
    with np.errstate(all="ignore"):
        # log p(active = level, its data | parameters)
        active_log_weight = (
            np.log(share) * np.arange(size_active_levels)
            + np.log(1 - share) * (1 - np.arange(size_active_levels))
            + special.xlogy(y[:, None], np.where(np.arange(size_active_levels), rate, 0))
            + (-special.gammaln(y + 1))[:, None]
            - np.where(np.arange(size_active_levels), rate, 0)
        )
        # active summed out
        active_log_norm = special.logsumexp(active_log_weight, axis=-1)
        # posterior of active
        active_probability = np.exp(active_log_weight + (-active_log_norm)[:, None])
        # log p(data, parameters)
        objective = np.sum(active_log_norm)
        objective = objective + np.sum(np.log(share) + np.log(1 - share) + 1.7917594692280554)
        objective = objective + np.sum(np.log(rate) - rate)
        return {"active_probability": active_probability}, float(objective)


def climbed(values, data, size, iterations, tolerance):
    """EM from given parameters until the objective stands still: parameters, objective, whether it converged."""
    history = []
    while True:
        expectations, objective = expect({**data, **values}, size)
        if not np.isfinite(objective):
            raise ArithmeticError("the objective has no upper bound from this start")
        if history and objective < history[-1] - 1e-9 * (1 + abs(history[-1])):
            raise ArithmeticError("the objective fell, which it never may")
        history.append(objective)
        if len(history) > 1 and abs(history[-1] - history[-2]) <= tolerance * (1 + abs(objective)):
            return values, history, True
        if len(history) == iterations:
            return values, history, False
        values = improved({**data, **values, **expectations}, size)


def learn(data, size, seed=0, restarts=5, iterations=1000, tolerance=1e-10):
    """The best of several short runs, carried on until it stands still."""
    short = []
    for generator in np.random.default_rng(seed).spawn(restarts):
        try:
            values = improved({**data, **start(data, size, generator)}, size)
            short.append(climbed(values, data, size, min(20, iterations) if restarts > 1 else iterations, tolerance))
        except (ArithmeticError, np.linalg.LinAlgError):
            continue  # another start may do better
    for values, history, converged in sorted(short, key=lambda run: -run[1][-1]):
        if converged or len(history) >= iterations:
            return {**values, "log_joint": history[-1]}
        try:
            values, history, converged = climbed(values, data, size, iterations - len(history), tolerance)
        except (ArithmeticError, np.linalg.LinAlgError):
            continue
        return {**values, "log_joint": history[-1]}
    raise ArithmeticError("no start leads to a mode: the objective has no upper bound, or the data are impossible")


def whole(text):
    """A whole number or a truth value."""
    if text[:1].isalpha():
        return {"true": 1, "false": 0}[text.lower()]
    return int(text) if text.isdigit() else int(float(text))


def options(words):
    """Options of `learn`, from words such as seed=1."""
    pairs = (word.split("=", 1) for word in words)
    return {name: float(value) if name == "tolerance" else int(value) for name, value in pairs}


def read(path):
    """Columns of a CSV file with a header, and the sizes of the plates."""
    with open(path, newline="") as file:
        table = list(csv.DictReader(file))
    data, size = {}, {"n": len(table)}
    data["y"] = np.array([whole(r["y"]) for r in table])
    size["active_levels"] = 2
    return data, size


if __name__ == "__main__":
    with np.errstate(divide="ignore"):  # the logarithm of an exact zero is minus infinity and means it
        data, size = read(sys.argv[1])
        results = learn(data, size, **options(sys.argv[2:]))
    for name, value in results.items():
        print(f"{name} = {np.asarray(value).tolist()}")
