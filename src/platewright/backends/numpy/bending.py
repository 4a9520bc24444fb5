"""Print log factors with slopes and curvature, by predictors: a function for each sum over rows, and one for all.

    eta = x @ beta                      first = y * expit(-eta) - (1 - y) * expit(eta)       second = ...
    slope += x' first                   curvature += x' (second * x)

Products over rows are matrix products; elements that rows look up are added where they lie.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from platewright.algebra.build import multiply
from platewright.algebra.expression import (
    Call,
    Constant,
    Expression,
    Index,
    Reference,
    Size,
    all_indices,
    children,
    free_indices,
    fresh,
    mentions,
    parts,
    walk,
)
from platewright.algebra.substitution import substitute
from platewright.backends.naming import comment
from platewright.backends.numpy.expression import Code, NumpyPrinter
from platewright.language.variable import Variable
from platewright.program.derivatives import Bend, Bent, Slope
from platewright.schemas.slopes import replaced

Axes = tuple[Index, ...]
LETTERS = "abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Held:
    """A coefficient of a predictor in a scope: of which unknown, at which place, along which axes of its own."""

    variable: str
    at: tuple[Expression, ...]
    inner: Axes
    coefficient: Expression

    @property
    def is_whole(self) -> bool:
        """Whether it is of all elements of the unknown, one after another."""
        return self.at == self.inner


class BendingText:
    """Prints the functions of one block."""

    def __init__(
        self,
        printer: NumpyPrinter,
        nodes: dict[str, Variable],
        columns: dict[str, Axes],
        function: Callable[[Sequence[str], str, str, list[str]], str],
    ) -> None:
        self.printer, self.names = printer, printer.names
        self.nodes, self.columns, self.function = nodes, columns, function

    def functions(self, number: int, variables: Sequence[str], bent: Sequence[Bent]) -> list[str]:
        """One function for each sum over rows, and one that adds them up."""
        found = []
        shapes = ", ".join(f'"{self.names(name)}": {self.shape(self.nodes[name].axes)}' for name in variables)
        whole = [f"bent = Bent({{{shapes}}})"]
        for k, rows in enumerate(bent):
            called = f"bent_{number}_{k}"
            doc = f"Rows of {comment(rows.owner)} with slopes and curvature."
            found.append(self.function((), f"{called}(bent, data, size)", doc, self.rows(rows)))
            whole += self.call(called, rows, variables)
        whole.append("return bent")
        doc = f"The log factors of {comment(', '.join(variables))}, their slopes and curvature, in one pass."
        return [*found, self.function((), f"bent_{number}(data, size)", doc, whole)]

    def shape(self, axes: Axes) -> str:
        """The shape of an array along some axes."""
        return "(" + "".join(f"{self.printer.size(axis.plate)}, " for axis in axes).rstrip() + ")"

    def call(self, called: str, rows: Bent, variables: Sequence[str]) -> list[str]:
        """Lines that go over all rows: block by block where columns can be cut."""
        cut = self.cut(rows, frozenset(variables))
        if not cut:
            return [f"{called}(bent, data, size)"]
        listed = ", ".join(f'"{self.names(name)}": {axis}' for name, axis in cut.items())
        plate = self.names(rows.axes[0].plate)
        head = f'for columns_of_rows, size_of_rows in row_blocks(data, size, "{plate}", {{{listed}}}):'
        return [head, f"    {called}(bent, columns_of_rows, size_of_rows)"]

    def cut(self, rows: Bent, unknown: frozenset[str]) -> dict[str, int]:
        """Which axis of each column is that of the rows; nothing where rows are used in any other way."""
        if not rows.axes:
            return {}
        row = rows.axes[0]
        whole = [rows.value, *(one.expression for one in rows.predictors)]
        if any(index != row and index.plate == row.plate for part in whole for index in all_indices(part)):
            return {}
        found: dict[str, int] = {}
        for part in (inner for one in whole for inner in parts(one)):
            match part:
                case Size(plate) if plate == row.plate:
                    return {}
                case Reference(name, indices) if name in self.columns and name not in unknown:
                    for axis, index in enumerate(self.columns[name]):
                        if index.plate == row.plate:
                            if indices[axis] != row or found.setdefault(name, axis) != axis:
                                return {}
                case Reference(name, indices) if name in unknown and row in indices:
                    return {}
        marks = {one.mark.name for one in rows.predictors}
        known = {name for name in self.columns if name in found} | marks
        for part in (inner for one in whole for inner in parts(one)):
            if row in children(part) and not (isinstance(part, Reference) and part.name in known):
                return {}
        return found

    # -- one sum over rows ---------------------------------------------------------------------------------------------

    def rows(self, rows: Bent) -> list[str]:
        """Predictors, then the value, the slopes and the curvature."""
        lines = ["# linear in the unknowns"] if rows.predictors else []
        lines += [f"{self.names(one.mark.name)} = {self.full(one.expression, one.axes)}" for one in rows.predictors]
        rows, shared = computed_once(rows)
        lines += [f"{self.names(mark.name)} = {self.full(call, rows.axes)}" for call, mark in shared.items()]
        lines.append(f"bent.total += float(np.sum({self.full(rows.value, rows.axes)}))")
        for number, slope in enumerate(rows.slopes):
            if slope == Constant(0.0):
                continue
            over = rows.over(number)
            lines.append(f"first = {self.full(slope, over)}")
            for part in rows.predictors[number].parts:
                held = self.held(part, rows.predictors[number].axes, {}, over)
                lines.append(self.slope_line(held, over))
        for bend in rows.bends:
            lines += self.bend_lines(rows, bend)
        return lines

    def full(self, expression: Expression, axes: Axes) -> str:
        """A value for each element along all axes."""
        return self.printer.printed(expression, axes, full=True)

    def held(self, part: Slope, axes: Axes, renamed: dict[Expression, Expression], taken: Iterable[Index]) -> Held:
        """A coefficient whose axes of its own are apart from those that are taken."""
        used = set(taken)
        changes, inner = dict(renamed), []
        for index in part.over:
            if index in axes:
                continue
            other = fresh(index, used)
            used.add(other)
            inner.append(other)
            if other != index:
                changes[index] = other
        at = tuple(substitute(place, changes) for place in part.at)
        return Held(part.variable, at, tuple(inner), substitute(part.expression, changes))

    def slope_line(self, held: Held, over: Axes) -> str:
        """Slopes added up at the places of a coefficient."""
        scope = (*over, *held.inner)
        kept = held.inner if held.is_whole else tuple(i for i in scope if i in _of(held.at))
        values = self.summed(Code("first", over), [held], scope, kept)
        places = "" if held.is_whole else f", {self.places(held.at, kept)}"
        return f'bent.add_slope("{self.names(held.variable)}", {values}{places})'

    def bend_lines(self, rows: Bent, bend: Bend) -> list[str]:
        """Second derivatives in two predictors, for each pair of their coefficients."""
        first, second = rows.predictors[bend.first], rows.predictors[bend.second]
        renamed: dict[Expression, Expression] = {
            old: new for old, new in zip(second.axes, bend.second_axes, strict=True) if old != new
        }
        halved = multiply(0.5, bend.expression) if bend.first == bend.second else bend.expression
        lines = [f"second = {self.full(halved, bend.over)}"]
        is_own = bend.first == bend.second and not renamed
        for number, part in enumerate(first.parts):
            left = self.held(part, first.axes, {}, bend.over)
            for other in second.parts[number if is_own else 0 :]:
                right = self.held(other, second.axes, renamed, (*bend.over, *left.inner))
                lines.append(
                    self.curve_line(left, right, bend.over, ", times=2" if is_own and other is not part else "")
                )
        return lines

    def curve_line(self, left: Held, right: Held, over: Axes, times: str) -> str:
        """The same for one pair; where two coefficients of one predictor meet, once for both of their orders."""
        scope = (*over, *left.inner, *right.inner)
        is_whole = left.is_whole and right.is_whole
        used = _of((*left.at, *right.at))
        kept = (*left.inner, *right.inner) if is_whole else tuple(index for index in scope if index in used)
        values = self.summed(Code("second", over), [left, right], scope, kept)
        places = "" if is_whole else f", {self.places(left.at, kept)}, {self.places(right.at, kept)}"
        return f'bent.add_curve("{self.names(left.variable)}", "{self.names(right.variable)}", {values}{places}{times})'

    def places(self, at: Sequence[Expression], scope: Axes) -> str:
        """Where rows look an unknown up, to broadcast along a scope."""
        shown = []
        for place in at:
            code = self.printer.position(place, scope)
            shown.append(self.printer.aligned(code, scope, 0) if code.axes else code.text)
        return f"({''.join(f'{text}, ' for text in shown).rstrip()})"

    def coefficient(self, held: Held, scope: Axes) -> Code:
        """A coefficient along a scope, with all axes of its own."""
        code = self.printer.code(held.coefficient, scope)
        if set(held.inner) <= set(code.axes):
            return code
        axes = tuple(index for index in scope if index in code.axes or index in held.inner)
        return Code(self.full(held.coefficient, axes), axes)

    def summed(self, value: Code, coefficients: Sequence[Held], scope: Axes, kept: Axes) -> str:
        """The product of a value and coefficients, summed over axes that are not kept: at most one matrix product."""
        found = [self.coefficient(part, scope) for part in coefficients]
        left = self.product(value, found[0], scope) if len(found) > 1 else value
        right = found[-1]
        if not right.axes:
            left = self.product(left, right, scope)
            if left.axes == kept:
                return left.text
            if not kept:
                return f"np.sum({left.text})"
            return f'np.einsum("{self.letters(left.axes, scope)}->{self.letters(kept, scope)}", {left.text})'
        if left.axes and left.axes[0] == right.axes[0] and left.axes[0] not in kept:
            others = left.axes[1:]
            if kept == (*others, *right.axes[1:]) and len(others) < 2 and len(right.axes) == 2:
                return f"{_closed(left.text)}{'.T' if others else ''} @ {_closed(right.text)}"
        pattern = f"{self.letters(left.axes, scope)},{self.letters(right.axes, scope)}->{self.letters(kept, scope)}"
        return f'np.einsum("{pattern}", {left.text}, {right.text}, optimize=True)'

    def product(self, one: Code, other: Code, scope: Axes) -> Code:
        """Two values multiplied along a scope."""
        if other.text == "1":
            return one
        axes = self.printer.joined([one, other], scope)
        text = f"{self.printer.aligned(one, axes, 2)} * {self.printer.aligned(other, axes, 2)}"
        return Code(text, axes, 2)

    def letters(self, axes: Axes, scope: Axes) -> str:
        """Axes as letters of `einsum`."""
        return "".join(LETTERS[scope.index(index)] for index in axes)


def _closed(text: str) -> str:
    return text if text.isidentifier() else f"({text})"


def computed_once(rows: Bent) -> tuple[Bent, dict[Expression, Reference]]:
    """Functions of predictors that occur in several derivatives, each as a value that is computed first."""
    derived = (rows.value, *rows.slopes, *(bend.expression for bend in rows.bends))
    marks = frozenset(predictor.mark.name for predictor in rows.predictors)
    met = Counter(call for one in derived for call in _calls(one, marks, frozenset(rows.axes)))
    shared: dict[Expression, Reference] = {}
    for call in (call for call, times in met.items() if times > 1):
        assert isinstance(call, Call)
        if not any(inner in met for inner in parts(call) if inner is not call):
            shared[call] = Reference(f"{rows.owner}.{call.function} {len(shared)}", rows.axes)

    def brief(one: Expression) -> Expression:
        return replaced(one, dict(shared))

    bends = tuple(replace(bend, expression=brief(bend.expression)) for bend in rows.bends)
    return replace(rows, value=brief(rows.value), slopes=tuple(map(brief, rows.slopes)), bends=bends), shared


def _calls(expression: Expression, marks: frozenset[str], axes: frozenset[Index]) -> list[Expression]:
    """Functions of predictors, each as often as it occurs, without those that differ inside a row."""
    found = [part for part in walk(expression) if isinstance(part, Call) and mentions(part, marks)]
    return [call for call in found if all_indices(call) <= axes]


def _of(at: Sequence[Expression]) -> frozenset[Index]:
    """The indices that places depend on."""
    return frozenset(index for place in at for index in free_indices(place))
