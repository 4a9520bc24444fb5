"""Print discrete unknowns site by site: the log weight of one site as it stands, and a draw of each given all others.

The conditionals of `kernels/sites.py`, one site after another. Rows that look a site up are sorted by it first; a
row that looks at a site from several places counts once. Where each row looks at many sites, all rows are added up.
"""

from __future__ import annotations

from contextlib import ExitStack

from platewright.algebra.build import add
from platewright.algebra.expression import Add, Expression, Reference, free_indices, names, walk
from platewright.backends.c.expression import Unprintable
from platewright.backends.c.support import c_comment
from platewright.backends.c_gibbs.expression import GibbsPrinter
from platewright.backends.c_gibbs.function import Arrays, Function, Slot
from platewright.graph.graph import Factor, Graph
from platewright.language.variable import Variable
from platewright.schemas.blocks import SiteBlock
from platewright.schemas.slopes import apart

IMPOSSIBLE = "-1e200"
"""Stands for minus infinity, so that a state with fewer violations is preferred as long as none is possible."""


class SiteWriter:
    """Prints one block."""

    def __init__(self, arrays: Arrays, number: int, block: SiteBlock, graph: Graph) -> None:
        self.arrays = arrays
        self.number = number
        (self.name,) = block.variables
        self.node = graph.nodes[self.name]
        self.factors = [self.own_terms(factor) for factor in block.factors]
        self.local: dict[str, Slot] = {}

    def own_terms(self, factor: Factor) -> Factor:
        """The part of a factor that the sites are in."""
        whole = apart(factor.expression, frozenset(factor.axes))
        terms = whole.terms if isinstance(whole, Add) else (whole,)
        found = Factor(factor.owner, factor.axes, add(*(term for term in terms if self.name in names(term))))
        for place in self.places(found):
            if any(self.name in names(at) for at in place.indices):
                raise Unprintable(f"`{self.name}` decides in `{factor.owner}` which of its sites is looked at")
        return found

    def is_wide(self, factor: Factor) -> bool:
        """Whether a row looks at many sites, so that all rows are added up for each."""
        return any(free_indices(place) - set(factor.axes) for place in self.places(factor))

    def places(self, factor: Factor) -> list[Reference]:
        found: list[Expression] = list(dict.fromkeys(walk(factor.expression)))
        return [part for part in found if isinstance(part, Reference) and part.name == self.name]

    def function(self) -> Function:
        return Function(self.arrays, self.number, self.local, {})

    def functions(self) -> list[str]:
        """The log weight of a site, and the draw of all."""
        return [self.score(), self.draw()]

    def length(self, function: Function, axes: tuple[str, ...]) -> str:
        return function.length_text((axes,))

    def row_arrays(self, function: Function, factor: int, place: int) -> list[str]:
        """Where the rows of each site begin, the rows in that order, and the site of each row."""
        sites = tuple(axis.plate for axis in self.node.axes)
        rows = (tuple(axis.plate for axis in self.factors[factor].axes),)
        shapes = {"start": (sites, ()), "order": rows, "code": rows}
        return [function.computed(f"{word} {factor} {place}", (shape,), True) for word, shape in shapes.items()]

    def score(self) -> str:
        function = self.function()
        function.printer.line("double total = 0.0;")
        for number, factor in enumerate(self.factors):
            if self.is_wide(factor):
                self.all_rows(function, factor)
                continue
            for place in range(len(self.places(factor))):
                self.rows(function, number, place)
        head = f"static double score_{self.number}(const struct chain *chain, int64_t site)"
        return function.text(head, f"block {self.number}: the log weight of {self.name} at a site", "total")

    def rows(self, function: Function, number: int, place: int) -> None:
        """Add up the rows that look at the site from one place and from none before."""
        printer, factor = function.printer, self.factors[number]
        start, order, _ = self.row_arrays(function, number, place)
        printer.line(f"/* {c_comment(str(factor.expression))} */")
        with printer.nested(f"for (int64_t r = {start}[site]; r < {start}[site + 1]; r++)"), ExitStack() as inside:
            printer.line(f"const int64_t here = {order}[r];")
            before = [f"{self.row_arrays(function, number, other)[2]}[here] == site" for other in range(place)]
            if before:
                printer.line(f"if ({' || '.join(before)})")
                printer.line("    continue;")
            after = "1"
            for axis in reversed(factor.axes):
                variable = printer.temporary("index")
                size = printer.size(axis.plate)
                text = "here" if after == "1" else f"here / ({after})"
                whole = text if axis is factor.axes[0] else f"({text}) % {size}"
                printer.line(f"const int64_t {variable} = {whole};")
                after = size if after == "1" else f"{after} * {size}"
                inside.enter_context(printer.at(axis, variable))
            self.add_up(function, factor)

    def all_rows(self, function: Function, factor: Factor) -> None:
        """Add up all rows of a factor: those without the site add the same to each level."""
        with function.printer.nested(""), ExitStack() as loops:
            for axis in factor.axes:
                loops.enter_context(function.printer.loop(axis))
            self.add_up(function, factor)

    def add_up(self, function: Function, factor: Factor) -> None:
        printer = function.printer
        printer.line(f"const double term = {printer.code(factor.expression).text};")
        printer.line(f"total += term > {IMPOSSIBLE} ? term : {IMPOSSIBLE};")

    def draw(self) -> str:
        function = self.function()
        printer = function.printer
        for number, factor in enumerate(self.factors):
            for place in range(0 if self.is_wide(factor) else len(self.places(factor))):
                self.sort_rows(function, number, place)
        sites = self.length(function, tuple(axis.plate for axis in self.node.axes))
        levels, lowest = levels_of(function, self.node)
        array = printer.column(self.name)
        room_for_levels(printer, self.node)
        with printer.nested(f"for (int64_t site = 0; !bad && site < {sites}; site++)"):
            printer.line(f"const int64_t held = {array}[site];")
            printer.line("double top = -INFINITY;")
            with printer.nested(f"for (int64_t level = 0; level < {levels}; level++)"):
                printer.line(f"{array}[site] = {lowest} + level;")
                printer.line(f"weight[level] = score_{self.number}(chain, site);")
                printer.line("top = weight[level] > top ? weight[level] : top;")
            draw_level(printer, array, levels, lowest)
        head = f"static int draw_{self.number}(struct chain *chain, double *found)"
        return function.text(head, f"block {self.number}: {self.name}, site by site; or only the log weights")

    def sort_rows(self, function: Function, number: int, place: int) -> None:
        """Bring the rows into the order of the sites that they look up."""
        printer, factor = function.printer, self.factors[number]
        start, order, code = self.row_arrays(function, number, place)
        with printer.nested(""):
            printer.line("int64_t row = 0;")
            with ExitStack() as loops:
                for axis in factor.axes:
                    loops.enter_context(printer.loop(axis))
                sizes = [printer.size(axis.plate) for axis in self.node.axes]
                indices = self.places(factor)[place].indices
                printer.line(f"{code}[row] = {printer.offset(indices, sizes) if indices else 0};")
                printer.line("row++;")
        rows = self.length(function, tuple(axis.plate for axis in factor.axes))
        sites = self.length(function, tuple(axis.plate for axis in self.node.axes))
        printer.line("if (bad)")
        printer.line("    return bad;")
        printer.line(f"sorted_by({code}, {rows}, {sites}, {start}, {order});")


