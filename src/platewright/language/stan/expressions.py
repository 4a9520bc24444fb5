"""Expressions as Stan text: what needs a loop of its own becomes a local variable before the statement.

sum_k w[k] x[k]      real sum_1 = 0;
                     for (i_k in 1:3) { sum_1 += w[i_k] * x[i_k]; }
"""

from __future__ import annotations

from collections.abc import Sequence

from platewright.algebra.build import multiply
from platewright.algebra.expression import (
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
    Size,
    Sum,
    Where,
    free_indices,
)
from platewright.errors import ModelError
from platewright.language.stan.page import Lines, Page

CALLS = {
    "log": "log({})",
    "exp": "exp({})",
    "log1p": "log1p({})",
    "expm1": "expm1({})",
    "absolute": "abs({})",
    "lgamma": "lgamma({})",
    "digamma": "digamma({})",
    "trigamma": "trigamma({})",
    "logistic": "inv_logit({})",
    "log_logistic": "log_inv_logit({})",
    "cos": "cos({})",
    "sin": "sin({})",
    "tanh": "tanh({})",
    "normal_cdf": "Phi({})",
    "normal_quantile": "inv_Phi({})",
    "log_normal_cdf": "std_normal_lcdf({} |)",
    "log_bessel0": "log_modified_bessel_first_kind(0, {})",
    "maximum": "fmax({}, {})",
    "minimum": "fmin({}, {})",
    "arctan2": "atan2({}, {})",
    "floor": "floor({})",
    "less": "({} < {})",
}
POWERS = {2.0: "square({})", -1.0: "inv({})", 0.5: "sqrt({})", -0.5: "inv_sqrt({})", -2.0: "inv_square({})"}


def looped(page: Page, axes: Sequence[Index], lines: Sequence[str]) -> Lines:
    """Statements inside the loops of their axes, indented; a scope of their own where they declare something."""
    if not axes:
        return list(lines) if len(lines) == 1 else ["{", *(f"  {line}" for line in lines), "}"]
    inner = looped(page, axes[1:], lines) if len(axes) > 1 else list(lines)
    head = f"for ({page.loop(axes[0])} in 1:{page.size(axes[0].plate)}) {{"
    return [head, *(f"  {line}" for line in inner), "}"]


def body_of(page: Page, whole: Expression) -> tuple[Lines, str]:
    """The statements that must come before, and the expression."""
    before: Lines = []
    return before, text(page, whole, before)


def element(name: str, positions: Sequence[str]) -> str:
    """`name[i, j]`"""
    return f"{name}[{', '.join(positions)}]" if positions else name


def text(page: Page, whole: Expression, before: Lines) -> str:
    """The expression as Stan text; local variables that it needs are written to `before`."""
    match whole:
        case Constant(value):
            return f"({value!r})" if value < 0 else repr(float(value))
        case Index():
            return f"({page.loop(whole)} - 1)"
        case Size(plate):
            return page.size(plate)
        case Reference(name, indices) if page.is_first(name):
            return f"({_position(page, indices[0], before)} == 1)"
        case Reference(name, indices):
            shown = element(page.word(name), [_position(page, at, before) for at in indices])
            return f"({shown} - 1)" if page.model.variables[name].domain.kind == "levels" else shown
        case Add(terms):
            return "(" + " + ".join(text(page, term, before) for term in terms) + ")"
        case Multiply(factors):
            return " * ".join(text(page, factor, before) for factor in factors)
        case Power(base, Constant(exponent)) if exponent in POWERS:
            return POWERS[exponent].format(text(page, base, before))
        case Power(base, exponent):
            return f"pow({text(page, base, before)}, {text(page, exponent, before)})"
        case Call("multivariate_lgamma", (value, Size(plate))):
            return f"lmgamma({page.size(plate)}, {text(page, value, before)})"
        case Call(function, arguments) if function in CALLS:
            return CALLS[function].format(*(text(page, part, before) for part in arguments))
        case Indicator(left, right):
            return f"({text(page, left, before)} == {text(page, right, before)})"
        case AtMost(low, high):
            return f"({text(page, low, before)} <= {text(page, high, before)} ? 0.0 : negative_infinity())"
        case Where():
            return _chosen(page, whole, before)
        case Sum(index, body):
            return _summed(page, index, body, before)
        case LogSumExp(index, body) | Maximum(index, body):
            return _gathered(page, "log_sum_exp" if isinstance(whole, LogSumExp) else "max", index, body, before)
        case Inverse(inside, row, column, at_row, at_column):
            at = [_position(page, place, before) for place in (at_row, at_column)]
            return element(f"inverse_spd({matrix(page, row, column, inside, before)})", at)
        case LogDeterminant(inside, row, column):
            return f"log_determinant({matrix(page, row, column, inside, before)})"
        case Quadratic(residual, inside, row, column):
            middle = matrix(page, row, column, inside, before)
            return f"quad_form_sym({middle}, {vector(page, row, residual, before)})"
        case Literal(values, shape, _, indices):
            name = _table(page, values, shape)
            return element(name, [_position(page, at, before) for at in indices])
    raise ModelError(f"`{whole}` has no Stan text", expected="sums, products, powers and the functions of Stan")


