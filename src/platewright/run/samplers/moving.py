"""What moves the blocks of a chain that are neither exact nor hidden chains: the movers that the printed text makes."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Protocol

import numpy as np

from platewright.algebra.expression import names
from platewright.errors import SizeError
from platewright.family import Array
from platewright.run.hidden.printed import Printed
from platewright.schemas.blocks import SiteBlock
from platewright.schemas.gibbs import GibbsPlan
from platewright.schemas.ties import inner_indices, sites_of, ties_of

MOST_TIES = 50_000_000


class Mover(Protocol):
    """A kernel that keeps the conditional of its block, with what it learns during warm-up."""

    def begin_warm_up(self, sweeps: int) -> None:
        """Learn from the next sweeps."""

    def end_warm_up(self) -> None:
        """Learn no more."""

    def move(self, values: Mapping[str, Array], generator: np.random.Generator) -> dict[str, Array]:
        """New values of the block given all values."""


def movers_of(printed: Printed, plan: GibbsPlan, sizes: Mapping[str, int]) -> dict[int, Mover]:
    """By the number of a block its mover; unknowns and data bear the names of the text."""
    for block in plan.blocks:
        if isinstance(block, SiteBlock):
            check_ties(block, plan, sizes)
    return dict(printed("movers")(printed.sized(sizes))) if "movers" in printed else {}


def check_ties(block: SiteBlock, plan: GibbsPlan, sizes: Mapping[str, int]) -> None:
    """Refuse sites of which too many are tied, before tables of them are made."""
    (name,) = block.variables
    every = prod(sizes[axis.plate] for axis in plan.graph.nodes[name].axes)
    for factor in ties_of(block).together:
        rows, width = prod(sizes[axis.plate] for axis in factor.axes), 0
        for place in sites_of(factor, name):
            inner = inner_indices(place, factor.axes)
            decides = any(name in names(at) for at in place.indices)  # which site is looked at: all may be
            width += every if decides else prod(sizes[axis.plate] for axis in inner)
        if rows * width > MOST_TIES:
            raise SizeError(
                f"`{factor.owner}` ties {width} sites of `{name}` in {rows} rows",
                expected=f"at most {MOST_TIES:,} in all",
            )
