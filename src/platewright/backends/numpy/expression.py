"""Print an expression as NumPy: indices become axes in the order of the scope, aligned by name.

mu[k] * y[n] in scope (n, k)    prints    y[:, None] * mu
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf

from platewright.algebra.expression import (
    ONE,
    Add,
    AtMost,
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
    bound,
    free_indices,
    sums_within,
    walk,
)
from platewright.algebra.functions import FUNCTIONS
from platewright.algebra.grouped import Grouped, grouped
from platewright.algebra.text import number
from platewright.algebra.zero_times_log import safe_product
from platewright.backends.naming import Names
from platewright.backends.numpy.scans import scan_text

Scope = tuple[Index, ...]
_SUM, _PRODUCT, _ATOM = 1, 2, 3
DEEP = 3  # sums within sums that are printed where they stand


@dataclass(frozen=True)
class Code:
    """Text, the indices its axes stand for (in scope order), and how tightly it binds."""

    text: str
    axes: Scope
    level: int = _ATOM

    def wrapped(self, least: int) -> str:
        """The text, in brackets where needed."""
        return self.text if self.level >= least else f"({self.text})"


class NumpyPrinter:
    """Prints expressions with names from one table; remembers which support functions were used."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self.used: set[str] = set()
        self.kept: dict[tuple[Expression, Scope], Code] = {}
        self.lines: list[str] | None = None
        """Where sums go that stand on lines of their own, once each; nowhere while all are written where they stand."""
        self.tables: dict[Expression, str] = {}
        """The names of scans on such lines."""

    @contextmanager
    def keeping(self, lines: list[str]) -> Iterator[None]:
        """Inside, sums with others deep within them go on lines of their own, once each."""
        self.lines, self.kept, self.tables = lines, {}, {}
        yield
        self.lines, self.kept = None, {}

    def printed(self, expression: Expression, scope: Scope, full: bool = False) -> str:
        """Code whose axes are the scope's that it depends on, or all of them at full size."""
        code = self.code(expression, scope)
        return self.filled(code, scope) if full else code.text

    def placed(self, expression: Expression, scope: Scope) -> str:
        """Places along an axis at all elements of a scope: whole numbers, those of tables too."""
        return self.filled(self.position(expression, scope), scope)

    def filled(self, code: Code, scope: Scope) -> str:
        """Code with all axes of a scope at full size."""
        if code.axes == scope:
            return code.text
        shape = ", ".join(self.size(index.plate) for index in scope)
        comma = "," if len(scope) == 1 else ""
        return f"np.broadcast_to({self.aligned(code, scope, 0)}, ({shape}{comma}))"

    def size(self, plate: str) -> str:
        """The variable that holds the size of a plate."""
        return self.names(f"size {plate}")

    def width(self, indices: Scope) -> str:
        """How many numbers there are along some axes together."""
        return " * ".join(self.size(index.plate) for index in indices) or "1"

    def aligned(self, code: Code, axes: Scope, least: int = _SUM) -> str:
        """Code made to broadcast against the given axes."""
        if code.axes == axes[len(axes) - len(code.axes) :]:
            return code.wrapped(least)
        marks = ", ".join(":" if index in code.axes else "None" for index in axes[axes.index(code.axes[0]) :])
        return f"{code.wrapped(_ATOM)}[{marks}]"

    def joined(self, parts: list[Code], scope: Scope) -> Scope:
        return tuple(index for index in scope if any(index in part.axes for part in parts))

    def code(self, expression: Expression, scope: Scope) -> Code:
        """Code for one expression."""
        if self.lines is not None and isinstance(expression, Sum | LogSumExp) and sums_within(expression) > DEEP:
            return self.on_a_line(expression, scope, self.lines)
        return self.in_place(expression, scope)

    def on_a_line(self, expression: Expression, scope: Scope, lines: list[str]) -> Code:
        """A sum that is computed once, before."""
        key = expression, tuple(index for index in scope if index in free_indices(expression))
        if key not in self.kept:
            code = self.in_place(expression, scope)
            name = self.names(f"sum {len(self.kept)}")
            lines.append(f"{name} = {code.text}")
            self.kept[key] = Code(name, code.axes)
        return self.kept[key]

    def in_place(self, expression: Expression, scope: Scope) -> Code:
        """Code for one expression where it stands."""
        for index in bound(expression):
            if index in scope:
                from platewright.algebra.substitution import rename_bound

                expression = rename_bound(expression, [index], set(scope))
        match expression:
            case Constant(value):
                shown = number(value).replace("inf", "np.inf")
                return Code(shown, (), _ATOM if value >= 0 else _SUM)
            case Size(plate):
                return Code(self.size(plate), ())
            case Index(_, plate):
                return Code(f"np.arange({self.size(plate)})", (expression,))
            case Lag(later):
                before = self.code(later, scope)
                return Code(f"np.maximum({before.text} - 1, 0)", before.axes)
            case Reference(name, indices):
                return self.look_up(self.names(name), indices, scope)
            case Literal(values, shape, _, indices):
                return self.look_up(_table(values, shape), indices, scope)
            case Add(terms):
                return self.add(terms, scope)
            case Multiply() if (safe := safe_product(expression)) is not expression:
                return self.code(safe, scope)
            case Multiply(factors):
                return self.multiply(factors, scope)
            case Power(base, exponent):
                return self.power(base, exponent, scope)
            case Call(function, arguments):
                return self.call(function, arguments, scope)
            case Sum(index, body):
                return self.sum(index, body, scope)
            case LogSumExp(index, body):
                self.used.add("log_sum_exp")
                return self.reduced("log_sum_exp", index, body, scope, last="")
            case Maximum(index, body):
                return self.reduced("np.max", index, body, scope)
            case Indicator(left, right):
                # Truth values are made numbers at once: NumPy adds them as `or` and cannot negate them.
                inner = self.compared("==", left, right, scope)
                return Code(f"1.0 * {inner.text}", inner.axes, _PRODUCT)
            case AtMost(low, high):
                inner = self.compared("<=", low, high, scope)
                return Code(f"np.where({inner.text}, 0.0, -np.inf)", inner.axes)
            case Where(condition, then, otherwise):
                parts = [self.code(part, scope) for part in (condition, then, otherwise)]
                axes = self.joined(parts, scope)
                return Code(f"np.where({', '.join(self.aligned(part, axes) for part in parts)})", axes)
            case Quadratic(residual, matrix, row, column):
                return self.quadratic(residual, matrix, row, column, scope)
            case LogDeterminant(matrix, row, column):
                self.used.add("log_determinant")
                table = self.matrix(matrix, row, column, scope)
                return Code(f"log_determinant({table.text})", table.axes[:-2])
            case Inverse(matrix, row, column, at_row, at_column):
                return self.element("np.linalg.inv", matrix, row, column, (at_row, at_column), scope)
            case Root(matrix, row, column, at_row, at_column):
                return self.element("np.linalg.cholesky", matrix, row, column, (at_row, at_column), scope)
            case Scan():
                at, whole = scan_text(self, expression)
                return self.look_up(whole, at, scope)
        raise TypeError(f"not an expression: {expression!r}")

    # -- arithmetic ---

    def add(self, terms: tuple[Expression, ...], scope: Scope) -> Code:
        parts = [self.code(term, scope) for term in terms]
        axes = self.joined(parts, scope)
        text = self.aligned(parts[0], axes)
        for term, part in zip(terms[1:], parts[1:], strict=True):
            shown = self.aligned(part, axes, _SUM)
            is_single = part.level == _PRODUCT or isinstance(term, Constant)  # its sign is that of all of it
            text += f" - {shown[1:]}" if shown.startswith("-") and is_single else f" + {shown}"
        return Code(text, axes, _SUM)

    def multiply(self, factors: tuple[Expression, ...], scope: Scope) -> Code:
        over = [f for f in factors if isinstance(f, Power) and f.exponent == Constant(-1.0)]
        top = [factor for factor in factors if factor not in over]
        sign = ""
        if len(top) > 1 and isinstance(top[0], Constant) and top[0].value < 0:
            sign, size = "-", -top[0].value
            top = top[1:] if size == 1.0 else [Constant(size), *top[1:]]
        parts = [self.code(factor, scope) for factor in top] or [Code("1.0", ())]
        under = [self.code(factor.base, scope) for factor in over]
        axes = self.joined(parts + under, scope)
        text = " * ".join(self.aligned(part, axes, _PRODUCT) for part in parts)
        for part in under:
            text += f" / {self.aligned(part, axes, _ATOM)}"
        return Code(sign + text, axes, _PRODUCT)

    def power(self, base: Expression, exponent: Expression, scope: Scope) -> Code:
        inner = self.code(base, scope)
        match exponent:
            case Constant(-1.0):
                return Code(f"1.0 / {inner.wrapped(_ATOM)}", inner.axes, _PRODUCT)
            case Constant(0.5):
                return Code(f"np.sqrt({inner.text})", inner.axes)
            case Constant(value):
                shown = number(value) if value >= 0 else f"({number(value)})"
                if value < 0 and float(value).is_integer():
                    shown = f"({number(value)}.0)"
                return Code(f"{inner.wrapped(_ATOM)} ** {shown}", inner.axes, _PRODUCT)
        other = self.code(exponent, scope)
        axes = self.joined([inner, other], scope)
        return Code(f"{self.aligned(inner, axes, _ATOM)} ** {self.aligned(other, axes, _ATOM)}", axes, _PRODUCT)

    def call(self, function: str, arguments: tuple[Expression, ...], scope: Scope) -> Code:
        spelled = FUNCTIONS[function].numpy
        if "." not in spelled:
            self.used.add(spelled)
        parts = [self.code(argument, scope) for argument in arguments]
        axes = self.joined(parts, scope)
        return Code(f"{spelled}({', '.join(self.aligned(part, axes) for part in parts)})", axes)

    def compared(self, sign: str, left: Expression, right: Expression, scope: Scope) -> Code:
        parts = [self.code(left, scope), self.code(right, scope)]
        axes = self.joined(parts, scope)
        return Code(f"({self.aligned(parts[0], axes, _PRODUCT)} {sign} {self.aligned(parts[1], axes, _PRODUCT)})", axes)

    # -- sums ---

    def sum(self, index: Index, body: Expression, scope: Scope) -> Code:
        found = grouped(index, body)
        if found is not None and found.group in scope:
            return self.grouped_sum(found, index, scope)
        product = self.matrix_product(index, body, scope)
        return product if product is not None else self.reduced("np.sum", index, body, scope)

    def grouped_sum(self, found: Grouped, index: Index, scope: Scope) -> Code:
        """`sum_n [group[n] = g] x[n]` in one pass over the rows."""
        self.used.add("grouped")
        others = tuple(axis for axis in scope if axis != found.group)
        rows, values = self.position(found.code, (index,)), self.code(found.rest, (index, *others))
        weights = "" if found.rest == ONE else f", {values.text}"
        text = f"grouped([{rows.text}], ({self.size(found.group.plate)},){weights})"
        made = (found.group, *(axis for axis in values.axes if axis != index))
        axes = tuple(axis for axis in scope if axis in made)
        if axes != made:
            text = f"np.moveaxis({text}, 0, {axes.index(found.group)})"
        return Code(text, axes)

    def matrix_product(self, index: Index, body: Expression, scope: Scope) -> Code | None:
        """`sum_j x[n, j] w[j]` as `x @ w`."""
        if not isinstance(body, Multiply) or len(body.factors) != 2:
            return None
        inner = (*scope, index)
        one, two = (self.code(factor, inner) for factor in body.factors)
        if one.axes == (index,):
            one, two = two, one
        if two.axes != (index,) or not one.axes or one.axes[-1] != index:
            return None
        # `a * b @ c` would be `(a * b) @ c`: inside a product it needs brackets, as a sum does.
        return Code(f"{one.wrapped(_ATOM)} @ {two.wrapped(_ATOM)}", one.axes[:-1], _SUM)

    def reduced(self, function: str, index: Index, body: Expression, scope: Scope, last: str = ", axis=-1") -> Code:
        inner = self.code(body, (*scope, index))
        if index not in inner.axes:
            axes = (*inner.axes, index)
            text = f"np.broadcast_to({self.aligned(inner, axes)}, ({', '.join(self.size(i.plate) for i in axes)},))"
            inner = Code(text, axes)
        axis = "" if len(inner.axes) == 1 else last
        return Code(f"{function}({inner.text}{axis})", inner.axes[:-1])

    # -- look-ups and matrices ---------------------------------------------------------------------------------------

    def look_up(self, name: str, indices: tuple[Expression, ...], scope: Scope) -> Code:
        if not indices:
            return Code(name, ())
        if all(isinstance(i, Index) for i in indices) and len(set(indices)) == len(indices):
            order = tuple(index for index in scope if index in indices)
            if order == indices:
                return Code(name, order)
            if len(order) == 2:
                return Code(f"{name}.T", order)
            turned = ", ".join(str(indices.index(index)) for index in order)
            return Code(f"np.transpose({name}, ({turned}))", order)
        lagged = [i for i in indices if isinstance(i, Lag)]
        # A table of numbers may be shorter than the plate that looks back into it.
        if len(indices) == 1 and lagged and isinstance(lagged[0].index, Index) and name.isidentifier():
            self.used.add("previous")
            return Code(f"previous({name})", (lagged[0].index,))
        if all(isinstance(i, Constant) for i in indices):
            return Code(f"{name}[{', '.join(number(i.value) for i in indices)}]", ())  # type: ignore[attr-defined]
        parts = [self.position(part, scope) for part in indices]
        axes = self.joined(parts, scope)
        return Code(f"{name}[{', '.join(self.aligned(part, axes) for part in parts)}]", axes)

    def position(self, expression: Expression, scope: Scope) -> Code:
        """Code for a place along an axis."""
        if isinstance(expression, Literal) and all(float(value).is_integer() for value in expression.values):
            return self.look_up(_table(expression.values, expression.shape, ""), expression.indices, scope)
        code = self.code(expression, scope)
        shown = whole(code.text, expression)
        return code if shown == code.text else Code(shown, code.axes)

    def matrix(self, matrix: Expression, row: Index, column: Index, scope: Scope) -> Code:
        code = self.code(matrix, (*scope, row, column))
        if code.axes[-2:] == (row, column):
            return code
        axes = (*(index for index in code.axes if index not in (row, column)), row, column)
        shape = ", ".join(self.size(index.plate) for index in axes)
        return Code(f"np.broadcast_to({self.aligned(code, axes, 0) if code.axes else code.text}, ({shape}))", axes)

    def element(
        self,
        function: str,
        matrix: Expression,
        row: Index,
        column: Index,
        at: tuple[Expression, Expression],
        scope: Scope,
    ) -> Code:
        table = self.matrix(matrix, row, column, scope)
        batch = table.axes[:-2]
        if all(isinstance(part, Index) for part in at) and at[0] != at[1]:
            text, placed = f"{function}({table.text})", (*batch, *at)
            order = tuple(index for index in scope if index in placed)
            if order == placed:
                return Code(text, order)
            turned = ", ".join(str(placed.index(index)) for index in order)
            return Code(f"np.transpose({text}, ({turned}))", order)
        rows, columns = (self.code(part, scope) for part in at)
        parts = [Code(f"np.arange({self.size(i.plate)})", (i,)) for i in batch] + [rows, columns]
        axes = self.joined(parts, scope)
        shown = ", ".join(self.aligned(part, axes) for part in parts)
        return Code(f"{function}({table.text})[{shown}]", axes)

    def quadratic(self, residual: Expression, matrix: Expression, row: Index, column: Index, scope: Scope) -> Code:
        vector = self.code(residual, (*scope, row))
        table = self.matrix(matrix, row, column, scope)
        if vector.axes[-1:] != (row,):
            axes = (*vector.axes, row)
            shape = ", ".join(self.size(index.plate) for index in axes)
            vector = Code(f"np.broadcast_to({self.aligned(vector, axes)}, ({shape},))", axes)
        axes = tuple(index for index in scope if index in vector.axes or index in table.axes)
        letters = {index: chr(ord("a") + k) for k, index in enumerate((*axes, row, column))}
        first = "".join(letters[index] for index in vector.axes)
        second = "".join(letters[index] for index in table.axes)
        third = first[:-1] + letters[column]
        out = "".join(letters[index] for index in axes)
        text = f'np.einsum("{first},{second},{third}->{out}", {vector.text}, {table.text}, {vector.text})'
        return Code(text, axes)


def whole(text: str, place: Expression) -> str:
    """The text of a place along an axis: what may be a float is made whole.

    Functions and tables give floats, and so do columns that are reckoned with; a column alone is one of codes.
    """
    floats = (Call, Literal) if isinstance(place, Reference) else (Call, Literal, Reference)
    return f"np.int64({text})" if any(isinstance(part, floats) for part in walk(place)) else text


def _table(values: tuple[float, ...], shape: tuple[int, ...], point: str = ".0") -> str:
    listed = ", ".join(number(value) + (point if number(value).lstrip("-").isdigit() else "") for value in values)
    flat = f"np.array([{listed}])"
    return flat if len(shape) == 1 else f"{flat}.reshape({', '.join(map(str, shape))})"


def float_text(value: float) -> str:
    """A number as emitted, infinite ones too."""
    return {inf: "np.inf", -inf: "-np.inf"}.get(value, repr(float(value)))