def _chosen(page: Page, whole: Where, before: Lines) -> str:
    """Only the branch that is chosen is evaluated, so the first step of a series never looks before it."""
    condition = text(page, whole.condition, before)
    if not _is_whole(page, whole.condition):
        condition = f"{condition} != 0"
    inside: tuple[Lines, Lines] = ([], [])
    branches = [text(page, branch, lines) for branch, lines in zip((whole.then, whole.otherwise), inside)]
    if not any(inside):
        return f"({condition} ? {branches[0]} : {branches[1]})"
    name = page.fresh("chosen")
    before.append(f"real {name};")
    for head, branch, lines in zip((f"if ({condition}) {{", "} else {"), branches, inside):
        before += [head, *(f"  {line}" for line in (*lines, f"{name} = {branch};"))]
    before.append("}")
    return name


def _is_whole(page: Page, whole: Expression) -> bool:
    """Whether the text of an expression is an `int` of Stan."""
    match whole:
        case Indicator() | Call("less", _):
            return True
        case Reference(name, _):
            return page.is_first(name) or page.model.variables[name].domain.is_discrete
    return False


def _summed(page: Page, index: Index, body: Expression, before: Lines) -> str:
    name = page.fresh("sum")
    inside: Lines = []
    term = text(page, body, inside)
    before.append(f"real {name} = 0.0;")
    before += looped(page, [index], [*inside, f"{name} += {term};"])
    return name


def _gathered(page: Page, function: str, index: Index, body: Expression, before: Lines) -> str:
    name = vector(page, index, body, before)
    return f"{function}({name})"


def vector(page: Page, index: Index, body: Expression, before: Lines) -> str:
    """A local vector with an element for each value of the index."""
    name = page.fresh("vector")
    inside: Lines = []
    term = text(page, body, inside)
    before.append(f"vector[{page.size(index.plate)}] {name};")
    before += looped(page, [index], [*inside, f"{name}[{page.loop(index)}] = {term};"])
    return name


def matrix(page: Page, row: Index, column: Index, body: Expression, before: Lines) -> str:
    """A local matrix; the inverse of one is written as such."""
    if isinstance(body, Inverse) and (body.at_row, body.at_column) == (row, column):
        return f"inverse_spd({matrix(page, body.row, body.column, body.matrix, before)})"
    if isinstance(body, Multiply) and isinstance(body.factors[-1], Inverse):
        others = multiply(*body.factors[:-1])
        if not free_indices(others) & {row, column}:
            return f"{text(page, others, before)} * {matrix(page, row, column, body.factors[-1], before)}"
    name = page.fresh("matrix")
    inside: Lines = []
    term = text(page, body, inside)
    size = page.size(row.plate)
    before.append(f"matrix[{size}, {size}] {name};")
    before += looped(page, [row, column], [*inside, f"{name}[{page.loop(row)}, {page.loop(column)}] = {term};"])
    return name


def _table(page: Page, values: Sequence[float], shape: Sequence[int], whole: bool = False) -> str:
    """A table of constants in the data; `whole` for positions, which count from 1."""
    name = page.fresh("table")
    kind = "int" if whole else "real"
    written = [str(int(value) + 1) if whole else repr(float(value)) for value in values]

    def nested(part: list[str], left: Sequence[int]) -> str:
        if len(left) == 1:
            return "{" + ", ".join(part) + "}"
        step = len(part) // left[0]
        return "{" + ", ".join(nested(part[k * step : (k + 1) * step], left[1:]) for k in range(left[0])) + "}"

    sizes = ", ".join(str(size) for size in shape)
    page.tables.append(f"array[{sizes}] {kind} {name} = {nested(written, shape)};")
    return name


def _position(page: Page, at: Expression, before: Lines) -> str:
    """A position counted from 1."""
    match at:
        case Index():
            return page.loop(at)
        case Lag(index):
            return f"{_position(page, index, before)} - 1"
        case Constant(value):
            return str(int(value) + 1)
        case Reference(name, indices) if page.model.variables[name].domain.kind == "levels":
            return element(page.word(name), [_position(page, part, before) for part in indices])
        case Reference(name, indices) if page.model.variables[name].domain.kind == "integer":
            inner = element(page.word(name), [_position(page, part, before) for part in indices])
            return f"{inner} + 1"
        case Literal(values, shape, _, indices) if all(float(value).is_integer() for value in values):
            name = _table(page, values, shape, whole=True)
            return element(name, [_position(page, part, before) for part in indices])
    raise ModelError(f"`{at}` has no Stan text as a position", expected="an index or a category")
