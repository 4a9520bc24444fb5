"""mixture_of_gammas: expectation maximisation, derived and written by Platewright.

expected statistics of z, then the exact mode of p, rate, then shape, rate raised along their slopes

The model:
    p[k] ~ Dirichlet(concentration=2)
    z[n] ~ Categorical(probabilities=p[k])
    shape[k] ~ Gamma(shape=2, rate=0.1)
    rate[k] ~ Gamma(shape=2, rate=0.5)
    y[n] ~ Gamma(shape=shape[z[n]], rate=rate[z[n]])

Run:  python FILE data.csv [option=value ...]

data.csv has a header and a row for each n, with these columns:
    y  a real number above 0

Options and their defaults:
    seed=0  restarts=5  iterations=1000  tolerance=1e-10
"""

import csv
import inspect
import sys
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import special


# -- the algorithm, as derived from the model --------------------------------------------------------------------------


def start(data, size, generator):
    """Soft guesses of the hidden variables, and moderate parameters."""
    y = data["y"]
    size_k = size["k"]
    size_n = size["n"]
    z_probability = soft_start([y], [], (size_n,), size_k, generator)
    p = draw_shares(generator, np.full((size_k,), 5.0))
    shape_2 = np.exp(0.3 * generator.standard_normal((size_k,)))
    rate = np.exp(0.3 * generator.standard_normal((size_k,)))
    return {"z_probability": z_probability, "p": p, "shape_2": shape_2, "rate": rate}


def statistics_0(data, size):
    """Expected statistics of all rows (Theorem 4.1)."""
    y = data["y"]
    z_probability = data["z_probability"]
    # for p given the statistics: Dirichlet
    count_z = np.sum(z_probability, axis=0)
    # for rate given the statistics: Gamma
    sum_z_y = np.sum(y[:, None] * z_probability, axis=0)
    return {"count_z": count_z, "sum_z_y": sum_z_y}


def maximise_0(found, data, size):
    """The mode of p, rate given statistics and the other parameters."""
    shape_2 = data["shape_2"]
    count_z = found["count_z"]
    sum_z_y = found["sum_z_y"]
    # p given the statistics: Dirichlet
    p_concentration = 2 + count_z
    # rate given the statistics: Gamma
    rate_shape = 2 + shape_2 * count_z
    rate_rate = 0.5 + sum_z_y
    # rate: the peak of Gamma
    rate = mode_of_gamma(rate_shape, rate_rate)
    rate = np.maximum(rate, 1e-300)
    # p: the peak of Dirichlet
    p = mode_of_dirichlet(p_concentration)
    p = np.maximum(p, 1e-300)
    if not all(np.isfinite(value).all() for value in [p, rate]):
        raise ArithmeticError("the objective has no upper bound from here")
    return {"p": p, "rate": rate}


def statistics_1(data, size):
    """Expected statistics of all rows (Theorem 4.1)."""
    y = data["y"]
    z_probability = data["z_probability"]
    sum_z_y_2 = np.sum(np.log(y)[:, None] * z_probability, axis=0)
    sum_z_y_3 = np.sum(y[:, None] * z_probability, axis=0)
    count_z_2 = np.sum(z_probability, axis=0)
    return {"sum_z_y_2": sum_z_y_2, "sum_z_y_3": sum_z_y_3, "count_z_2": count_z_2}


def log_factors_1(data, size):
    """The log density of shape, rate given all else, up to a constant."""
    shape_2 = data["shape_2"]
    rate = data["rate"]
    sum_z_y_2 = data["sum_z_y_2"]
    sum_z_y_3 = data["sum_z_y_3"]
    count_z_2 = data["count_z_2"]
    size_k = size["k"]
    total = 0.0
    # shape
    total = total + np.sum(np.sum(np.log(shape_2)) - 0.1 * np.sum(shape_2) - 4.605170185988091 * size_k)
    # rate
    total = total + np.sum(np.sum(np.log(rate)) - 0.5 * np.sum(rate) - 1.3862943611198906 * size_k)
    # y
    total = (
        total
        + np.sum(
            shape_2 @ sum_z_y_2
            - np.sum(sum_z_y_2)
            - (rate @ sum_z_y_3)
            - (special.gammaln(shape_2) @ count_z_2)
            + np.sum(count_z_2 * shape_2 * np.log(rate))
        )
    )
    return float(total)


