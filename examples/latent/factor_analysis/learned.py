"""factor_analysis: expectation maximisation, derived and written by Platewright.

expected statistics of z, then the exact mode of mu, w, then of psi

The model:
    mu[d] ~ Normal(mean=0, precision=0.01)
    w[d, k] ~ Normal(mean=0, precision=1)
    psi[d] ~ InverseGamma(shape=2, scale=1)
    z[n, k] ~ Normal(mean=0, precision=1)
    x[n, d] ~ Normal(mean=mu[d] + sum_k w[d, k] z[n, k], precision=psi[d]^(-1))

Run:  python FILE data.csv [option=value ...]

data.csv has a header and a row for each n, with these columns:
    x[0], x[1], ...  a real number

Options and their defaults:
    seed=0  restarts=5  iterations=1000  tolerance=1e-10
"""

import csv
import inspect
import sys

import numpy as np


# -- the algorithm, as derived from the model --------------------------------------------------------------------------


def gather_rows(data, size):
    """A few rows with the same moments in the place of all.

    The rows of n enter by count, mean and scatter of x, gathered in one pass.
    """
    x = data["x"]
    size_d = size["d"]
    rows, kept, n_weight = few_rows(rows_joined([(x, size_d)]), [])
    [x] = parted(rows, [(size_d,)])
    return {**data, "x": x, "n_weight": n_weight}, {**size, "n_few": len(n_weight)}


def start(data, size, generator):
    """Soft guesses of the hidden variables, and moderate parameters."""
    size_d = size["d"]
    size_n_few = size["n_few"]
    size_k = size["k"]
    [z_point] = parted(
        points_about(members_joined([generator.normal(size=(size_n_few, size_k,))], (size_n_few,), [size_k])),
        [(size_k,)],
    )
    mu = 0.5 * generator.standard_normal((size_d,))
    w = 0.5 * generator.standard_normal((size_d, size_k,))
    psi = np.exp(0.3 * generator.standard_normal((size_d,)))
    return {"z_point": z_point, "mu": mu, "w": w, "psi": psi}


def statistics_0(data, size, exact=()):
    """Expected statistics of all rows (Theorem 4.1)."""
    psi = data["psi"]
    x = data["x"]
    z_point = data["z_point"]
    n_weight = data["n_weight"]
    size_d = size["d"]
    size_n_few = size["n_few"]
    size_k = size["k"]
    size_z_points = 2 * size_k
    # rows of x: mean and scatter
    block1_pool_2 = pooled_in_turn(
        [
            1,
            np.reshape(np.broadcast_to(z_point, (size_d, size_n_few, size_z_points, size_k)), (-1, size_k)),
            np.ravel(np.broadcast_to(x.T[:, :, None], (size_d, size_n_few, size_z_points))),
        ],
        np.ravel(
            np.broadcast_to((n_weight / size_z_points / psi[:, None])[:, :, None], (size_d, size_n_few, size_z_points))
        ),
        (size_d,),
        "block1_pool_2" in exact,
    )
    return {"block1_pool_2": block1_pool_2}


def maximise_0(found, data, size):
    """The mode of mu, w given statistics and the other parameters."""
    size_d = size["d"]
    size_k = size["k"]
    block1_pool_2 = found["block1_pool_2"]
    # mu, w given the rest: jointly Gaussian
    block1_columns = edges_of(1, size_k)
    # rows of mu
    block1_rows_0 = np.full((size_d, 2), [1, 0])
    block1_rows_0 = weighted_rows(block1_rows_0, np.sqrt(0.01))
    block1_rows_0 = placed(block1_rows_0, [(0, 1)], [[block1_columns[0]]], block1_columns[-1], 1)
    # rows of w
    block1_rows_1 = np.full((size_d, size_k, 2), [1, 0])
    block1_rows_1 = weighted_rows(block1_rows_1)
    block1_rows_1 = placed(
        block1_rows_1,
        [(0, 1)],
        [block1_columns[1] + np.reshape(np.broadcast_to(np.arange(size_k), (size_d, size_k)), (size_d, size_k, 1))],
        block1_columns[-1],
        1,
    )
    # rows of x
    edges = edges_of(1, size_k, 1)
    block1_rows_2 = rows_of_pool(*block1_pool_2)
    block1_rows_2 = placed(
        block1_rows_2,
        [(edges[0], edges[1]), (edges[1], edges[2])],
        [[block1_columns[0]], slice(block1_columns[1], block1_columns[2])],
        block1_columns[-1],
        1,
    )
    block1 = stacked([block1_rows_0, block1_rows_1, block1_rows_2], 1)
    block1 = triangularised(block1, block1_columns[2], 1, '`mu`, `w`')
    block1_root = block1["root"]
    block1_right = block1["right"]
    block1_best = np.linalg.solve(block1_root, block1_right)
    mu = block1_best[..., block1_columns[0], :][..., 0]
    w = np.reshape(block1_best[..., block1_columns[1] : block1_columns[2], :], (size_d, size_k, -1))[..., 0]
    if not all(np.isfinite(value).all() for value in [mu, w]):
        raise ArithmeticError("the objective has no upper bound from here")
    return {"mu": mu, "w": w}


