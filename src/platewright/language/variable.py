"""A variable of a model as plain data: what the graph, the operations and the planner work on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal as OneOf

from platewright.algebra.domain import Domain
from platewright.algebra.expression import ZERO, Expression, Index, Lag, Reference, names, walk
from platewright.family import Family

Kind = OneOf["random", "deterministic", "input", "undirected", "statistic"]
Role = OneOf["", "action", "utility"]


DENSITY = "_density"
"""How the potential of a node ends whose density is not on the shelf of families: `phi_density` belongs to `phi`."""


@dataclass(frozen=True)
class Variable:
    """One node. `axes` are its plates, then its event axes; arcs are read from its expressions, never stored."""

    name: str
    kind: Kind
    axes: tuple[Index, ...]
    domain: Domain
    rank: int = 0
    log_density: Expression = ZERO
    definition: Expression | None = None
    family: Family | None = None
    parameters: tuple[tuple[str, Expression], ...] = ()
    optional: tuple[str, ...] = ()
    given: tuple[tuple[str, Expression], ...] = ()
    """Parameters as the user spelled them, where that is not the canonical way: `sd`, not the precision it gives."""
    role: Role = ""
    """Whether an input is to be decided, or a function says what an outcome is worth."""
    knows: tuple[str, ...] = ()
    """Of an action, what is seen before it."""
    reads: tuple[str, ...] = ()
    """Of an array that statements of a graph compute, what they compute it from where that is unknown."""

    @property
    def plates(self) -> tuple[Index, ...]:
        """The axes that repeat the variable, without those inside one value."""
        return self.axes[: len(self.axes) - self.rank]

    @property
    def events(self) -> tuple[Index, ...]:
        """The axes inside one value."""
        return self.axes[len(self.axes) - self.rank :]

    @property
    def symbol(self) -> Reference:
        """The variable at its own indices."""
        return Reference(self.name, self.axes)

    @property
    def parents(self) -> frozenset[str]:
        """The variables its density or definition refers to, itself at an earlier step left out."""
        source = self.definition if self.definition is not None else self.log_density
        return names(source).union(self.reads) - {self.name}

    @property
    def inside(self) -> tuple[Index, ...]:
        """The pair of axes inside one value: a vector has one of them, its covariance both."""
        plate = self.events[0].plate if self.events else self.domain.levels
        return () if plate is None else (Index(plate, plate), Index(plate + "'", plate))

    @property
    def step_to_the_past(self) -> Index | None:
        """The ordered index along which a node depends on its own previous element."""
        for part in walk(self.log_density):
            for at in part.indices if isinstance(part, Reference) and part.name == self.name else ():
                if isinstance(at, Lag):
                    plates = {inner.plate for inner in walk(at) if isinstance(inner, Index)}
                    return next(axis for axis in self.axes if axis.plate in plates)
        return None

    @property
    def label(self) -> str:
        """The word for its kind of conditional."""
        if self.family is not None:
            return self.family.name
        return {"input": "Input", "undirected": "Undirected", "statistic": "Statistic"}.get(self.kind, "=")


@dataclass(frozen=True)
class Potential:
    """A named log factor, repeated over its plates. `of` names the component it shapes; other variables are parents."""

    name: str
    axes: tuple[Index, ...]
    expression: Expression
    of: tuple[str, ...] = ()
    optional: bool = False
    """Whether a family of models has it or not."""