def slopes_1(data, size):
    """The slopes of these log factors in shape, rate."""
    shape_2 = data["shape_2"]
    rate = data["rate"]
    sum_z_y_2 = data["sum_z_y_2"]
    sum_z_y_3 = data["sum_z_y_3"]
    count_z_2 = data["count_z_2"]
    size_k = size["k"]
    shape_slope = np.zeros((size_k,))
    shape_slope = shape_slope + 1.0 / shape_2 - 0.1
    shape_slope = shape_slope + sum_z_y_2 - count_z_2 * special.digamma(shape_2) + count_z_2 * np.log(rate)
    rate_slope = np.zeros((size_k,))
    rate_slope = rate_slope + 1.0 / rate - 0.5
    rate_slope = rate_slope + -sum_z_y_3 + count_z_2 * shape_2 / rate
    return {"shape_2": shape_slope, "rate": rate_slope}


def maximise_1(found, data, size):
    """Higher values of shape_2, rate given statistics and all else."""
    size_k = size["k"]
    density = Density(
        Joined([Above("shape_2", (size_k,), 0.0), Above("rate", (size_k,), 0.0)]),
        lambda values: log_factors_1(values, size),
        lambda values: slopes_1(values, size),
    )
    density.given({**data, **found})
    values = ascended(density, {"shape_2": data["shape_2"], "rate": data["rate"]})
    values["shape_2"] = np.maximum(values["shape_2"], 1e-300)
    values["rate"] = np.maximum(values["rate"], 1e-300)
    return values


def improved(data, size):
    """Block by block the best parameters given expectations and the newest values of the others."""
    values = {}
    everything = {**data, **values}
    values |= maximise_0(statistics_0(everything, size), everything, size)
    everything = {**data, **values}
    values |= maximise_1(statistics_1(everything, size), everything, size)
    return values


def expect(data, size):
    """Expectations of the hidden variables given parameters, and log p(data, parameters)."""
    shape_2 = data["shape_2"]
    y = data["y"]
    p = data["p"]
    rate = data["rate"]
    size_k = size["k"]
    with np.errstate(all="ignore"):
        # log p(z = level, its data | parameters)
        z_log_weight = (
            np.log(p)
            + (shape_2 - 1) * np.log(y)[:, None]
            - rate * y[:, None]
            - special.gammaln(shape_2)
            + shape_2 * np.log(rate)
        )
        # z summed out
        z_log_norm = log_sum_exp(z_log_weight)
        # posterior of z
        z_probability = np.exp(z_log_weight + (-z_log_norm)[:, None])
        # log p(data, parameters): hidden variables summed out, then the factors without them
        objective = np.sum(z_log_norm)
        # p
        objective = objective + np.sum(np.sum(np.log(p)) + special.gammaln(2 * size_k))
        # shape
        objective = objective + np.sum(np.log(shape_2) - 0.1 * shape_2 - 4.605170185988091)
        # rate
        objective = objective + np.sum(np.log(rate) - 0.5 * rate - 1.3862943611198906)
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


# -- tools that it uses ------------------------------------------------------------------------------------------------


MOST_BENT = 40
"""With more coordinates than this differences of slopes cost more than they tell."""
MOST_RAISES = 12
MOST_HALVINGS = 40
REMEMBERED = 10
ENOUGH = 1e-13
"""What may be left to gain, relative to the height."""
LITTLE = 1e-6
"""A whole step that gains no more is the last."""
SIZES = (1.0, 1e-2, 1e-4, 1e-6, 1e-8)
NEARBY = 1e-3
"""How far apart slopes are taken, relative to the width that the curvature tells."""


