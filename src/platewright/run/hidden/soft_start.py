"""Where EM and mean field begin: soft assignments of rows to classes, seeded by rows far from each other."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from platewright.backends.kernels.gaussian import about_the_seen
from platewright.backends.numpy.em_support import soft_start
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
        numbers, labels = _beside(item, plan, columns)
        found[item.probability] = soft_start(numbers, labels, shape, levels, generator)
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


def _beside(
    item: Hidden, plan: EMPlan | MeanFieldPlan, columns: Mapping[str, Array]
) -> tuple[list[Array], list[Array]]:
    """The data on the rows of a hidden variable: numbers, and labels."""
    nodes = plan.graph.nodes
    numbers: list[Array] = []
    labels: list[Array] = []
    for name, values in columns.items():
        if name in nodes and nodes[name].kind == "random" and nodes[name].axes[: len(item.axes)] == item.axes:
            (labels if nodes[name].domain.kind == "levels" else numbers).append(np.asarray(values))
    return numbers, labels
