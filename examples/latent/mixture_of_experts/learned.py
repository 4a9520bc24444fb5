"""mixture_of_experts: expectation maximisation, derived and written by Platewright.

expected statistics of z, then the exact mode of a, b, v, then g, h raised along their slopes

The model:
    x[n]: given
    g[k] ~ Normal(mean=0, precision=0.1111111111111111)
    h[k] ~ Normal(mean=0, precision=0.1111111111111111)
    z[n] ~ Categorical(log_probabilities=g[k] + h[k] x[n] - log_sum_exp_k'(g[k'] + h[k'] x[n]))
    v[k] ~ InverseGamma(shape=2, scale=1)
    a[k] ~ Normal(mean=0, precision=0.01 v[k]^(-1))
    b[k] ~ Normal(mean=0, precision=0.01 v[k]^(-1))
    y[n] ~ Normal(mean=a[z[n]] + b[z[n]] x[n], precision=v[z[n]]^(-1))

Run:  python FILE data.csv [option=value ...]

data.csv has a header and a row for each n, with these columns:
    x  a real number
    y  a real number

Options and their defaults:
    seed=0  restarts=5  iterations=1000  tolerance=1e-10
"""

import csv
import inspect
import sys
from dataclasses import dataclass
from itertools import pairwise

import numpy as np


# -- the algorithm, as derived from the model --------------------------------------------------------------------------


def start(data, size, generator):
    """Soft guesses of the hidden variables, and moderate parameters."""
    y = data["y"]
    size_n = size["n"]
    size_k = size["k"]
    z_probability = soft_start([y], [], (size_n,), size_k, generator)
    g = 0.5 * generator.standard_normal((size_k,))
    h = 0.5 * generator.standard_normal((size_k,))
    v = np.exp(0.3 * generator.standard_normal((size_k,)))
    a = 0.5 * generator.standard_normal((size_k,))
    b = 0.5 * generator.standard_normal((size_k,))
    return {"z_probability": z_probability, "g": g, "h": h, "v": v, "a": a, "b": b}


def statistics_0(data, size, exact=()):
    """Expected statistics of all rows (Theorem 4.1)."""
    x = data["x"]
    y = data["y"]
    z_probability = data["z_probability"]
    size_n = size["n"]
    size_k = size["k"]
    # for v given the statistics: Gamma
    count_z = np.sum(z_probability, axis=0)
    # rows of y: mean and scatter
    block1_pool_2 = pooled_in_turn(
        [1, np.ravel(np.broadcast_to(x, (size_k, size_n))), np.ravel(np.broadcast_to(y, (size_k, size_n)))],
        np.ravel(z_probability.T),
        (size_k,),
        "block1_pool_2" in exact,
    )
    return {"count_z": count_z, "block1_pool_2": block1_pool_2}


def maximise_0(found, data, size):
    """The mode of a, b, v given statistics and the other parameters."""
    size_k = size["k"]
    count_z = found["count_z"]
    block1_pool_2 = found["block1_pool_2"]
    # a, b given the rest: jointly Gaussian
    block1_columns = edges_of(1, 1)
    # rows of a
    block1_rows_0 = np.full((size_k, 2), [1, 0])
    block1_rows_0 = weighted_rows(block1_rows_0, np.sqrt(0.01))
    block1_rows_0 = placed(block1_rows_0, [(0, 1)], [[block1_columns[0]]], block1_columns[-1], 1)
    # rows of b
    block1_rows_1 = np.full((size_k, 2), [1, 0])
    block1_rows_1 = weighted_rows(block1_rows_1, np.sqrt(0.01))
    block1_rows_1 = placed(block1_rows_1, [(0, 1)], [[block1_columns[1]]], block1_columns[-1], 1)
    # rows of y
    block1_rows_2 = rows_of_pool(*block1_pool_2)
    block1_rows_2 = placed(
        block1_rows_2, [(0, 1), (1, 2)], [[block1_columns[0]], [block1_columns[1]]], block1_columns[-1], 1
    )
    block1 = stacked([block1_rows_0, block1_rows_1, block1_rows_2], 1)
    block1 = triangularised(block1, block1_columns[2], 1, '`a`, `b`')
    block1_root = block1["root"]
    block1_right = block1["right"]
    block1_residual = np.sum(block1["rest"] ** 2, axis=(-2, -1))
    # v given the statistics: Gamma
    v_shape = 3 + 0.5 * count_z
    v_rate = 1 + 0.5 * block1_residual
    # v: the peak of Gamma, as power -1 of it
    v = mode_of_gamma(v_shape + 2.0, v_rate)
    v = 1.0 / v
    v = np.maximum(v, 1e-300)
    block1_best = np.linalg.solve(block1_root, block1_right)
    a = block1_best[..., block1_columns[0], :][..., 0]
    b = block1_best[..., block1_columns[1], :][..., 0]
    if not all(np.isfinite(value).all() for value in [a, b, v]):
        raise ArithmeticError("the objective has no upper bound from here")
    return {"a": a, "b": b, "v": v}