def log_sum_exp(logs):
    """The log of a sum along the last axis, from the logs of its terms; minus infinity where nothing is possible."""
    top = np.max(logs, axis=-1)
    top = np.where(np.isfinite(top), top, 0.0)  # an infinity less itself is no number
    with np.errstate(over="ignore", divide="ignore"):
        return top + np.log(np.sum(np.exp(logs - top[..., None]), axis=-1))


def mode_of_dirichlet(concentration):
    """The peak; without one (no concentration above 1) the corner with most mass, and the centre if all are 1."""
    excess = np.maximum(concentration - 1, 0)
    total = excess.sum(axis=-1, keepdims=True)
    corner = np.arange(concentration.shape[-1]) == np.argmax(concentration, axis=-1)[..., None]
    is_flat = (concentration == 1).all(axis=-1, keepdims=True)
    ends = np.where(is_flat, 1 / concentration.shape[-1], corner)
    return np.where(total > 0, excess / np.where(total > 0, total, 1), ends)


def mode_of_gamma(shape, rate):
    """The peak, at zero for shapes below one."""
    return np.maximum(shape - 1, 0) / rate


def soft_start(numbers, labels, shape, levels, generator):
    """Soft assignments of rows to seeds; seeds are rows far from each other by preference.

    Numbers are standardised; labels are as far apart as if each had a standardised column of zeros and ones.
    """
    rows = int(np.prod(shape))
    if not rows or not (numbers or labels):
        return generator.dirichlet(np.ones(levels), shape)
    features = [np.zeros((rows, 0)), *(standardised(np.reshape(column, (rows, -1))) for column in numbers)]
    wide = np.concatenate(features, axis=1)
    codes = [code for column in labels for code in np.asarray(column, dtype=np.intp).reshape(rows, -1).T]
    weights = [label_weights(code) for code in codes]
    nearest, distance = np.zeros(rows, dtype=np.intp), np.full(rows, np.inf)
    for level in range(levels):
        share = np.full(rows, 1.0 / rows) if not 0 < distance.sum() < np.inf else distance / distance.sum()
        seed = int(generator.choice(rows, p=share)) if level else int(generator.integers(rows))
        here = ((wide - wide[seed]) ** 2).sum(axis=1)
        for code, weight in zip(codes, weights):
            here += np.where(code == code[seed], 0.0, weight[code] + weight[code[seed]])
        nearest[here < distance] = level
        distance = np.minimum(distance, here)
    soft = np.full((rows, levels), 0.1 / levels)
    soft[np.arange(rows), nearest] += 0.9
    return soft.reshape(*shape, levels)


def standardised(columns):
    """Columns with mean zero and spread one; those that never change are zero."""
    columns = np.asarray(columns, dtype=float)
    spread = columns.std(axis=0)
    return (columns - columns.mean(axis=0)) / np.where(spread > 0, spread, 1.0)


def label_weights(codes):
    """For each label one over the variance of its column of zeros and ones; of one that never changes, one."""
    share = np.bincount(codes) / len(codes)
    variance = share * (1 - share)
    return 1.0 / np.where(variance > 0, variance, 1.0)


def ascended(density, values):
    """Values of the block that are higher than the given ones, or these where nothing is to be gained."""
    u = in_reach(density, density.coordinates.free(values))
    height, slope = looked(density, u)
    if not np.isfinite(height):
        return dict(values)
    widths = np.full(len(u), 1e-2)
    steps = []
    is_bent = len(u) <= MOST_BENT
    for _ in range(MOST_RAISES if is_bent else 5 * MOST_RAISES):
        if is_bent:
            direction, widths = newton(density, u, slope, widths)
        else:
            direction = remembered(slope, steps)
        with np.errstate(all="ignore"):
            rise = float(slope @ direction)
        if not np.isfinite(rise) or rise <= ENOUGH * (1 + abs(height)):
            break
        length = climbing_length(density, u, direction, height, rise)
        if length == 0.0:
            break
        before = slope
        u = u + length * direction
        if is_bent and length == 1.0 and rise <= LITTLE * (1 + abs(height)):
            break  # a whole step of Newton leaves a small part of a small part
        height, slope = looked(density, u)
        steps = [*steps[1 - REMEMBERED :], (length * direction, before - slope)]
    return density.coordinates.values(u)[0]


