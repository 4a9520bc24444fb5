"""Print the log weights of a hidden chain: of each value, and of each pair of neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from platewright.algebra.build import substitute, totals
from platewright.algebra.expression import Expression, Index, Lag, Reference, free_indices, walk
from platewright.backends.naming import comment
from platewright.backends.numpy.program import Emitter
from platewright.graph.graph import Factor
from platewright.language.plate import beginning


@dataclass(frozen=True)
class ChainText:
    """A hidden variable along an ordered plate, with indices for its values now and before."""

    emitter: Emitter
    name: str
    step: Index
    level: Index
    before: Index

    @property
    def arguments(self) -> str:
        """The arrays of weights, and where chains begin."""
        names = self.emitter.names
        first = names(beginning(self.step.plate))
        return f"{names(self.name + '.single')}, {names(self.name + '.pair_weight')}, {first}"

    def lines(self, factors: Sequence[Factor]) -> list[str]:
        """Statements that add up the weights, factor by factor."""
        printer = self.emitter.printer
        single, pair, first = self.arguments.split(", ")
        levels = printer.size(self.level.plate)
        shape = f"{printer.size(self.step.plate)}, {levels}"
        found = [
            f"# {comment(self.name)}: a chain along {comment(self.step.plate)}; weights of values and of neighbours",
            f"{single} = np.zeros(({shape}))",
            f"{pair} = np.zeros(({shape}, {levels}))",
        ]
        for factor in factors:
            step = _step(self.name, factor)
            changes: dict[Expression, Expression] = {
                Reference(self.name, (step,)): self.level,
                Reference(self.name, (Lag(step),)): self.before,
            }
            whole = totals(substitute(factor.expression, changes), [axis for axis in factor.axes if axis != step])
            if self.before not in free_indices(whole):
                found.append(f"{single} += {printer.printed(whole, (step, self.level), full=True)}")
                continue
            table = self.emitter.names(f"{self.name}.table")
            found += [
                f"{table} = {printer.printed(whole, (step, self.before, self.level), full=True)}",
                f"{pair} += np.where({first}[:, None, None] != 0, 0.0, {table})",
                f"{single} += np.where({first}[:, None] != 0, {table}[:, 0, :], 0.0)",
            ]
        return found


def _step(name: str, factor: Factor) -> Index:
    """The axis of a factor that runs along a chain."""
    at = next(p.indices[0] for p in walk(factor.expression) if isinstance(p, Reference) and p.name == name)
    found = at.index if isinstance(at, Lag) else at
    assert isinstance(found, Index)  # `schemas/gibbs.py` lets no other place pass
    return found
