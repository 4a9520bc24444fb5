"""Condition hidden Gaussians on the data, element by element: mean, covariance as points, and the log integral.

P u = g          from curvature and gradient at zero, then once more from the gradient at the mean, which takes out
                 the rounding of data far from zero
log integral     log factors at the mean + (d/2) log 2 pi - log |P| / 2
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log, pi, prod

import numpy as np

from platewright.errors import ImproperPosterior
from platewright.family import Array
from platewright.language.plate import beginning
from platewright.program.program import Program
from platewright.run.execute import finish, loaded
from platewright.run.hidden.gaussian_chain import ChainSystem
from platewright.schemas.gaussian_hidden import GaussianGroup, block_name, gradient_name
from platewright.schemas.hidden import earlier_name
from platewright.schemas.latent import Latent

Sizes = Mapping[str, int]
Values = Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class Conditioned:
    """What the other steps need of a group: arrays by name, its log integrals and entropies, and its means."""

    arrays: dict[str, Array]
    log_norm: Array
    entropy: Array
    means: dict[str, Array]


@dataclass(frozen=True, eq=False)
class Solver:
    """A group on given data and parameters."""

    group: GaussianGroup
    everything: Values
    sizes: Sizes

    @property
    def shape(self) -> tuple[int, ...]:
        """Elements and levels."""
        return tuple(self.sizes[axis.plate] for axis in self.group.axes)

    @property
    def widths(self) -> dict[str, int]:
        """How many numbers each member has in an element."""
        return {m.name: prod(self.sizes[axis.plate] for axis in m.inner) for m in self.group.members}

    @property
    def width(self) -> int:
        """All numbers of an element."""
        return sum(self.widths.values())

    def run(self, program: Program, at: Array | None, before: Array | None) -> dict[str, Array]:
        """A program of the group with its members at given values."""
        given = dict(self.everything)
        for member, values in self.parted(np.zeros((*self.shape, self.width)) if at is None else at).items():
            given[f"{member}.at"] = values
        if self.group.step is not None:
            for member, values in self.parted(
                np.zeros((*self.shape, self.width)) if before is None else before
            ).items():
                given[f"{member}.at.before"] = values
        return finish(program, loaded(program), {}, given, self.sizes)

    def parted(self, flat: Array) -> dict[str, Array]:
        """An array over all numbers of an element as one array for each member."""
        found = {}
        start = 0
        for member in self.group.members:
            width = self.widths[member.name]
            inner = [self.sizes[axis.plate] for axis in member.inner]
            found[member.name] = flat[..., start : start + width].reshape(*flat.shape[:-1], *inner)
            start += width
        return found

    def joined(self, parts: list[list[Array]]) -> Array:
        """Blocks as one matrix."""
        return np.concatenate([np.concatenate(row, axis=-1) for row in parts], axis=-2)

    def curvature(self, rows: list[str], columns: list[str], computed: Values) -> Array:
        """Blocks of P for versions of the members (now, or one element earlier)."""
        widths = [*self.widths.values()]
        blocks = []
        for one, high in zip(rows, widths, strict=True):
            row = []
            for two, wide in zip(columns, widths, strict=True):
                found = np.asarray(computed[block_name(self.group.name, one, two)], dtype=float)
                row.append(found.reshape(*self.shape, high, wide))
            blocks.append(row)
        return self.joined(blocks)

    def gradient(self, versions: list[str], computed: Values) -> Array:
        """The gradient for versions of the members."""
        parts = []
        for name, wide in zip(versions, self.widths.values(), strict=True):
            found = np.asarray(computed[gradient_name(self.group.name, name)], dtype=float)
            parts.append(found.reshape(*self.shape, wide))
        return np.concatenate(parts, axis=-1)

    def value(self, at: Array, before: Array | None) -> Array:
        """The log factors at given values."""
        computed = self.run(self.group.value, at, before)
        return np.asarray(computed[f"{self.group.name}.value"], dtype=float).reshape(self.shape)


def condition(group: GaussianGroup, everything: Values, sizes: Sizes) -> Conditioned:
    """The posterior of a group's Gaussians at given parameters."""
    solver = Solver(group, everything, sizes)
    try:
        return _along_chain(solver) if group.step is not None else _apart(solver)
    except np.linalg.LinAlgError as error:
        names = ", ".join(member.name for member in group.members)
        raise ImproperPosterior(
            f"given the parameters, {names} has no proper distribution", hint="give it a proper prior"
        ) from error