def log_factors_1(data, size):
    """The log density of g, h given all else, up to a constant."""
    x = data["x"]
    z_probability = data["z_probability"]
    g = data["g"]
    h = data["h"]
    size_k = size["k"]
    total = 0.0
    # g
    total = total + np.sum(-0.05555555555555555 * np.sum(g ** 2) - 2.0175508218727822 * size_k)
    # h
    total = total + np.sum(-0.05555555555555555 * np.sum(h ** 2) - 2.0175508218727822 * size_k)
    # z
    total = total + np.sum(z_probability * (g + h * x[:, None] + (-log_sum_exp(g + h * x[:, None]))[:, None]))
    return float(total)


def slopes_1(data, size):
    """The slopes of these log factors in g, h."""
    x = data["x"]
    z_probability = data["z_probability"]
    g = data["g"]
    h = data["h"]
    size_k = size["k"]
    g_slope = np.zeros((size_k,))
    g_slope = g_slope + -0.1111111111111111 * g
    g_slope = g_slope + np.sum(z_probability.T, axis=-1)
    g_slope = (
        g_slope
        + -np.sum(
            np.sum(
                z_probability.T * np.exp(g[:, None] + h[:, None] * x - log_sum_exp(g + h * x[:, None]))[:, None, :],
                axis=-1,
            ),
            axis=-1,
        )
    )
    h_slope = np.zeros((size_k,))
    h_slope = h_slope + -0.1111111111111111 * h
    h_slope = h_slope + z_probability.T @ x
    h_slope = (
        h_slope
        + -np.sum(
            np.sum(
                z_probability.T * x * np.exp(
                    g[:, None] + h[:, None] * x - log_sum_exp(g + h * x[:, None])
                )[:, None, :],
                axis=-1,
            ),
            axis=-1,
        )
    )
    return {"g": g_slope, "h": h_slope}


def maximise_1(found, data, size):
    """Higher values of g, h given statistics and all else."""
    size_k = size["k"]
    density = Density(
        Joined([Plain("g", (size_k,)), Plain("h", (size_k,))]),
        lambda values: log_factors_1(values, size),
        lambda values: slopes_1(values, size),
    )
    density.given({**data, **found})
    values = ascended(density, {"g": data["g"], "h": data["h"]})
    return values


def improved(data, size):
    """Block by block the best parameters given expectations and the newest values of the others."""
    values = {}
    everything = {**data, **values}
    values |= maximise_0(statistics_0(everything, size), everything, size)
    everything = {**data, **values}
    values |= maximise_1({}, everything, size)
    return values


def expect(data, size):
    """Expectations of the hidden variables given parameters, and log p(data, parameters)."""
    x = data["x"]
    y = data["y"]
    g = data["g"]
    h = data["h"]
    v = data["v"]
    a = data["a"]
    b = data["b"]
    with np.errstate(all="ignore"):
        # log p(z = level, its data | parameters)
        z_log_weight = (
            g
            + h * x[:, None]
            + (-log_sum_exp(g + h * x[:, None]))[:, None]
            - 0.5 * (y[:, None] - a - b * x[:, None]) ** 2 / v
            + 0.5 * np.log(1.0 / v)
            - 0.9189385332046727
        )
        # z summed out
        z_log_norm = log_sum_exp(z_log_weight)
        # posterior of z
        z_probability = np.exp(z_log_weight + (-z_log_norm)[:, None])
        # log p(data, parameters): hidden variables summed out, then the factors without them
        objective = np.sum(z_log_norm)
        # g
        objective = objective + np.sum(-0.05555555555555555 * g ** 2 - 2.0175508218727822)
        # h
        objective = objective + np.sum(-0.05555555555555555 * h ** 2 - 2.0175508218727822)
        # v
        objective = objective + np.sum(-3 * np.log(v) + (-1) / v)
        # a
        objective = objective + np.sum(-0.005 * a ** 2 / v + 0.5 * np.log(0.01 / v) - 0.9189385332046727)
        # b
        objective = objective + np.sum(-0.005 * b ** 2 / v + 0.5 * np.log(0.01 / v) - 0.9189385332046727)
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


