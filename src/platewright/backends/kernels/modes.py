"""The modes of a density over a few coordinates, each with a root of its inverse curvature, whatever their scale.

    place    a top along each axis among signed powers of ten, and the vertices of parabolas through them
    frame    u = centre + size t,  size the spread along each axis: differences and steps are made in t
    climb    Newton's steps in the frame, whose sizes follow the curvature
    beside   lines through every mode along its axes, near ones evenly and far ones by powers, for tops of another width

Coordinates that are logs or logits have size 1 to begin with; plain numbers may have any.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from platewright.backends.kernels.held_density import Density_of, Endless, Unsettled, fallen, is_open, limits
from platewright.family import Array

STARTS = (-8.0, -3.0, -1.0, 0.0, 1.0, 3.0, 8.0)
EDGES = (-5.5, 3.5)
"""Where the highest start lies beyond, another frame is looked for."""
MOST_STARTS = 400
MOST_MODES = 6
POWERS = tuple(10.0**k for k in range(-14, 16))
"""Moves of plain numbers."""
DOUBLES = tuple(2.0**k for k in range(-3, 6))
"""Moves of logs and logits."""
LINE = 1600
"""Places on a line through a mode of one number; fewer where there are more."""
LEAST = 30
"""And never fewer."""
LINE_REACH = 8.0
"""How far they lie evenly, in standard deviations."""
SOME_DECADES = 10.0
"""How far lines go along logs and logits."""
SHRUNK = 0.05
"""Sizes follow the curvature where a spread is so small a part of them."""

Mode = tuple[Array, Array]


def modes_of(density: Density_of, most: int) -> list[Mode]:
    """The modes that matter, the highest first, each with a root of its inverse curvature."""
    count = len(density.ends)
    centre, sizes, begin = np.zeros(count), np.ones(count), []
    if not is_open(density.ends).any():
        begin = starts(density, centre, sizes)
    if not begin or (begin[0] <= EDGES[0]).any() or (begin[0] >= EDGES[1]).any():
        centre, sizes = high_place(density)
        begin = starts(density, centre, sizes)
    found = distinct([climbed(density, start, sizes) for start in begin])
    looked: list[Array] = []
    near = min(LINE // 4 ** (count - 1), most // (20 * count)) + LEAST
    while fresh := [top for top in found if not any(top[1] is mode for mode in looked)]:
        looked += [mode for _, mode, _ in fresh]
        bumps = [bump for _, mode, root in fresh for bump in beside(density, mode, root, near)]
        found = distinct([*found, *(climbed(density, start, sizes) for start, sizes in bumps)])
    return [(mode, root) for _, mode, root in found]


def distinct(tops: list[tuple[float, Array, Array]]) -> list[tuple[float, Array, Array]]:
    """Each top once, the highest first, without those too low to matter."""
    ranked = sorted(tops, key=lambda top: -top[0])
    found: list[tuple[float, Array, Array]] = []
    for height, mode, root in ranked:
        near = any(
            np.linalg.norm(np.linalg.solve(other_root, mode - other)) < 1.0
            and np.linalg.norm(np.linalg.solve(root, mode - other)) < 1.0
            for _, other, other_root in found
        )
        if not near and height > ranked[0][0] - fallen(len(mode)) and len(found) < MOST_MODES:
            found.append((height, mode, root))
    return found


# -- where climbs begin ------------------------------------------------------------------------------------------------


def high_place(density: Density_of) -> tuple[Array, Array]:
    """A high place, and the spread of plain numbers along their axes there."""
    plain = is_open(density.ends)
    centre, sizes = np.zeros(len(plain)), np.ones(len(plain))
    moves = [np.array(POWERS if is_plain else DOUBLES) for is_plain in plain]
    height = float(density(centre[None])[0])
    for _ in range(60):
        changes = [along(density, centre, k, steps) for k, steps in enumerate(moves)]
        trials, heights = highest(density, centre, height, moves, changes)
        best = int(np.argmax(heights))
        if heights[best] == -np.inf:
            raise Unsettled("the data have probability zero wherever it was looked")
        gained = heights[best] - height
        if not gained > 0.1:
            break
        centre, height = trials[best], float(heights[best])
        if (np.abs(centre) > limits(density.ends)).any():
            raise Endless("the density rises without end")
    for k in np.flatnonzero(plain):
        sizes[k] = spread_along(density, centre, int(k), moves[k])
    return centre, sizes


def along(density: Density_of, centre: Array, axis: int, steps: Array) -> Array:
    """Heights at moves up and down an axis."""
    up = np.zeros((len(steps), len(centre)))
    up[:, axis] = steps
    return density(np.concatenate([centre + up, centre - up])).reshape(2, -1)


def highest(
    density: Density_of, centre: Array, height: float, moves: list[Array], changes: list[Array]
) -> tuple[Array, Array]:
    """Trials along each axis: the best move, the vertices of parabolas; and the best of all axes at once."""
    trials, heights, joint = [], [], centre.copy()
    for k, (steps, (up, down)) in enumerate(zip(moves, changes, strict=True)):
        with np.errstate(all="ignore"):
            bend = 2 * height - up - down
            vertex = 0.5 * steps * (up - down) / bend
        vertex = vertex[np.isfinite(vertex) & (bend > 0)]
        points = np.tile(centre, (len(vertex), 1))
        points[:, k] += vertex
        ways = np.concatenate([steps, -steps, vertex])
        levels = np.concatenate([up, down, density(points) if len(vertex) else np.zeros(0)])
        best = int(np.argmax(levels))
        if levels[best] > height or height == -np.inf:
            joint[k] += ways[best]
        trial = centre.copy()
        trial[k] += ways[best]
        trials.append(trial)
        heights.append(levels[best])
    return np.array([*trials, joint]), np.array([*heights, density(joint[None])[0]])


def spread_along(density: Density_of, centre: Array, axis: int, steps: Array) -> float:
    """The spread of the density along an axis: from the largest move that lowers it by less than two."""
    height = float(density(centre[None])[0])
    drop = height - 0.5 * along(density, centre, axis, steps).sum(axis=0)
    seen = np.flatnonzero(drop > 1e-3)
    if not len(seen):
        raise Endless("the density does not fall as far as numbers go")
    small = seen[drop[seen] <= 2.0]
    chosen = small[-1] if len(small) else seen[0]
    return float(steps[chosen] / np.sqrt(2 * drop[chosen])) if np.isfinite(drop[chosen]) else float(steps[chosen])


def starts(density: Density_of, centre: Array, sizes: Array) -> list[Array]:
    """Where climbs begin: points of a wide grid above their neighbours, or the highest of scattered ones."""
    count = len(density.ends)
    if len(STARTS) ** count <= MOST_STARTS:
        places = np.array(list(product(range(len(STARTS)), repeat=count)))
        heights = density(centre + sizes * np.array(STARTS)[places]).reshape((len(STARTS),) * count)
        above = heights > -np.inf
        for axis in range(count):
            padded = np.pad(heights, [(1, 1) if k == axis else (0, 0) for k in range(count)], constant_values=-np.inf)
            above &= (heights >= np.take(padded, range(len(STARTS)), axis)) & (
                heights >= np.take(padded, range(2, len(STARTS) + 2), axis)
            )
        points = np.array(STARTS)[np.argwhere(above)]
        ranked = points[np.argsort(-heights[above], kind="stable")]
    else:
        steps = np.arange(1, MOST_STARTS + 1)[:, None] * np.sqrt(primes(count))
        points = np.concatenate([np.zeros((1, count)), 10.0 * (steps % 1.0) - 6.0])
        heights = density(centre + sizes * points)
        ranked = points[np.argsort(-heights, kind="stable")][: np.count_nonzero(heights > -np.inf)]
    if not len(ranked):
        raise Unsettled("the data have probability zero wherever it was looked")
    found = [ranked[0]]
    for point in ranked[1:]:
        if len(found) < MOST_MODES and min(np.abs(point - other).max() for other in found) > 1.5:
            found.append(point)
    return [centre + sizes * point for point in found]


def primes(count: int) -> list[int]:
    """The first prime numbers."""
    found: list[int] = []
    number = 2
    while len(found) < count:
        if all(number % other for other in found):
            found.append(number)
        number += 1
    return found


def beside(density: Density_of, mode: Array, root: Array, near: int) -> list[tuple[Array, Array]]:
    """Places and sizes of bumps on lines through a mode: evenly about it, and far from it by powers."""
    far = np.geomspace(LINE_REACH, 1e5, near // 12)[1:]
    at = np.concatenate([-far[::-1], np.linspace(-LINE_REACH, LINE_REACH, near), far])
    lines = mode + at[:, None] * root.T[:, None]
    reach = np.where(is_open(density.ends), np.inf, SOME_DECADES)
    inside = (np.abs(lines - mode) <= reach).all(axis=-1) & (np.abs(lines) <= limits(density.ends)).all(axis=-1)
    heights = np.full(inside.shape, -np.inf)
    heights[inside] = density(lines[inside])
    found = []
    for axis, level in enumerate(heights):
        with np.errstate(invalid="ignore"):
            above = (level[1:-1] > level[:-2]) & (level[1:-1] > level[2:]) & (np.abs(at[1:-1]) > 2 * at_most(at))
        for place in np.flatnonzero(above)[np.argsort(-level[1:-1][above])][:4] + 1:
            gap = min(at[place] - at[place - 1], at[place + 1] - at[place])
            found.append((lines[axis, place], gap * np.sqrt((root**2).sum(axis=1))))
    return found


def at_most(at: Array) -> float:
    """The smallest distance of neighbours."""
    return float(np.diff(at).min())


# -- climbs ------------------------------------------------------------------------------------------------------------


def climbed(density: Density_of, start: Array, sizes: Array) -> tuple[float, Array, Array]:
    """The top near a start by Newton's steps, all differences and trials of a step at once."""
    mode, height = start, float(density(start[None])[0])
    for _ in range(60):
        slope, curvature = differences(density, mode, sizes)
        values, vectors = np.linalg.eigh(curvature)
        root = vectors / np.sqrt(np.maximum(np.abs(values), 1e-3))
        step = root @ (root.T @ slope)
        step *= min(1.0, 3.0 / max(np.abs(step).max(), 1e-300))
        trials = mode + sizes * np.outer([2.0, 1.0, 0.5, 0.25, 0.1, 0.02, 0.002], step)
        heights = density(trials)
        best = int(np.argmax(heights))
        framed = reframed(density, curvature, sizes)
        if not heights[best] > height and (framed == sizes).all():
            break
        gained = heights[best] - height
        if gained > 0:
            mode, height = trials[best], float(heights[best])
        if gained < 1e-7 and (framed == sizes).all():
            break
        sizes = framed
        if (np.abs(mode) > limits(density.ends)).any():
            raise Endless("the density rises without end")
    _, curvature = differences(density, mode, sizes)
    values, vectors = np.linalg.eigh(curvature)
    return height, mode, sizes[:, None] * vectors / np.sqrt(np.maximum(values, 0.04))


