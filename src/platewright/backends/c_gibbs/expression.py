"""Print the expressions of a sampler as C: as those of a pass, with matrices, and each part where it changes.

    sum over n of [z[n] = k] log(p[k])        log(p[k]) is computed in the loop over k, outside the loop over n

A costly part (a function, a sum, a root, an inverse) is printed in the innermost loop that it depends on, once.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from platewright.algebra.build import multiply
from platewright.algebra.expression import (
    Add,
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
    children,
    free_indices,
    names,
    sums_within,
)
from platewright.algebra.kept import kept
from platewright.algebra.substitution import substitute
from platewright.backends.c.expression import CCode, CPrinter, Unprintable
from platewright.backends.c_gibbs.endless import may_be_endless
from platewright.backends.c_gibbs.scans import Extent as Extent
from platewright.backends.c_gibbs.scans import Filled, state_at, state_before

SOFTENING = "softening"
"""`log(1 + exp(-|x|))`: not a function of the algebra, it stands for the part that `log_logistic` of x and -x share."""

MORE_FUNCTIONS: Mapping[str, str] = {
    SOFTENING: SOFTENING,
    "logistic": "logistic_of",
    "trigamma": "trigamma",
    "multivariate_lgamma": "multivariate_lgamma",
    "log_bessel0": "log_bessel0",
    "bessel_ratio": "bessel_ratio",
    "gamma_cdf": "gamma_cdf",
    "beta_cdf": "beta_cdf",
    "normal_quantile": "normal_quantile",
}
"""Functions that emitted samplers carry along besides those of a pass."""


CHEAP = frozenset({"less", "absolute", "maximum", "minimum", "floor"})

LARGE = 40
MOST_WITHIN = 6
"""Parts in a sum from which on it is computed once and named: sums that hold one another grow with each step."""

_COSTLY = (Sum, Maximum, LogSumExp, LogDeterminant, Inverse, Root, Quadratic, Scan)


@dataclass
class _Scope:
    """The lines of a loop's body so far, and the parts already computed in it."""

    lines: list[str]
    known: dict[Expression, str] = field(default_factory=dict)
    scans: dict[Expression, Filled] = field(default_factory=dict)


