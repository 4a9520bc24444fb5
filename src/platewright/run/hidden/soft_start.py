"""Where EM and mean field begin: soft assignments of rows to classes, seeded by rows far from each other."""

from __future__ import annotations

from collections.abc import Mapping

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
        probability = _seeded(features, levels, generator) if features is not None else None
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


def _features(
    item: Hidden, plan: EMPlan | MeanFieldPlan, columns: Mapping[str, Array], shape: tuple[int, ...]
) -> Array | None:
    """Standardised data on the rows of a hidden variable."""
    parts = []
    rows = int(np.prod(shape))
    if not rows:
        return None
    for name, values in columns.items():
        node = plan.graph.nodes.get(name)
        if node is None or node.kind != "random" or node.axes[: len(item.axes)] != item.axes:
            continue
        flat = np.asarray(values, dtype=float).reshape(rows, -1)
        if node.domain.kind == "levels":
            flat = (flat[:, :, None] == np.arange(int(flat.max(initial=0)) + 1)).astype(float).reshape(rows, -1)
        spread = flat.std(axis=0)
        parts.append((flat - flat.mean(axis=0)) / np.where(spread > 0, spread, 1.0))
    return np.concatenate(parts, axis=1) if parts else None


def _seeded(features: Array, levels: int, generator: np.random.Generator) -> Array:
    """Seeds drawn with chances that grow with the distance to those already drawn; each row leans to its nearest."""
    rows = len(features)
    seeds = [features[generator.integers(rows)]]
    for _ in range(levels - 1):
        distance = np.min([((features - seed) ** 2).sum(axis=1) for seed in seeds], axis=0)
        weights = distance / distance.sum() if distance.sum() > 0 else np.full(rows, 1.0 / rows)
        seeds.append(features[generator.choice(rows, p=weights)])
    nearest = np.argmin([((features - seed) ** 2).sum(axis=1) for seed in seeds], axis=0)
    soft = np.full((rows, levels), 0.1 / levels)
    soft[np.arange(rows), nearest] += 0.9
    return soft
