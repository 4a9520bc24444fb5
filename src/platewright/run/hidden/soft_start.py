"""Where EM and mean field begin: soft assignments of rows to classes, seeded by rows far from each other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from platewright.backends.kernels.gaussian import about_the_seen
from platewright.family import Array
from platewright.operations.split_partly_known import observed_name
from platewright.run.execute import finish, loaded
from platewright.run.hidden.chain_group import start_shares
from platewright.run.hidden.gaussian_hidden import start_points
from platewright.schemas.em import EMPlan
from platewright.schemas.gaussian_hidden import GaussianGroup, GaussianMember
from platewright.schemas.hidden import Hidden
from platewright.schemas.mean_field import MeanFieldPlan


def start_expectations(
    plan: EMPlan | MeanFieldPlan, columns: Mapping[str, Array], sizes: Mapping[str, int], generator: np.random.Generator
) -> dict[str, Array]:
    """Soft assignments to rows chosen at random as seeds, far from each other by preference."""
    found: dict[str, Array] = {}
    for item in plan.hidden:
        shape = tuple(sizes[axis.plate] for axis in item.axes)
        levels = sizes[item.level.plate]
        features = _features(item, plan, columns, shape)
        probability = _seeded(features, int(np.prod(shape)), levels, generator) if features is not None else None
        if probability is None:
            probability = generator.dirichlet(np.ones(levels), shape)
        found[item.probability] = probability.reshape(*shape, levels)
    for chain in plan.latent.chains:
        found |= start_shares(chain, found, columns, sizes)
    if plan.latent.start.body:
        found |= finish(plan.latent.start, loaded(plan.latent.start), {}, {**columns, **found}, sizes)
    for cloud in plan.latent.gaussian:
        means = {member.name: _guess(member, cloud, columns, sizes, generator) for member in cloud.members}
        found |= start_points(cloud, means, sizes)
    return found


def _guess(
    member: GaussianMember,
    cloud: GaussianGroup,
    columns: Mapping[str, Array],
    sizes: Mapping[str, int],
    generator: np.random.Generator,
) -> Array:
    """Random values; about the mean of the cells that were seen, where some were."""
    shape = tuple(sizes[axis.plate] for axis in (*cloud.axes, *member.inner))
    noise = generator.normal(size=shape)
    name = member.name.removesuffix(".missing")
    if name == member.name or name not in columns:
        return noise
    rows = tuple(number for number, axis in enumerate(member.axes) if axis in cloud.batch)
    seen = np.asarray(columns[observed_name(name)], dtype=float)
    return about_the_seen(noise, np.asarray(columns[name], dtype=float), seen, rows)


@dataclass(frozen=True, eq=False)
class Features:
    """Standardised data by which rows are near or far."""

    numbers: Array
    codes: tuple[tuple[Array, Array], ...]
    """Columns of levels, and what one over the variance of the indicator of each level is."""

    def distance(self, row: int) -> Array:
        """The squared distance of all rows from one; that of levels as if each had a column of its own."""
        found: Array = ((self.numbers - self.numbers[row]) ** 2).sum(axis=1)
        for codes, weight in self.codes:
            found = found + np.where(codes == codes[row], 0.0, weight[codes] + weight[codes[row]])
        return found


def _features(
    item: Hidden, plan: EMPlan | MeanFieldPlan, columns: Mapping[str, Array], shape: tuple[int, ...]
) -> Features | None:
    """Standardised data on the rows of a hidden variable."""
    rows = int(np.prod(shape))
    if not rows:
        return None
    numbers: list[Array] = []
    codes: list[tuple[Array, Array]] = []
    for name, values in columns.items():
        node = plan.graph.nodes.get(name)
        if node is None or node.kind != "random" or node.axes[: len(item.axes)] != item.axes:
            continue
        if node.domain.kind == "levels":
            codes += [_weighed(column) for column in np.asarray(values, dtype=np.intp).reshape(rows, -1).T]
            continue
        flat = np.asarray(values, dtype=float).reshape(rows, -1)
        spread = flat.std(axis=0)
        numbers.append((flat - flat.mean(axis=0)) / np.where(spread > 0, spread, 1.0))
    if not numbers and not codes:
        return None
    return Features(np.concatenate(numbers, axis=1) if numbers else np.zeros((rows, 0)), tuple(codes))


def _weighed(codes: Array) -> tuple[Array, Array]:
    """A column of levels with one over the variance of each indicator; of one that never changes, one."""
    share = np.bincount(codes) / len(codes)
    variance = share * (1 - share)
    return codes, 1.0 / np.where(variance > 0, variance, 1.0)


def _seeded(features: Features, rows: int, levels: int, generator: np.random.Generator) -> Array:
    """Seeds drawn with chances that grow with the distance to those already drawn; each row leans to its nearest."""
    nearest = np.zeros(rows, dtype=np.intp)
    distance = np.full(rows, np.inf)
    chosen = int(generator.integers(rows))
    for level in range(levels):
        here = features.distance(chosen)
        nearest[here < distance] = level
        distance = np.minimum(distance, here)
        if level == levels - 1:
            break
        weights = distance / distance.sum() if distance.sum() > 0 else np.full(rows, 1.0 / rows)
        chosen = int(generator.choice(rows, p=weights))
    soft = np.full((rows, levels), 0.1 / levels)
    soft[np.arange(rows), nearest] += 0.9
    return soft
