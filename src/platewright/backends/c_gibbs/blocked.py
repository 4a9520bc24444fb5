"""Print expressions for many rows at once: in a block of rows each part that differs from row to row is an array.

    for (int64_t first = 0; first < size_n; first += BLOCK) {
        double part_1[BLOCK];                                   sum over j of x[n, j] w[j]
        for j:  for i:  part_1[i] += x[j * size_n + first + i] * w[j];
        for i:  part_2[i] = exp(-fabs(part_1[i]));
        ...

Every loop over `i` is short, reads and writes straight on and has one function in it, so that the compiler takes
several rows in one instruction; a part is computed once for all that need it. Tables of data lie with their rows last.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from platewright.algebra.build import multiply
from platewright.algebra.expression import (
    Add,
    Call,
    Expression,
    Index,
    Inverse,
    LogDeterminant,
    LogSumExp,
    Maximum,
    Multiply,
    Quadratic,
    Root,
    Scan,
    Sum,
    free_indices,
    parts,
)
from platewright.backends.c.expression import CCode
from platewright.backends.c_gibbs.expression import SOFTENING, GibbsPrinter, is_costly

LEAST = 32
"""Rows from which on they are worked on in blocks."""

DECAY, SHARE = "decay", "share_of_decay"
"""`exp(-|x|)` and `1 / (1 + exp(-|x|))`: not functions of the algebra; logistic functions of x and -x share them."""

_WHOLE = (Inverse, Root, LogDeterminant, Quadratic, Scan)


@dataclass
class BlockedPrinter(GibbsPrinter):
    """Prints single numbers as before, and inside `blocks` arrays of rows."""

    rows: Index | None = None
    count: str = ""
    """How many rows the present block has."""
    turned: dict[str, tuple[str, int]] = field(default_factory=dict)
    """Tables of data whose rows lie last: their name, and the axis that was moved there."""

    @contextmanager
    def blocks(self, index: Index) -> Iterator[None]:
        """What is printed inside is printed for all rows of a block."""
        first, count, size = self.temporary("first"), self.temporary("rows"), self.size(index.plate)
        with self.nested(f"for (int64_t {first} = 0; {first} < {size}; {first} += BLOCK)"):
            self.line(f"const int64_t {count} = {size} - {first} < BLOCK ? {size} - {first} : BLOCK;")
            with self.at(index, f"({first} + i)"):
                self.rows, self.count = index, count
                try:
                    yield
                finally:
                    self.rows, self.count = None, ""

    def each(self, line: str) -> None:
        """A line for each row."""
        self.line(f"for (int64_t i = 0; i < {self.count}; i++)")
        self.line(f"    {line}")

    def each_apart(self, line: str) -> None:
        """A line for each row, first for rows that lie apart: neighbours often share a place, and would wait for it."""
        way = self.temporary("way")
        self.line(f"const int64_t {way} = ({self.count} + 3) / 4;")
        self.line(f"for (int64_t j = 0; j < {way}; j++)")
        self.line(f"    for (int64_t i = j; i < {self.count}; i += {way})")
        self.line(f"        {line}")

    def differs(self, expression: Expression) -> bool:
        """Whether a value differs from row to row of the present block."""
        return self.rows is not None and self.rows in free_indices(expression)

    # -- parts ---------------------------------------------------------------------------------------------------------

    def kept(self, expression: Expression) -> str:
        """The name of a costly part; one that differs from row to row is an array."""
        if not self.differs(expression):
            return super().kept(expression)
        with self.lifted(self.depth(expression)) as scope:
            if expression not in scope.known:
                scope.known[expression] = f"{self.array(expression)}[i]"
            return scope.known[expression]

    def array(self, expression: Expression) -> str:
        """An array with a value for each row."""
        match expression:
            case Sum(index, body):
                return self.gathered(index, body, "0.0", "{0}[i] += {1};")
            case Maximum(index, body):
                return self.gathered(index, body, "-INFINITY", "{0}[i] = larger({0}[i], {1});")
            case LogSumExp(index, body):
                return self.logs_of_sums(index, body)
        return self.array_of(self.plain(expression).text)

    def array_of(self, text: str) -> str:
        """An array with a value for each row, whose C is given."""
        name = self.temporary("part")
        self.line(f"double {name}[BLOCK];")
        self.each(f"{name}[i] = {text};")
        return name

    def gathered(self, index: Index, body: Expression, begin: str, step: str) -> str:
        """A sum or maximum over an inner index, for all rows at each of its elements."""
        name = self.temporary("part")
        self.line(f"double {name}[BLOCK];")
        self.each(f"{name}[i] = {begin};")
        with self.loop(index):
            self.each(step.format(name, self.code(body).whole))
        return name

    def logs_of_sums(self, index: Index, body: Expression) -> str:
        """Logs of sums of exponentials, each about its largest term so far: one exponential a term."""
        top, total = self.temporary("top"), self.temporary("total")
        self.line(f"double {top}[BLOCK], {total}[BLOCK];")
        with self.nested(f"for (int64_t i = 0; i < {self.count}; i++)"):
            self.line(f"{top}[i] = -INFINITY;")
            self.line(f"{total}[i] = 0.0;")
        with self.loop(index):
            value = self.code(body).text
            with self.nested(f"for (int64_t i = 0; i < {self.count}; i++)"):
                self.line(f"const double value = {value}, above = value - {top}[i], less = exp(-fabs(above));")
                self.line(f"const double more = value > -INFINITY ? {total}[i] + less : {total}[i];")
                self.line(f"{total}[i] = above > 0.0 ? {total}[i] * less + 1.0 : more;")
                self.line(f"{top}[i] = above > 0.0 ? value : {top}[i];")
        self.each(f"{top}[i] += log({total}[i]);")
        return top

    # -- functions that share their costly part ------------------------------------------------------------------------

    def call(self, function: str, arguments: tuple[Expression, ...]) -> CCode:
        match function:
            case "logistic":
                return self.logistic(arguments[0])
            case "softening" if self.differs(arguments[0]):
                return CCode(f"softened({self.kept(Call(DECAY, arguments))})")
            case "decay":
                return CCode(f"exp(-fabs({self.signed(arguments[0])[1]}))")
            case "share_of_decay":
                return CCode(f"1.0 / (1.0 + {self.kept(Call(DECAY, arguments))})", 2)
        return super().call(function, arguments)

    def logistic(self, argument: Expression) -> CCode:
        """One exponential and one division for x and -x together."""
        if not self.differs(argument):
            return super().call("logistic", (argument,))
        size, text = self.signed(argument)
        share, decay = self.kept(Call(SHARE, (size,))), self.kept(Call(DECAY, (size,)))
        return CCode(f"({text} < 0.0 ? {decay} * {share} : {share})")

    def log_logistic(self, argument: Expression) -> CCode:
        if not self.differs(argument):
            return super().log_logistic(argument)
        size, text = self.signed(argument)
        return CCode(f"smaller({text}, 0.0) - {self.kept(Call(SOFTENING, (size,)))}", 1)

    def signed(self, argument: Expression) -> tuple[Expression, str]:
        """The one of x and -x that stands for both, and the argument by it."""
        size = min(argument, multiply(-1.0, argument), key=str)
        text = self.kept(size) if isinstance(size, (Add, Multiply)) else self.code(size).text
        return size, text if size == argument else f"-{text}"

    # -- look-ups ------------------------------------------------------------------------------------------------------

    def reference(self, name: str, indices: tuple[Expression, ...]) -> CCode:
        """Rows of a table of data that are not its last axis are read from a copy in which they are."""
        places = [place for place, index in enumerate(indices) if self.rows is not None and index == self.rows]
        if len(places) != 1 or places[0] == len(indices) - 1 or name in self.trusted or name not in self.columns:
            return super().reference(name, indices)
        (place,) = places
        sizes = [self.size(axis.plate) for axis in self.columns[name]]
        order = [*(k for k in range(len(indices)) if k != place), place]
        copy = f"{name} along {self.columns[name][place].plate}"
        self.turned[copy] = name, place
        at = self.offset(tuple(indices[k] for k in order), [sizes[k] for k in order])
        return CCode(f"{self.column(copy)}[{at}]", integer=name in self.integers)


def goes_in_blocks(expressions: list[Expression], index: Index) -> bool:
    """Whether blocks of rows pay, and can be printed: something costly differs from row to row,
    and no matrix or scan does.
    """
    inside = [part for expression in expressions for part in parts(expression) if index in free_indices(part)]
    return any(map(is_costly, inside)) and not any(isinstance(part, _WHOLE) for part in inside)