def _apart(solver: Solver) -> Conditioned:
    """Elements that do not depend on each other."""
    group = solver.group
    names = [member.name for member in group.members]
    first = solver.run(group.curvature, None, None)
    root = np.linalg.cholesky(solver.curvature(names, names, first))
    inverse_root = np.linalg.inv(root)
    covariance_root = np.swapaxes(inverse_root, -1, -2)

    def solved(gradient: Array) -> Array:
        return np.einsum("...ij,...j->...i", covariance_root, np.einsum("...ij,...j->...i", inverse_root, gradient))

    mean = solved(solver.gradient(names, first))
    mean = mean + solved(solver.gradient(names, solver.run(group.curvature, mean, None)))
    log_root = np.log(np.diagonal(root, axis1=-2, axis2=-1)).sum(axis=-1)
    width = solver.width
    log_norm = solver.value(mean, None) + 0.5 * width * log(2 * pi) - log_root
    entropy = 0.5 * width * (1 + log(2 * pi)) - log_root
    arrays = {f"{n}.point": values for n, values in solver.parted(points(mean, covariance_root)).items()}
    means = solver.parted(mean)
    return Conditioned({**arrays, group.log_norm: log_norm}, log_norm, entropy, means)


def points(mean: Array, root: Array) -> Array:
    """As many points as twice the dimension, whose mean and covariance are `mean` and `root root'`."""
    spread = np.sqrt(mean.shape[-1]) * np.swapaxes(root, -1, -2)
    return np.concatenate([mean[..., None, :] + spread, mean[..., None, :] - spread], axis=-2)


def _along_chain(solver: Solver) -> Conditioned:
    """Elements that depend on their neighbours: filtering forwards, smoothing backwards."""
    group = solver.group
    now = [member.name for member in group.members]
    earlier = [earlier_name(name) for name in now]
    assert group.step is not None
    first = np.asarray(solver.everything[beginning(group.step.plate)]) != 0
    computed = solver.run(group.curvature, None, None)
    system = ChainSystem.eliminated(
        solver.curvature(now, now, computed),
        solver.curvature(earlier, earlier, computed),
        solver.curvature(earlier, now, computed),
        first,
    )
    mean = np.zeros((*solver.shape, solver.width))
    for _ in range(2):
        mean = mean + system.solved(solver.gradient(now, computed), solver.gradient(earlier, computed))
        computed = solver.run(group.curvature, mean, system.earlier(mean))
    log_root = system.log_root
    width = solver.width
    log_norm = solver.value(mean, system.earlier(mean)) + 0.5 * width * log(2 * pi) - log_root
    entropy = 0.5 * width * (1 + log(2 * pi)) - log_root
    pair, root = np.concatenate([mean, system.earlier(mean)], axis=-1), system.pair_root()
    cloud = points(pair, root)
    arrays = {f"{n}.point": values for n, values in solver.parted(cloud[..., :width]).items()}
    arrays |= {f"{n}.earlier": values for n, values in solver.parted(cloud[..., width:]).items()}
    return Conditioned({**arrays, group.log_norm: log_norm}, log_norm, entropy, solver.parted(mean))


def start_points(group: GaussianGroup, means: Values, sizes: Sizes) -> dict[str, Array]:
    """Points about given means with unit variances: where EM may begin. Means have elements, levels, inner axes."""
    solver = Solver(group, {}, sizes)
    rank = len(solver.shape)
    parts = [means[member.name] for member in group.members]
    flat = np.concatenate([part.reshape(*solver.shape, prod(part.shape[rank:])) for part in parts], axis=-1)
    width = solver.width
    if group.step is None:
        cloud = points(flat, np.broadcast_to(np.eye(width), (*solver.shape, width, width)))
        return {f"{n}.point": values for n, values in solver.parted(cloud).items()}
    pair = np.concatenate([flat, np.concatenate([flat[:1], flat[:-1]])], axis=-1)
    cloud = points(pair, np.broadcast_to(np.eye(2 * width), (*solver.shape, 2 * width, 2 * width)))
    found = {f"{n}.point": values for n, values in solver.parted(cloud[..., :width]).items()}
    return found | {f"{n}.earlier": values for n, values in solver.parted(cloud[..., width:]).items()}


def with_points(latent: Latent, sizes: Sizes) -> dict[str, int]:
    """Sizes of plates, and of the points that stand for hidden Gaussians."""
    found = dict(sizes)
    for group in latent.gaussian:
        found[group.point.plate] = 2 * Solver(group, {}, sizes).width * (1 if group.step is None else 2)
    return found
