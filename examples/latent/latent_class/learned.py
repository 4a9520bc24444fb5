"""latent_class: expectation maximisation, derived and written by Platewright.

expected statistics of z, then the exact mode of p, habit

Run: python FILE data.csv        (then options of `learn`, such as seed=1)
"""


import csv
import sys

import numpy as np
from scipy import special


def mode_of_dirichlet(concentration):
    """The peak; without one (no concentration above 1) the corner with most mass, and the centre if all are 1."""
    excess = np.maximum(concentration - 1, 0)
    total = excess.sum(axis=-1, keepdims=True)
    corner = np.arange(concentration.shape[-1]) == np.argmax(concentration, axis=-1)[..., None]
    is_flat = (concentration == 1).all(axis=-1, keepdims=True)
    ends = np.where(is_flat, 1 / concentration.shape[-1], corner)
    return np.where(total > 0, excess / np.where(total > 0, total, 1), ends)


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


def levels_apart(values):
    """Labels as zeros and ones, so that they have distances."""
    flat = np.reshape(values, (len(values), int(np.prod(np.shape(values)[1:]))))
    return (flat[:, :, None] == np.arange(int(flat.max(initial=0)) + 1)).astype(float)


def start(data, size, generator):
    """Soft guesses of the hidden variables."""
    x = data["x"]
    size_n = size["n"]
    size_k = size["k"]
    z_probability = soft_start([levels_apart(x)], (size_n,), size_k, generator)
    return {"z_probability": z_probability}


def statistics(data, size):
    """Expected statistics of all rows (Theorem 4.1)."""
    x = data["x"]
    z_probability = data["z_probability"]
    size_answer = size["answer"]
    # p given the statistics: Dirichlet
    count_z = np.sum(z_probability, axis=(0,))
    # habit given the statistics: Dirichlet
    count_x_z = np.sum(
        (1.0 * (x[:, None, :] == np.arange(size_answer)[:, None]))[:, :, None, :] * z_probability[:, None, :, None],
        axis=(0,),
    )
    return {"count_z": count_z, "count_x_z": count_x_z}


def maximise(found, data, size):
    """The mode of the parameters given statistics."""
    count_z = found["count_z"]
    count_x_z = found["count_x_z"]
    # p given the statistics: Dirichlet
    p_concentration = 2 + count_z
    # habit given the statistics: Dirichlet
    habit_concentration = 1.5 + np.transpose(count_x_z, (1, 2, 0))
    # habit: the peak of Dirichlet
    habit = mode_of_dirichlet(habit_concentration)
    habit = np.maximum(habit, 1e-300)
    # p: the peak of Dirichlet
    p = mode_of_dirichlet(p_concentration)
    p = np.maximum(p, 1e-300)
    if not all(np.isfinite(value).all() for value in (p, habit,)):
        raise ArithmeticError("the objective has no upper bound from here")
    return {"p": p, "habit": habit}


def improved(data, size):
    """The best parameters given expectations of the hidden variables."""
    return maximise(statistics(data, size), data, size)


def expect(data, size):
    """Expectations of the hidden variables given parameters, and log p(data, parameters)."""
    x = data["x"]
    p = data["p"]
    habit = data["habit"]
    size_question = size["question"]
    size_k = size["k"]
    size_answer = size["answer"]
    with np.errstate(all="ignore"):
        # log p(z = level, its data | parameters)
        z_log_weight = (
            np.log(p)
            + np.sum(np.log(habit[np.arange(size_k)[:, None], np.arange(size_question), x[:, None, :]]), axis=-1)
        )
        # z summed out
        z_log_norm = special.logsumexp(z_log_weight, axis=-1)
        # posterior of z
        z_probability = np.exp(z_log_weight + (-z_log_norm)[:, None])
        # log p(data, parameters)
        objective = np.sum(z_log_norm)
        objective = objective + np.sum(np.sum(np.log(p)) + special.gammaln(2 * size_k))
        objective = (
            objective
            + np.sum(
                0.5 * np.sum(np.log(habit), axis=-1)
                + 0.12078223763524543 * size_answer
                + special.gammaln(1.5 * size_answer)
            )
        )
        return {"z_probability": z_probability}, float(objective)


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


def options(words):
    """Options of `learn`, from words such as seed=1."""
    pairs = (word.split("=", 1) for word in words)
    return {name: float(value) if name == "tolerance" else int(value) for name, value in pairs}


def read(path):
    """Columns of a CSV file with a header, and the sizes of the plates."""
    with open(path, newline="") as file:
        table = list(csv.DictReader(file))
    data, size = {}, {"n": len(table)}
    columns = [c for c in table[0] if c.startswith("x[")]
    data["x"], count = coded([r[c] for r in table for c in columns], 4)
    data["x"] = data["x"].reshape(len(table), -1)
    size.setdefault("answer", count)
    size["question"] = len(columns)
    size["k"] = 3
    size["answer"] = 4
    return data, size


if __name__ == "__main__":
    with np.errstate(divide="ignore"):  # the logarithm of an exact zero is minus infinity and means it
        data, size = read(sys.argv[1])
        results = learn(data, size, **options(sys.argv[2:]))
    for name, value in results.items():
        print(f"{name} = {np.asarray(value).tolist()}")