WIDEST = 200
"""The widest least-squares problem that is triangularised by our own careful loop; wider ones go to LAPACK."""
NEAR = 1e-3
"""Outputs of which less is left than this after their columns are shifted first."""
ROWS_AT_ONCE = 8192
ROWS_OF_EXACT_BLOCK = 1024
"""So few products of two slices add up without rounding."""
BITS_OF_SLICE = 21
SLICES = 5
"""Numbers are cut into as many slices of so many bits: twofold precision has 106."""
FINEST = 2.0**-94
"""What twofold arithmetic leaves of a pivot that should be zero, relative to its column."""
MANY_ROWS = 65536
"""Beyond so many rows a second, exact pass is made only where it can change something."""
DIGITS_OF_DECIMAL = 15
"""Every decimal of so many digits is the only one of its length that rounds to its float."""
DIGITS_OF_POWER = 22
"""Powers of ten up to here are floats."""
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


def two_sum(left, right):
    """The rounded sum, and exactly what the rounding took."""
    total = left + right
    part = total - left
    return total, (left - (total - part)) + (right - part)


def two_product(left, right):
    """The rounded product, and exactly what the rounding took."""
    product = left * right
    big_left, big_right = 134217729.0 * left, 134217729.0 * right  # 2^27 + 1 splits 53 bits into halves
    left_high = big_left - (big_left - left)
    right_high = big_right - (big_right - right)
    left_low, right_low = left - left_high, right - right_high
    error = ((left_high * right_high - product) + left_high * right_low + left_low * right_high) + left_low * right_low
    return product, error


def twofold_sum(left, right):
    """Sum of twofold numbers."""
    high, low = two_sum(left[0], right[0])
    return two_sum(high, low + (left[1] + right[1]))


def twofold_product(left, right):
    """Product of twofold numbers."""
    high, low = two_product(left[0], right[0])
    return two_sum(high, low + (left[0] * right[1] + left[1] * right[0]))


def twofold_quotient(left, right):
    """Quotient of twofold numbers, by one step of long division after the first digit."""
    first = left[0] / right[0]
    whole = twofold_product((first, np.zeros_like(first)), right)
    rest = twofold_sum(left, (-whole[0], -whole[1]))
    return two_sum(first, rest[0] / right[0])


def decimal_rest(values):
    """What the decimal of at most 15 digits that rounds to a float has beyond it; NaN where there is none."""
    with np.errstate(all="ignore"):  # what is too large or small for these powers is looked at on its own
        digits = 1 + np.floor(np.log10(np.abs(values).max(axis=0, initial=0.0)))
        places = np.clip(np.nan_to_num(DIGITS_OF_DECIMAL - digits), 0, DIGITS_OF_POWER).astype(int)
        power = np.array([10**k for k in range(DIGITS_OF_POWER + 1)], dtype=float)[places]
        whole = np.rint(values * power)  # most columns have all their numbers on one grid
        near = whole / power
        product, error = two_product(near, power)
        rest = np.asarray(((whole - product) - error) / power)
        odd = (near != values) | ~(np.abs(whole) < 10.0**DIGITS_OF_DECIMAL) | np.isnan(rest)
    if odd.any():
        rest[odd] = decimal_rest_of_each(values[odd])
    return rest


def decimal_rest_of_each(values):
    """The same for numbers of any size, each on a grid of its own."""
    size = np.abs(values)
    fraction = size != np.floor(size)  # whole numbers stand for themselves
    scale = np.floor(np.log10(np.where(fraction, size, 1.0)))
    scale -= size < 10.0**scale
    rest = np.where(fraction, np.nan, 0.0)
    for length in np.unique(scale[fraction]):
        places = DIGITS_OF_DECIMAL - 1 - int(length)  # after the point
        if not 0 < places < 300:
            continue
        chosen = fraction & (scale == length)
        found = values[chosen]
        power = np.array(float(10**places))
        whole = np.rint(found * power)
        power_rest = np.array(float(10**places - int(power)))
        near, beyond = twofold_quotient((whole, np.zeros_like(whole)), (power, power_rest))
        rest[chosen] = np.where(near == found, beyond, np.nan)
    return rest