def statistics_1(data, size):
    """Expected statistics of all rows (Theorem 4.1)."""
    x = data["x"]
    z_point = data["z_point"]
    n_weight = data["n_weight"]
    mu = data["mu"]
    w = data["w"]
    size_k = size["k"]
    size_z_points = 2 * size_k
    # for psi given the statistics: Gamma
    sum_x_mu_w_z = np.sum(
        n_weight[:, None, None] * (
            x[:, None, :] - mu - np.sum(w * z_point[:, :, None, :], axis=-1)
        ) ** 2 / size_z_points,
        axis=(0, 1),
    )
    return {"sum_x_mu_w_z": sum_x_mu_w_z}


def maximise_1(found, data, size):
    """The mode of psi given statistics and the other parameters."""
    size_d = size["d"]
    size_n = size["n"]
    sum_x_mu_w_z = found["sum_x_mu_w_z"]
    # psi given the statistics: Gamma
    psi_shape = np.broadcast_to(2 + 0.5 * size_n, (size_d,))
    psi_rate = 1 + 0.5 * sum_x_mu_w_z
    # psi: the peak of Gamma, as power -1 of it
    psi = mode_of_gamma(psi_shape + 2.0, psi_rate)
    psi = 1.0 / psi
    psi = np.maximum(psi, 1e-300)
    if not all(np.isfinite(value).all() for value in [psi]):
        raise ArithmeticError("the objective has no upper bound from here")
    return {"psi": psi}


def improved(data, size):
    """Block by block the best parameters given expectations and the newest values of the others."""
    values = {}
    everything = {**data, **values}
    values |= maximise_0(statistics_0(everything, size), everything, size)
    everything = {**data, **values}
    values |= maximise_1(statistics_1(everything, size), everything, size)
    return values


def curvature_z(data, size, at):
    """Curvature and slope of the log factors of z, element by element."""
    psi = data["psi"]
    x = data["x"]
    mu = data["mu"]
    w = data["w"]
    size_n_few = size["n_few"]
    size_k = size["k"]
    [z_at] = parted(at, [(size_k,)])
    z_gradient_z = -z_at + np.sum((x - mu - np.sum(w * z_at[:, None, :], axis=-1))[:, None, :] * w.T / psi, axis=-1)
    z_curvature_z_z = np.broadcast_to(
        1.0 * (np.arange(size_k)[:, None] == np.arange(size_k)) + np.sum(w.T[:, None, :] * w.T / psi, axis=-1),
        (size_n_few, size_k, size_k),
    )
    shape, widths = (size_n_few,), [size_k]
    now = blocks_joined([[z_curvature_z_z]], shape, widths)
    slope = members_joined([z_gradient_z], shape, widths)
    return now, slope


def log_factors_z(data, size, at):
    """The log factors of z, element by element."""
    psi = data["psi"]
    x = data["x"]
    mu = data["mu"]
    w = data["w"]
    size_k = size["k"]
    [z_at] = parted(at, [(size_k,)])
    z_value = (
        np.sum(-0.5 * z_at ** 2 - 0.9189385332046727, axis=-1)
        + np.sum(
            -0.5 * (x - mu - np.sum(w * z_at[:, None, :], axis=-1)) ** 2 / psi
            + 0.5 * np.log(1.0 / psi)
            - 0.9189385332046727,
            axis=-1,
        )
    )
    return z_value


def condition_z(data, size):
    """Points with the mean and covariance of z given all else, and the log integral over it."""
    size_n_few = size["n_few"]
    size_k = size["k"]
    mean, root, z_integral, log_root = conditioned(
        lambda at: curvature_z(data, size, at),
        lambda at: log_factors_z(data, size, at),
        (size_n_few,),
        size_k,
    )
    [z_point] = parted(points(mean, root), [(size_k,)])
    return z_point, z_integral


