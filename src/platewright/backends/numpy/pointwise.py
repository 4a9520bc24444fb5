"""Print an elimination at many points as NumPy: what is computed once, and the log density at a batch of points.

statistics(data, size)              what the rows say, of a size that they do not enter
scales(point)                       the scale of each family of rows, at each point
log_density(found, size, point)     log p(data, held) at each point
"""

from __future__ import annotations

from collections.abc import Sequence

from platewright.algebra.build import add, multiply
from platewright.algebra.expression import Constant, Expression, Index, Size, free_indices
from platewright.backends.naming import comment
from platewright.backends.numpy.program import Emitter
from platewright.program.pointwise import POINT, Family, Placed, Pointwise
from platewright.program.program import Program
from platewright.program.statements import Column

RESERVED = ("point", "found", "families", "own", "rest", "own_columns", "columns", "scales", "log_density", "gaussian")


class PointwiseEmitter(Emitter):
    """Prints the functions of an elimination at points."""

    def __init__(self, pointwise: Pointwise, reserved: Sequence[str] = ()) -> None:
        program = Program(pointwise.title, pointwise.columns, pointwise.statistics, (), sizes=pointwise.sizes)
        super().__init__(program, (*RESERVED, *reserved))
        self.pointwise = pointwise
        for name in (*pointwise.plates, *pointwise.held):
            self.names(name)

    def plates(self) -> tuple[str, ...]:
        return self.pointwise.plates

    def pointwise_functions(self) -> tuple[str, str, str]:
        """`statistics`, `scales` and `log_density`."""
        return self.once(), self.scales_function(), self.density_function()

    def once(self) -> str:
        """The function `statistics`."""
        body = self.passes_body()
        whole = self.pointwise
        for word, columns in (("own_columns", whole.own), ("columns", whole.dense)):
            widths = ", ".join(self.printer.width(column.dense) for column in columns)
            self.printer.used.add("edges_of")
            body.append(f"{word} = edges_of({widths})")
        elements = self.printer.width(whole.batch)
        body.append("families = []")
        for family in whole.families:
            body += [f"# rows of {comment(family.owner)}", *self.family(family, elements)]
        kept = [f'"{self.names(s.name)}": {self.names(s.name)}' for s in whole.statistics]
        body.append(f"return {{{', '.join([*kept, GATHERED])}}}")
        return self._function("statistics(data, size)", "What the rows say, once: no point enters.", body)

    def family(self, family: Family, elements: str) -> list[str]:
        """Rows in their columns, whose they are, and their weight."""
        count = self.printer.width(family.axes)
        own = [self.entry(part, self.pointwise.own, "own_columns", family.axes) for part in family.own]
        rest = [self.entry(part, self.pointwise.dense, "columns", family.axes) for part in family.dense]
        rest.append(f"(columns[-1], {self.over(family.rest, family.axes)})")
        lines = [
            f"own = columns_of_rows({count}, own_columns[-1], [{', '.join(own)}])",
            f"rest = columns_of_rows({count}, columns[-1] + 1, [{', '.join(rest)}])",
        ]
        code = "None"
        if family.code is not None:
            code = self.over(flat(family.code, self.pointwise.batch), family.axes)
        weight = self.over(family.weight, family.axes)
        return [*lines, f"families.append(family(own, rest, {code}, {weight}, {elements}))"]

    def entry(self, part: Placed, columns: tuple[Column, ...], word: str, axes: tuple[Index, ...]) -> str:
        """A value and the column, or columns, it belongs to."""
        scope, place = (*axes, *part.inner), flat(part.at, columns[part.column].dense)
        at = f"{word}[{part.column}]"
        if free_indices(place):
            at = f"{at} + {self.printer.printed(place, scope, full=True)}"
        elif place != Constant(0.0):
            at = f"{at} + {self.printer.printed(place, ())}"
        return f"({at}, {self.over(part.value, scope)})"

    def over(self, expression: Expression, scope: tuple[Index, ...]) -> str:
        """A value for each element of the scope; a number where it is the same for all."""
        if not free_indices(expression):
            return self.printer.printed(expression, ())
        return self.printer.printed(expression, scope, full=True)

    def held_lines(self) -> list[str]:
        first = self.names(self.pointwise.held[0])
        lines = [f'{self.names(name)} = point["{self.names(name)}"]' for name in self.pointwise.held]
        return [*lines, f"{self.printer.size(POINT.plate)} = len({first})"]

    def scales_function(self) -> str:
        shown = ", ".join(self.printer.printed(f.scale, (POINT,), full=True) for f in self.pointwise.families)
        body = [*self.held_lines(), f"return np.stack([{shown}], axis=1).astype(float)"]
        return self._function("scales(point)", "The scale of each family of rows, at each point.", body, load=False)

    def density_function(self) -> str:
        body = [*self.held_lines(), *self.found_lines()]
        body.append(f"terms = {self.printer.printed(self.pointwise.terms, (POINT,), full=True)}")
        body.append('return terms + integrated_out(found["gaussian"], scales(point))')
        doc = "The log density of data and held unknowns, at each point."
        return self._function("log_density(found, data, size, point)", doc, body)


GATHERED = '"gaussian": gathered(families, own_columns[-1])'


def flat(at: Sequence[Expression], axes: Sequence[Index]) -> Expression:
    """A position along several axes as one number."""
    found: Expression = Constant(0.0)
    for place, axis in zip(at, axes, strict=True):
        found = add(multiply(found, Size(axis.plate)), place)
    return found
