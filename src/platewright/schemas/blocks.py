"""The blocks of a Gibbs sweep: which unknowns are moved together, and by what."""

from __future__ import annotations

from dataclasses import dataclass

from platewright.algebra.expression import Expression
from platewright.family import Family
from platewright.graph.graph import Factor
from platewright.program.derivatives import Scaled, Slope
from platewright.schema import Plan
from platewright.schemas.mirrors import Mirror
from platewright.schemas.orbits import Orbit, Way
from platewright.schemas.relabellings import Relabelling


@dataclass(frozen=True)
class ExactBlock:
    """Unknowns drawn together from a closed-form conditional."""

    variables: tuple[str, ...]
    plan: Plan
    without: tuple[str, ...] = ()
    """Unknowns that are integrated out of the conditional, and drawn right after."""


@dataclass(frozen=True)
class SliceBlock:
    """One unknown, drawn by a slice sampler along each of its elements."""

    variables: tuple[str, ...]
    factors: tuple[Factor, ...]
    why: str
    without: tuple[str, ...] = ()
    """Unknowns that are integrated out of the factors, and drawn right after."""


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
    leaves: tuple[str, ...] = ()
    """Members whose elements meet neither each other nor those of other leaves."""
    held: tuple[str, ...] = ()
    """Members that set the scale of others: a climb would take both to a point."""
    without: tuple[str, ...] = ()
    """As above."""


@dataclass(frozen=True)
class CoordinateBlock:
    """Unknowns moved by a slice sampler, one coordinate after another: slow, and right for any density."""

    variables: tuple[str, ...]
    factors: tuple[Factor, ...]
    why: str
    without: tuple[str, ...] = ()
    """Unknowns that are integrated out of the factors, and drawn right after."""


@dataclass(frozen=True)
class ScaleBlock:
    """A scale and the unknowns that it scales, moved together along the funnel that they form."""

    variables: tuple[str, ...]
    """The scale first."""
    factors: tuple[Factor, ...]
    scaled: tuple[Scaled, ...]
    """What it scales, each after those that its location and precision look at."""
    why: str
    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class OrbitBlock:
    """Unknowns that multiply each other, moved together so that what they make stays: stretched, or shifted."""

    variables: tuple[str, ...]
    factors: tuple[Factor, ...]
    orbit: Orbit
    along: Way
    why: str
    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class JumpBlock:
    """Unknowns that are turned over or exchanged together, by a jump."""

    variables: tuple[str, ...]
    factors: tuple[Factor, ...]
    """Those that a jump can change."""
    jump: Mirror | Relabelling
    why: str
    without: tuple[str, ...] = ()


@dataclass(frozen=True)
class BoundedBlock:
    """One unknown within bounds: where its conditional without them is a family, draws invert it between them."""

    variables: tuple[str, ...]
    factors: tuple[Factor, ...]
    lower: tuple[Expression, ...]
    upper: tuple[Expression, ...]
    """Bounds over the axes of the unknown; the tightest counts."""
    family: Family | None = None
    parameters: tuple[tuple[str, Expression], ...] = ()
    """The family of an unknown that nothing depends on, which is its own."""
    plan: Plan | None = None
    """Else the exact plan of its conditional; a slice between the bounds where there is neither."""
    why: str = ""
    end: Expression | None = None
    log_beyond: Expression | None = None
    """Where a block was drawn without it: its only bound, and the log of the mass beyond, in which it is drawn."""


@dataclass(frozen=True)
class SiteBlock:
    """Discrete unknowns whose elements meet: each drawn given its neighbours, those without a tie at once."""

    variables: tuple[str, ...]
    factors: tuple[Factor, ...]
    why: str


@dataclass(frozen=True)
class WeighedBlock:
    """Few-valued unknowns, drawn element by element: a value weighs what is left once others are integrated out."""

    variables: tuple[str, ...]
    plan: Plan
    """The others given these, with the log evidence of all that either is in: the log weight of a value."""
    without: tuple[str, ...]
    """Unknowns that are integrated out, and drawn right after."""
    why: str


Moved = (
    SliceBlock
    | HamiltonianBlock
    | CoordinateBlock
    | ScaleBlock
    | OrbitBlock
    | JumpBlock
    | BoundedBlock
    | SiteBlock
    | WeighedBlock
)
"""Blocks with a mover of their own; the others are drawn by exact plans and recursions."""
Block = ExactBlock | ChainBlock | Moved

WAYS: dict[type[Block], str] = {
    ExactBlock: "exact",
    SliceBlock: "slice",
    ChainBlock: "forward-backward",
    HamiltonianBlock: "Hamiltonian",
    CoordinateBlock: "slice by coordinate",
    ScaleBlock: "along their scale",
    OrbitBlock: "along their orbit",
    JumpBlock: "turned over",
    BoundedBlock: "exact within bounds",
    SiteBlock: "site by site",
    WeighedBlock: "exact",
}
"""How a block is moved, in a word."""


def way(block: Block) -> str:
    """The word for a block; one within bounds that cannot be inverted is moved by a slice, an orbit has two ways."""
    if isinstance(block, BoundedBlock) and block.family is None and block.plan is None:
        return "slice within bounds"
    if isinstance(block, OrbitBlock):
        return {"stretch": "stretched together", "shift": "shifted together"}[block.along]
    if isinstance(block, JumpBlock) and isinstance(block.jump, Relabelling):
        return f"with elements of {block.jump.symmetry.plates[0]} exchanged"
    gone = getattr(block, "without", ())
    return WAYS[type(block)] + (f" with {', '.join(gone)} integrated out" if gone else "")