def expect(data, size):
    """Expectations of the hidden variables given parameters, and log p(data, parameters)."""
    psi = data["psi"]
    n_weight = data["n_weight"]
    mu = data["mu"]
    w = data["w"]
    with np.errstate(all="ignore"):
        # z: Gaussian given the rest
        z_point, z_integral = condition_z(data, size)
        # log p(data, parameters): hidden variables summed out, then the factors without them
        objective = np.sum(n_weight * z_integral)
        # mu
        objective = objective + np.sum(-0.005 * mu ** 2 - 3.221523626198718)
        # w
        objective = objective + np.sum(-0.5 * w ** 2 - 0.9189385332046727)
        # psi
        objective = objective + np.sum(-3 * np.log(psi) + (-1) / psi)
        return {"z_point": z_point}, float(objective)


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
    data, size = gather_rows(data, size)
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
ROWS_TO_GATHER = 65536
"""So many rows are gathered at once; fewer would be gathered again too often."""
NEAREST = 2.0
FARTHEST = 2.0**40
"""How many times as far as their spread rows are put from the mean."""
FEWER = 2
"""Few rows stand for many only if they are so many times fewer."""


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


def mode_of_gamma(shape, rate):
    """The peak, at zero for shapes below one."""
    return np.maximum(shape - 1, 0) / rate


def few_rows(squared, kept):
    """The few rows that stand for all, as columns of which moments matter, columns kept, and weights.

    Where rows agree too seldom in what is kept, they stay what they are, with unit weights.
    """
    count = len(squared)
    found = squared[:0], [column[:0] for column in kept], np.zeros(0)
    begin = 0
    while begin < count:
        end = begin + max(ROWS_TO_GATHER, len(found[2]))
        more = squared[begin:end], [column[begin:end] for column in kept]
        found = gathered_with(found, (*more, np.ones(len(more[0]))))
        if not are_few(len(found[2]), count):
            break
        begin = end
    return found if are_few(len(found[2]), count) else (squared, list(kept), np.ones(count))


def are_few(some, count):
    """Whether it pays to let some rows stand for all."""
    return FEWER * some < count


def rows_joined(columns):
    """Columns side by side, each given with how many numbers it has in a row."""
    flat = [np.asarray(column, dtype=float).reshape(len(column), width) for column, width in columns]
    return np.concatenate(flat, axis=1)


def gathered_with(some, more):
    """The few rows that stand for two lots of rows together."""
    squared, weight = (np.concatenate([some[part], more[part]]) for part in (0, 2))
    return gathered(squared, [np.concatenate(both) for both in zip(some[1], more[1])], weight)