def in_reach(density, u):
    """The coordinates, or far smaller ones of unknowns without bounds where that alone halves what is to be gained.

    A start of size one is out of reach where covariates count in millions: there all slopes are those of a cliff.
    """
    plain = np.concatenate([np.full(part.size, type(part) is Plain) for part in density.coordinates.parts])
    places = [np.where(plain, size * u, u) for size in SIZES]
    heights = np.array([height_at(density, place) for place in places])
    best = int(np.argmax(heights))
    is_far = heights[best] - heights[0] > 0.5 * abs(heights[0]) if np.isfinite(heights[0]) else True
    return places[best] if is_far else u


def height_at(density, u):
    """The log density of the values at coordinates, without a volume factor; minus infinity where it is no number."""
    with np.errstate(all="ignore"):
        height = density.at_values(density.coordinates.values(u)[0])
    return -np.inf if np.isnan(height) else height


def looked(density, u):
    """The log density of the values at coordinates, without a volume factor, and its slope there."""
    coordinates = density.coordinates
    with np.errstate(all="ignore"):
        values = coordinates.values(u)[0]
        height = density.at_values(values)
        assert density.slopes is not None
        slopes = density.slopes({**density.rest, **values})
        flat = {name: np.zeros_like(slope) for name, slope in slopes.items()}
        slope = coordinates.gradient(u, values, slopes) - coordinates.gradient(u, values, flat)
    is_sound = np.isfinite(height) and np.isfinite(slope).all()
    return (height, slope) if is_sound else (-np.inf, np.zeros(len(u)))


def newton(density, u, slope, widths):
    """The step to the top of a parabola, which bends down in every direction, and the widths of its coordinates."""
    for _ in range(3):
        bends = np.array([bend(density, u, slope, place, NEARBY * widths[place]) for place in range(len(u))])
        own = np.abs(np.diag(bends))
        found = np.where(np.isfinite(own) & (own > 0), own, 1 / widths**2) ** -0.5
        good = np.isfinite(bends).all() and (found > 0.01 * widths).all()
        widths = np.where(np.isfinite(own), np.clip(found, 1e-4 * widths, 1.0), 1e-4 * widths)
        if good:
            break
    scaled = np.nan_to_num(widths[:, None] * (bends + bends.T) / 2 * widths, nan=0.0, posinf=0.0, neginf=0.0)
    values, vectors = np.linalg.eigh(scaled)
    kept = np.maximum(np.abs(values), 1e-9 * np.maximum(np.abs(values).max(initial=0.0), 1.0))
    return widths * (vectors @ ((vectors.T @ (widths * slope)) / kept)), widths


def bend(density, u, slope, place, distance):
    """Minus the second derivatives in one coordinate and all others."""
    apart = np.zeros(len(u))
    apart[place] = distance
    height, after = looked(density, u + apart)
    return (slope - after) / distance if np.isfinite(height) else np.full(len(u), np.nan)


def remembered(slope, steps):
    """The direction that the last steps and the changes of slopes along them tell."""
    products = [float(s @ y) for s, y in steps]
    sizes = [float(np.linalg.norm(s) * np.linalg.norm(y)) for s, y in steps]
    usable = [(s, y, p) for (s, y), p, size in zip(steps, products, sizes, strict=True) if p > 1e-10 * size]
    if not usable:
        return slope / max(1.0, float(np.linalg.norm(slope)))
    direction, parts = slope.copy(), []
    for s, y, product in reversed(usable):
        parts.append(float(s @ direction) / product)
        direction -= parts[-1] * y
    direction *= usable[-1][2] / float(usable[-1][1] @ usable[-1][1])
    for (s, y, product), part in zip(usable, reversed(parts), strict=True):
        direction += (part - float(y @ direction) / product) * s
    return direction


def climbing_length(density, u, direction, height, rise):
    """The longest of 1, 1/2, 1/4 ... that leads up as far as the slope says, or nothing."""
    length = 1.0
    for _ in range(MOST_HALVINGS):
        if height_at(density, u + length * direction) > height + 1e-4 * length * rise:
            return length
        length /= 2
    return 0.0


