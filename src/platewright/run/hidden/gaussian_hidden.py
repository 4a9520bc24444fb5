"""The hidden Gaussians of a plan on given data and parameters: its programs run, and what follows for other steps."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import log, pi, prod

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import ONE
from platewright.backends.kernels.gaussian import (
    blocks_joined,
    conditioned,
    members_joined,
    paired,
    parted,
    points,
    points_about,
    smoothed_gaussians,
)
from platewright.errors import ImproperPosterior
from platewright.family import Array
from platewright.language.plate import beginning
from platewright.program.program import Program
from platewright.run.execute import finish, loaded
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
    def names(self) -> list[str]:
        """The members."""
        return [member.name for member in self.group.members]

    @property
    def shape(self) -> tuple[int, ...]:
        """Elements and levels."""
        return tuple(self.sizes[axis.plate] for axis in self.group.axes)

    @property
    def inner(self) -> dict[str, tuple[int, ...]]:
        """The shape of each member inside an element."""
        return {m.name: tuple(self.sizes[axis.plate] for axis in m.inner) for m in self.group.members}

    @property
    def widths(self) -> list[int]:
        """How many numbers each member has in an element."""
        return [prod(shape) for shape in self.inner.values()]

    @property
    def width(self) -> int:
        """All numbers of an element."""
        return sum(self.widths)

    def parted(self, flat: Array) -> dict[str, Array]:
        """An array over all numbers of an element as one array for each member."""
        return dict(zip(self.names, parted(flat, list(self.inner.values())), strict=True))

    def run(self, program: Program, at: Array, before: Array | None = None) -> dict[str, Array]:
        """A program of the group with its members at given values."""
        given = {**self.everything, **{f"{name}.at": values for name, values in self.parted(at).items()}}
        if before is not None:
            given |= {f"{name}.at.before": values for name, values in self.parted(before).items()}
        return finish(program, loaded(program), {}, given, self.sizes)

    def curved(self, rows: list[str], columns: list[str], computed: Values) -> Array:
        """Blocks of P for versions of the members (now, or one element earlier)."""
        blocks = [[computed[block_name(self.group.name, one, two)] for two in columns] for one in rows]
        return blocks_joined(blocks, self.shape, self.widths)

    def sloped(self, versions: list[str], computed: Values) -> Array:
        """The gradient for versions of the members."""
        found = [computed[gradient_name(self.group.name, name)] for name in versions]
        return members_joined(found, self.shape, self.widths)

    def curvature(self, at: Array) -> tuple[Array, Array]:
        """P and the gradient at given values."""
        computed = self.run(self.group.curvature, at)
        return self.curved(self.names, self.names, computed), self.sloped(self.names, computed)

    def chain_curvature(self, at: Array, before: Array) -> tuple[Array, Array, Array, Array, Array]:
        """Blocks of P about a step, about the step before and across both, and both gradients."""
        now, earlier = self.names, [earlier_name(name) for name in self.names]
        computed = self.run(self.group.curvature, at, before)
        return (
            self.curved(now, now, computed),
            self.curved(earlier, earlier, computed),
            self.curved(earlier, now, computed),
            self.sloped(now, computed),
            self.sloped(earlier, computed),
        )

    def value(self, at: Array, before: Array | None = None) -> Array:
        """The log factors at given values."""
        computed = self.run(self.group.value, at, before)
        return np.asarray(computed[f"{self.group.name}.value"], dtype=float).reshape(self.shape)

    def pointed(self, cloud: Array) -> dict[str, Array]:
        """Points by the names under which statistics look them up; along chains each beside the step before."""
        found = {f"{n}.point": values for n, values in self.parted(cloud[..., : self.width]).items()}
        if self.group.step is not None:
            earlier = self.parted(cloud[..., self.width :])
            found |= {f"{n}.earlier": values for n, values in earlier.items()}
        return found


def condition(group: GaussianGroup, everything: Values, sizes: Sizes) -> Conditioned:
    """The posterior of a group's Gaussians at given parameters."""
    solver = Solver(group, everything, sizes)
    width = solver.width
    try:
        if group.step is None:
            mean, root, log_norm, log_root = conditioned(solver.curvature, solver.value, solver.shape, width)
            cloud = points(mean, root)
        else:
            first = np.asarray(everything[beginning(group.step.plate)])
            mean, pair, root, log_norm, log_root = smoothed_gaussians(
                solver.chain_curvature, solver.value, first, width
            )
            cloud = points(pair, root)
    except np.linalg.LinAlgError as error:
        raise ImproperPosterior(
            f"given the parameters, {', '.join(solver.names)} has no proper distribution", hint="give it a proper prior"
        ) from error
    entropy = 0.5 * width * (1 + log(2 * pi)) - log_root
    arrays = {**solver.pointed(cloud), group.log_norm: log_norm}
    return Conditioned(arrays, log_norm, entropy, solver.parted(mean))


def weighed(group: GaussianGroup, values: Array, everything: Values, sizes: Sizes) -> Array:
    """Values of all elements, each as often as it counts."""
    if group.weight == ONE:
        return values
    return values * evaluate(group.weight, Environment(everything, sizes), group.batch)


def start_points(group: GaussianGroup, means: Values, sizes: Sizes) -> dict[str, Array]:
    """Points about given means with unit variances: where EM may begin. Means have elements, levels, inner axes."""
    solver = Solver(group, {}, sizes)
    flat = members_joined([means[name] for name in solver.names], solver.shape, solver.widths)
    return solver.pointed(points_about(flat if group.step is None else paired(flat)))


def with_points(latent: Latent, sizes: Sizes) -> dict[str, int]:
    """Sizes of plates, and of the points that stand for hidden Gaussians."""
    found = dict(sizes)
    for group in latent.gaussian:
        found[group.point.plate] = 2 * Solver(group, {}, sizes).width * (1 if group.step is None else 2)
    return found
