"""random_walk: the exact posterior, derived and written by Platewright.

closed form: one pass over the data for 2 statistics, then 1 exact elimination

The model:
    level[time] ~ Normal(mean=where(first@time[time], 0, level[time-1]), precision=4)
    seen[time] ~ Normal(mean=level[time], precision=1)

Run:  python FILE data.csv

data.csv has a header and a row for each time, with these columns:
    first@time  1 where a sequence begins; may be left out
    seen        a real number
"""

import csv
import sys

import numpy as np


# -- the algorithm, as derived from the model --------------------------------------------------------------------------


def statistics(data, size):
    """Sufficient statistics of a batch of rows (Theorem 4.1)."""
    first_of_time = data["first_of_time"]
    # for evidence
    sum_first_of_time = np.sum(first_of_time)
    sum_first_of_time_2 = np.sum(-0.22579135264472738 + 0.22579135264472738 * first_of_time)
    return {"sum_first_of_time": sum_first_of_time, "sum_first_of_time_2": sum_first_of_time_2}


def merged(left, right):
    """Statistics of all rows from those of two parts."""
    return {name: left[name] + right[name] for name in left}


def finish(found, data, size):
    """Posterior parameters and evidence from the statistics."""
    first_of_time = data["first_of_time"]
    seen = data["seen"]
    size_time = size["time"]
    sum_first_of_time = found["sum_first_of_time"]
    sum_first_of_time_2 = found["sum_first_of_time_2"]
    # level given the rest: jointly Gaussian
    block1_columns = edges_of(1, 1)
    # rows of level
    block1_rows_0 = np.full((size_time, 2), [1, 0])
    block1_rows_0 = weighted_rows(block1_rows_0, np.sqrt(4 * first_of_time))
    block1_rows_0 = placed(block1_rows_0, [(0, 1)], [[block1_columns[1]]], block1_columns[-1], 1)
    # rows of level
    block1_rows_1 = np.full((size_time, 3), [1, -1, 0])
    block1_rows_1 = weighted_rows(block1_rows_1, np.sqrt(4 - 4 * first_of_time))
    block1_rows_1 = placed(
        block1_rows_1, [(0, 1), (1, 2)], [[block1_columns[1]], [block1_columns[0]]], block1_columns[-1], 1
    )
    # rows of seen
    block1_rows_2 = np.concatenate([np.full((size_time, 1), 1), np.reshape(seen, (size_time, 1))], axis=-1)
    block1_rows_2 = weighted_rows(block1_rows_2)
    block1_rows_2 = placed(block1_rows_2, [(0, 1)], [[block1_columns[1]]], block1_columns[-1], 1)
    block1 = stacked([block1_rows_0, block1_rows_1, block1_rows_2], 1)
    block1 = triangularised_along(block1, block1_columns[1], 1, '`level`')
    block1_root = block1["root"]
    block1_before = block1["before"]
    block1_after = block1["after"]
    block1_log_root = block1["log_root"]
    block1_right = block1["right"]
    block1_residual = np.sum(block1["rest"] ** 2, axis=(-2, -1))
    # evidence (Lemma 6.4)
    log_evidence = (
        -0.22579135264472738 * sum_first_of_time
        + sum_first_of_time_2
        - block1_log_root
        - 0.5 * block1_residual
    )
    return {
        "block1.root": block1_root,
        "block1.log_root": block1_log_root,
        "block1.right": block1_right,
        "block1.before": block1_before,
        "block1.after": block1_after,
        "block1.residual": block1_residual,
        "log_evidence": log_evidence,
    }


def learn(data, size):
    """All in one: statistics, then what follows from them."""
    return finish(statistics(data, size), data, size)


def means(found, data, size):
    """Posterior means of the Gaussian unknowns from what was learned, those eliminated last first."""
    size_time = size["time"]
    block1_right = found["block1.right"]
    block1 = solved_along(
        {"root": found["block1.root"], "before": found["block1.before"], "after": found["block1.after"]},
        block1_right,
    )
    block1 = np.reshape(block1, (size_time, *found["block1.root"].shape[-1:], -1))
    level_mean = np.reshape(block1, (size_time,))
    return {
        "level.mean": level_mean,
    }