def pooled(features, weight, codes, shape, exact=False):
    """The pool of rows in each cell, block by block; `codes` say for each row its cell."""
    count = max((np.shape(f)[0] for f in (*features, weight, *codes) if np.ndim(f)), default=1)
    width = sum(np.shape(f)[1] if np.ndim(f) == 2 else 1 for f in features)
    cells = int(np.prod(shape))
    axes = (0, 1, 2, 1, 2) if exact else (0, 1, 2, 1)  # total, mean, scatter, and what rounding took from the last two
    state = [np.zeros((cells, *[width] * number)) for number in axes]
    step = ROWS_OF_EXACT_BLOCK if exact else ROWS_AT_ONCE
    is_decimal, has_rest = np.ones(width, dtype=bool), np.zeros(width, dtype=bool)
    for start in range(0, count if exact else 0, step):
        block = side_by_side(features, start, min(start + step, count), width)
        rest = decimal_rest(block[:, is_decimal])
        has_rest[is_decimal] |= (rest != 0).any(axis=0)
        is_decimal[is_decimal] = ~np.isnan(rest).any(axis=0)
    if exact and count > MANY_ROWS and not (has_rest & is_decimal).any():
        plain = pooled(features, weight, codes, shape)
        if not is_collinear(plain):  # far from zero, but the floats stand for themselves: nothing was lost
            return plain
    for start in range(0, count, step):
        stop = min(start + step, count)
        block = side_by_side(features, start, stop, width)
        weights = np.asarray(weight, dtype=float)
        weights = weights[start:stop] if weights.ndim else weights
        present, starts = np.zeros(1, dtype=int), np.zeros(1, dtype=int)
        if codes:
            cell = np.ravel_multi_index([np.broadcast_to(code, count)[start:stop] for code in codes], shape)
            order = np.argsort(cell, kind="stable")
            present, starts = np.unique(cell[order], return_index=True)
            block, weights = block[order], weights[order] if weights.ndim else weights
        new = exact_block(block, weights, starts, is_decimal) if exact else pooled_block(block, weights, starts)
        merged = merged_pools(tuple(array[present] for array in state), new)
        for array, value in zip(state, merged, strict=True):
            array[present] = value
    return tuple(array.reshape((*shape, *array.shape[1:])) for array in state)


def pooled_in_turn(features, weight, shape, exact=False):
    """The pools of cells whose rows follow each other, as many in each cell."""
    cells = int(np.prod(shape))
    count = max(np.shape(f)[0] for f in (*features, weight) if np.ndim(f)) // max(cells, 1)
    if count < ROWS_OF_EXACT_BLOCK:  # many cells of few rows are better taken together
        together = pooled(features, weight, [np.repeat(np.arange(cells), count)], (cells,), exact)
        return tuple(array.reshape((*shape, *array.shape[1:])) for array in together)
    found = []
    for cell in range(cells):
        here = slice(cell * count, (cell + 1) * count)
        own = [np.asarray(f)[here] if np.ndim(f) else f for f in (*features, weight)]
        found.append(pooled(own[:-1], own[-1], [], (), exact))
    if len({len(pool) for pool in found}) > 1:  # an exact pass that could change nothing has left no rest
        found = [pool if len(pool) == 5 else (*pool, np.zeros_like(pool[2])) for pool in found]
    return tuple(np.reshape(np.stack(part), (*shape, *np.shape(part[0]))) for part in zip(*found, strict=True))


def side_by_side(features, start, stop, width):
    """The features of some rows as columns of one array."""
    block = np.empty((stop - start, width))
    column = 0
    for f in features:
        size = np.shape(f)[1] if np.ndim(f) == 2 else 1
        part = np.asarray(f)[start:stop] if np.ndim(f) else f
        block[:, column : column + size] = part if np.ndim(f) == 2 else np.reshape(part, (-1, 1))
        column += size
    return block


