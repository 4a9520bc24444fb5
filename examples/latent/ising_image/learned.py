"""ising_image: Gibbs sampling, derived and written by Platewright.

2 blocks: {grey} exact; {x} site by site

The model:
    a[edge]: given
    b[edge]: given
    grey[level] ~ Normal(mean=(0, 2)[level], precision=4)
    x[site]: a level of level, tied by log factors
    y[site] ~ Normal(mean=grey[x[site]], precision=1)
    tie[edge]: a log factor 0.6 [x[a[edge]] = x[b[edge]]]

The data do not fit one table: import this file and call learn(data, size), with arrays in `data`
and the sizes of plates in `size`, by name. Options and their defaults:
    seed=0  chains=4  draws=1000  warm_up=500
"""

import sys

import numpy as np


# -- the algorithm, as derived from the model --------------------------------------------------------------------------


def start(data, size, generator):
    """Values to start from, jittered."""
    size_site = size["site"]
    size_level = size["level"]
    grey = 0.5 * generator.standard_normal((size_level,))
    x = generator.integers(0, size_level, (size_site,))
    return {"grey": grey, "x": x}


def draw_0(data, size, generator):
    """Draw grey given all else."""
    x = data["x"]
    y = data["y"]
    size_level = size["level"]
    # rows of y: mean and scatter
    block1_pool_1 = pooled([1, y], 1, [x], (size_level,), False)
    # grey given the rest: jointly Gaussian
    block1_columns = edges_of(1)
    # rows of grey
    block1_rows_0 = np.concatenate(
        [np.full((size_level, 1), 1), np.reshape(np.array([0.0, 2.0]), (size_level, 1))],
        axis=-1,
    )
    block1_rows_0 = weighted_rows(block1_rows_0, np.sqrt(4))
    block1_rows_0 = placed(block1_rows_0, [(0, 1)], [[block1_columns[0]]], block1_columns[-1], 1)
    # rows of y
    block1_rows_1 = rows_of_pool(*block1_pool_1)
    block1_rows_1 = placed(block1_rows_1, [(0, 1)], [[block1_columns[0]]], block1_columns[-1], 1)
    block1 = stacked([block1_rows_0, block1_rows_1], 1)
    block1 = triangularised(block1, block1_columns[1], 1, '`grey`')
    block1_root = block1["root"]
    block1_right = block1["right"]
    block1_best = np.linalg.solve(block1_root, block1_right)
    block1_noise = generator.standard_normal(block1_best.shape)
    block1_best = block1_best + np.linalg.inv(block1_root) @ block1_noise
    grey = block1_best[..., block1_columns[0], :][..., 0]
    return {"grey": grey}


def together_1(data, size):
    """Terms of the factors that tie elements of x."""
    a = data["a"]
    b = data["b"]
    x = data["x"]
    return [
        0.6 * 1.0 * (x[a] == x[b]),
    ]


def touched_1(data, size):
    """The elements that each of their rows looks at."""
    a = data["a"]
    b = data["b"]
    size_site = size["site"]
    size_edge = size["edge"]
    return [
        np.concatenate(
            [site_numbers([a], (size_site,), size_edge), site_numbers([b], (size_site,), size_edge)],
            axis=1,
        ),
    ]


def alone_1(data, size):
    """Terms of the factors whose rows look at one element."""
    grey = data["grey"]
    x = data["x"]
    y = data["y"]
    return [
        -0.5 * (y - grey[x]) ** 2 - 0.9189385332046727,
    ]


def owners_1(data, size):
    """These elements."""
    size_site = size["site"]
    return [
        site_numbers([np.arange(size_site)], (size_site,), size_site),
    ]


def movers(size):
    """What moves the blocks without an exact conditional, by their number."""
    size_site = size["site"]
    size_level = size["level"]
    return {
        1: SiteMover(
            "x",
            (size_site,),
            0,
            size_level,
            lambda values: together_1(values, size),
            lambda values: touched_1(values, size),
            lambda values: alone_1(values, size),
            lambda values: owners_1(values, size),
        ),
    }


