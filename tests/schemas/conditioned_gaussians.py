"""Hidden Gaussians of a plan given everything else, as the printed functions of EM condition them."""

from __future__ import annotations

from collections.abc import Mapping

from platewright.family import Array
from platewright.run.hidden.printed import printed_em
from platewright.schemas.em import EMPlan
from platewright.schemas.gaussian_hidden import GaussianGroup


def conditioned(
    plan: EMPlan, group: GaussianGroup, everything: Mapping[str, Array], sizes: Mapping[str, int]
) -> dict[str, Array]:
    """Points with the mean and covariance of each member, and the log integral over the group."""
    text = printed_em(plan)
    found = text(f"condition_{text.names[group.name]}")(text.named(everything), text.named(sizes))
    points = [member.point for member in group.members]
    earlier = [member.earlier for member in group.members] if group.step is not None else []
    return dict(zip([*points, *earlier, group.log_norm], found, strict=True))