def pooled_block(block, weight, starts):
    """The pools of one block of rows; the rows of one cell follow each other, from each start on."""
    total, mean = block_means(block, weight, starts)
    centred = block - spread_out(mean, starts, len(block))
    weighted = centred * weight[:, None] if weight.ndim else centred * weight if weight != 1 else centred
    some = np.where(total > 0, total, 1.0)
    drift = summed(weighted, starts) / some[:, None]  # what rounding left of the mean
    scatter = summed_products(weighted, centred, starts)
    scatter -= total[:, None, None] * drift[:, :, None] * drift[:, None, :]
    mean, mean_rest = two_sum(mean, drift)
    return total, mean, scatter, mean_rest


def exact_block(block, weight, starts, is_decimal):
    """The pools of one block of rows, some columns read as decimals, by slices whose products sum without rounding."""
    _, centre = block_means(block, weight, starts)
    rest, centre_rest = np.zeros(block.shape), np.zeros(centre.shape)
    rest[:, is_decimal] = decimal_rest(block[:, is_decimal])
    centre_rest[:, is_decimal] = np.nan_to_num(decimal_rest(centre[:, is_decimal]))
    away = tuple(-spread_out(part, starts, len(block)) for part in (centre, centre_rest))
    high, low = twofold_sum((block, rest), away)
    high = np.concatenate([high, np.ones((len(block), 1))], axis=1)
    low = np.concatenate([low, np.zeros((len(block), 1))], axis=1)
    right = slices(high, low)
    column = np.broadcast_to(weight, block.shape[:1])[:, None]
    left = right if (column == 1).all() else slices(*twofold_product((high, low), (column, np.zeros_like(column))))
    sums = (np.zeros(1), np.zeros(1))
    for i in reversed(range(SLICES)):
        for j in reversed(range(SLICES - i)):
            found = summed_products(left[i], right[j], starts)
            sums = twofold_sum((found, np.zeros_like(found)), sums)
    total = tuple(part[:, -1:, -1] for part in sums)
    some = (np.where(total[0] > 0, total[0], 1.0), total[1])
    moment = tuple(part[:, :-1, -1] for part in sums)
    drift = twofold_quotient(moment, some)
    between = twofold_product(tuple(part[:, :, None] for part in moment), tuple(part[:, None, :] for part in drift))
    scatter = twofold_sum(tuple(part[:, :-1, :-1] for part in sums), tuple(-part for part in between))
    mean = twofold_sum((centre, centre_rest), drift)
    return total[0][:, 0], mean[0], scatter[0], mean[1], scatter[1]


def block_means(block, weight, starts):
    """Weight and mean in each cell, close but for rounding; a column that does not vary has its value for mean."""
    total = summed(np.broadcast_to(weight, block.shape[:1])[:, None], starts)[:, 0]
    some = np.where(total > 0, total, 1.0)[:, None]
    mean = summed(block * weight[:, None] if weight.ndim else block * weight if weight != 1 else block, starts) / some
    first, last = block[starts], block[np.append(starts[1:], len(block)) - 1]
    for column in np.flatnonzero((first == last).any(axis=0)):
        values = block[:, column]
        same = np.minimum.reduceat(values, starts) == np.maximum.reduceat(values, starts)
        mean[:, column] = np.where(same, first[:, column], mean[:, column])
    return total, mean


def spread_out(values, starts, count):
    """The values of cells at the rows of the cells."""
    return values if len(starts) == 1 else np.repeat(values, np.diff(np.append(starts, count)), axis=0)


def summed(rows, starts):
    """Sums of rows, cell by cell."""
    return np.ones((1, len(rows))) @ rows if len(starts) == 1 else np.add.reduceat(rows, starts, axis=0)


def summed_products(left, right, starts):
    """Sums over rows of `left right'`, cell by cell."""
    if len(starts) == 1:
        return (left.T @ right)[None]
    if len(left) < 32 * len(starts) and left.shape[1] <= 8:
        return np.add.reduceat(left[:, :, None] * right[:, None, :], starts, axis=0)
    stops = np.append(starts[1:], len(left))
    return np.stack([left[a:b].T @ right[a:b] for a, b in zip(starts, stops, strict=True)])