def sweep(values, data, size, generator, movers):
    """Draw every block once, in order, each given the newest values of the others."""
    values = dict(values)
    with np.errstate(all="ignore"):
        values |= draw_0({**data, **values}, size, generator)
        values |= movers[1].move({**data, **values}, generator)
    return values


def height_of(data, size):
    """The log density of the unknowns and the data, up to what no unknown enters."""
    a = data["a"]
    b = data["b"]
    grey = data["grey"]
    x = data["x"]
    y = data["y"]
    total = 0.0
    with np.errstate(all="ignore"):
        # grey
        total = total + np.sum(-2 * (grey - np.array([0.0, 2.0])) ** 2 - 0.22579135264472738)
        # y
        total = total + np.sum(-0.5 * (y - grey[x]) ** 2 - 0.9189385332046727)
        # tie
        total = total + np.sum(0.6 * 1.0 * (x[a] == x[b]))
    return float(total)


def learn(data, size, seed=0, chains=4, draws=1000, warm_up=500):
    """Draws from the posterior by name: chain, draw, then the axes of the variable."""
    generators = np.random.default_rng(seed).spawn(chains)
    starts = chain_starts(data, size, generators, warm_up)
    kept = [chain_draws(starts[k], data, size, generators[k], warm_up, draws) for k in range(chains)]
    return {name: np.array([found[name] for found in kept]) for name in kept[0]}


def chain_starts(data, size, generators, warm_up):
    """Where each chain starts: in a mode that matters, which short trials found."""

    def trial(number, values):
        try:
            return chain_draws(values, data, size, generators[number], SETTLING, WEIGHED)
        except ArithmeticError:  # the chain itself would tell
            return stayed(values)

    def heights(found):
        count = len(next(iter(found.values())))
        return np.array([height_of({**data, **{name: found[name][k] for name in found}}, size) for k in range(count)])

    def made(number):
        return start(data, size, generators[number])

    return trial_starts(len(generators), warm_up, made, trial, heights)


def chain_draws(values, data, size, generator, warm_up, draws):
    """The draws of one chain from given values on."""
    moving = movers(size)
    for mover in moving.values():
        mover.begin_warm_up(warm_up)
        if warm_up and hasattr(mover, "climb"):  # only along a gradient there is a way up
            values = {**values, **mover.climb({**data, **values}, generator)}
    for _ in range(warm_up):
        values = sweep(values, data, size, generator, moving)
    for mover in moving.values():
        if warm_up and hasattr(mover, "is_lost") and mover.is_lost({**data, **values}):
            raise ArithmeticError("a chain stands where its log density has no finite slope, and would stay there")
    for mover in moving.values():  # from now on nothing is learned, so that draws keep their distribution
        mover.end_warm_up()
    kept = {name: [] for name in values}
    for _ in range(draws):
        values = sweep(values, data, size, generator, moving)
        for name, value in values.items():
            kept[name].append(value)
    return {name: np.array(found) for name, found in kept.items()}


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
SETTLING = 8
"""Sweeps of a trial before its draws are weighed."""
WEIGHED = 16
"""Draws of a trial that are weighed."""
LEAST_TRIALS = 8
"""Trials of all chains together."""
MOST_TRIALS = 8
"""Trials of a chain that has found but negligible modes."""
LEAST_WARM_UP = 100
"""Sweeps of warm-up below which there are no trials: they would cost more than the run."""
MOST_ELEMENTS = 100_000
"""Elements of unknowns above which there are none: their draws would not fit."""
MOST_SHARED = 2
"""Movements shared by the elements of an unknown that are not counted as their spread."""
NEGLIGIBLE = 6.0
"""The log of how much less weight than the best a mode has that does not matter."""
SURE = 2.5
"""Standard errors beyond which a difference is believed."""
NARROW = 1e-3
"""A spread below this part of that of all trials counts as this: draws that did not move say nothing about it."""
IMPOSSIBLE = -1e200
"""Stands for minus infinity, so that a state with fewer violations is preferred as long as none is possible."""


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