# -- tools that it uses ------------------------------------------------------------------------------------------------


NEAR = 1e-3
"""Outputs of which less is left than this after their columns are shifted first."""


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


def triangularised_along(design, state, outputs, of="the unknowns"):
    """Triangular form of the rows of each step, whose columns are: the step before, the step, others, and outputs.

    Where outputs are far from zero for what is left of them, they are shifted by a first solution and turned again.
    """
    plain, rest, weight = design[..., : -1 - outputs], design[..., -1 - outputs : -1], design[..., -1:]
    found = rotated_along(plain * weight, state, outputs, of)
    left = np.abs(found["rest"]).max(axis=-2, initial=0.0)
    if not (left < NEAR * found["size"]).any():
        return found
    pilot = solved_along(found, found["right"])
    steps = pilot.reshape(*design.shape[:-2], 1, state, outputs)
    earlier = np.concatenate([steps[..., :1, :, :, :], steps[..., :-1, :, :, :]], axis=-4)
    both = np.concatenate([earlier, steps], axis=-2)
    shifted = (plain[..., -outputs:], rest)
    for j in range(2 * state):
        column = (plain[..., j, None], np.zeros(1))
        shifted = twofold_sum(shifted, twofold_product(column, (-both[..., j, :], np.zeros(1))))
    near = np.concatenate([plain[..., :-outputs], shifted[0]], axis=-1)
    found = rotated_along(near * weight, state, outputs, of)
    return {**found, "right": found["right"] + times_along(found, pilot)}


def rotated_along(rows, state, outputs, of):
    """The parts of the triangular form of a chain."""
    *batch, steps, _, width = rows.shape
    size = np.sqrt((rows[..., -outputs:] ** 2).sum(axis=(-3, -2)))
    rows = rows.copy()
    rows[..., 0, :, state : 2 * state] += rows[..., 0, :, :state]  # before the first step is the first
    rows[..., 0, :, :state] = 0.0
    triangle = np.zeros((*batch, steps, state, width + state))
    stride = 1
    while rows.shape[-3] > 1:
        fronts = fronts_of(rows, state)
        upper = front_triangle(fronts, state, of)
        places = triangle[..., stride - 1 :: 2 * stride, :, :]
        places[...] = upper[..., : places.shape[-3], :state, :]
        rows = upper[..., state:, state:]
        stride *= 2
    last = front_triangle(rows[..., 0, :, state:], state, of)
    if stride <= steps:  # the last step may be one that was only added to make their number even
        triangle[..., stride - 1, :, :state] = last[..., :state, :state]
        triangle[..., stride - 1, :, 3 * state :] = last[..., :state, state:]
    outer = width - 2 * state - outputs
    flat = triangle.reshape(*batch, steps * state, width + state)
    pivots = np.diagonal(triangle[..., :state], axis1=-2, axis2=-1)
    return {
        "root": triangle[..., :state],
        "before": triangle[..., state : 2 * state],
        "after": triangle[..., 2 * state : 3 * state],
        "log_root": np.log(pivots).sum(axis=(-2, -1)),
        "cross": flat[..., 3 * state : 3 * state + outer],
        "right": flat[..., 3 * state + outer :],
        "left": last[..., state:, state : state + outer],
        "rest": last[..., state:, state + outer :],
        "size": size,
    }