def slices(high, low):
    """Cut numbers into slices of few bits, on one grid for each column, that add up to them."""
    exponent = np.frexp(np.abs(high).max(axis=0, initial=0.0))[1]
    found = []
    for k in range(1, SLICES + 1):
        grid = np.ldexp(1.5, exponent - BITS_OF_SLICE * k + 52)  # adding it leaves no bits below the slice
        part = (high + grid) - grid
        found.append(part)
        high, low = two_sum(high - part, low)
    return found


def merged_pools(left, right):
    """The pool of all rows from the pools of two parts; exact when both are."""
    total = left[0] + right[0]
    some = np.where(total > 0, total, 1.0)
    left_mean = (left[1], left[3] if len(left) > 3 else np.zeros_like(left[1]))
    right_mean = (right[1], right[3] if len(right) > 3 else np.zeros_like(right[1]))
    shift = twofold_sum(right_mean, (-left_mean[0], -left_mean[1]))
    if len(left) < 5 or len(right) < 5:
        part = right[0] / some
        mean = twofold_sum(left_mean, twofold_product(shift, (part[..., None], np.zeros(()))))
        apart = (left[0] * part)[..., None, None] * shift[0][..., :, None] * shift[0][..., None, :]
        return total, mean[0], left[2] + right[2] + apart, mean[1]
    share = tuple(part[..., None] for part in twofold_quotient((right[0], 0.0 * some), (some, 0.0 * some)))
    mean = twofold_sum(left_mean, twofold_product(shift, share))
    pull = twofold_product(shift, twofold_product(share, (left[0][..., None], 0.0 * share[1])))
    between = twofold_product(tuple(part[..., :, None] for part in pull), tuple(part[..., None, :] for part in shift))
    scatter = twofold_sum(twofold_sum((left[2], left[4]), (right[2], right[4])), between)
    return total, mean[0], scatter[0], mean[1], scatter[1]


def is_collinear(pool):
    """Whether little is left of a column after those before it.

    A thousandth is asked of features, since coefficients lose as many digits again; a millionth of the last column, the
    response. A column that is a combination of others to the last digit is passed over in cells: too few rows make one,
    and its root is zero.
    """
    scatter = pool[2]
    diagonal = scatter.diagonal(axis1=-2, axis2=-1)
    left = root_of_scatter(scatter).diagonal(axis1=-2, axis2=-1) ** 2
    asked = 1e-3 * diagonal
    asked[..., -1] *= 1e-3
    doubtful = left < asked
    if scatter.ndim > 2:
        left = np.divide(left, diagonal, out=np.ones_like(diagonal), where=diagonal > 0)
        sure = np.minimum.accumulate(np.where(doubtful, 1.0, left), axis=-1)
        doubtful &= left > 64 * scatter.shape[-1] * np.finfo(float).eps / sure
    return is_much(pool[0], doubtful)


def is_much(total, doubtful):
    """Whether more than a twentieth of the weight is in cells with a doubtful column: few rows look so by chance."""
    if not doubtful.any():
        return False
    return bool(np.sum(total * doubtful.any(axis=-1)) > 0.05 * np.sum(total))


def rows_of_pool(total, mean, scatter, mean_rest=None, scatter_rest=None):
    """Few rows with the same squares as all pooled rows: the mean with its weight, and a root of the scatter."""
    first = weighted_rows(mean, np.sqrt(total), mean_rest)
    return np.concatenate([first, weighted_rows(root_of_scatter(scatter, scatter_rest))[..., 0, :]], axis=-2)


def weighted_rows(features, root=1.0, rest=None):
    """Each row as one of `features`, what rounding took from them, and the root of the row's weight.

    A weight multiplies its row only when all are turned together, so that what is far from zero can be shifted before.
    """
    width = features.shape[-1]
    rows = np.zeros((*features.shape[:-1], 1, 2 * width + 1))
    rows[..., 0, :width] = features
    if rest is not None:
        rows[..., 0, width:-1] = rest
    rows[..., 0, -1] = root
    return rows