@dataclass
class GibbsPrinter(CPrinter):
    """Prints with a stack of loops; `given` are parts whose C is set from outside, `trusted` codes need no check."""

    given: dict[Expression, CCode] = field(default_factory=dict)
    pinned: dict[str, int] = field(default_factory=dict)
    """For names whose value is made inside a loop: how deep."""
    trusted: frozenset[str] = frozenset()
    stack: list[_Scope] = field(default_factory=list)
    depths: dict[Index, int] = field(default_factory=dict)
    scans: list[Filled] = field(default_factory=list)
    """The scans in the making."""
    rooms: dict[str, tuple[Extent, ...]] = field(default_factory=dict)
    """Working arrays whose length data fix: they lie with the arrays of the chain, never on the C stack."""

    def __post_init__(self) -> None:
        self.stack = [_Scope(self.lines)]

    # -- lines and loops -----------------------------------------------------------------------------------------------

    def line(self, text: str) -> None:
        """One more line where we are."""
        self.lines.append(text)

    def take(self) -> list[str]:
        """All lines so far; what was computed in them is forgotten."""
        assert len(self.stack) == 1
        found = self.lines
        self.lines = []
        self.stack = [_Scope(self.lines)]
        return found

    def forget(self) -> None:
        """What comes next may see other values: nothing computed here so far is used again."""
        for scope in self.stack:
            scope.known.clear()
            scope.scans.clear()

    @contextmanager
    def nested(self, head: str) -> Iterator[None]:
        """What is printed inside stands in braces after a line such as `for (...)`."""
        outer = self.lines
        self.lines = []
        self.stack.append(_Scope(self.lines))
        try:
            yield
        finally:
            self.stack.pop()
            body, self.lines = self.lines, outer
        self.lines.append(f"{head} {{".lstrip())
        self.lines += [f"    {line}" for line in body]
        self.lines.append("}")

    @contextmanager
    def at(self, index: Index, variable: str) -> Iterator[None]:
        """Inside, the index has the value of a variable that was made where we are."""
        held = self.variables.get(index), self.depths.get(index)
        self.variables[index], self.depths[index] = variable, len(self.stack) - 1
        try:
            yield
        finally:
            del self.variables[index], self.depths[index]
            if held[0] is not None and held[1] is not None:
                self.variables[index], self.depths[index] = held[0], held[1]

    @contextmanager
    def loop(self, index: Index, first: str = "0", last: str | None = None) -> Iterator[str]:
        """A loop over an index, or a part of its range."""
        variable = self.temporary("index")
        stop = last or self.size(index.plate)
        head = f"for (int64_t {variable} = {first}; {variable} < {stop}; {variable}++)"
        with self.nested(head), self.at(index, variable):
            yield variable

    def room(self, word: str, *extents: Extent) -> str:
        """A working array of so many numbers along each axis, which lies with the arrays of the chain."""
        name = f"{word}@{len(self.rooms)}"
        self.rooms[name] = extents
        return self.column(name)

    # -- where a part is computed --------------------------------------------------------------------------------------

    def code(self, expression: Expression) -> CCode:
        """C for one expression; a costly part is computed where it changes, and only once there."""
        if expression in self.given:
            return self.given[expression]
        lifted = isinstance(expression, Add) and any(expression in scope.known for scope in self.stack)
        if lifted or is_costly(expression):
            return CCode(self.kept(expression))
        return self.plain(expression)

    def plain(self, expression: Expression) -> CCode:
        """C for one expression where we are."""
        match expression:
            case LogSumExp(index, body):
                return self.log_sum(index, body)
            case LogDeterminant(matrix, row, column):
                return self.log_determinant(matrix, row, column)
            case Inverse(matrix, row, column, at_row, at_column) | Root(matrix, row, column, at_row, at_column):
                whole = type(expression)(matrix, row, column, row, column)
                size = self.size(row.plate)
                return CCode(f"{self.matrix(whole)}[{self.offset((at_row, at_column), [size, size])}]")
            case Quadratic():
                return self.quadratic(expression)
            case Scan():
                return CCode(state_at(self, expression))
            case Before():
                return CCode(state_before(self, expression))
        return super().code(expression)

    def depth(self, expression: Expression) -> int:
        """How many of the loops around us an expression depends on, up to the last of them."""
        found = [self.depths.get(index, 0) for index in free_indices(expression)]
        found += [self.pinned[name] for name in names(expression) if name in self.pinned]
        return max(found, default=0)

    @contextmanager
    def lifted(self, depth: int) -> Iterator[_Scope]:
        """What is printed inside goes to an outer loop, before the loops that are in the making."""
        stack, lines = self.stack, self.lines
        self.stack = stack[: depth + 1]
        self.lines = self.stack[-1].lines
        try:
            yield self.stack[-1]
        finally:
            self.stack, self.lines = stack, lines

    def kept(self, expression: Expression) -> str:
        """The name of a costly part, computed in the outermost loop that allows it."""
        with self.lifted(self.depth(expression)) as scope:
            if expression not in scope.known:
                code = self.plain(expression)
                name = self.temporary("part")
                self.line(f"const double {name} = {code.text};")
                scope.known[expression] = name
            return scope.known[expression]

    # -- arithmetic ----------------------------------------------------------------------------------------------------

    def multiply(self, factors: tuple[Expression, ...]) -> CCode:
        """Indicators choose, and an exact zero wins over an infinity."""
        conditions = [factor for factor in factors if isinstance(factor, Indicator)]
        rest = tuple(factor for factor in factors if not isinstance(factor, Indicator))
        if conditions and rest:
            test = " && ".join(self.code(condition).text for condition in conditions)
            return CCode(f"({test} ? {self.code(multiply(*rest)).text} : 0.0)")
        endless = [factor for factor in rest if may_be_endless(factor)]
        finite = [factor for factor in rest if factor not in endless]
        if not endless or (len(endless) == 1 and all(isinstance(factor, Constant) for factor in finite)):
            return super().multiply(factors)
        text = self.code(endless[0]).text
        for factor in endless[1:]:
            text = f"product({text}, {self.code(factor).text})"
        constants = [factor for factor in finite if isinstance(factor, Constant)]
        others = [factor for factor in finite if not isinstance(factor, Constant)]
        if others:
            text = f"product({self.code(multiply(*others)).text}, {text})"
        if constants:
            text = f"({self.code(multiply(*constants)).text}) * {text}"
        return CCode(text, 2)

    def call(self, function: str, arguments: tuple[Expression, ...]) -> CCode:
        if function == "log_logistic":
            return self.log_logistic(arguments[0])
        if function not in MORE_FUNCTIONS:
            return super().call(function, arguments)
        listed = ", ".join(self.code(argument).text for argument in arguments)
        return CCode(f"{MORE_FUNCTIONS[function]}({listed})")

    def log_logistic(self, argument: Expression) -> CCode:
        """`min(x, 0) - log(1 + exp(-|x|))`: the second part is the same for x and -x, and computed once."""
        size = min(argument, multiply(-1.0, argument), key=str)
        shared = self.kept(Call(SOFTENING, (size,)))
        return CCode(f"smaller({self.code(argument).text}, 0.0) - {shared}", 1)

    def log_sum(self, index: Index, body: Expression) -> CCode:
        """The log of a sum of exponentials, about the largest term so far."""
        if (deep := sums_within(body) + 1) > MOST_WITHIN:
            raise Unprintable(f"{deep} sums within sums, whose loops would be gone through anew in each other")
        top, total = self.temporary("top"), self.temporary("total")
        self.line(f"double {top} = -INFINITY, {total} = 0.0;")
        with self.loop(index):
            value = self.temporary("value")
            self.line(f"const double {value} = {self.code(body).text};")
            self.line(f"if ({value} > {top}) {{")
            self.line(f"    {total} = {total} * exp({top} - {value}) + 1.0;")
            self.line(f"    {top} = {value};")
            self.line(f"}} else if ({value} > -INFINITY)")
            self.line(f"    {total} += exp({value} - {top});")
        return CCode(f"{top} + log({total})", 1)

    # -- matrices ------------------------------------------------------------------------------------------------------

    def filled(self, matrix: Expression, row: Index, column: Index) -> str:
        """A local array with the elements of a matrix."""
        wide, size = ((row.plate,),), self.size(row.plate)
        name = self.room("matrix", wide, wide)
        with self.loop(row) as i, self.loop(column) as j:
            self.line(f"{name}[{i} * {size} + {j}] = {self.code(matrix).text};")
        return name

    def matrix(self, whole: Inverse | Root) -> str:
        """The inverse or root of a matrix, in the outermost loop that allows it."""
        bound = free_indices(whole.matrix) - {whole.row, whole.column}
        depth = max((self.depths.get(index, 0) for index in bound), default=0)
        depth = max([depth, *(self.pinned[name] for name in names(whole.matrix) if name in self.pinned)])
        whole = _with_standard_indices(whole)
        with self.lifted(depth) as scope:
            if whole not in scope.known:
                name, size = self.filled(whole.matrix, whole.row, whole.column), self.size(whole.row.plate)
                if isinstance(whole, Root):
                    self.line(f"lower_root({size}, {name});")
                else:
                    wide = ((whole.row.plate,),)
                    inverse = self.room("inverse", wide, wide)
                    self.line(f"const double {inverse}_size = inverse_of({size}, {name}, {inverse});")
                    name = inverse
                scope.known[whole] = name
            return scope.known[whole]

    def log_determinant(self, matrix: Expression, row: Index, column: Index) -> CCode:
        """The log of the size of a determinant; an inverse that is there has found it too."""
        inverse = _with_standard_indices(Inverse(matrix, row, column, row, column))
        for scope in self.stack:
            if inverse in scope.known:
                return CCode(f"{scope.known[inverse]}_size")
        return CCode(f"log_determinant({self.size(row.plate)}, {self.filled(matrix, row, column)})")

    def quadratic(self, whole: Quadratic) -> CCode:
        vector, total = self.room("vector", ((whole.row.plate,),)), self.temporary("total")
        self.line(f"double {total} = 0.0;")
        with self.loop(whole.row) as i:
            self.line(f"{vector}[{i}] = {self.code(whole.residual).text};")
        with self.loop(whole.row) as i, self.loop(whole.column) as j:
            element = self.code(whole.matrix).wrapped(2)
            self.line(f"{total} += {vector}[{i}] * {element} * {vector}[{j}];")
        return CCode(total)

    # -- look-ups ------------------------------------------------------------------------------------------------------

    def offset(self, indices: tuple[Expression, ...], sizes: list[str]) -> str:
        """Where an element lies in an array in C order; there are no rows of a pass here."""
        text = ""
        for index, size in zip(indices, sizes, strict=True):
            left = text if text.isidentifier() else f"({text})"
            inside = self.position(index, size)
            text = f"{left} * {size} + {inside}" if text else inside
        return text

    def position(self, index: Expression, size: str) -> str:
        """Codes that the sampler itself drew are inside their plate; doubles that are whole numbers are made codes."""
        if isinstance(index, Reference) and index.name in self.trusted:
            return self.code(index).text
        code = self.code(index)
        if not code.integer and self.is_whole(index):
            return f"within((int64_t)({code.text}), {size}, &bad)"
        return super().position(index, size)

    def is_whole(self, expression: Expression) -> bool:
        """Whether a value is a whole number whatever the data are."""
        match expression:
            case Constant(value):
                return float(value).is_integer()
            case Literal(values):
                return all(float(value).is_integer() for value in values)
            case Index() | Lag() | Size() | Indicator() | Call("less" | "floor"):
                return True
            case Reference(name, _):
                return name in self.integers
            case Call("maximum" | "minimum", parts) | Add(parts) | Multiply(parts):
                return all(self.is_whole(part) for part in parts)
            case Where(_, then, otherwise):
                return self.is_whole(then) and self.is_whole(otherwise)
        return False


def _with_standard_indices(whole: Inverse | Root) -> Inverse | Root:
    """The same matrix whatever its indices are called."""
    row, column = Index("row of matrix", whole.row.plate), Index("column of matrix", whole.column.plate)
    return type(whole)(substitute(whole.matrix, {whole.row: row, whole.column: column}), row, column, row, column)


def is_costly(expression: Expression) -> bool:
    """Whether a part is computed once and named."""
    match expression:
        case Call(function, _):
            return function not in CHEAP
        case Power(_, Constant(value)):
            return value not in (-1.0, 2.0)
        case Power():
            return True
        case Add():
            return _count(expression) > LARGE
    return isinstance(expression, _COSTLY)


@kept
def _count(expression: Expression) -> int:
    """How many parts an expression is written with."""
    return 1 + sum(map(_count, children(expression)))


def is_product(expression: Expression) -> tuple[Expression, ...]:
    """The factors of an expression."""
    return expression.factors if isinstance(expression, Multiply) else (expression,)