def trial_starts(chains, warm_up, start, trial, heights):
    """Values for each chain to start from: where one of its trials ended.

    `start` makes a start of a chain, `trial` the draws of a trial of it; `heights` are log densities of draws, without
    which there are no trials.
    """
    starts = [start(number) for number in range(chains)]
    elements = sum(np.size(values) for values in starts[0].values())
    if heights is None or warm_up < LEAST_WARM_UP or elements > MOST_ELEMENTS:
        return starts
    tried = [[] for _ in range(chains)]
    high = [[] for _ in range(chains)]
    waiting = [number for number in range(chains) for _ in range(-(-LEAST_TRIALS // chains))]
    while waiting:
        made = []
        for number in waiting:
            made.append(trial(number, start(number) if tried[number] else starts[number]))
            tried[number].append(made[-1])
        for number, height in zip(waiting, np.split(heights(joined(made)), len(made)), strict=True):
            high[number].append(height)
        every = [draws for mine in tried for draws in mine], [part for mine in high for part in mine]
        weights, ends = log_weights(*every), np.cumsum([len(draws) for draws in tried])[:-1]
        good = np.split(matter(weights, errors_of(*every)), ends)
        waiting = [n for n in range(chains) if not good[n].any() and len(good[n]) < MOST_TRIALS]
    return [{name: values[-1] for name, values in tried[n][k].items()} for n, k in taken(good)]


def taken(good):
    """For each chain whose trial it starts from, and which: its own first good one, else one that others can spare."""
    mine = [np.flatnonzero(own).tolist() for own in good]
    spare = [(n, k) for n, own in enumerate(mine) for k in own[1:]] + [(n, own[0]) for n, own in enumerate(mine) if own]
    found = []
    for n, own in enumerate(mine):
        found.append((n, own[0]) if own else spare[0])
        spare = spare if own else [*spare[1:], spare[0]]
    return found


def stayed(values):
    """Draws of a trial that did not get anywhere."""
    return {name: np.repeat(np.asarray(found)[None], WEIGHED, axis=0) for name, found in values.items()}


def joined(trials):
    """The draws of all trials one after another."""
    return {name: np.concatenate([draws[name] for draws in trials]) for name in trials[0]}


def matter(weights, errors):
    """Which modes matter: all but those whose log weight is surely below the best by more than `NEGLIGIBLE`."""
    best = int(np.argmax(weights))
    return weights >= weights[best] - NEGLIGIBLE - SURE * np.hypot(errors, errors[best])


def errors_of(trials, heights):
    """Standard errors of log weights: heights vary, draws come in runs, and few of them know spreads roughly."""
    numbers = [sum(v[0].size for v in draws.values() if v.dtype.kind == "f") for draws in trials]
    with np.errstate(invalid="ignore"):
        of_means = np.nan_to_num([2 * np.var(high) / len(high) for high in heights])
    return np.sqrt(of_means + np.array(numbers) / (2 * (WEIGHED - 1)))


def log_weights(trials, heights):
    """The log weight of the mode in which each trial ended."""
    every = joined(trials)
    least = {name: NARROW * values.std(axis=0) for name, values in every.items() if values.dtype.kind == "f"}
    found = [float(np.mean(h)) + entropy(draws, least) for draws, h in zip(trials, heights, strict=True)]
    return np.where(np.isfinite(found), found, -np.inf)


def entropy(draws, least):
    """The entropy of draws: of a normal with the own spread of each element, and of the shares of levels."""
    total = 0.0
    for name, values in draws.items():
        rows = values.reshape(len(values), -1)
        if name in least:
            spread = np.maximum(own_spread(rows), least[name].ravel())
            total += float(np.log(spread[spread > 0]).sum())
            continue
        same = (rows[:, None, :] == rows[None, :, :]).sum(axis=0)
        total -= float(np.log(same / len(rows)).mean(axis=0).sum())
    return total


def own_spread(rows):
    """The spread of each column without what many of them share: all follow their common mean, or a slow drift.

    Counted in each of many elements, such a movement would make a narrow place among them look wide.
    """
    spread = rows.std(axis=0)
    shared = min(MOST_SHARED, rows.shape[1] // 5)
    if not shared:
        return spread
    moves = (rows - rows.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    courses = np.linalg.eigh(moves @ moves.T)[1][:, -shared:]  # draws are few, elements may be many
    left = moves - courses @ (courses.T @ moves)
    return spread * np.sqrt((left**2).mean(axis=0))


class SiteMover:
    """The sites of one variable of one chain, with their colours.

    `together` gives the terms of each factor that ties sites, row by row, and `touched` the sites that each row looks
    at; `alone` and `owners` do the same for factors whose rows look at one site each. All are functions of all values.
    """

    def __init__(self, name, shape, lowest, levels, together, touched, alone, owners, moves=False):
        self.name, self.shape, self.lowest, self.levels = name, shape, lowest, levels
        self.together, self.touched, self.alone, self.owners = together, touched, alone, owners
        self.moves = moves
        """Whether the places of the sites depend on other unknowns, so that ties change from sweep to sweep."""
        self.weights = np.zeros((0, 0))
        self.classes = []
        self.members = []

    def begin_warm_up(self, sweeps):
        """Nothing is learned."""

    def end_warm_up(self):
        """Nothing was learned."""

    def move(self, values, generator):
        """Every site once, colour after colour."""
        with np.errstate(all="ignore"):
            self.prepare(values)
            flat = np.array(values[self.name], dtype=np.int64).ravel()
            for sites, rows in zip(self.members, self.classes, strict=True):
                scores = self.scores(values, flat, sites, rows)
                noise = generator.gumbel(size=scores.shape)
                flat[sites] = self.lowest + np.argmax(scores + noise, axis=1)
        return {self.name: flat.reshape(self.shape)}

    def prepare(self, values):
        """Colours, where they are not known yet, and the weights that each site has by itself."""
        if not self.members or self.moves:
            self.colour(values)
        count = int(np.prod(self.shape, dtype=int))
        self.weights = np.zeros((count, self.levels))
        owners = self.owners(values)
        for level in range(self.levels):
            terms = self.alone({**values, self.name: np.full(self.shape, self.lowest + level)})
            for term, owner in zip(terms, owners, strict=True):
                self.weights[:, level] += np.bincount(owner[:, 0], weights=possible(term), minlength=count)

    def scores(self, values, flat, sites, rows):
        """For each site of a colour the log weight of each level: all are set to it, and their rows told apart."""
        scores = self.weights[sites]
        tried = flat.copy()
        for level in range(self.levels):
            tried[sites] = self.lowest + level
            terms = self.together({**values, self.name: tried.reshape(self.shape)})
            for number, owner in rows:
                here = owner >= 0
                scores[:, level] += np.bincount(owner[here], possible(terms[number])[here], minlength=len(sites))
        return scores

    def colour(self, values):
        """Colours for the sites, and for each colour which of its sites each row of each factor touches."""
        touched = self.touched(values)
        colours = greedy_colours(int(np.prod(self.shape, dtype=int)), touched)
        self.members = [np.flatnonzero(colours == colour) for colour in range(int(colours.max(initial=-1)) + 1)]
        self.classes = []
        for sites in self.members:
            position = np.full(len(colours) + 1, -1)
            position[sites] = np.arange(len(sites))
            self.classes.append([(number, position[table].max(axis=1)) for number, table in enumerate(touched)])


def site_numbers(codes, shape, rows):
    """For each row the numbers of the sites at given places, one column for each."""
    if not codes:
        return np.zeros((rows, 1), dtype=np.intp)
    return np.ravel_multi_index([np.asarray(code).astype(np.intp) for code in codes], shape).reshape(rows, -1)


def possible(terms):
    """Log weights as numbers: what is impossible is only very unlikely."""
    flat = np.ravel(terms)
    return np.maximum(np.where(np.isnan(flat), -np.inf, flat), IMPOSSIBLE)


def greedy_colours(count, touched):
    """The least colour that no tied site before has, site after site."""
    ties = [set() for _ in range(count)]
    for table in touched:
        for row in np.unique(np.sort(table, axis=1), axis=0):
            together = np.unique(row).tolist()
            for site in together:
                ties[site].update(together)
    colours = np.full(count, -1)
    for site in range(count):
        taken = {int(colours[other]) for other in ties[site] if other < site}
        colours[site] = next(colour for colour in range(count + 1) if colour not in taken)
    return colours


# -- the table and the command line ------------------------------------------------------------------------------------


if __name__ == "__main__":
    sys.exit(__doc__)