class Density:
    """`given` sets the values of the rest, calls evaluate at coordinates.

    `log_factors` adds up the log factors that hold a variable of the block, `slopes` gives their derivatives by name,
    and `precisions` the precision that the rest gives some of the variables; all are functions of all values.
    """

    def __init__(self, coordinates, log_factors, slopes=None, precisions=None):
        self.coordinates = coordinates
        self.log_factors, self.slopes, self.precisions = log_factors, slopes, precisions
        self.rest = {}

    def given(self, values):
        """Hold everything outside the block at these values."""
        self.rest = values

    def log_density(self, u):
        """The log density at coordinates, minus infinity where it is not a number."""
        return self.at_coordinates(u)[0]

    def with_gradient(self, u):
        """The log density and its gradient."""
        found, values = self.at_coordinates(u)
        if not np.isfinite(found):
            return found, np.zeros(len(u))
        assert self.slopes is not None
        with np.errstate(all="ignore"):
            gradient = self.coordinates.gradient(u, values, self.slopes({**self.rest, **values}))
        return (found, gradient) if np.isfinite(gradient).all() else (-np.inf, np.zeros(len(u)))

    def at_values(self, values):
        """The log density of values, without a volume factor."""
        return self.log_factors({**self.rest, **values})

    def at_coordinates(self, u):
        """The log density at coordinates, and the values there."""
        with np.errstate(all="ignore"):
            values, volume = self.coordinates.values(u)
            total = self.at_values(values) + volume
        return (total if np.isfinite(total) else -np.inf), values

    def known_precision(self):
        """The curvature that the rest fixes: for each coordinate the precision of its own prior, or 0."""
        found = np.zeros(self.coordinates.size)
        known = self.precisions(self.rest) if self.precisions is not None else {}
        for part, place in zip(self.coordinates.parts, self.coordinates.slices, strict=True):
            if part.name in known:
                found[place] = np.ravel(known[part.name])
        return found


@dataclass(frozen=True)
class Plain:
    """An unknown that may take any real number, element by element: it is its own coordinate."""

    name: str
    shape: tuple[int, ...]
    is_count = False

    @property
    def size(self):
        """How many coordinates there are."""
        return int(np.prod(self.shape, dtype=int))

    def free(self, value):
        """The coordinates of a value."""
        return np.asarray(value, dtype=float).ravel()

    def value(self, u):
        """The value, and the log of the volume factor."""
        return u.reshape(self.shape), 0.0

    def gradient(self, u, value, slope):
        """The gradient in the coordinates, volume factor included, from the gradient in the value."""
        return slope.ravel()


@dataclass(frozen=True)
class Above(Plain):
    """Numbers above an end: x = low + exp(u)."""

    low: float

    def free(self, value):
        return np.log(np.asarray(value, dtype=float) - self.low).ravel()

    def value(self, u):
        return (self.low + np.exp(u)).reshape(self.shape), float(u.sum())

    def gradient(self, u, value, slope):
        return slope.ravel() * np.exp(u) + 1


class Joined:
    """The coordinates of several unknowns, one after another."""

    def __init__(self, parts):
        self.parts = list(parts)
        counts = [np.full(part.size, part.is_count) for part in self.parts]
        self.is_count = np.concatenate(counts) if counts else np.zeros(0, dtype=bool)
        edges = np.cumsum([0, *(part.size for part in self.parts)])
        self.slices = [slice(int(a), int(b)) for a, b in pairwise(edges)]
        self.size = int(edges[-1])

    def free(self, values):
        """All coordinates as one vector."""
        if not self.parts:
            return np.zeros(0)
        return np.concatenate([part.free(values[part.name]) for part in self.parts])

    def values(self, u):
        """All values by name, and the log of the volume factor."""
        found = {}
        volume = 0.0
        for part, place in zip(self.parts, self.slices, strict=True):
            found[part.name], more = part.value(u[place])
            volume += more
        return found, volume

    def gradient(self, u, values, slopes):
        """The gradient in all coordinates."""
        parts = [
            part.gradient(u[place], values[part.name], slopes[part.name])
            for part, place in zip(self.parts, self.slices, strict=True)
        ]
        return np.concatenate(parts) if parts else np.zeros(0)


