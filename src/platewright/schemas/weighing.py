"""What stands for hidden values in a statement: a weight, what to put in for them, and what to sum over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from platewright.algebra.build import multiply
from platewright.algebra.expression import ONE, Expression, Index, Reference, walk

Place = tuple[Expression, ...]


@dataclass(frozen=True)
class Weighing:
    """A probability, substitutions, and the levels or points to sum over."""

    weight: Expression = ONE
    changes: Mapping[Expression, Expression] = field(default_factory=dict)
    extra: tuple[Index, ...] = ()
    elements: tuple[tuple[str, Place], ...] = ()
    """Elements at which Gaussian points need the level of a class."""

    def times(self, other: Weighing) -> Weighing:
        """Independent values together."""
        return Weighing(
            multiply(self.weight, other.weight),
            {**self.changes, **other.changes},
            self.extra + other.extra,
            self.elements + other.elements,
        )


def places_in(parts: Sequence[Expression], name: str) -> set[Place]:
    """Where expressions look a variable up."""
    return {n.indices for part in parts for n in walk(part) if isinstance(n, Reference) and n.name == name}
