"""Read Gaussian posteriors off a triangularisation: means, covariances, and what an unknown scale makes of them.

    R u = right - cross v + noise / sqrt(phi)          given the unknowns v that are eliminated later, and the scale phi

With phi Gamma the elements of u are Student t; with a Wishart matrix as scale likewise, with fewer degrees of freedom.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from platewright.algebra.expression import Expression, Index
from platewright.elimination.state import GaussianConditional
from platewright.family import Array
from platewright.program.statements import Column


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
    def root(self) -> Array:
        """Upper triangular R in each batch."""
        return np.asarray(self.values[f"{self.name}.root"])

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
            parts.append(part.reshape(*self.root.shape[:-1], -1) if column.dense else part[..., None])
        return np.concatenate(parts, axis=-1)

    def outer_values(self, known: Mapping[str, Array], tables: Mapping[str, Array]) -> Array | None:
        """Values of the outer columns in each batch, side by side, looked up in arrays of the outer variables."""
        statement = self.conditional.statement
        if not statement.outer:
            return None
        parts = []
        for column in statement.outer:
            found = self.looked_up(column, np.asarray(known[column.variable]), tables)
            parts.append(found.reshape(*self.root.shape[:-2], -1))
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
        return np.linalg.solve(self.root, right)

    def unit_covariance(self) -> Array:
        """`(R'R)^-1`: the covariance given the outer columns, for phi = 1."""
        inverse = np.linalg.solve(self.root, np.broadcast_to(np.eye(self.root.shape[-1]), self.root.shape))
        return inverse @ np.swapaxes(inverse, -1, -2)

    def gain(self) -> Array | None:
        """`R^-1 cross`: how the block moves with the outer columns."""
        cross = self.cross()
        return None if cross is None else np.linalg.solve(self.root, cross)

    def spans(self) -> dict[str, tuple[int, int]]:
        """For each variable of the block its range of columns."""
        found, start = {}, 0
        for column in self.columns:
            size = prod(self.sizes[index.plate] for index in column.dense)
            found[column.variable] = (start, start + size)
            start += size
        return found

    def variable_array(self, variable: str, stacked: Array, axes: tuple[Index, ...]) -> Array:
        """The part of a stacked array (batch, columns, outputs) that belongs to a variable, in its own axes."""
        column = next(column for column in self.columns if column.variable == variable)
        start, stop = self.spans()[variable]
        batch = self.conditional.statement.batch
        part = stacked[..., start:stop, :]
        dense = tuple(self.sizes[index.plate] for index in column.dense)
        output = self.conditional.statement.output
        part = part.reshape(*part.shape[: part.ndim - 2], *dense, part.shape[-1])
        order: list[Expression] = [*batch, *column.dense]
        if output is None:
            part = part[..., 0]
        else:
            order.append(output)
        places = [order.index(at) for at in column.at]
        lead = part.ndim - len(order)
        return np.transpose(part, (*range(lead), *(lead + place for place in places)))

    def stacked_array(self, known: Mapping[str, Array]) -> Array:
        """The inverse of `variable_array` over all variables: (batch, columns, outputs)."""
        statement = self.conditional.statement
        parts = []
        for column in self.columns:
            array = np.asarray(known[column.variable], dtype=float)
            order: list[Expression] = [*statement.batch, *column.dense]
            if statement.output is not None:
                order.append(statement.output)
            array = np.transpose(array, [column.at.index(index) for index in order])
            batch = array.shape[: len(statement.batch)]
            outputs = array.shape[-1] if statement.output is not None else 1
            width = prod(array.shape[len(batch) : len(batch) + len(column.dense)])
            parts.append(array.reshape(*batch, width, outputs))
        return np.concatenate(parts, axis=-2)