def easy_root(scatter):
    """The root by LAPACK where no column is close to following from others; None where one is."""
    diagonal = scatter.diagonal(axis1=-2, axis2=-1)
    spread = diagonal > 0
    every = spread.all()
    if scatter.size == 0 or (not every and scatter[~spread].any()):
        return None
    filled, width = scatter, scatter.shape[-1]
    if not every:  # one in place of zero
        filled = np.array(scatter, order="C")
        filled.reshape(*scatter.shape[:-2], width * width)[..., :: width + 1] += ~spread
    try:
        lower = np.linalg.cholesky(filled)
    except np.linalg.LinAlgError:
        return None
    if (lower.diagonal(axis1=-2, axis2=-1) ** 2 < 1e-8 * diagonal).any():
        return None
    upper = lower.swapaxes(-1, -2)
    return upper if every else upper * spread[..., None, :]


def root_of_scatter(scatter, rest=None):
    """Upper triangular R with R'R = scatter; columns without spread give zero rows."""
    if rest is None and (easy := easy_root(scatter)) is not None:
        return easy
    width = scatter.shape[-1]
    root = np.zeros(scatter.shape)
    smallest = np.diagonal(scatter, axis1=-2, axis2=-1) * width * (np.finfo(float).eps if rest is None else FINEST)
    high, low = np.array(scatter, dtype=float), np.zeros_like(scatter) if rest is None else rest
    for j in range(width):
        pivot = high[..., j, j]
        usable = pivot > smallest[..., j]
        scale = np.where(usable, pivot, 1.0)[..., None]
        row = np.where(usable[..., None], high[..., j, :], 0.0)
        row[..., :j] = 0.0
        root[..., j, :] = row / np.sqrt(scale)
        if rest is None:
            high = high - row[..., :, None] * (row / scale)[..., None, :]
            continue
        whole = (row, np.where(row == 0, 0.0, low[..., j, :]))
        part = twofold_quotient(whole, (scale, np.where(usable, low[..., j, j], 0.0)[..., None]))
        square = twofold_product(tuple(r[..., :, None] for r in whole), tuple(p[..., None, :] for p in part))
        high, low = twofold_sum((high, low), (-square[0], -square[1]))
    return root


def edges_of(*widths):
    """Where each of several spans of columns begins, and where the last one ends."""
    edges = [0]
    for width in widths:
        edges.append(edges[-1] + width)
    return edges


def placed(rows, slots, positions, width, outputs):
    """Rows of features moved to their columns of the least-squares problem.

    After them come the outputs, what rounding took from the outputs, and the root of the weight.
    """
    design = np.zeros((*rows.shape[:-1], width + 2 * outputs + 1))
    features = (rows.shape[-1] - 1) // 2
    design[..., width : -1 - outputs] = rows[..., features - outputs : features]
    design[..., -1 - outputs :] = rows[..., -1 - outputs :]
    for (start, stop), position in zip(slots, positions, strict=True):
        if isinstance(position, slice):  # all of an unknown's columns, side by side
            design[..., position] += rows[..., start:stop]
            continue
        at = np.asarray(position)
        if at.shape == (1,):
            design[..., at[0]] += rows[..., start]
        elif at.shape[-1] == 1:  # one column in each cell
            flat = design.reshape(-1, design.shape[-1])
            column = at if at.shape == rows.shape[:-1] else np.broadcast_to(at, rows.shape[:-1])
            flat[np.arange(len(flat)), column.ravel()] += rows[..., start].ravel()
        else:  # some may be the same
            chosen = at[..., :, None] == np.arange(width)
            design[..., :width] += rows[..., start:stop] @ chosen.astype(float)
    return design


def stacked(designs, batch):
    """All rows of one batch under each other."""
    flat = []
    for design in designs:
        rows = 1  # not -1: a batch may be empty
        for size in design.shape[batch:-1]:
            rows *= size
        flat.append(design.reshape(*design.shape[:batch], rows, design.shape[-1]))
    return np.concatenate(flat, axis=-2)


def triangularised(design, eliminated, outputs, of="the unknowns"):
    """Rotate rows to triangular form: root, cross and right side of the eliminated columns, and rows for the rest.

    Where outputs are far from zero for what is left of them, they are shifted by a first solution and turned again.
    """
    plain, rest, weight = design[..., : -1 - outputs], design[..., -1 - outputs : -1], design[..., -1:]
    found = rotated_rows(plain * weight, eliminated, outputs, of)
    left = np.abs(found["rest"]).max(axis=-2, initial=0.0)
    if not (left < NEAR * found["size"]).any():
        return found
    pilot = np.linalg.solve(found["root"], found["right"])
    shifted = (plain[..., -outputs:], rest)
    for j in range(eliminated):
        column = (plain[..., j, None], np.zeros(1))
        shifted = twofold_sum(shifted, twofold_product(column, (-pilot[..., j : j + 1, :], np.zeros(1))))
    near = np.concatenate([plain[..., :-outputs], shifted[0]], axis=-1)
    found = rotated_rows(near * weight, eliminated, outputs, of)
    return {**found, "right": found["right"] + found["root"] @ pilot}


