"""The joint density under derivation: log factors, what is still unknown, and what has been computed so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property

from platewright.algebra.expression import Expression, Index
from platewright.algebra.facts import Facts
from platewright.graph.graph import Factor, Graph
from platewright.language.variable import Variable
from platewright.program.statements import Assign, Pool, Triangularise
from platewright.recognition.recognise import Recognised


@dataclass(frozen=True)
class FamilyConditional:
    """`p(variable | those eliminated later)`: a family of the shelf, perhaps after a change of variable."""

    variable: str
    recognised: Recognised
    parameters: Mapping[str, Expression]
    """Over the variable's plates and event axes; references to unknowns are to those eliminated later."""

    @property
    def variables(self) -> tuple[str, ...]:
        """The unknowns it is a distribution of."""
        return (self.variable,)


@dataclass(frozen=True)
class TableConditional:
    """`p(variable | those eliminated later)` for a variable with finitely many values: a log weight for each."""

    variable: str
    level: Index
    log_weights: Expression
    """Over the variable's plates and `level`."""

    @property
    def variables(self) -> tuple[str, ...]:
        """The unknowns it is a distribution of."""
        return (self.variable,)


@dataclass(frozen=True)
class GaussianConditional:
    """`p(group | those eliminated later)`: jointly Gaussian, read off a triangularisation."""

    statement: Triangularise
    scale: Expression
    matrix: Expression | None

    @property
    def variables(self) -> tuple[str, ...]:
        """The unknowns it is a distribution of."""
        return tuple(column.variable for column in self.statement.columns[: self.statement.eliminated])


Conditional = FamilyConditional | TableConditional | GaussianConditional


@dataclass(frozen=True)
class State:
    """Frozen: every elimination returns a new state."""

    graph: Graph
    factors: tuple[Factor, ...]
    unknown: tuple[str, ...]
    computed: Mapping[str, tuple[Index, ...]] = field(default_factory=dict)
    statements: tuple[Assign | Pool | Triangularise, ...] = ()
    conditionals: tuple[Conditional, ...] = ()
    log: tuple[str, ...] = ()
    blocks: int = 0
    """How many Gaussian blocks were named before, here or in other pieces."""
    maximise: bool = False
    """Put the best value in for each unknown instead of integrating over it."""
    chains: bool = True
    """Eliminate Gaussian chains step by step."""
    past: State | None = None
    """The state before the last elimination."""

    @cached_property
    def facts(self) -> Facts:
        """Facts about variables and computed arrays alike."""
        known = self.graph.facts
        axes = {name: tuple(axis.plate for axis in found) for name, found in self.computed.items()}
        return Facts({**known.axes, **axes}, known.domains)

    @property
    def nodes(self) -> Mapping[str, Variable]:
        """The variables of the model."""
        return self.graph.nodes

    def touching(self, name: str) -> tuple[Factor, ...]:
        """The factors that hold a variable."""
        return self._touching.get(name, ())

    @cached_property
    def _touching(self) -> Mapping[str, tuple[Factor, ...]]:
        """The factors of each variable."""
        found: dict[str, list[Factor]] = {}
        for factor in self.factors:
            for name in factor.names:
                found.setdefault(name, []).append(factor)
        return {name: tuple(factors) for name, factors in found.items()}

    @property
    def history(self) -> tuple[State, ...]:
        """All states from the first to this one."""
        found, now = [self], self.past
        while now is not None:
            found.append(now)
            now = now.past
        return tuple(reversed(found))

    def after(self, **changes: object) -> State:
        """The next state."""
        return replace(self, **changes, past=self)  # type: ignore[arg-type]
