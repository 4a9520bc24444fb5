"""The posterior of a few numbers by quadrature on rotated lattices around its modes.

    u = mode + L Q (h k + shift),   k whole numbers,   L L' = inverse curvature at the mode,   Q a fixed rotation
    along axes on which the density is all but normal, nodes of Gauss and Hermite instead
    twice: shift 0, and h/2 with one node more; what the two sums differ by tells the error of their mean

Sums with equal weights on a lattice converge faster than any power of h for smooth densities. Around several modes the
density is parted smoothly, p r_j with r_j the share of mode j in a sum of Gaussians, so that each has its own lattice
and its mass. Numbers with ends are taken to the whole line by log and logit.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import product

import numpy as np

from platewright.backends.kernels.fitted import about, fitted, log_student, mixture
from platewright.backends.kernels.held_density import Density_of, Endless, TooMany, Unsettled, fallen, limits
from platewright.backends.kernels.modes import modes_of
from platewright.family import Array

MOST_AXES = 5
"""Of more numbers points are drawn, from a mixture that is fitted to the density."""
STEPS = {1: 0.5, 2: 0.8}
"""How far points are apart at first, in standard deviations; 1 where there are more numbers."""
FINER = 0.7
LEAST_FALL = 0.15
"""What the log density falls at least, one width from a mode; half of one, where it is normal."""
MOST_WIDENED = 12
NORMAL = (0.12, 0.6)
"""How far the log density may be from a parabola, three standard deviations from the mode, for 3 nodes, or for 5."""
MOST_ROUNDS = 20
FARTHEST_CELL = 2000
FAR = 500
"""So many standard deviations from a mode a density should have fallen."""
NARROW = 0.2
"""A mode is narrow whose spread along some axis is so small a part of that of another."""
OVER = 12.0
"""And it lies over the other where it is not so far from it, in standard deviations of the other."""

# -- lattices ----------------------------------------------------------------------------------------------------------


def rotation(count: int) -> Array:
    """A fixed rotation along whose axes no coordinate lies."""
    rows = np.arange(1.0, count + 1)
    return np.linalg.qr(np.sin(7.0 * np.sqrt(rows[:, None] + 1) * np.sqrt(rows + 4)))[0] if count > 1 else np.eye(count)


def over_modes(density: Density_of, tolerance: float, most: int) -> dict[str, Array]:
    """Points, their shares of the posterior, the log of the integral, and what changed last."""
    modes = [(mode, widened(density, mode, root)) for mode, root in modes_of(density, most)]
    count = len(density.ends)
    if count > MOST_AXES:
        return fitted(density, modes, most)
    parts = Parts(density, modes)
    nodes = nodes_along(density, *modes[0]) if len(modes) == 1 else np.zeros(count, dtype=int)
    step = STEPS.get(int(np.count_nonzero(nodes == 0)), 1.0)
    halves, before = [], (step, nodes)
    while True:
        try:
            halves = [on_lattices(density, parts, nodes + k * (nodes > 0), step, 0.5 * k, most) for k in (0, 1)]
        except TooMany:
            if not halves:
                raise
            step, nodes = before  # the error of what there is tells how far it is off
            break
        before = step, nodes
        error = difference(*halves)
        size = sum(len(half[0]) for half in halves)
        total = float(np.logaddexp.reduce(np.concatenate([half[1] for half in halves])))
        over = parts.overlooked(density, total - np.log(2.0))
        if error < tolerance or over > tolerance or size * FINER**-count > most:
            break
        step, nodes = step * FINER, np.where(nodes >= 5, 0, nodes + 2 * (nodes > 0))
    u, logs = (np.concatenate([half[k] for half in halves]) for k in (0, 1))
    cell = np.concatenate([halves[0][2], halves[1][2] + halves[0][2].max() + 1])
    part = np.concatenate([half[3] for half in halves])
    share = np.exp(logs - total)
    return {"u": u, "share": share, "log_evidence": np.asarray(total - np.log(2.0)), "error": np.asarray(error + over),
            "step": np.asarray(step), "is_line": nodes == 0,
            "modes": np.array([mode for mode, _ in modes]), "roots": np.array([root for _, root in modes]),
            "freedom": np.asarray(0.0), **components(u, share, cell, part)}  # fmt: skip


def widened(density: Density_of, mode: Array, root: Array) -> Array:
    """The root of a mode with axes that reach to where the density has fallen: at an edge curvature says too little."""
    top, sizes = density(mode[None])[0], np.ones(len(mode))
    for _ in range(MOST_WIDENED):
        ends = np.concatenate([mode + (root * sizes).T, mode - (root * sizes).T])
        fallen_by = top - np.maximum(density(ends), -1e300).reshape(2, -1).mean(axis=0)
        if not (too_near := fallen_by < LEAST_FALL).any():
            break
        sizes = np.where(too_near, 2.0 * sizes, sizes)
    return root * sizes


def components(u: Array, share: Array, cell: Array, part: Array) -> dict[str, Array]:
    """For each cell of the lattice its share, mean and variance over the nodes in it, and the mode it is of."""
    _, first, kind = np.unique(cell, return_index=True, return_inverse=True)
    whole = np.bincount(kind, share)
    mean = np.stack([np.bincount(kind, share * column) / whole for column in u.T], axis=1)
    away = (u - mean[kind]) ** 2
    variance = np.stack([np.bincount(kind, share * column) / whole for column in away.T], axis=1)
    return {"cell_share": whole, "cell_mean": mean, "cell_variance": variance, "cell_mode": part[first]}


def nodes_along(density: Density_of, mode: Array, root: Array) -> Array:
    """How many nodes of Gauss and Hermite do along each axis of the mode; 0 where the density is not that normal."""
    count = len(mode)
    if count == 1:
        return np.zeros(1, dtype=int)
    far = np.array([-3.0, -1.5, 1.5, 3.0])
    points = mode + np.concatenate([np.outer(far, axis) for axis in root.T])
    away = np.abs(density(points).reshape(count, 4) - density(mode[None]) + 0.5 * far**2)
    most = away.max(axis=1)
    return np.where(most < NORMAL[0], 3, np.where(most < NORMAL[1], 5, 0))


def difference(first: tuple[Array, ...], second: tuple[Array, ...]) -> float:
    """The largest change of the log evidence, and of means and standard deviations in units of the latter."""
    totals = [np.logaddexp.reduce(half[1]) for half in (first, second)]
    shares = [np.exp(half[1] - total) for half, total in zip((first, second), totals, strict=True)]
    means = [share @ half[0] for half, share in zip((first, second), shares, strict=True)]
    pairs = zip((first, second), shares, means, strict=True)
    spreads = [np.sqrt(share @ (half[0] - mean) ** 2) for half, share, mean in pairs]
    found = [
        abs(totals[0] - totals[1]),
        *np.abs(means[0] - means[1]) / spreads[0],
        *np.abs(spreads[1] / spreads[0] - 1),
    ]
    return 0.5 * float(np.max(np.nan_to_num(found, nan=np.inf)))


def on_lattices(
    density: Density_of, parts: Parts, nodes: Array, step: float, shift: float, most: int
) -> tuple[Array, Array, Array, Array]:
    """Points around every mode, the logs of their parts of the integral, the cell and the mode each is of."""
    lines = np.flatnonzero(nodes == 0)
    away, log_weight = hermite([int(node) for node in nodes if node])
    found: list[tuple[Array, Array, Array, Array]] = []
    for number, (mode, root) in enumerate(parts.modes):
        way = np.concatenate([root[:, lines] @ rotation(len(lines)), root[:, nodes > 0]], axis=1)
        size = np.linalg.slogdet(root)[1] + len(lines) * np.log(step)

        def height(cells: Array, number: int = number, mode: Array = mode, way: Array = way) -> tuple[Array, Array]:
            along = np.repeat(step * (cells + shift), len(away), axis=0)
            u = mode + np.concatenate([along, np.tile(away, (len(cells), 1))], axis=1) @ way.T
            logs = density(u) + np.tile(log_weight, len(cells))
            return u, logs + parts.share(u)[number] if len(parts.modes) > 1 else logs

        u, logs = explored(height, len(lines), len(away), step, limits(density.ends), most)
        cell = np.repeat(np.arange(len(u) // len(away)), len(away))
        found.append((u, logs + size, cell + sum(len(other[2]) for other in found), np.full(len(u), number)))
    u, logs, cell, part = (np.concatenate([one[k] for one in found]) for k in range(4))
    kept = logs > logs.max() - fallen(len(nodes)) - 3.0
    return u[kept], logs[kept], cell[kept], part[kept]


def hermite(counts: Sequence[int]) -> tuple[Array, Array]:
    """The nodes of a product rule for normal densities, and the logs of their weights beside the density."""
    rules = [np.polynomial.hermite_e.hermegauss(count) for count in counts]
    places = list(product(*[range(count) for count in counts]))
    away = np.array([[rule[0][k] for rule, k in zip(rules, place, strict=True)] for place in places])
    away = away.reshape(len(places), len(counts))
    weights = [sum(np.log(rule[1][k]) for rule, k in zip(rules, place, strict=True)) for place in places]
    return away, np.array(weights) + 0.5 * (away**2).sum(axis=1)


class Parts:
    """The shares of several modes in the density: those of wide Gaussians about them.

    Where one mode is far narrower than another, of the Gaussians that fit their tops, so that beneath it the wider one
    is left as if it were not there.
    """

    def __init__(self, density: Density_of, modes: Sequence[tuple[Array, Array]]) -> None:
        self.modes = modes
        self.narrow = sorted({i for i, one in enumerate(modes) for other in modes if is_narrow(one, other)})
        self.wide = 1.0 if self.narrow else 2.0
        self.levels = -np.array([np.linalg.slogdet(root)[1] for _, root in modes])
        if self.narrow:
            self.levels = density(np.array([mode for mode, _ in modes]))

    def share(self, u: Array) -> Array:
        """The logs of the shares of all modes."""
        away = [(np.linalg.solve(root, (u - mode).T) ** 2).sum(axis=0) for mode, root in self.modes]
        logs = self.levels[:, None] - 0.5 * np.array(away) / self.wide**2
        return np.asarray(logs - np.logaddexp.reduce(logs, axis=0))

    def overlooked(self, density: Density_of, total: float) -> float:
        """At most so much of the integral is in narrow modes, not of their Gaussians: wide lattices have gaps there."""
        at = np.linspace(-12.0, 12.0, 97)
        outside, lost = np.abs(at) > 7.0, 0.0
        for number in self.narrow:
            mode, root = self.modes[number]
            for axis in root.T:
                u = mode + np.outer(at, axis)
                rest = density(u) + np.logaddexp.reduce(np.delete(self.share(u), number, axis=0), axis=0)
                smooth = np.polyval(np.polyfit(at[outside], np.maximum(rest[outside], -1e9), 3), at)
                over = np.abs(np.exp(rest - total) - np.exp(smooth - total))[~outside].max()
                lost += float(over * np.exp(np.linalg.slogdet(14.0 * root)[1]))
        return min(lost, 1.0) if np.isfinite(lost) else 1.0


def is_narrow(one: tuple[Array, Array], other: tuple[Array, Array]) -> bool:
    """Whether a mode lies over another one and is far narrower."""
    turned = np.linalg.solve(other[1], np.column_stack([one[1], one[0] - other[0]]))
    return bool(np.linalg.svd(turned[:, :-1])[1].min() < NARROW and np.linalg.norm(turned[:, -1]) < OVER)


def explored(
    height: Callable[[Array], tuple[Array, Array]], count: int, nodes: int, step: float, ends: Array, most: int
) -> tuple[Array, Array]:
    """All cells that matter: those of a ball at once, then outwards, wave after wave, while they matter."""
    radius = np.sqrt(2 * fallen(len(ends))) / step
    reach = np.arange(-int(radius) - 1, int(radius) + 2)
    cells = np.stack(np.meshgrid(*[reach] * count, indexing="ij"), axis=-1) if count else np.zeros((1, 0), dtype=int)
    cells = cells.reshape(-1, count) if count else cells
    cells = cells[(cells**2).sum(axis=1) <= (0.75 * radius) ** 2 + 1]
    moves = np.concatenate([np.eye(count, dtype=int), -np.eye(count, dtype=int)])
    code = 4001 ** np.arange(count)  # cells as whole numbers
    seen = np.zeros(0, dtype=np.int64)
    points, logs, top, total = [], [], -np.inf, 0
    while len(cells):
        total += len(cells) * nodes
        if total > most:
            raise TooMany(f"more than {most:,} points")
        u, found = height(cells)
        if np.abs(cells).max(initial=0) >= FARTHEST_CELL or (np.abs(u) > ends).any():
            far = round(FARTHEST_CELL * step)
            if far < FAR and (np.abs(u) <= ends).all():
                raise Unsettled(f"more than {FARTHEST_CELL:,} points along a line")
            raise Endless(f"the density has not fallen {far:,} standard deviations from a mode, or where numbers end")
        points.append(u)
        logs.append(found)
        if not count:
            break
        seen = np.concatenate([seen, cells @ code])
        whole = np.logaddexp.reduce(found.reshape(len(cells), nodes), axis=1)
        top = max(top, float(whole.max()))
        matter = cells[whole > top - fallen(len(ends))]
        around = np.setdiff1d(((matter[:, None] + moves).reshape(-1, count) @ code).ravel(), seen)
        cells = np.empty((len(around), count), dtype=np.int64)
        for k in reversed(range(count)):
            cells[:, k] = np.floor_divide(around + code[k] // 2, code[k])
            around = around - cells[:, k] * code[k]
    return np.concatenate(points), np.concatenate(logs)


# -- draws -------------------------------------------------------------------------------------------------------------


def drawn_from(density: Density_of, found: Mapping[str, Array], count: int, generator: np.random.Generator) -> Array:
    """Independent draws of the coordinates: a cell by its share, a Gaussian step about it, taken or refused.

    The proposal is the mixture of the steps' densities; a draw is taken with the ratio of the posterior to it.
    """
    proposal = Students(found) if found.get("freedom", 0.0) else Proposal(found)
    taken: list[Array] = []
    missing, most, rounds = count, -np.inf, 0
    while missing > 0:
        if (rounds := rounds + 1) > MOST_ROUNDS and missing == count:
            raise Unsettled("no draw about the points has a probability above zero")
        tries = max(200, 2 * missing)
        u = proposal.about(generator.choice(len(proposal.share), size=tries, p=proposal.share), generator)
        ratio = density(u) - proposal.log_density(u)
        most = max(most, float(np.quantile(ratio, 0.999)))
        good = u[np.log(generator.random(tries)) < ratio - most]
        taken.append(good[:missing])
        missing -= len(taken[-1])
    return np.concatenate(taken)


def drawn_among(
    density: Density_of, found: Mapping[str, Array], count: int, distinct: int, generator: np.random.Generator
) -> Array:
    """Draws of the coordinates among few points, where a point costs more than a draw.

    As many points as are distinct come evenly from the cells, two on opposite sides of each place; draws are
    taken of them with the ratios of the posterior to the proposal.
    """
    proposal = Proposal(found)
    half = distinct // 2
    places = (np.arange(half) + generator.random()) / half
    chosen = np.minimum(np.searchsorted(np.cumsum(proposal.share), places), len(proposal.share) - 1)
    u = proposal.about(chosen, generator)
    u = np.concatenate([u, 2 * proposal.points[chosen] - u])
    ratio = density(u) - proposal.log_density(u)
    if ratio.max() == -np.inf:
        raise Unsettled("no draw about the points has a probability above zero")
    weight = np.exp(ratio - ratio.max())
    return u[generator.choice(len(u), size=count, p=weight / weight.sum())]


class Proposal:
    """The mixture of Gaussian steps about the cells, each as wide as the lattice of its mode asks for."""

    def __init__(self, found: Mapping[str, Array]) -> None:
        self.roots = found["roots"] * np.where(found["is_line"], 0.7 * float(found["step"]), 1.1)
        share = found["cell_share"]
        kept = share > 1e-9 * share.max()
        self.points, self.mode = found["cell_mean"][kept], found["cell_mode"][kept]
        self.share = share[kept] / share[kept].sum()

    def about(self, chosen: Array, generator: np.random.Generator) -> Array:
        """One step about each of some cells."""
        shaken = generator.standard_normal((len(chosen), self.points.shape[1], 1))
        return self.points[chosen] + (self.roots[self.mode[chosen]] @ shaken)[..., 0]

    def log_density(self, u: Array) -> Array:
        """The log density of the mixture."""
        found = np.zeros(len(u))
        for number, root in enumerate(self.roots):
            of = self.mode == number
            if not of.any():
                continue
            inverse, centre = np.linalg.inv(root), self.points[of][0]
            size = np.exp(-np.linalg.slogdet(root / np.abs(self.roots[0]).max())[1])
            away, turned = (u - centre) @ inverse.T, (self.points[of] - centre) @ inverse.T
            for part in range(0, len(u), 500):
                near = ((away[part : part + 500, None] - turned) ** 2).sum(axis=-1)
                found[part : part + 500] += np.exp(-0.5 * near) @ self.share[of] * size
        return np.log(np.maximum(found, 1e-300))


class Students:
    """The mixture of Student t that points of many numbers were drawn from."""

    def __init__(self, found: Mapping[str, Array]) -> None:
        self.parts = list(zip(found["modes"], found["roots"], strict=True))
        mass = np.bincount(found["cell_mode"], found["cell_share"], len(self.parts))
        self.share = (mass + 0.01) / (mass + 0.01).sum()

    def about(self, chosen: Array, generator: np.random.Generator) -> Array:
        """A draw from each of some parts."""
        counts = np.bincount(chosen, minlength=len(self.parts))
        drawn = [about(part, count, generator) for part, count in zip(self.parts, counts, strict=True)]
        return generator.permutation(np.concatenate(drawn))

    def log_density(self, u: Array) -> Array:
        """The log density of the mixture."""
        return mixture(np.stack([log_student(u, part) for part in self.parts]), self.share)
