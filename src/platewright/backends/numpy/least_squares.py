"""Print the triangularisation of a Gaussian block: rows of every source in their columns, stacked and rotated."""

from __future__ import annotations

from dataclasses import dataclass

from platewright.algebra.build import add, multiply
from platewright.algebra.expression import ONE, Constant, Expression, Lag, Size, free_indices
from platewright.backends.naming import Names, comment
from platewright.backends.numpy.expression import NumpyPrinter
from platewright.program.statements import Entry, Source, Triangularise


@dataclass(frozen=True)
class LeastSquares:
    """The lines of one step, with the names of the module that it stands in."""

    names: Names
    printer: NumpyPrinter

    def lines(self, step: Triangularise) -> list[str]:
        """The rows of every source, stacked and brought to triangular form, and its parts by name.

        Along a chain, columns are those of the step before, of the step itself, and of unknowns outside.
        """
        turned = "triangularised" if step.along is None else "triangularised_along"
        self.printer.used |= {"edges_of", "placed", "stacked", turned}
        name = self.names(step.name)
        widths = [self.printer.width(step.inside(column)) for column in step.columns]
        if step.along is not None:
            widths = [*widths[: step.eliminated], *widths]
        lines = [f"{name}_columns = edges_of({', '.join(widths)})"]
        outputs = "1" if step.output is None else self.printer.size(step.output.plate)
        designs = []
        for number, source in enumerate(step.sources):
            design = f"{name}_rows_{number}"
            lines.append(f"# rows of {comment(source.owner)}")
            lines += self.source(design, source, step, name, outputs)
            designs.append(design)
        apart = len(step.batch) + (step.along is not None)
        lines.append(f"{name} = stacked([{', '.join(designs)}], {apart})")
        of = comment(", ".join(f"`{column.variable}`" for column in step.columns[: step.eliminated]))
        lines.append(f"{name} = {turned}({name}, {name}_columns[{step.eliminated}], {outputs}, {of!r})")
        parts = (
            ("root", "log_root", "right") if step.along is None else ("root", "before", "after", "log_root", "right")
        )
        for part in parts:
            lines.append(f'{self.names(f"{step.name}.{part}")} = {name}["{part}"]')
        return lines + self.left_over(step, name)

    def left_over(self, step: Triangularise, name: str) -> list[str]:
        """What the eliminated columns leave: a residual, or rows for the unknowns that stay."""
        if not step.outer:
            residual = self.names(f"{step.name}.residual")
            if step.output is None:
                return [f'{residual} = np.sum({name}["rest"] ** 2, axis=(-2, -1))']
            return [f'{residual} = np.swapaxes({name}["rest"], -1, -2) @ {name}["rest"]']
        rows = self.printer.size(f"{step.name}.rows")
        lines = [f'{self.names(f"{step.name}.left")} = {name}["rest"][..., 0]', f'{rows} = {name}["rest"].shape[-2]']
        first = step.eliminated if step.along is None else 2 * step.eliminated
        for number, column in enumerate(step.outer):
            start = f"{name}_columns[{first + number}] - {name}_columns[{first}]"
            stop = f"{name}_columns[{first + number + 1}] - {name}_columns[{first}]"
            for part, source in (("left", "left"), ("cross", "cross")):
                array = self.names(f"{step.name}.{part}_{number}")
                lines.append(f'{array} = {name}["{source}"][..., {start} : {stop}]')
                if not column.dense:
                    lines.append(f"{array} = {array}[..., 0]")
                elif len(column.dense) > 1:
                    shape = ", ".join(self.printer.size(index.plate) for index in column.dense)
                    lines.append(f"{array} = {array}.reshape(*{array}.shape[:-1], {shape})")
        return lines

    def source(self, design: str, source: Source, step: Triangularise, name: str, outputs: str) -> list[str]:
        """The rows of one source, with their features in the columns of their unknowns."""
        widths = [self.printer.width(feature.inner) for feature in source.features]
        if all(width == "1" for width in widths):
            edges = [str(k) for k in range(len(widths) + 1)]
            lines = []
        else:
            lines = [f"edges = edges_of({', '.join(widths)})"]
            edges = [f"edges[{k}]" for k in range(len(widths) + 1)]
        if source.pool is not None:
            self.printer.used.add("rows_of_pool")
            lines.append(f"{design} = rows_of_pool(*{self.names(source.pool)})")
        else:
            lines += self.direct_rows(design, source)
        slots = ", ".join(f"({edges[e.feature]}, {edges[e.feature + 1]})" for e in source.entries)
        positions = ", ".join(self.position(entry, source, step, name) for entry in source.entries)
        lines.append(f"{design} = placed({design}, [{slots}], [{positions}], {name}_columns[-1], {outputs})")
        if step.along is not None and (place := source.cells.index(step.step_of(source))) != len(step.batch):
            lines.append(f"{design} = np.moveaxis({design}, {place}, {len(step.batch)})")
        return lines

    def direct_rows(self, design: str, source: Source) -> list[str]:
        """One row a cell: features side by side, with the root of the weight."""
        cells = source.cells
        lines = [f"{design} = {self.side_by_side(source)}"] if cells or source.features else []
        if source.weight != ONE:
            code = self.printer.code(source.weight, cells)
            weight = self.printer.printed(source.weight, cells, full=True) if code.axes else code.text
            lines.append(f"{design} = weighted_rows({design}, np.sqrt({weight}))")
        else:
            lines.append(f"{design} = weighted_rows({design})")
        self.printer.used.add("weighted_rows")
        return lines

    def side_by_side(self, source: Source) -> str:
        """The features of all cells, along a last axis."""
        outer = "".join(f"{self.printer.size(cell.plate)}, " for cell in source.cells)
        if all(isinstance(feature.expression, Constant) and not feature.inner for feature in source.features):
            numbers = ", ".join(self.printer.printed(feature.expression, ()) for feature in source.features)
            return f"np.full(({outer}{len(source.features)}), [{numbers}])" if outer else f"np.array([{numbers}])"
        parts = []
        for feature in source.features:
            value = self.printer.printed(feature.expression, (*source.cells, *feature.inner), full=True)
            shape = outer + self.printer.width(feature.inner)
            if isinstance(feature.expression, Constant):
                value = f"np.full(({shape}), {self.printer.printed(feature.expression, ())})"
            elif len(feature.inner) != 1:
                value = f"np.reshape({value}, ({shape}))"
            parts.append(value)
        return f"np.concatenate([{', '.join(parts)}], axis=-1)"

    def position(self, entry: Entry, source: Source, step: Triangularise, name: str) -> str:
        """Column numbers of one feature, for each cell and each inner position."""
        inner = source.features[entry.feature].inner
        whole = step.columns[entry.column]
        dense = step.inside(whole)
        positions = tuple(at for at, axis in zip(entry.positions, whole.dense, strict=True) if axis in dense)
        is_before = any(isinstance(at, Lag) and axis not in dense for at, axis in zip(entry.positions, whole.dense))
        column = entry.column if step.along is None or is_before else step.eliminated + entry.column
        if len(inner) == 1 and positions == inner and dense[0].plate == inner[0].plate:
            return f"slice({name}_columns[{column}], {name}_columns[{column + 1}])"
        flat: Expression = Constant(0.0)
        for at, axis in zip(positions, dense, strict=True):
            flat = add(multiply(flat, Size(axis.plate)), at)
        offset = f"{name}_columns[{column}]"
        if not free_indices(flat):
            code = self.printer.printed(flat, ())
            return f"[{offset}]" if code == "0" else f"[{offset} + {code}]"
        if free_indices(flat) <= set(inner) and len(inner) == 1:
            return f"{offset} + {self.printer.printed(flat, inner)}"
        scope = (*source.cells, *inner)
        value = self.printer.printed(flat, scope, full=True)
        if len(inner) != 1:
            shape = "".join(f"{self.printer.size(cell.plate)}, " for cell in source.cells)
            value = f"np.reshape({value}, ({shape}{self.printer.width(inner)}))"
        return f"{offset} + {value}"
