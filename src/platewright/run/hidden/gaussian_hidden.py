"""How many points stand for the hidden Gaussians of a plan: two for each number in an element, four along a chain."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod

from platewright.schemas.latent import Latent


def with_points(latent: Latent, sizes: Mapping[str, int]) -> dict[str, int]:
    """Sizes of plates, and of the points that stand for hidden Gaussians."""
    found = dict(sizes)
    for group in latent.gaussian:
        width = sum(prod(sizes[axis.plate] for axis in member.inner) for member in group.members)
        found[group.point.plate] = 2 * width * (1 if group.step is None else 2)
    return found