def levels_of(function: Function, node: Variable) -> tuple[str, int]:
    """How many levels a discrete variable has, and the lowest."""
    domain = node.domain
    if domain.kind == "levels":
        return function.printer.size(str(domain.levels)), 0
    return str(int(domain.upper - domain.lower) + 1), int(domain.lower)


def room_for_levels(printer: GibbsPrinter, node: Variable) -> None:
    """Where the log weights of the levels of a discrete variable stand."""
    domain = node.domain
    if domain.kind == "levels":
        printer.line(f"double *const weight = {printer.room('weight', ((str(domain.levels),),))};")
    else:
        printer.line(f"double weight[{int(domain.upper - domain.lower) + 1}];")


def draw_level(printer: GibbsPrinter, array: str, levels: str, lowest: int) -> None:
    """One of the levels of a site by their log weights, the largest of which is `top`; or only these, into `found`."""
    with printer.nested("if (found)"):
        printer.line(f"memcpy(found + site * {levels}, weight, sizeof(double) * {levels});")
        printer.line(f"{array}[site] = held;")
        printer.line("continue;")
    printer.line("double total = 0.0;")
    with printer.nested(f"for (int64_t level = 0; level < {levels}; level++)"):
        printer.line("total += exp(weight[level] - top);")
        printer.line("weight[level] = total;")
    printer.line("const double until = total * uniform(random);")
    printer.line("int64_t value = 0;")
    printer.line(f"for (int64_t level = 0; level < {levels} - 1; level++)")
    printer.line("    value += weight[level] <= until;")
    printer.line(f"{array}[site] = {lowest} + value;")
