"""The log density of a block of a model: its factors and slopes on a tape, which keeps what does not move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from platewright.algebra.build import totals
from platewright.algebra.expression import Constant, Index
from platewright.algebra.tape import Slot, Tape
from platewright.backends.kernels.density import Density
from platewright.family import Array
from platewright.graph.graph import Factor, Graph
from platewright.program.derivatives import Scaled, Slope
from platewright.run.samplers.unconstrained import unconstrained


class BlockDensity(Density):
    """Built once for a block."""

    def __init__(
        self,
        graph: Graph,
        variables: Sequence[str],
        factors: Sequence[Factor],
        slopes: Sequence[Slope],
        sizes: Mapping[str, int],
        scaled: Sequence[Scaled] = (),
    ) -> None:
        coordinates = unconstrained([graph.nodes[name] for name in variables], sizes)
        super().__init__(coordinates, self._log_factors, self._finite_slopes, self._precisions)
        self.shapes = {part.name: part.shape for part in self.coordinates.parts}
        self.tape = Tape(sizes, variables)
        self.logs = [self.tape.add(factor.summed) for factor in factors]
        self.gathered = [Gathered(self.tape, slope, self.shapes[slope.variable]) for slope in slopes]
        self.fixed = {
            form.name: self.tape.broadcast(self.tape.add(form.precision), graph.nodes[form.name].axes)
            for form in scaled
        }

    def given(self, values: Mapping[str, Array]) -> None:
        """Hold everything outside the block at these values."""
        with np.errstate(all="ignore"):
            self.tape.fix(values)

    def _log_factors(self, values: Mapping[str, Array]) -> float:
        self.tape.run(values)
        total = float(sum(self.tape[log] for log in self.logs))
        if np.isnan(total):
            self.run_carefully(values)
            total = float(sum(self.tape[log] for log in self.logs))
        return total

    def _finite_slopes(self, values: Mapping[str, Array]) -> dict[str, Array]:
        """The slopes where the tape has run; once more with care where one is no number."""
        slopes = self._slopes()
        if all(np.isfinite(slope).all() for slope in slopes.values()):
            return slopes
        self.run_carefully(values)
        return self._slopes()

    def slopes_at(self, values: Mapping[str, Array]) -> dict[str, Array]:
        """The slopes in the values themselves, without coordinates."""
        self.tape.run(values)
        return self._finite_slopes(values)

    def _precisions(self, values: Mapping[str, Array]) -> dict[str, Array]:
        return {name: self.tape[slot] for name, slot in self.fixed.items()}

    def run_carefully(self, values: Mapping[str, Array]) -> None:
        """Once more with care: `0 log 0` is nothing."""
        self.tape.careful = True
        self.tape.run(values)
        self.tape.careful = False

    def _slopes(self) -> dict[str, Array]:
        found = {name: np.zeros(shape) for name, shape in self.shapes.items()}
        for part in self.gathered:
            part.add_to(found[part.variable], self.tape)
        return found


class Gathered:
    """A slope added up at the places where its variable is looked up."""

    def __init__(self, tape: Tape, slope: Slope, shape: tuple[int, ...]) -> None:
        self.variable = slope.variable
        self.codes: Slot | None = None
        self.place: tuple[int, ...] | None = None
        direct = [at for at in slope.at if isinstance(at, Index)]
        if len(direct) == len(slope.at) == len(set(direct)):
            summed = tape.add(totals(slope.expression, [index for index in slope.over if index not in direct]))
            self.slot = tape.broadcast(summed, tuple(direct))
        elif all(isinstance(at, Constant) for at in slope.at):
            self.place = tuple(int(at.value) for at in slope.at if isinstance(at, Constant))
            self.slot = tape.add(totals(slope.expression, slope.over))
        else:
            self.slot = tape.broadcast(tape.add(slope.expression), slope.over)
            self.codes = tape.flat_places(slope.at, shape, slope.over)

    def add_to(self, gradient: Array, tape: Tape) -> None:
        """Add the slope to the gradient of its variable."""
        value = tape[self.slot]
        if self.codes is not None:
            flat = np.bincount(tape[self.codes], weights=np.ravel(value), minlength=gradient.size)
            gradient += flat.reshape(gradient.shape)
        elif self.place is not None:
            gradient[self.place] += value
        else:
            gradient += value