def reframed(density: Density_of, curvature: Array, sizes: Array) -> Array:
    """Sizes that follow the spread along each axis: far smaller ones, and of plain numbers far larger ones."""
    bend = np.diag(curvature)
    with np.errstate(all="ignore"):
        spread = np.where(bend > 0, 1 / np.sqrt(bend), 3.0)
    plain = is_open(density.ends)
    wide = np.where(plain, np.minimum(spread, 10.0), np.minimum(1.0 / sizes, np.minimum(spread, 10.0)))
    return sizes * np.where((bend > 0) & (spread < SHRUNK), np.maximum(spread, 1e-4), np.where(wide > 2.5, wide, 1.0))


def differences(density: Density_of, at: Array, sizes: Array) -> tuple[Array, Array]:
    """Slope and curvature (of minus the log density) in the frame by central differences, in one call."""
    count, width = len(at), 2e-3
    eye = np.eye(count) * width
    pairs = [(i, j) for i in range(count) for j in range(i)]
    moves = [np.zeros(count), *eye, *-eye, *(eye[i] + eye[j] for i, j in pairs), *(-eye[i] - eye[j] for i, j in pairs)]
    found = np.maximum(density(at + sizes * np.array(moves)), -1e300)
    top, up, down = found[0], found[1 : count + 1], found[count + 1 : 2 * count + 1]
    curvature = np.diag(-(up - 2 * top + down)) / width**2
    both = found[2 * count + 1 :].reshape(2, -1).sum(axis=0)
    for (i, j), two in zip(pairs, both, strict=True):
        mixed = (two - up[i] - up[j] - down[i] - down[j] + 2 * top) / (2 * width**2)
        curvature[i, j] = curvature[j, i] = -mixed
    return (up - down) / (2 * width), curvature