def rotated_rows(design, eliminated, outputs, of):
    """The parts of the triangular form of some rows."""
    width = design.shape[-1]
    if design.shape[-2] < width:
        padding = np.zeros((*design.shape[:-2], width - design.shape[-2], width))
        design = np.concatenate([design, padding], axis=-2)
    upper = np.asarray(np.linalg.qr(design, mode="r"))
    size = np.sqrt((design**2).sum(axis=-2))
    pivots = upper.diagonal(axis1=-2, axis2=-1)
    if not (np.abs(pivots) > 1e-3 * size).all():
        if width <= WIDEST:  # a column that all but follows from others: every digit counts
            upper = reflected(design)
            pivots = np.diagonal(upper, axis1=-2, axis2=-1)
        least = 8 * width * np.finfo(float).eps * np.maximum(size, np.finfo(float).tiny)
        lost = (np.abs(pivots) <= least)[..., :eliminated]
        if lost.any():
            missing = int(lost.sum(axis=-1).max())
            raise ArithmeticError(f"improper: at least {missing} more independent observations are needed for {of}")
    pivots = pivots[..., :eliminated]
    signs = np.where(pivots < 0, -1.0, 1.0)
    root = upper[..., :eliminated, :eliminated] * signs[..., None]
    right = upper[..., :eliminated, eliminated:] * signs[..., None]
    left = upper[..., eliminated:, eliminated:]
    outer = width - eliminated - outputs
    return {
        "root": root,
        "log_root": np.log(np.abs(pivots)).sum(axis=-1),
        "cross": right[..., :outer],
        "right": right[..., outer:],
        "left": left[..., :outer],
        "rest": left[..., outer:],
        "size": size[..., -outputs:],
    }


def reflected(design):
    """Upper triangular form by Householder's reflections, the largest entry of each column in the pivot row.

    Rows of very different size then keep their digits each (Powell and Reid), and a row that is zero in a column is not
    touched by its reflection: what a residual has of digits does not spill over into coefficients.
    """
    upper = np.array(design, dtype=float)
    rows = np.arange(upper.shape[-2])
    free = np.ones(upper.shape[:-1], dtype=bool)  # rows that are no pivot yet
    order = []
    for j in range(min(upper.shape[-2:])):
        mirror = np.where(free, upper[..., j], 0.0)
        chosen = np.where(free, np.abs(mirror), -1.0).argmax(axis=-1)[..., None]
        at_pivot = rows == chosen
        pivot = np.where(at_pivot, mirror, 0.0).sum(axis=-1, keepdims=True)
        size = np.abs(pivot)
        mirror /= np.where(size > 0, size, 1.0)
        length = np.sqrt((mirror * mirror).sum(axis=-1, keepdims=True))
        mirror += np.where(at_pivot, np.where(pivot < 0, -length, length), 0.0)
        square = (mirror * mirror).sum(axis=-1, keepdims=True)
        weighted = mirror * (2.0 / np.where(square > 0, square, 1.0))
        upper[..., j:] -= weighted[..., :, None] * (mirror[..., None, :] @ upper[..., j:])
        free &= ~at_pivot
        order.append(chosen)
    return np.triu(np.take_along_axis(upper, np.stack(order, axis=-2), axis=-2))


def log_sum_exp(logs):
    """The log of a sum along the last axis, from the logs of its terms; minus infinity where nothing is possible."""
    top = np.max(logs, axis=-1)
    top = np.where(np.isfinite(top), top, 0.0)  # an infinity less itself is no number
    with np.errstate(over="ignore", divide="ignore"):
        return top + np.log(np.sum(np.exp(logs - top[..., None]), axis=-1))


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
    data["x"] = numbers(table, ["x"], "a real number")[:, 0]
    data["y"] = numbers(table, ["y"], "a real number")[:, 0]
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
