"""Read Gaussian posteriors off a triangularisation: means, covariances, and what an unknown scale makes of them.

    R u = right - cross v + noise / sqrt(phi)          given the unknowns v that are eliminated later, and the scale phi

With phi Gamma the elements of u are Student t; with a Wishart matrix as scale likewise, with fewer degrees of freedom.
A chain has its triangle in parts (`backends/numpy/chained.py`), and its columns are those of its steps side by side.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import prod

import numpy as np

from platewright.algebra.expression import Index
from platewright.backends.numpy.chained import solved_along, times_along
from platewright.elimination.state import GaussianConditional
from platewright.family import Array
from platewright.program.statements import Column
from platewright.run.exact.chain_moments import noise_along, step_covariances, whole_root

MOST_COLUMNS = 2000
"""The longest chain of which the covariance of all elements is made."""


@dataclass(frozen=True, eq=False)
class Block:
    """One triangularised block with its numbers."""

    conditional: GaussianConditional
    values: Mapping[str, Array]
    sizes: Mapping[str, int]

    @property
    def name(self) -> str:
        """The block's name in the program."""
        return self.conditional.statement.name

    @property
    def chain(self) -> Mapping[str, Array] | None:
        """The parts of the triangle of a chain; None where it is one matrix."""
        if self.conditional.statement.along is None:
            return None
        return {part: np.asarray(self.values[f"{self.name}.{part}"]) for part in ("root", "before", "after")}

    @cached_property
    def root(self) -> Array:
        """R in each batch: upper triangular, or what it is for a chain whose steps go in another order."""
        chain = self.chain
        return np.asarray(self.values[f"{self.name}.root"]) if chain is None else whole_root(chain)

    @property
    def right(self) -> Array:
        """Right-hand sides, one column an output."""
        return np.asarray(self.values[f"{self.name}.right"])

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns that this block eliminates."""
        statement = self.conditional.statement
        return statement.columns[: statement.eliminated]

    @property
    def outputs(self) -> int:
        """How many right-hand sides there are."""
        return int(self.right.shape[-1])

    def cross(self) -> Array | None:
        """Coefficients of the outer columns side by side, or None."""
        statement = self.conditional.statement
        if not statement.outer:
            return None
        parts = []
        for number, column in enumerate(statement.outer):
            part = np.asarray(self.values[f"{self.name}.cross_{number}"])
            parts.append(part.reshape(*self.right.shape[:-1], -1) if column.dense else part[..., None])
        return np.concatenate(parts, axis=-1)

    def outer_values(self, known: Mapping[str, Array], tables: Mapping[str, Array]) -> Array | None:
        """Values of the outer columns in each batch, side by side, looked up in arrays of the outer variables."""
        statement = self.conditional.statement
        if not statement.outer:
            return None
        parts = []
        for column in statement.outer:
            found = self.looked_up(column, np.asarray(known[column.variable]), tables)
            parts.append(found.reshape(*self.right.shape[:-2], -1))
        return np.concatenate(parts, axis=-1)

    def looked_up(self, column: Column, array: Array, tables: Mapping[str, Array]) -> Array:
        """An array of the column's variable at the places of the column: over batch, then dense axes."""
        from platewright.algebra.evaluate import Environment, evaluate
        from platewright.algebra.expression import Reference

        axes = (*self.conditional.statement.batch, *column.dense)
        environment = Environment({**tables, column.variable: array}, self.sizes)
        return np.array(evaluate(Reference(column.variable, column.at), environment, axes))

    def solved(self, outer: Array | None) -> Array:
        """`R^-1 (right - cross v)`: over batch, columns, outputs."""
        right = self.right
        cross = self.cross()
        if cross is not None and outer is not None:
            right = right - (cross @ outer[..., None])
        return self.unturned(right)

    def unturned(self, right: Array) -> Array:
        """`R^-1 right`: over batch, columns, right-hand sides."""
        chain = self.chain
        return np.linalg.solve(self.root, right) if chain is None else solved_along(chain, right)

    def shaken(self, noise: Array) -> Array:
        """`R^-1 noise`, for noise over draws, batch, columns, outputs."""
        if self.chain is None:
            return np.linalg.inv(self.root) @ noise
        wide = np.moveaxis(noise, 0, -1)
        found = self.unturned(wide.reshape(*wide.shape[:-2], prod(wide.shape[-2:])))
        return np.moveaxis(found.reshape(wide.shape), -1, 0)

    def turned(self, values: Array) -> Array:
        """`R values`, for values over batch, columns, outputs."""
        chain = self.chain
        return self.root @ values if chain is None else times_along(chain, values)

    def noise_weights(self, weights: Array) -> Array:
        """`R^-T g` for linear forms g: over forms, batch, columns."""
        chain = self.chain
        if chain is not None:
            return noise_along(chain, weights)
        return np.linalg.solve(np.swapaxes(self.root, -1, -2), weights[..., None])[..., 0]

    def unit_variance(self) -> Array:
        """The diagonal of `(R'R)^-1`: over batch and columns."""
        chain = self.chain
        if chain is None:
            return np.diagonal(self.unit_covariance(), axis1=-2, axis2=-1)
        found = np.diagonal(step_covariances(chain), axis1=-2, axis2=-1)
        return found.reshape(self.right.shape[:-1])

    def unit_covariance_at(self, columns: Array) -> Array | None:
        """The part of `(R'R)^-1`, the same in all batches, for some columns; None where it would take too many."""
        chain = self.chain
        rows, others = columns[..., :, None], columns[..., None, :]
        if chain is None:
            return self.unit_covariance()[rows, others]
        state = chain["root"].shape[-1]
        if (rows // state == others // state).all():  # each at one step
            return step_covariances(chain)[rows // state, rows % state, others % state]
        return self.unit_covariance()[rows, others] if self.right.shape[-2] <= MOST_COLUMNS else None

    def unit_covariance(self) -> Array:
        """`(R'R)^-1`: the covariance given the outer columns, for phi = 1."""
        inverse = np.linalg.solve(self.root, np.broadcast_to(np.eye(self.root.shape[-1]), self.root.shape))
        return inverse @ np.swapaxes(inverse, -1, -2)

    def gain(self) -> Array | None:
        """`R^-1 cross`: how the block moves with the outer columns."""
        cross = self.cross()
        return None if cross is None else self.unturned(cross)

    def spans(self) -> dict[str, tuple[int, int]]:
        """For each variable of the block its range of columns; in a chain, of the columns of one step."""
        found, start = {}, 0
        for column in self.columns:
            size = prod(self.sizes[index.plate] for index in self.conditional.statement.inside(column))
            found[column.variable] = (start, start + size)
            start += size
        return found

    def places(self, variable: str) -> Array:
        """The columns of a variable, in the order of its dense axes but for the steps of a chain, which come first."""
        start, stop = self.spans()[variable]
        state = list(self.spans().values())[-1][1]
        return np.concatenate([step * state + np.arange(start, stop) for step in range(self.steps)])

    @property
    def steps(self) -> int:
        """How many steps the block has: one, but for a chain."""
        along = self.conditional.statement.along
        return 1 if along is None else self.sizes[along]

    def order(self, column: Column) -> list[Index]:
        """The axes of a column as they lie in a block: batch, steps of a chain, others at one step, outputs."""
        statement = self.conditional.statement
        inside = statement.inside(column)
        steps = [index for index in column.dense if index not in inside]
        outputs = [] if statement.output is None else [statement.output]
        return [*statement.batch, *steps, *inside, *outputs]

    def variable_array(self, variable: str, stacked: Array, axes: tuple[Index, ...]) -> Array:
        """The part of a stacked array (batch, columns, outputs) that belongs to a variable, in its own axes."""
        column = next(column for column in self.columns if column.variable == variable)
        start, stop = self.spans()[variable]
        lead, outputs = stacked.shape[:-2], stacked.shape[-1]
        width = max(stop for _, stop in self.spans().values())  # the columns of one step, also where there is none
        part = stacked.reshape(*lead, self.steps, width, outputs)[..., start:stop, :]
        order = self.order(column)
        statement = self.conditional.statement
        dense = order[len(statement.batch) : len(statement.batch) + len(column.dense)]
        part = part.reshape(*lead, *(self.sizes[index.plate] for index in dense), outputs)
        if statement.output is None:
            part = part[..., 0]
        places = [order.index(at) for at in column.at if isinstance(at, Index)]
        extra = part.ndim - len(order)
        return np.transpose(part, (*range(extra), *(extra + place for place in places)))

    def stacked_array(self, known: Mapping[str, Array]) -> Array:
        """The inverse of `variable_array` over all variables: (batch, columns, outputs)."""
        statement = self.conditional.statement
        parts = []
        for column in self.columns:
            array = np.asarray(known[column.variable], dtype=float)
            array = np.transpose(array, [column.at.index(index) for index in self.order(column)])
            batch = array.shape[: len(statement.batch)]
            outputs = array.shape[-1] if statement.output is not None else 1
            parts.append(array.reshape(*batch, self.steps, -1, outputs))
        whole = np.concatenate(parts, axis=-2)
        return whole.reshape(*whole.shape[:-3], whole.shape[-3] * whole.shape[-2], whole.shape[-1])
