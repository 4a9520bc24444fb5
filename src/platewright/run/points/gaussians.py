"""Gaussian unknowns given points of the numbers that were held: mixtures over all points, and draws."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from platewright.backends.kernels import eliminated as kernel
from platewright.errors import SizeError
from platewright.family import Array
from platewright.graph.graph import Graph
from platewright.run.points.loaded import Eliminated
from platewright.run.points.shapes import arrays_of, columns_from

COMPONENTS = 400
MOST_NUMBERS = 20_000_000
"""Numbers in the components of an unknown with many elements; there are fewer of them then."""
MOST_DRAWN = 2**30
"""Bytes of draws that are made at once."""


@dataclass(frozen=True, eq=False)
class Gaussians:
    """An elimination with points of the held numbers and their shares."""

    graph: Graph
    eliminated: Eliminated
    sizes: Mapping[str, int]
    values: Mapping[str, Array]
    share: Array

    @property
    def found(self) -> dict[str, Any]:
        """The statistics of the rows."""
        return dict(self.eliminated.found["gaussian"])

    @property
    def names(self) -> tuple[str, ...]:
        """The unknowns that were eliminated."""
        program = self.eliminated.program
        return tuple(column.variable for column in (*program.own, *program.dense))

    @cached_property
    def moments(self) -> dict[str, tuple[Array, Array]]:
        """Mean and variance of every unknown."""
        program = self.eliminated.program
        scales, share, mean, root = self._dense
        found: dict[str, tuple[Array, ...]] = {}
        if program.dense:
            centre = mean[0] + share @ (mean - mean[0])
            variance = share @ ((root**2).sum(axis=-1) + (mean - centre) ** 2)
            found |= self.named((), centre, variance)
        if program.own:
            found |= self.named(program.batch, *kernel.own_moments(self.found, scales, share, mean, root))
        return {name: (mean, variance) for name, (mean, variance) in found.items()}

    @cached_property
    def _dense(self) -> tuple[Array, Array, Array, Array]:
        """Scales and shares of the points that matter, with mean and root of the covariance of what stays together."""
        scales, share = self.fewer(self.eliminated.scales(self.values))
        return scales, share, *kernel.dense_given(self.found, scales)

    def fewer(self, scales: Array) -> tuple[Array, Array]:
        """All points; some of them, in proportion to their shares, where elements could not be pooled."""
        kept = kernel.matter(self.share)
        most = max(200, MOST_NUMBERS // self.found["within"].shape[-1] ** 2)
        if ("pooled" in self.found or not self.eliminated.program.own) and len(kept) <= most:
            return scales[kept], self.share[kept] / self.share[kept].sum()
        chosen = systematic(self.share, 200 if self.eliminated.program.own else most)
        return scales[chosen], np.full(len(chosen), 1.0 / len(chosen))

    def named(self, batch: Any, *parts: Array) -> dict[str, tuple[Array, ...]]:
        """Several arrays over columns by the name of the unknown."""
        program = self.eliminated.program
        columns = program.own if batch else program.dense
        split = [arrays_of(self.graph, columns, batch, self.sizes, part) for part in parts]
        return {column.variable: tuple(part[column.variable] for part in split) for column in columns}

    def components(self, name: str) -> tuple[Array, Array, Array]:
        """Shares, means and standard deviations of an unknown at some points."""
        program = self.eliminated.program
        is_own = name in {column.variable for column in program.own}
        size = int(np.prod(self.moments[name][0].shape, dtype=int))
        if is_own:
            size = len(self.found["between"]) * self.found["own"] * self.found["between"].shape[1]
        _, share, mean, root = self._dense
        chosen, share = some(share, MOST_NUMBERS // max(size * 20, 1))
        mean, root, scales = mean[chosen], root[chosen], self._dense[0][chosen]
        if not is_own:
            means, spreads = self.named((), mean, np.sqrt((root**2).sum(axis=-1)))[name]
            return share, means, spreads
        gain, noise = kernel.own_given(self.found, scales)
        between, kind = self.found["between"], self.found["kind"]
        parts = []
        for k in range(len(scales)):
            rows = gain[k][kind] @ between
            centre = -(rows[..., :-1] @ mean[k] + rows[..., -1])
            spread = ((rows[..., :-1] @ root[k]) ** 2).sum(axis=-1) + (noise[k][kind] ** 2).sum(axis=-1)
            parts.append((centre, np.sqrt(spread)))
        means, spreads = (np.stack(part) for part in zip(*parts, strict=True))
        means, spreads = self.named(program.batch, means, spreads)[name]
        return share, means, spreads

    def _dense_drawn(self, scales: Array, generator: np.random.Generator) -> Array:
        """One draw at each point of the unknowns that stay together."""
        mean, root = kernel.dense_given(self.found, scales)
        return np.asarray(mean + (root @ generator.standard_normal((*mean.shape, 1)))[..., 0])

    def log_density(self, values: Mapping[str, Array], at: Mapping[str, Array]) -> float:
        """The log density of the Gaussian unknowns at one value of each, given one point."""
        program = self.eliminated.program
        dense = columns_from(self.graph, program.dense, (), self.sizes, at)
        own = columns_from(self.graph, program.own, program.batch, self.sizes, at)
        return kernel.log_density_given(self.found, self.eliminated.scales(values), dense, own)

    def draws(self, values: Mapping[str, Array], generator: np.random.Generator) -> dict[str, Array]:
        """One draw of every unknown at each point."""
        program = self.eliminated.program
        scales = self.eliminated.scales(values)
        count = len(scales)
        found: dict[str, Array] = {}
        drawn = np.concatenate(
            [self._dense_drawn(scales[part], generator) for part in kernel.portions(self.found, count)]
        )
        if program.dense:
            found |= arrays_of(self.graph, program.dense, (), self.sizes, drawn)
        if not program.own:
            return found
        between, kind = self.found["between"], self.found["kind"]
        shape = (count, len(between), self.found["own"])
        if 8 * int(np.prod(shape)) > MOST_DRAWN:
            raise SizeError(
                f"{count:,} draws of {len(between):,} elements take {8 * np.prod(shape) / 2**30:.1f} GiB",
                hint="ask for fewer draws; fit[name] has means, standard deviations and quantiles without any",
            )
        gain, noise = kernel.own_given(self.found, scales)
        own = np.empty(shape)
        for k in range(count):
            whole = between[..., :-1] @ drawn[k] + between[..., -1]
            shaken = generator.standard_normal((*shape[1:], 1))
            own[k] = (noise[k][kind] @ shaken)[..., 0] - (gain[k][kind] @ whole[..., None])[..., 0]
        return found | arrays_of(self.graph, program.own, program.batch, self.sizes, own)


def some(share: Array, most: int) -> tuple[Array, Array]:
    """The points with most of the posterior and their shares, or where these are too many some, equally likely."""
    order = np.argsort(-share)
    kept = np.sort(order[: 1 + np.searchsorted(np.cumsum(share[order]), 1 - 1e-4)])
    if len(kept) <= np.clip(most, COMPONENTS, 1000):
        return kept, share[kept] / share[kept].sum()
    count = int(np.clip(most, 40, COMPONENTS))
    return systematic(share, count), np.full(count, 1.0 / count)


def systematic(share: Array, count: int) -> Array:
    """Numbers of points, as often as their shares say, evenly along the order in which they were found."""
    edges = np.cumsum(share)
    places = (np.arange(count) + 0.5) / count * edges[-1]
    return np.minimum(np.searchsorted(edges, places), len(share) - 1)
