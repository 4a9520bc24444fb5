"""Print an expression of one row as C: doubles and int64 codes, indices as loop variables.

    log(e[n]) x[n]          prints      log(data_e[row]) * data_x[row]
    sum_j X[n, j] b[j]      prints      a short loop before the line, and the name of its result

What cannot be printed raises `Unprintable` with the reason; the statement then stays with NumPy.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from platewright.algebra.build import multiply
from platewright.algebra.expression import (
    Add,
    AtMost,
    Before,
    Call,
    Constant,
    Expression,
    Index,
    Indicator,
    Inverse,
    Lag,
    Literal,
    LogDeterminant,
    LogSumExp,
    Maximum,
    Multiply,
    Power,
    Quadratic,
    Reference,
    Root,
    Scan,
    Size,
    Sum,
    Where,
)
from platewright.algebra.substitution import substitute
from platewright.algebra.zero_times_log import safe_product
from platewright.backends.c.constants import constant_table
from platewright.backends.naming import Names

_CHOICE, _SUM, _PRODUCT, _ATOM = 0, 1, 2, 3

FUNCTIONS: Mapping[str, str] = {
    "log": "log",
    "exp": "exp",
    "log1p": "log1p",
    "expm1": "expm1",
    "absolute": "fabs",
    "lgamma": "lgamma",
    "scaled_lgamma": "scaled_lgamma",
    "log_beta": "log_beta",
    "logistic": "logistic",
    "log_logistic": "log_logistic",
    "cos": "cos",
    "sin": "sin",
    "tanh": "tanh",
    "normal_cdf": "normal_cdf",
    "log_normal_cdf": "log_normal_cdf",
    "arctan2": "atan2",
    "maximum": "larger",
    "minimum": "smaller",
    "floor": "floor",
    "xlogy": "xlogy",
    "digamma": "digamma",
}
"""How C spells the functions of the algebra; those not here (Bessel, trigamma ...) stay with NumPy."""


class Unprintable(Exception):
    """An expression that this backend has no C for; the message says which part and why."""


@dataclass(frozen=True)
class CCode:
    """Text, how tightly it binds, and what it is: an integer, and if so one that is only ever 0 or 1 (or constant)."""

    text: str
    level: int = _ATOM
    integer: bool = False
    small: bool = False

    def wrapped(self, least: int) -> str:
        """The text, in brackets where needed."""
        return self.text if self.level >= least else f"({self.text})"

    @property
    def whole(self) -> str:
        """The text, to be added to something: a sum of doubles is taken first, whatever order the compiler prefers."""
        return f"WHOLE({self.text})" if self.level < _PRODUCT and not self.integer else self.text


@dataclass
class CPrinter:
    """Prints the expressions of one pass; notes the columns, sizes and tables used, and the lines that go before."""

    names: Names
    over: tuple[Index, ...]
    columns: Mapping[str, tuple[Index, ...]]
    integers: frozenset[str]
    upright: frozenset[str] = frozenset()
    """Matrices that lie column by column."""
    shared: dict[Expression, str] = field(default_factory=dict)
    used_columns: dict[str, None] = field(default_factory=dict)
    used_sizes: dict[str, None] = field(default_factory=dict)
    used_pitches: dict[str, None] = field(default_factory=dict)
    tables: dict[tuple[float, ...], str] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)
    variables: dict[Index, str] = field(default_factory=dict)
    fresh: int = 0

    # -- names -------------------------------------------------------------------------------------------------------

    def column(self, name: str) -> str:
        """The pointer to a column."""
        self.used_columns[name] = None
        return self.names(f"data_{name}")

    def size(self, plate: str) -> str:
        """The variable that holds the size of a plate."""
        self.used_sizes[plate] = None
        return self.names(f"size {plate}")

    def pitch(self, name: str) -> str:
        """The variable that holds the way from one column of an upright matrix to the next."""
        self.used_pitches[name] = None
        return self.names(f"pitch {name}")

    def temporary(self, word: str) -> str:
        """A new variable."""
        self.fresh += 1
        return f"{word}_{self.fresh}"

    def take(self) -> list[str]:
        """The lines that must go before what was just printed."""
        found, self.lines = self.lines, []
        return found

    @contextmanager
    def loop(self, index: Index) -> Iterator[str]:
        """What is printed inside stands in a loop over `index`; the lines it needs stay inside too."""
        before, self.lines = self.lines, []
        outer = self.variables.get(index)
        variable = self.variables[index] = self.temporary("index")
        size = self.size(index.plate)
        try:
            yield variable
        finally:
            body, self.lines = self.lines, before
            del self.variables[index]
            if outer is not None:
                self.variables[index] = outer
        self.lines.append(f"for (int64_t {variable} = 0; {variable} < {size}; {variable}++) {{")
        self.lines += [f"    {line}" for line in body]
        self.lines.append("}")

    # -- expressions -------------------------------------------------------------------------------------------------

    def code(self, expression: Expression) -> CCode:
        """C for one expression."""
        if expression in self.shared:
            return CCode(f"{self.shared[expression]}[i]")
        match expression:
            case Constant(value):
                return _constant(value)
            case Size(plate):
                return CCode(self.size(plate), integer=True)
            case Index():
                return self.index(expression)
            case Lag(index):
                return CCode(f"previous({self.code(index).text})", integer=True)
            case Reference(name, indices):
                return self.reference(name, indices)
            case Literal(values, shape, _, indices):
                return self.table(values, shape, indices)
            case Add(terms):
                return self.add([self.code(term) for term in terms])
            case Multiply() if (safe := safe_product(expression)) is not expression:
                return self.code(safe)
            case Multiply(factors):
                return self.multiply(factors)
            case Power(base, exponent):
                return self.power(base, exponent)
            case Call(function, arguments):
                return self.call(function, arguments)
            case Sum(index, body):
                return self.inner(index, body, "0.0", "{} += {};")
            case Maximum(index, body):
                return self.inner(index, body, "-INFINITY", "{0} = larger({0}, {1});")
            case LogSumExp(index, body):
                return self.log_sum(index, body)
            case Inverse() | Root() | LogDeterminant():
                return self.matrix_of_numbers(expression)
            case Scan() | Before():
                raise Unprintable("a scan in a pass over rows")
            case Quadratic(residual, matrix, row, column):
                across = substitute(residual, {row: column})
                return self.code(Sum(row, Sum(column, multiply(residual, matrix, across))))
            case Indicator(left, right):
                one, two = self.code(left), self.code(right)
                return CCode(f"({one.wrapped(_SUM)} == {two.wrapped(_SUM)})", integer=True, small=True)
            case AtMost(low, high):
                one, two = self.code(low), self.code(high)
                return CCode(f"({one.wrapped(_SUM)} <= {two.wrapped(_SUM)} ? 0.0 : -INFINITY)")
            case Where(condition, then, otherwise):
                test, one, two = (self.code(part) for part in (condition, then, otherwise))
                text = f"({test.wrapped(_SUM)} != 0 ? {one.wrapped(_SUM)} : {two.wrapped(_SUM)})"
                return CCode(text, integer=one.integer and two.integer, small=one.small and two.small)
        raise Unprintable(f"{type(expression).__name__} ({expression}) has no C yet")

    def add(self, parts: list[CCode]) -> CCode:
        text = parts[0].wrapped(_SUM)
        for part in parts[1:]:
            shown = part.wrapped(_SUM)
            text += f" - {shown[1:]}" if shown.startswith("-") else f" + {shown}"
        return CCode(text, _SUM, all(part.integer for part in parts), all(part.small for part in parts))

    def multiply(self, factors: tuple[Expression, ...]) -> CCode:
        if factors[0] == Constant(-1.0) and len(factors) > 1:
            rest = self.code(multiply(*factors[1:]))
            shown = rest.wrapped(_PRODUCT)
            return CCode(shown[1:] if shown.startswith("-") else f"-{shown}", _PRODUCT, rest.integer, rest.small)
        under = [factor for factor in factors if isinstance(factor, Power) and factor.exponent == Constant(-1.0)]
        parts = [self.code(factor) for factor in factors if factor not in under]
        # Products of two integer columns are made in double: int64 would wrap around without a word.
        integer = not under and all(part.integer for part in parts) and sum(not part.small for part in parts) <= 1
        if not integer and all(part.integer for part in parts):
            parts = [CCode("1.0"), *parts]
        text = " * ".join(part.wrapped(_PRODUCT) for part in parts)
        for factor in under:
            text += f" / {self.code(factor.base).wrapped(_ATOM)}"
        return CCode(text, _PRODUCT, integer, integer and all(part.small for part in parts))

    def power(self, base: Expression, exponent: Expression) -> CCode:
        inner = self.code(base)
        match exponent:
            case Constant(-1.0):
                return CCode(f"1.0 / {inner.wrapped(_ATOM)}", _PRODUCT)
            case Constant(2.0):
                return CCode(f"square({inner.text})")
            case Constant(-2.0):
                return CCode(f"1.0 / square({inner.text})", _PRODUCT)
            case Constant(0.5):
                return CCode(f"sqrt({inner.text})")
            case Constant(-0.5):
                return CCode(f"1.0 / sqrt({inner.text})", _PRODUCT)
        return CCode(f"pow({inner.text}, {self.code(exponent).text})")

    def call(self, function: str, arguments: tuple[Expression, ...]) -> CCode:
        parts = [self.code(argument) for argument in arguments]
        if function == "less":
            one, two = parts
            return CCode(f"({one.wrapped(_SUM)} < {two.wrapped(_SUM)})", integer=True, small=True)
        if function not in FUNCTIONS:
            raise Unprintable(f"C has no function {function}")
        return CCode(f"{FUNCTIONS[function]}({', '.join(part.text for part in parts)})")

    def inner(self, index: Index, body: Expression, first: str, step: str) -> CCode:
        """A sum or maximum over an inner index: a loop before the line."""
        name = self.temporary("inner")
        self.lines.append(f"double {name} = {first};")
        with self.loop(index):
            value = self.code(body)
            self.lines.append(step.format(name, value.whole))
        return CCode(name)

    def log_sum(self, index: Index, body: Expression) -> CCode:
        """The log of a sum of exponentials: two loops before the line, the largest term taken out."""
        top = self.inner(index, body, "-INFINITY", "{0} = larger({0}, {1});").text
        name = self.temporary("inner")
        self.lines.append(f"double {name} = 0.0;")
        with self.loop(index):
            self.lines.append(f"{name} += exp({self.code(body).wrapped(_SUM)} - {top});")
        return CCode(f"({top} == -INFINITY ? -INFINITY : {top} + log({name}))")

    def matrix_of_numbers(self, whole: Inverse | Root | LogDeterminant) -> CCode:
        """An element of a matrix that no data have part in, from a table."""
        found = constant_table(whole)
        if found is None:
            raise Unprintable(f"{type(whole).__name__} ({whole}) of a matrix that is not made of numbers has no C yet")
        places = () if isinstance(whole, LogDeterminant) else (whole.at_row, whole.at_column)
        return self.table(*found, places)

    # -- look-ups ----------------------------------------------------------------------------------------------------

    def index(self, index: Index) -> CCode:
        """The position on a plate: the row number, a part of it, or a loop variable."""
        if index in self.variables:
            return CCode(self.variables[index], integer=True)
        if index not in self.over:
            raise Unprintable(f"index {index.name} is neither a row nor looped over")
        later = [self.size(other.plate) for other in self.over[self.over.index(index) + 1 :]]
        text = "row" if not later else f"(row / ({' * '.join(later)}))"
        if index != self.over[0]:
            return CCode(f"({text} % {self.size(index.plate)})", integer=True)
        return CCode(text, integer=True)

    def reference(self, name: str, indices: tuple[Expression, ...]) -> CCode:
        if name not in self.columns:
            raise Unprintable(f"{name} is not a column of the data")
        integer = name in self.integers
        if not indices:
            return CCode(f"{self.column(name)}[0]", integer=integer)
        plates = [axis.plate for axis in self.columns[name]]
        if len(plates) != len(indices):
            raise Unprintable(f"{name} has {len(plates)} axes but is looked up with {len(indices)}")
        sizes = [self.size(plate) for plate in plates]
        if name in self.upright:
            down, across = (self.position(index, size) for index, size in zip(indices, sizes, strict=True))
            return CCode(f"{self.column(name)}[{across} * {self.pitch(name)} + {down}]", integer=integer)
        return CCode(f"{self.column(name)}[{self.offset(indices, sizes)}]", integer=integer)

    def table(self, values: tuple[float, ...], shape: tuple[int, ...], indices: tuple[Expression, ...]) -> CCode:
        name = self.tables.setdefault(values, f"table_{len(self.tables) + 1}")
        return CCode(f"{name}[{self.offset(indices, [str(extent) for extent in shape]) if indices else 0}]")

    def offset(self, indices: tuple[Expression, ...], sizes: list[str]) -> str:
        """Where an element lies in an array in C order."""
        if indices[: len(self.over)] == self.over and not any(index in self.variables for index in self.over):
            text, rest = "row", len(self.over)
        else:
            text, rest = self.position(indices[0], sizes[0]), 1
        for index, size in zip(indices[rest:], sizes[rest:]):
            left = text if text.isidentifier() else f"({text})"
            text = f"{left} * {size} + {self.position(index, size)}"
        return text

    def position(self, index: Expression, size: str) -> str:
        """One index of a look-up; codes that come from data are held inside their plate."""
        if isinstance(index, Index):
            return self.code(index).wrapped(_PRODUCT)
        code = self.code(index)
        # whole numbers that share a column with holes are doubles, as are positions reckoned from them
        text = code.text if code.integer else f"(int64_t)({code.text})"
        return text if isinstance(index, Lag) else f"within({text}, {size}, &bad)"


def _constant(value: float) -> CCode:
    """A number: an integer where it is one, so that counts stay exact."""
    if value != value:
        return CCode("NAN")
    if value in (float("inf"), float("-inf")):
        return CCode("INFINITY") if value > 0 else CCode("-INFINITY", _SUM)
    if float(value).is_integer() and abs(value) < 2**31:
        return CCode(str(int(value)), _ATOM if value >= 0 else _SUM, integer=True, small=True)
    return CCode(repr(float(value)), _ATOM if value >= 0 else _SUM)
