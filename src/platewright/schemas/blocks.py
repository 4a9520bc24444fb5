"""The blocks of a Gibbs sweep: which unknowns are moved together, and by what."""

from __future__ import annotations

from dataclasses import dataclass

from platewright.graph.graph import Factor
from platewright.schema import Plan
from platewright.schemas.scaling import Scaled
from platewright.schemas.slopes import Slope


@dataclass(frozen=True)
class ExactBlock:
    """Unknowns drawn together from a closed-form conditional."""

    variables: tuple[str, ...]
    plan: Plan


@dataclass(frozen=True)
class SliceBlock:
    """One unknown, drawn by a slice sampler along each of its elements."""

    variables: tuple[str, ...]
    factors: tuple[Factor, ...]
    why: str


@dataclass(frozen=True)
class ChainBlock:
    """A hidden chain along an ordered plate, drawn as a whole: filter forwards, sample backwards."""

    variables: tuple[str, ...]
    factors: tuple[Factor, ...]


@dataclass(frozen=True)
class HamiltonianBlock:
    """Coupled unknowns moved together along the gradient of their log density."""

    variables: tuple[str, ...]
    factors: tuple[Factor, ...]
    slopes: tuple[Slope, ...]
    why: str
    scaled: tuple[Scaled, ...] = ()
    """The members whose precision the rest alone fixes."""


@dataclass(frozen=True)
class CoordinateBlock:
    """Unknowns moved by a slice sampler, one coordinate after another: slow, and right for any density."""

    variables: tuple[str, ...]
    factors: tuple[Factor, ...]
    why: str


@dataclass(frozen=True)
class ScaleBlock:
    """A scale and an unknown that it scales, moved together along the funnel that they form."""

    variables: tuple[str, str]
    factors: tuple[Factor, ...]
    scaled: Scaled
    why: str


@dataclass(frozen=True)
class SiteBlock:
    """Discrete unknowns whose elements meet: each drawn given its neighbours, those without a tie at once."""

    variables: tuple[str, ...]
    factors: tuple[Factor, ...]
    why: str


Block = ExactBlock | SliceBlock | ChainBlock | HamiltonianBlock | CoordinateBlock | ScaleBlock | SiteBlock

WAYS: dict[type[Block], str] = {
    ExactBlock: "exact",
    SliceBlock: "slice",
    ChainBlock: "forward-backward",
    HamiltonianBlock: "Hamiltonian",
    CoordinateBlock: "slice by coordinate",
    ScaleBlock: "along their scale",
    SiteBlock: "site by site",
}
"""How a block is moved, in a word."""