def gathered(squared, kept, weight):
    """The few rows that stand for rows with weights; groups of fewer rows stay what they are."""
    group = groups_of(kept, len(squared))
    counts = np.bincount(group)
    order = np.argsort(group, kind="stable")
    begins = np.cumsum(counts) - counts
    few = squared.shape[1] + 2
    alone = order[np.repeat(counts <= few, counts)]
    parts, weights, first = [squared[alone]], [weight[alone]], [alone]
    # Groups of about the same size are gathered at once, filled up with rows of no weight.
    for size in np.unique(2 ** np.ceil(np.log2(np.maximum(counts[counts > few], 1)))).astype(int):
        chosen = np.flatnonzero((counts > few) & (counts <= size) & (counts > size // 2))
        at = begins[chosen, None] + np.minimum(np.arange(size), counts[chosen, None] - 1)
        real = np.arange(size) < counts[chosen, None]
        rows, heavy = standing_for(squared[order[at]], np.where(real, weight[order[at]], 0.0))
        parts.append(rows.reshape(-1, squared.shape[1]))
        weights.append(heavy.ravel())
        first.append(np.repeat(order[begins[chosen]], few))
    at_first = np.concatenate(first)
    sorted_by = np.argsort(group[at_first], kind="stable")  # the same order, however the rows were cut
    at_first = at_first[sorted_by]
    found, weight = np.concatenate(parts)[sorted_by], np.concatenate(weights)[sorted_by]
    return found, [column[at_first] for column in kept], weight


def standing_for(rows, weight):
    """Rows and weights that stand for those of each group; arrays have an axis of groups, then of rows."""
    width = rows.shape[-1]
    total = weight.sum(axis=1)
    share = (weight / total[:, None])[..., None]
    near = (share * rows).sum(axis=1)
    apart = rows - near[:, None]
    shift = (share * apart).sum(axis=1)  # what rounding left of a mean far from zero
    mean = near + shift
    root = np.asarray(np.linalg.qr(np.sqrt(weight)[..., None] * (apart - shift[:, None]), mode="r"))
    root = root * np.where(np.diagonal(root, axis1=1, axis2=2) < 0, -1.0, 1.0)[..., None]  # R is unique then
    spread = np.sqrt((root**2).sum(axis=1) / total[:, None])
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(spread > 0, np.abs(mean) / spread, 0.0).max(axis=-1, initial=0.0)
    far = np.exp2(np.ceil(np.log2(np.clip(ratio, NEAREST, FARTHEST))))
    reach = far * np.sqrt((width + 1) / total)
    outer = mean[:, None] + reach[:, None, None] * (even_directions(width) @ root)
    heavy = total / far**2
    each = np.repeat(heavy[:, None] / (width + 1), width + 1, axis=1)
    return np.concatenate([mean[:, None], outer], axis=1), np.concatenate([(total - heavy)[:, None], each], axis=1)


def even_directions(width):
    """Orthonormal columns that add up to zero each: one row more than columns."""
    found = np.zeros((width + 1, width))
    for column in range(width):
        found[: column + 1, column] = 1.0
        found[column + 1, column] = -(column + 1.0)
        found[:, column] /= np.sqrt((column + 1.0) * (column + 2.0))
    return found


def groups_of(kept, count):
    """A number for each row, the same for rows that agree in all columns."""
    group = np.zeros(count, dtype=np.int64)
    for column in (part for flat in kept for part in flat.reshape(count, int(np.prod(flat.shape[1:]))).T):
        codes = np.unique(column, return_inverse=True)[1]
        if codes.max(initial=0) > 0:
            group = np.unique(group * (codes.max() + 1) + codes, return_inverse=True)[1]
    return group


def conditioned(curvature, log_factors, shape, width):
    """Elements apart: their means, roots of their covariances, log integrals, and halves of log |P|."""
    precision, gradient = curvature(np.zeros((*shape, width)))
    precision = alike(precision)
    root = np.linalg.cholesky(precision)
    inverse_root = np.linalg.inv(root)
    covariance_root = np.swapaxes(inverse_root, -1, -2)

    def solved(slope):
        return np.einsum("...ij,...j->...i", covariance_root, np.einsum("...ij,...j->...i", inverse_root, slope))

    mean = solved(gradient)
    mean = mean + solved(curvature(mean)[1])
    log_root = np.broadcast_to(np.log(np.diagonal(root, axis1=-2, axis2=-1)).sum(axis=-1), shape)
    log_norm = log_factors(mean) + 0.5 * width * np.log(2 * np.pi) - log_root
    return mean, np.broadcast_to(covariance_root, (*shape, width, width)), log_norm, log_root


def alike(precision):
    """Matrices of elements as one for all along each axis of elements on which they do not differ."""
    for axis in range(precision.ndim - 2):
        first = precision.take([0], axis=axis) if precision.shape[axis] else precision
        precision = first if (precision == first).all() else precision
    return precision


def points(mean, root):
    """As many points as twice the dimension, whose mean and covariance are `mean` and `root root'`."""
    spread = np.sqrt(mean.shape[-1]) * np.swapaxes(root, -1, -2)
    return np.concatenate([mean[..., None, :] + spread, mean[..., None, :] - spread], axis=-2)


def points_about(mean):
    """Points about given means with unit variances: where EM may begin."""
    width = mean.shape[-1]
    return points(mean, np.broadcast_to(np.eye(width), (*mean.shape, width)))


def parted(flat, shapes):
    """An array over all numbers of an element as one array for each member, whose shapes in an element are given."""
    found = []
    start = 0
    for shape in shapes:
        stop = start + int(np.prod(shape, dtype=int))
        found.append(flat[..., start:stop].reshape(*flat.shape[:-1], *shape))
        start = stop
    return found


def blocks_joined(blocks, shape, widths):
    """Blocks of members against members as one matrix for each element."""
    rows = []
    for row, high in zip(blocks, widths, strict=True):
        parts = [np.reshape(block, (*shape, high, wide)) for block, wide in zip(row, widths, strict=True)]
        rows.append(np.concatenate(parts, axis=-1))
    return np.concatenate(rows, axis=-2).astype(float)


def members_joined(parts, shape, widths):
    """One array for each member as one array over all numbers of an element."""
    flat = [np.reshape(part, (*shape, wide)) for part, wide in zip(parts, widths, strict=True)]
    return np.concatenate(flat, axis=-1).astype(float)


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


def indexed(table, name, count=None, labels=None):
    """The columns name[0], name[1], ... (or name_0, name_1, ...) that side by side make one variable, in order."""
    found = [column for column in table if column.startswith(f"{name}[") and column.endswith("]")]
    if labels is not None:
        found = [f"{name}[{label}]" for label in labels]
    elif sorted(found) == sorted(f"{name}[{k}]" for k in range(len(found))):
        found = [f"{name}[{k}]" for k in range(len(found))]
    if not found:
        while f"{name}_{len(found)}" in table:
            found.append(f"{name}_{len(found)}")
    if not found or (count is not None and len(found) != count):
        wanted = "several" if count is None else f"{count}"
        raise ValueError(f"expected {wanted} columns {name}[0], {name}[1], ...; the file has {', '.join(table)}")
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
    data, size = {}, {"n": count_rows(table), "d": 4, "k": 2}
    x_columns = indexed(table, "x", 4)
    data["x"] = numbers(table, x_columns, "a real number")
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
