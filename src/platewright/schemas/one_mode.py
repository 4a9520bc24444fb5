"""Plans whose chains need no trials before they start: nothing holds them in a mode but the place of their scales.

{alpha, beta} Gaussian; {tau} Gamma        one draw moves all that has a place, whatever the start was
{a} Gaussian; {b} Gaussian; {x} Gaussian   b follows a poor x, and x follows b: trials find the better mode
"""

from __future__ import annotations

from platewright.algebra.domain import Domain
from platewright.elimination.state import FamilyConditional, GaussianConditional
from platewright.schemas.blocks import ExactBlock, ScaleBlock
from platewright.schemas.gibbs import GibbsPlan


def has_one_mode(plan: GibbsPlan) -> bool:
    """Whether all unknowns with a place of their own are one exact draw, and the others are scales."""
    return all(isinstance(b, ExactBlock | ScaleBlock) for b in plan.blocks) and _places(plan) <= 1


def _places(plan: GibbsPlan) -> float:
    """How many blocks draw unknowns with a place; hidden classes count as many."""
    count = 0.0
    for block in plan.blocks:
        conditionals = block.plan.conditionals if isinstance(block, ExactBlock) else ()
        others = [one for one in conditionals if not isinstance(one, GaussianConditional)]
        if any(not isinstance(one, FamilyConditional) for one in others):
            return float("inf")
        domains = [plan.graph.nodes[name].domain for one in others for name in one.variables]
        are_scales = all(_is_of_scales(domain) for domain in domains)
        count += len(others) < len(conditionals) or not are_scales
    return count


def _is_of_scales(domain: Domain) -> bool:
    return not domain.is_discrete and (domain.lower == 0.0 or domain.kind in ("simplex", "matrix"))
