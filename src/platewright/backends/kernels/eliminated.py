"""Gaussian unknowns eliminated at many points of a few scales at once, from statistics that no point enters.

    rows          scale_f (own v[p] + dense u + rest)^2       families f, each with one scale at a point
    once          rows of p in f become  R[p, f] v[p] + C[p, f] (u, 1)  and a remainder free of v, by Gram-Schmidt
    contrasts     N R = 0:  B[p] = N C[p] has covariance  N diag(1 / scale) N'  once v[p] is integrated out
    at a point    quadratic of (u, 1)  =  sum_f scale_f W_f  +  sum_p B[p]' (N diag(1 / scale) N')^-1 B[p]

Positive terms only: nothing cancels. Neither rows nor, where elements have equal R, elements are left in the loop:
those enter by one matrix. Columns are turned by a pilot solution, so that offsets of the data cost no digits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from platewright.family import Array

MOST_CLASSES = 400
"""Up to so many different roots, moments go root by root; else some roots at a time."""
MOST_NUMBERS = 1 << 22
"""Points are worked on in portions of so many numbers."""
DEPENDENT = 1e-14
"""A column of which less than this is left follows from those before."""

LITTLE = 1e-5
"""Squares of which less than this is left are worked out row by row."""
ROUNDING = 1e-26
"""Squares of which no more than this is left are rounding: the column follows from those taken out."""

Entry = tuple[Any, Any]
Found = dict[str, Any]


def columns_of_rows(count: int, width: int, entries: Sequence[Entry]) -> Array:
    """The columns of rows, one after another: each entry adds a value at a column, or at one column for each row."""
    found = np.zeros((width, count))
    every = np.arange(count)
    for at, value in entries:
        places = np.asarray(at, dtype=np.int64)  # a position that is computed comes as a double
        if places.ndim == 0:
            found[int(places)] += np.reshape(value, -1)
            continue
        places = places.reshape(count, -1)
        values = np.broadcast_to(np.asarray(value, dtype=float).reshape(-1, places.shape[1]), places.shape)
        for k in range(places.shape[1]):
            found[places[:, k], every] += values[:, k]
    return found


def family(own: Array, rest: Array, code: Array | None, weight: Any, count: int) -> Found:
    """Rows with columns `own` of the element `code`, and `rest`: root, between and within, as above."""
    heavy = np.sqrt(np.asarray(weight, dtype=float).reshape(-1))
    if not (heavy == 1.0).all():
        own, rest = own * heavy, rest * heavy
    if code is None:  # no element: the mean is taken out, which is no change
        mean = np.broadcast_to(heavy, rest.shape[1:]).copy()
        return {**taken_out(mean[None], rest, np.zeros(rest.shape[1], dtype=np.int64), 1), "apart": True}
    whose = np.broadcast_to(np.asarray(code, dtype=np.int64).reshape(-1), rest.shape[1:])
    return {**taken_out(own, rest, whose, count), "apart": False}


def taken_out(own: Array, rest: Array, code: Array, count: int) -> Found:
    """Gram-Schmidt of the columns of each element, for all elements at once.

    What is left within elements is all squares less those between, once columns are free of offsets; a column of which
    next to nothing is left is worked out row by row.
    """
    units, root = orthonormal(own, code, count)
    first, lead = own[0], len(rest)
    size = first @ first
    shift = rest @ first / size if size else np.zeros(lead)
    squares = (rest * rest).sum(axis=1)
    shift[shift**2 * size < 0.9 * squares] = 0.0
    if shift.any():
        rest = rest - shift[:, None] * first
    between = np.stack([shares(unit, rest, code, count) for unit in units], axis=1)
    gram = rest @ rest.T
    flat = between.reshape(-1, lead)
    within = gram - flat.T @ flat
    for k in np.flatnonzero(np.diagonal(within) < LITTLE * squares):
        left = np.array(rest[k])
        for unit in [*units, *units]:
            share = np.bincount(code, unit * left, count)
            left -= unit * share[code]
        size = left @ left
        within[k] = within[:, k] = rest @ left if size > ROUNDING * squares[k] else 0.0
        within[k, k] = size if size > ROUNDING * squares[k] else 0.0
    return {"root": root, "between": between + root[:, :, :1] * shift, "within": within}


def orthonormal(own: Array, code: Array, count: int) -> tuple[list[Array], Array]:
    """Columns of each element at right angles, of length one, and what brings them back; zeros where one follows."""
    width = len(own)
    left, root, units = np.array(own), np.zeros((count, width, width)), []
    for j in range(width):
        whole = np.bincount(code, own[j] * own[j], count)
        square = np.bincount(code, left[j] * left[j], count)
        good = square > DEPENDENT * whole
        norm = np.sqrt(np.where(good, square, 1.0))
        unit = left[j] * np.where(good, 1.0 / norm, 0.0)[code]
        root[:, j, j] = np.where(good, norm, 0.0)
        for later in range(j + 1, width):
            root[:, j, later] = np.bincount(code, unit * left[later], count)
            left[later] -= unit * root[code, j, later]
        units.append(unit)
    return units, root


def shares(unit: Array, rest: Array, code: Array, count: int) -> Array:
    """How much of each column lies along a unit column, by element."""
    return np.stack(
        [np.bincount(code, unit * column, count) if column.any() else np.zeros(count) for column in rest], 1
    )


def gathered(families: Sequence[Found], own: int) -> Found:
    """All that the rows say, of a size that neither rows nor, where they can be pooled, elements enter."""
    with_own = [number for number, found in enumerate(families) if not found["apart"]]
    lead = len(families[0]["within"])
    found: Found = {"own": own, "of": np.repeat(with_own, own), "contrasts": np.zeros((0, 0, lead))}
    rows = []
    if own:
        root = np.concatenate([families[number]["root"] for number in with_own], axis=1)
        between = np.concatenate([families[number]["between"] for number in with_own], axis=1)
        told = root.any(axis=(0, 2)) | between.any(axis=(0, 2))  # a family may say nothing of some columns
        root, between, found["of"] = root[:, told], between[:, told], found["of"][told]
        kinds, kind = classes(root)
        basis, upper = np.linalg.qr(kinds, mode="complete")
        null = np.swapaxes(basis[:, :, own:], -1, -2)
        size = np.abs(np.diagonal(upper, axis1=-2, axis2=-1)).astype(float)
        if not size.all():
            raise ArithmeticError("improper: an unknown of each element has neither a prior nor rows of its own")
        found |= {"root": kinds, "kind": kind, "null": null, "between": between, "log_size": 2 * np.log(size).sum(-1)}
        found["count"] = np.bincount(kind, minlength=len(kinds)).astype(float)
        found["contrasts"] = null[kind] @ between
        rows.append(found["contrasts"].reshape(-1, lead))
    return found | pilot(found, families, lead, rows)


def classes(root: Array) -> tuple[Array, Array]:
    """The different roots, and which of them each element has."""
    flat = np.ascontiguousarray(root.reshape(len(root), -1))
    _, first, kind = np.unique(flat.view(np.dtype((np.void, flat.dtype.itemsize * flat.shape[1]))),
                                  return_index=True, return_inverse=True)  # fmt: skip
    return root[first], np.reshape(kind, -1)


def pilot(found: Found, families: Sequence[Found], lead: int, rows: Sequence[Array]) -> Found:
    """Columns turned by a first triangle and counted from a first solution, and what is summed in these."""
    means = [one["between"][0] for one in families if one["apart"]]
    roots = [square_root(one["within"]) for one in families]
    upper: Array = np.asarray(np.linalg.qr(np.concatenate([np.zeros((lead, lead)), *means, *roots, *rows]), mode="r"))
    upper = upper[:lead]
    triangle, right = upper[:-1, :-1], upper[:-1, -1]
    size = np.abs(np.diagonal(triangle))
    if lead > 1 and not (size > 1e-13 * np.abs(triangle).max(axis=0)).all():
        raise ArithmeticError("improper: a column of the Gaussian unknowns follows from the others, and has no prior")
    turn = np.zeros((lead, lead))
    turn[-1, -1] = 1.0
    turn[:-1, :-1] = np.linalg.inv(triangle)
    turn[:-1, -1] = -np.linalg.solve(triangle, right) if lead > 1 else 0.0
    whole = np.stack([turned(one, turn) for one in families])
    made = {"turn": turn, "log_turn": np.log(size).sum(), "within": whole}
    if found["own"]:
        made["contrasts"] = found["contrasts"] @ turn
        if len(found["root"]) * found["contrasts"][0].size ** 2 <= MOST_NUMBERS:
            made["pooled"] = pooled(made["contrasts"], found["kind"], len(found["root"]))
    return made


def turned(one: Found, turn: Array) -> Array:
    """The squares of a family that hold no element, in turned columns."""
    inside = square_root(one["within"]) @ turn
    square = inside.T @ inside
    if one["apart"]:
        mean = one["between"][0] @ turn
        square = square + mean.T @ mean
    return np.asarray(square)


def square_root(gram: Array) -> Array:
    """Rows with these squares; a column that is left with rounding alone gives none."""
    upper = np.array(gram, dtype=float)
    count = len(upper)
    before = np.diagonal(upper).copy()
    root = np.zeros((count, count))
    for j in range(count):
        if upper[j, j] > count * DEPENDENT * before[j]:
            root[j, j:] = upper[j, j:] / np.sqrt(upper[j, j])
            upper[j + 1 :, j + 1 :] -= np.outer(root[j, j + 1 :], root[j, j + 1 :])
    return root


def pooled(contrasts: Array, kind: Array, count: int) -> Array:
    """The squares of all elements with one root, together."""
    wide = contrasts.shape[1] * contrasts.shape[2]
    order = np.argsort(kind, kind="stable")
    edges = np.searchsorted(kind[order], np.arange(count + 1))
    flat = contrasts.reshape(len(contrasts), wide)[order]
    found = np.stack([flat[edges[k] : edges[k + 1]].T @ flat[edges[k] : edges[k + 1]] for k in range(count)])
    return found.reshape(count, *contrasts.shape[1:], *contrasts.shape[1:])


def portions(found: Found, count: int) -> list[slice]:
    """Points in portions that memory allows."""
    lead = found["within"].shape[-1]
    each = 4 * lead * lead + len(found.get("root", ())) * (found["contrasts"].shape[1] ** 2 + 1)
    step = max(1, MOST_NUMBERS // max(each, 1))
    return [slice(start, start + step) for start in range(0, count, step)]


def quadratics(found: Found, scales: Array) -> tuple[Array, Array]:
    """For points with so many scales, one for each family: the quadratic of (u, 1), and what v leaves."""
    whole = np.tensordot(scales, found["within"], 1)
    own = found["own"]
    if not own:
        return whole, np.zeros(len(scales))
    spread = 1.0 / scales[:, found["of"]]
    null = found["null"]
    log_scales = -np.log(spread).sum(axis=1)
    if null.shape[1] == 1:
        wide = spread @ (null[:, 0] ** 2).T
        log_wide, share = np.log(wide), 1.0 / wide
        if "pooled" in found:
            whole = whole + np.tensordot(share, found["pooled"][:, 0, :, 0], 1)
        else:
            rows = found["contrasts"][:, 0]
            for number in range(len(scales)):
                whole[number] += (rows * share[number, found["kind"], None]).T @ rows
    elif null.shape[1] == 2 and "pooled" in found:
        share, log_wide = inverses_of_two(null, spread)
        pool = found["pooled"].transpose(1, 3, 0, 2, 4)
        flat = np.stack([pool[0, 0], pool[0, 1] + pool[1, 0], pool[1, 1]]).reshape(-1, whole[0].size)
        whole = whole + (share.reshape(len(share), -1) @ flat).reshape(whole.shape)
    else:
        inverse_root, log_wide = inverse_roots(null, spread)
        if "pooled" in found:
            share = np.swapaxes(inverse_root, -1, -2) @ inverse_root
            whole = whole + np.tensordot(share, found["pooled"].transpose(0, 1, 3, 2, 4), 3)
        else:
            for number in range(len(scales)):
                rows = (inverse_root[number][found["kind"]] @ found["contrasts"]).reshape(-1, whole.shape[-1])
                whole[number] += rows.T @ rows
    log_roots = found["log_size"] + log_scales[:, None] + log_wide
    left = 0.5 * found["count"].sum() * own * np.log(2 * np.pi) - 0.5 * log_roots @ found["count"]
    return whole, left


def inverse_roots(null: Array, spread: Array) -> tuple[Array, Array]:
    """For each point and root the inverse Cholesky factor of the covariance of contrasts, and its log determinant."""
    count, wide = len(null), null.shape[1]
    pairs = (null[:, :, None] * null[:, None]).reshape(-1, null.shape[-1])
    covariance = (spread @ pairs.T).reshape(len(spread), count, wide, wide)
    if wide != 2:
        inverse = np.linalg.inv(np.linalg.cholesky(covariance))
        return inverse, -2 * np.log(np.diagonal(inverse, axis1=-2, axis2=-1)).sum(-1)
    first = covariance[..., 0, 0]  # by hand: so many matrices of two rows would wait for each call
    along = covariance[..., 0, 1] / first
    left = covariance[..., 1, 1] - along * covariance[..., 0, 1]
    inverse = np.zeros_like(covariance)
    inverse[..., 0, 0] = 1.0 / np.sqrt(first)
    inverse[..., 1, 1] = 1.0 / np.sqrt(left)
    inverse[..., 1, 0] = -along * inverse[..., 1, 1]
    return inverse, np.log(first) + np.log(left)


def inverses_of_two(null: Array, spread: Array) -> tuple[Array, Array]:
    """For each point the entries 11, 12 and 22 of the inverse covariance of two contrasts, along all roots; log sizes.

    By hand, as along as memory lies: so many matrices of two rows would wait for each call.
    """
    first, second = null.transpose(1, 2, 0)
    pairs = np.concatenate([first * first, first * second, second * second], axis=1)
    share, logs = np.empty((len(spread), 3, len(null))), np.empty((len(spread), len(null)))
    for number, one in enumerate(spread):
        top, across, bottom = (one @ pairs).reshape(3, -1)
        along = across / top
        left = bottom - along * across
        np.log(top * left, out=logs[number])
        np.divide(1.0, left, out=share[number, 2])
        np.multiply(share[number, 2], -along, out=share[number, 1])
        np.subtract(1.0 / top, share[number, 1] * along, out=share[number, 0])
    return share, logs


def integrated_out(found: Found, scales: Array) -> Array:
    """The log of the integral over all Gaussian unknowns, at each point."""
    total = np.empty(len(scales))
    for part in portions(found, len(scales)):
        whole, left = quadratics(found, scales[part])
        total[part] = left + over_dense(whole) - (whole.shape[-1] > 1) * found["log_turn"]
    return total


def over_dense(whole: Array) -> Array:
    """The log of the integral of exp(-q / 2) over u, at each point."""
    size = whole.shape[-1] - 1
    pivots = np.diagonal(np.linalg.cholesky(whole), axis1=-2, axis2=-1)  # the last one squared is what is left of q
    return np.asarray(0.5 * size * np.log(2 * np.pi) - np.log(pivots[:, :-1]).sum(-1) - 0.5 * pivots[:, -1] ** 2)


def dense_given(found: Found, scales: Array) -> tuple[Array, Array]:
    """Mean of u at each point, and a root of its covariance: `u = mean + root noise`."""
    whole, _ = quadratics(found, scales)
    turn = found["turn"]
    root = np.linalg.cholesky(whole[:, :-1, :-1])
    inverse = np.swapaxes(np.linalg.inv(root), -1, -2)
    side = np.linalg.solve(root, whole[:, :-1, -1:])
    mean = -(inverse @ side)[..., 0]
    return mean @ turn[:-1, :-1].T + turn[:-1, -1], turn[:-1, :-1] @ inverse


def log_density_given(found: Found, scales: Array, dense: Array, own: Array) -> float:
    """The log density of Gaussian unknowns given those held, at one point."""
    mean, root = dense_given(found, scales)
    away = np.linalg.solve(root[0], dense - mean[0])
    total = -0.5 * (away @ away) - np.linalg.slogdet(root[0])[1] - 0.5 * len(dense) * np.log(2 * np.pi)
    if not found["own"]:
        return float(total)
    gain, noise = own_given(found, scales)
    rows = found["between"][..., :-1] @ dense + found["between"][..., -1]
    centre = -(gain[0][found["kind"]] @ rows[..., None])[..., 0]
    every = noise[0][found["kind"]]
    shaken = np.linalg.solve(every, (own - centre)[..., None])
    log_size = np.log(np.diagonal(every, axis1=-2, axis2=-1)).sum()
    return float(total - 0.5 * (shaken**2).sum() - log_size - 0.5 * own.size * np.log(2 * np.pi))


def own_given(found: Found, scales: Array, some: slice = slice(None)) -> tuple[Array, Array]:
    """For each point and kind of element: the gain of `v = -gain C (u, 1) + root noise`, and that root."""
    weight, root = scales[:, found["of"]], found["root"][some]
    across = np.swapaxes(root, -1, -2)[None] * weight[:, None, None, :]
    lower = np.linalg.cholesky(across @ root[None])
    inverse = np.swapaxes(np.linalg.inv(lower), -1, -2)
    return inverse @ np.swapaxes(inverse, -1, -2) @ across, inverse


def own_moments(found: Found, scales: Array, share: Array, mean: Array, root: Array) -> tuple[Array, Array]:
    """Mean and variance of v over points, whose shares add up to one: over elements, then own columns.

    `mean` and `root` are those of u. With elements pooled, sums over points are made for each kind of element, and
    neither point nor element is in the other's loop.
    """
    about = mean[0] + share @ (mean - mean[0])
    away = mean - about
    lead = len(about) + 1
    squares = np.zeros((len(share), lead, lead))
    squares[:, :-1, :-1] = root @ np.swapaxes(root, -1, -2) + away[:, :, None] * away[:, None, :]
    squares[:, :-1, -1] = squares[:, -1, :-1] = away
    squares[:, -1, -1] = 1.0
    firsts = np.concatenate([away, np.ones((len(share), 1))], axis=1)
    rows = np.array(found["between"])
    rows[..., -1] += rows[..., :-1] @ about
    centre, variance = (np.zeros((len(rows), found["own"])) for _ in range(2))
    kind, count, depth = found["kind"], len(found["root"]), rows.shape[1]
    flat = rows.reshape(len(rows), depth * lead)
    step = max(1, MOST_NUMBERS // (len(share) * depth * depth + depth * depth * lead * lead))
    for start in range(0, count, step):
        some = slice(start, start + step)
        gain, noise = own_given(found, scales, some)
        for r in range(found["own"]):
            one = gain[:, :, r] * share[:, None, None]
            first = np.tensordot(one, firsts, (0, 0)).reshape(-1, depth * lead)
            both = (one[..., None] * gain[:, :, r, None, :]).reshape(len(share), -1)
            second = (both.T @ squares.reshape(len(share), -1)).reshape(-1, depth, depth, lead, lead)
            second = second.transpose(0, 1, 3, 2, 4).reshape(-1, depth * lead, depth * lead)
            own = np.tensordot(share, (noise[:, :, r] ** 2).sum(-1), 1)
            for at, kinds in of_kinds(kind, start, len(second), count):
                centre[at, r] = -(flat[at] * first[kinds]).sum(axis=-1)
                spread = (
                    np.matmul(flat[at][..., None, :], second[kinds])[..., 0, :]
                    if np.ndim(kinds)
                    else flat[at] @ second[kinds]
                )
                variance[at, r] = (spread * flat[at]).sum(axis=-1) + own[kinds] - centre[at, r] ** 2
    return centre, variance


def of_kinds(kind: Array, start: int, many: int, count: int) -> list[tuple[Array, Any]]:
    """Elements with the roots from `start` on: root by root where there are few, else all at once."""
    if count <= MOST_CLASSES:
        return [(np.flatnonzero(kind == start + k), k) for k in range(many)]
    at = np.flatnonzero((kind >= start) & (kind < start + many))
    return [(at, kind[at] - start)]


def matter(share: Array) -> Array:
    """Which points are gone over for moments of what was eliminated: all but a hundred-thousandth of the posterior."""
    order = np.argsort(share)
    return np.sort(order[np.cumsum(share[order]) > 1e-5 * share.sum()])
