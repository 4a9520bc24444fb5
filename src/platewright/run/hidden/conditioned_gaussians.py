"""Hidden Gaussians given all else, element by element: by the functions that EM would print for them.

log integral over a group    and    points with its mean and covariance
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import ONE
from platewright.family import Array
from platewright.graph.graph import Graph
from platewright.run.hidden.printed import printed_em
from platewright.run.hidden.telling import told
from platewright.schemas.em import EMPlan
from platewright.schemas.exact import program_of
from platewright.schemas.gaussian_hidden import GaussianGroup
from platewright.schemas.latent import Latent

Values = Mapping[str, Array]
Sizes = Mapping[str, int]


def expectation_plan(graph: Graph, latent: Latent) -> EMPlan:
    """The expectation alone: nothing is maximised."""
    return EMPlan(graph, "map", replace(latent, programs=(program_of(graph, (), ()),)), (), (), ())


def condition(plan: EMPlan, group: GaussianGroup, everything: Values, sizes: Sizes) -> dict[str, Array]:
    """Points with the mean and covariance of each member, and the log integral over the group."""
    text = printed_em(plan)
    with told(plan), np.errstate(all="ignore"):
        found = text(f"condition_{text.names[group.name]}")(text.named(everything), text.sized(sizes))
    points = [member.point for member in group.members]
    earlier = [member.earlier for member in group.members] if group.step is not None else []
    return dict(zip([*points, *earlier, group.log_norm], found, strict=True))


def weighed(group: GaussianGroup, values: Array, everything: Values, sizes: Sizes) -> Array:
    """Values of all elements, each as often as it counts."""
    if group.weight == ONE:
        return values
    return values * evaluate(group.weight, Environment(everything, sizes), group.batch)
