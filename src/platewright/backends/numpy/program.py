"""Print a program as a standalone NumPy module: `statistics`, `merged`, `finish` and `learn`.

The emitted file needs NumPy and SciPy only; what it shares with other emitted files it carries along.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from platewright.algebra.expression import (
    ONE,
    Constant,
    Expression,
    Index,
    free_indices,
)
from platewright.algebra.scaled_lgamma import gathered
from platewright.backends.layout import laid_out
from platewright.backends.naming import Names, comment
from platewright.backends.numpy.assembling import Frame
from platewright.backends.numpy.expression import NumpyPrinter, whole
from platewright.backends.numpy.least_squares import LeastSquares
from platewright.backends.numpy.means import means_text
from platewright.backends.numpy.shared import shared
from platewright.program.program import Program
from platewright.program.scatter import scatter
from platewright.program.statements import Assign, Feature, Pool, Statistic, Triangularise

IMPORTS = "import numpy as np\nfrom scipy import special\n"


def numpy_source(program: Program, frame: Frame | None = None) -> str:
    """The whole module as text; without a frame its functions alone, for the library or to read."""
    return laid_out(Emitter(program, frame=frame).module())


class Emitter:
    """Prints statement after statement with one table of names."""

    def __init__(self, program: Program, reserved: Iterable[str] = (), frame: Frame | None = None) -> None:
        self.program = program
        self.frame = frame
        self.names = Names(reserved)
        self.printer = NumpyPrinter(self.names)
        for name in (*program.columns, *program.plates):  # as `run/execute.py` names what it hands over
            self.names(name)

    # -- the module ---

    def module(self) -> str:
        parts = self.functions()
        if self.frame is None:
            return "\n\n".join([IMPORTS, *self.support(), *parts])
        means = means_text(self.program, self.printer, self._function)
        frame = replace(self.frame, with_means=bool(means))
        return frame.around([*parts, means], self.support(), self.names)

    def functions(self) -> tuple[str, str, str, str]:
        """`statistics`, `merged`, `finish` and `learn`: what differs from program to program."""
        passes, finish = self.statistics_function(), self.finish_function()
        return passes, self.merged_function(), finish, self.learn_function()

    def learn_function(self) -> str:
        pools = ", ".join(f'"{name}"' for name in self.pools())
        return LEARN_WITH_POOLS.replace("(POOLS,)", f"[{pools}]") if pools else LEARN

    def support(self) -> list[str]:
        """The shared functions that were used so far, with all that they need."""
        return shared(self.printer.used)

    # -- one pass over rows ---

    def passes_body(self, careful: bool = False) -> list[str]:
        """The statistics, statement after statement; careful ones lose no digits of a pool."""
        body: list[str] = []
        reason = ""
        for statement in self.program.passes:
            needed = f"for {statement.because}" if isinstance(statement, Statistic) else statement.because
            body += self._because(statement.because and needed, reason)
            reason = statement.because and needed
            match statement:
                case Statistic():
                    body += self.statistic(statement)
                case Pool():
                    body += self.pool(statement, late=careful)
        return body

    def statistics_function(self) -> str:
        body = self.passes_body()
        results = [f'"{self.names(statement.name)}": {self.names(statement.name)}' for statement in self.program.passes]
        body.append(f"return {{{', '.join(results)}}}")
        if not self.pools():
            doc = "Sufficient statistics of a batch of rows (Theorem 4.1)."
            return self._function("statistics(data, size)", doc, body)
        doc = "Sufficient statistics of a batch of rows (Theorem 4.1); pools named in `exact` in twofold precision."
        return self._function("statistics(data, size, exact=())", doc, body)

    def pools(self) -> list[str]:
        """Names of the pools that the passes compute."""
        return [self.names(statement.name) for statement in self.program.passes if isinstance(statement, Pool)]

    def statistic(self, statement: Statistic) -> list[str]:
        name = self.names(statement.name)
        scope = (*statement.over, *statement.indices)
        if statement.kind != "sum":
            value = self.printer.printed(statement.summand, scope, full=True)
            lowest = "-np.inf" if statement.kind == "max" else "np.inf"
            return [f"{name} = np.{statement.kind}({value}, axis={_axes(len(statement.over))}, initial={lowest})"]
        found = scatter(statement)
        if not found.codes:
            return [f"{name} = {self.plain_sum(statement, scope)}"]
        self.printer.used.add("grouped")
        rows = (*statement.over, *found.walked)
        picked = tuple(index for index in statement.indices if index not in found.others)
        codes = dict(found.codes)
        positions = self.standing([codes.get(index, index) for index in picked], rows)
        shape = ", ".join(self.printer.size(index.plate) for index in picked)
        comma = "," if len(picked) == 1 else ""
        weights = ""
        if found.summand != ONE:
            weights = ", " + self.printer.printed(found.summand, (*rows, *found.others), full=True)
        lines = [f"{name} = grouped(({', '.join(positions)}{comma}), ({shape}{comma}){weights})"]
        order = (*picked, *found.others)
        if order != statement.indices:
            turned = ", ".join(str(order.index(index)) for index in statement.indices)
            lines.append(f"{name} = np.transpose({name}, ({turned}))")
        return lines

    def standing(self, codes: Sequence[Expression], rows: tuple[Index, ...]) -> list[str]:
        """Where rows stand along each axis of a table; together they broadcast over all rows."""
        found = [self.printer.position(code, rows) for code in codes]
        texts = [self.printer.aligned(code, rows, 0) if code.axes else code.text for code in found]
        if self.printer.joined(found, rows) != rows:
            shape = ", ".join(self.printer.size(index.plate) for index in rows)
            texts[0] = f"np.broadcast_to({texts[0]}, ({shape}{',' if len(rows) == 1 else ''}))"
        return texts

    def plain_sum(self, statement: Statistic, scope: tuple[Index, ...]) -> str:
        code = self.printer.code(statement.summand, scope)
        value = code.text if code.axes == scope else self.printer.printed(statement.summand, scope, full=True)
        if len(scope) == 1:
            return f"np.sum({value})"
        return f"np.sum({value}, axis={_axes(len(statement.over))})"

    def pool(self, statement: Pool, late: bool = False) -> list[str]:
        in_turn = _cell_after_cell(statement)
        function = f"{'well_' if late else ''}pooled{'_in_turn' if in_turn else ''}"
        self.printer.used |= {function} if late else {function, "merged_pools", "is_ill_conditioned"}
        name = self.names(statement.name)
        over = in_turn or statement.over
        features = ", ".join(self.feature(feature, over) for feature in statement.features)
        codes = "".join(whole(self.rows(cell.code, over), cell.code) + ", " for cell in statement.cells)
        shape = "".join(self.printer.size(cell.index.plate) + ", " for cell in statement.cells)
        weight = self.rows(statement.weight, over)
        cells = "" if in_turn else f"[{codes.rstrip(', ')}], "
        rows = f"[{features}], {weight}, {cells}({shape.rstrip(' ')})"
        return [f"{name} = {function}({rows})" if late else f'{name} = {function}({rows}, "{name}" in exact)']

    def feature(self, feature: Feature, over: tuple[Index, ...]) -> str:
        if not feature.inner:
            return self.rows(feature.expression, over)
        value = self.printer.printed(feature.expression, (*over, *feature.inner), full=True)
        if len(over) == 1 and len(feature.inner) == 1:
            return value
        width = " * ".join(self.printer.size(index.plate) for index in feature.inner)
        return f"np.reshape({value}, (-1, {width}))"

    def rows(self, expression: Expression, over: tuple[Index, ...]) -> str:
        """A value for each row, or a number when it is the same for all."""
        if isinstance(expression, Constant) or not free_indices(expression):
            return self.printer.printed(expression, ())
        value = self.printer.printed(expression, over, full=True)
        return value if len(over) == 1 else f"np.ravel({value})"

    def merged_function(self) -> str:
        doc = "Statistics of all rows from those of two parts."
        if all(isinstance(statement, Statistic) and statement.kind == "sum" for statement in self.program.passes):
            body = ["return {name: left[name] + right[name] for name in left}"]
            return self._function("merged(left, right)", doc, body, load=False)
        lines = []
        for statement in self.program.passes:
            name = self.names(statement.name)
            pair = f'left["{name}"], right["{name}"]'
            if isinstance(statement, Pool):
                lines.append(f'"{name}": merged_pools({pair}),')
            elif statement.kind == "sum":
                lines.append(f'"{name}": left["{name}"] + right["{name}"],')
            else:
                lines.append(f'"{name}": np.{statement.kind}imum({pair}),')
        body = ["return {", *(f"    {line}" for line in lines), "}"]
        return self._function("merged(left, right)", doc, body, load=False)

    # -- after the pass ---

    def found_lines(self) -> list[str]:
        """Statistics by their names."""
        shown = [self.names(statement.name) for statement in self.program.passes]
        return [f'{name} = found["{name}"]' for name in shown]

    def finish_function(self) -> str:
        body = self.found_lines() + self.finish_body()
        body.append("return {")
        body += [f'    "{result}": {self.names(result)},' for result in self.program.results]
        body.append("}")
        return self._function(
            "finish(found, data, size)", "Posterior parameters and evidence from the statistics.", body
        )

    def finish_body(self) -> list[str]:
        """What follows from the statistics, statement after statement."""
        body: list[str] = []
        reason = ""
        for step in self.program.body:
            body += self._because(step.because, reason)
            reason = step.because
            match step:
                case Assign(name, indices, expression, _):
                    value = self.printer.printed(gathered(expression), indices, full=True)
                    body.append(f"{self.names(name)} = {value}")
                case Pool():
                    body += self.pool(step, late=True)
                case Triangularise():
                    body += LeastSquares(self.names, self.printer).lines(step)
        return body

    # -- printing ---

    def _because(self, text: str, before: str = "") -> list[str]:
        """The reason for a statement, unless it is that of the statement before."""
        return [f"# {comment(text)}"] if text and text != before else []

    def plates(self) -> tuple[str, ...]:
        """The plates whose sizes a function may need."""
        return tuple(self.program.plates)

    def _function(self, signature: str, doc: str, body: list[str], load: bool = True) -> str:
        code = "\n".join(line for line in body if not line.startswith("#"))
        # Names in text and attributes (`np.where`) are not the variables of the same name.
        words = set(re.findall(r"(?<![.\w])[A-Za-z_]\w*", re.sub(r'"[^"\n]*"', "", code)))
        loads = []
        if load:
            for column in self.program.columns:
                if self.names(column) in words:
                    loads.append(f'{self.names(column)} = data["{self.names(column)}"]')
            for plate in self.plates():
                if self.printer.size(plate) in words:
                    loads.append(f'{self.printer.size(plate)} = size["{self.names(plate)}"]')
        lines = [f"def {signature}:", f'    """{doc}"""', *(f"    {line}" for line in loads + body)]
        return "\n".join(lines)


def _axes(count: int) -> str:
    """The first axes of an array, as an argument."""
    return "0" if count == 1 else f"({', '.join(str(k) for k in range(count))})"


def _cell_after_cell(pool: Pool) -> tuple[Index, ...] | None:
    """An order of what a pool runs over in which the rows of each cell follow each other, where there is one.

    Rows need no codes then, nor to be sorted by them; what is the same in all rows would not say how many there are.
    """
    codes = tuple(cell.code for cell in pool.cells)
    found = tuple(code for code in codes if isinstance(code, Index) and code in pool.over)
    varying = [pool.weight, *(feature.expression for feature in pool.features)]
    if not codes or len(set(found)) < len(codes) or not any(free_indices(part) for part in varying):
        return None
    return (*found, *(index for index in pool.over if index not in found))


LEARN = '''
def learn(data, size):
    """All in one: statistics, then what follows from them."""
    return finish(statistics(data, size), data, size)
'''

LEARN_WITH_POOLS = '''
def ill_conditioned(found):
    """Names of the pools whose scatter has lost too many digits, for a second pass that keeps them."""
    return [name for name in (POOLS,) if is_ill_conditioned(found[name])]


def learn(data, size):
    """All in one: statistics, once more where digits were lost, then what follows from them."""
    found = statistics(data, size)
    if again := ill_conditioned(found):
        found = statistics(data, size, again)
    return finish(found, data, size)
'''