def draw_shares(generator, concentration):
    """Dirichlet, as gammas over their sum."""
    gammas = generator.standard_gamma(concentration)
    return gammas / gammas.sum(axis=-1, keepdims=True)


# -- the table and the command line ------------------------------------------------------------------------------------


MISSING = ("", "na", "n/a", "nan", "null", "none")
"""What a cell holds when nothing is known."""
TRUTH = {"true": 1, "false": 0}


def table_of(path):
    """The columns of a CSV file as texts, by the names in its header."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        lines = [line for line in csv.reader(file) if line]
    if not lines:
        raise ValueError("the file is empty; expected a header with the names of columns, then rows")
    header, *rows = lines
    for number, row in enumerate(rows):
        if len(row) != len(header):
            raise ValueError(f"row {number} (the first is 0) has {len(row)} cells, the header {len(header)}")
    return {name: [row[k].strip() for row in rows] for k, name in enumerate(header)}


def count_rows(table, expected=None):
    """The number of rows, which the model may fix."""
    found = len(next(iter(table.values())))
    if expected is not None and found != expected:
        raise ValueError(f"the file has {found} rows; expected {expected}")
    return found


def cells(table, names):
    """Column, row and text of every cell of some columns, row by row."""
    for name in names:
        if name not in table:
            raise ValueError(f"there is no column {name!r}; the file has {', '.join(table)}")
    for row in range(count_rows(table)):
        for name in names:
            yield name, row, table[name][row]


def misfit(name, row, text, expected):
    """The error for a cell that is not what the model needs."""
    found = "nothing" if text.lower() in MISSING else repr(text)
    return ValueError(f"column {name!r}, row {row} (the first is 0): found {found}, expected {expected}")


def numbers(table, names, expected, lower=-np.inf, upper=np.inf, above=-np.inf, whole=False):
    """Some columns side by side as numbers in their range; true and false are 1 and 0."""
    found = []
    for name, row, text in cells(table, names):
        try:
            value = TRUTH[text.lower()] if text.lower() in TRUTH else int(text) if text.isdigit() else float(text)
        except ValueError:
            raise misfit(name, row, text, expected) from None
        is_inside = np.isfinite(value) and lower <= value <= upper and above < value
        if not is_inside or (whole and value != int(value)):
            raise misfit(name, row, text, expected)
        found.append(int(value) if whole else float(value))
    return np.array(found, dtype=int if whole else float).reshape(-1, len(names))


def options(words):
    """The options of `learn` from words such as seed=1."""
    parameters = inspect.signature(learn).parameters.values()
    known = {given.name: given.default for given in parameters if given.default != given.empty}
    found = {}
    for word in words:
        name, _, value = word.partition("=")
        try:
            found[name] = type(known[name])(value)
        except (KeyError, ValueError):
            shown = " ".join(f"{option}={default}" for option, default in known.items())
            raise ValueError(f"{word!r} is not an option; expected some of {shown}") from None
    return found


def read(path):
    """The columns that the model needs, and the sizes of its plates."""
    table = table_of(path)
    data, size = {}, {"n": count_rows(table), "k": 3}
    data["y"] = numbers(table, ["y"], "a real number in (0, inf)", above=0)[:, 0]
    return data, size


def main(words):
    """Learn from the file that the first word names, and print what was learned."""
    if words and words[0] in ("-h", "--help"):
        print(__doc__)
        return
    if not words:
        sys.exit(__doc__)
    try:
        with np.errstate(divide="ignore"):  # the logarithm of an exact zero is minus infinity and means it
            data, size = read(words[0])
            results = learn(data, size, **options(words[1:]))
    except (OSError, ValueError, ArithmeticError) as error:
        sys.exit(f"{words[0]}: {error}")
    for name, value in results.items():
        print(f"{name} = {np.asarray(value).tolist()}")


if __name__ == "__main__":
    main(sys.argv[1:])