def fronts_of(rows, state):
    """For each even step all rows that touch it: its columns, those of the step before and after, and the others."""
    *batch, steps, count, width = rows.shape
    if steps % 2:  # one more step, about which nothing is said but that it is zero
        more = np.zeros((*batch, steps + 1, max(count, state), width))
        more[..., :steps, :count, :] = rows
        more[..., steps, :state, state : 2 * state] = np.eye(state)
        return fronts_of(more, state)
    found = np.zeros((*batch, steps // 2, 2 * count, width + state))
    even, odd = rows[..., 0::2, :, :], rows[..., 1::2, :, :]
    found[..., :count, :state] = even[..., state : 2 * state]
    found[..., :count, state : 2 * state] = even[..., :state]
    found[..., :count, 3 * state :] = even[..., 2 * state :]
    found[..., count:, :state] = odd[..., :state]
    found[..., count:, 2 * state :] = odd[..., state:]
    return found


def front_triangle(rows, state, of):
    """Upper triangular form of rows, with positive pivots in the first columns, which must be determined."""
    if rows.shape[-2] < state:
        short = np.zeros((*rows.shape[:-2], state - rows.shape[-2], rows.shape[-1]))
        rows = np.concatenate([rows, short], axis=-2)
    upper = np.asarray(np.linalg.qr(rows, mode="r"))
    size = np.sqrt((rows[..., :state] ** 2).sum(axis=-2))
    pivots = upper.diagonal(axis1=-2, axis2=-1)[..., :state]
    if not (np.abs(pivots) > 1e-3 * size).all():
        upper = reflected(rows)  # a column that all but follows from others: every digit counts
        pivots = upper.diagonal(axis1=-2, axis2=-1)[..., :state]
        least = 8 * rows.shape[-1] * np.finfo(float).eps * np.maximum(size, np.finfo(float).tiny)
        missing = int((np.abs(pivots) <= least).sum(axis=-1).max())
        if missing:
            raise ArithmeticError(f"improper: at least {missing} more independent observations are needed for {of}")
    signs = np.where(pivots < 0, -1.0, 1.0)
    upper[..., :state, :] *= signs[..., None]
    return upper


def solved_along(found, right):
    """The steps x of a chain, given right-hand sides for all of its rows."""
    return swept_along(found, right, solve=True)


def times_along(found, values):
    """What the triangle of a chain makes of the values of its steps: the inverse of `solved_along`."""
    return swept_along(found, values, solve=False)


def swept_along(found, given, solve):
    """Those eliminated last first: each step with its two neighbours, in rounds."""
    root, before, after = found["root"], found["before"], found["after"]
    *batch, steps, state, _ = root.shape
    wide = given.shape[-1]
    given = given.reshape(*batch, steps, state, wide)
    total = 1 << steps.bit_length()
    values = np.zeros((*batch, total + 1, state, wide))  # step t at t + 1; nothing before the first and after the last
    result = np.empty_like(given)
    if not solve:
        values[..., 1 : steps + 1, :, :] = given
    stride = total // 2
    while stride:
        now = slice(stride - 1, None, 2 * stride)
        own = given[..., now, :, :]
        count = own.shape[-3]
        lower = values[..., 0 : total : 2 * stride, :, :][..., :count, :, :]
        upper = values[..., 2 * stride :: 2 * stride, :, :][..., :count, :, :]
        met = before[..., now, :, :] @ lower + after[..., now, :, :] @ upper
        if solve:
            solution = np.linalg.solve(root[..., now, :, :], own - met)
            values[..., stride : steps + 1 : 2 * stride, :, :] = result[..., now, :, :] = solution
        else:
            result[..., now, :, :] = root[..., now, :, :] @ own + met
        stride //= 2
    return result.reshape(*batch, steps * state, wide)


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


def read(path):
    """The columns that the model needs, and the sizes of its plates."""
    table = table_of(path)
    data, size = {}, {"time": count_rows(table)}
    if "first@time" in table:  # a column that is 1 where a sequence begins
        data["first_of_time"] = numbers(table, ["first@time"], "0 or 1", lower=0, upper=1, whole=True)[:, 0]
    else:
        data["first_of_time"] = np.array([int(k == 0) for k in range(size["time"])])
    data["seen"] = numbers(table, ["seen"], "a real number")[:, 0]
    return data, size


def main(words):
    """Learn from the file that the first word names, and print what was learned."""
    if words and words[0] in ("-h", "--help"):
        print(__doc__)
        return
    if len(words) != 1:
        sys.exit(__doc__)
    try:
        with np.errstate(divide="ignore"):  # the logarithm of an exact zero is minus infinity and means it
            data, size = read(words[0])
            results = learn(data, size)
            results.update(means(results, data, size))
    except (OSError, ValueError, ArithmeticError) as error:
        sys.exit(f"{words[0]}: {error}")
    for name, value in results.items():
        print(f"{name} = {np.asarray(value).tolist()}")


if __name__ == "__main__":
    main(sys.argv[1:])
