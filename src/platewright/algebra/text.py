"""Print expressions as plain text, the form that steps, refusals and golden files show."""

from __future__ import annotations

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
from platewright.algebra.kept import kept

_SUM, _PRODUCT, _POWER, _ATOM = 1, 2, 3, 4


def number(value: float) -> str:
    """A number as short as it can be read back."""
    return str(int(value)) if float(value).is_integer() and abs(value) < 1e15 else repr(float(value))


def text(expression: Expression) -> str:
    """One line of text, minimal brackets."""
    return _text(expression)[0]


def _wrap(expression: Expression, least: int) -> str:
    shown, level = _text(expression)
    return shown if level >= least else f"({shown})"


@kept
def _text(expression: Expression) -> tuple[str, int]:
    """The text, and how tightly its parts hold together."""
    match expression:
        case Constant(value):
            return number(value), _ATOM if value >= 0 else _PRODUCT
        case Index(name, _):
            return name, _ATOM
        case Lag(index):
            back, place = 1, index
            while isinstance(place, Lag):
                back, place = back + 1, place.index
            return f"{text(place)}-{back}", _SUM
        case Size(plate):
            return f"#{plate}", _ATOM
        case Reference(name, ()):
            return name, _ATOM
        case Before(name, indices) | Reference(name, indices):
            return f"{name}[{', '.join(text(part) for part in indices)}]", _ATOM
        case Literal(values, _, _, indices):
            shown = ", ".join(number(value) for value in values[:6]) + (", ..." if len(values) > 6 else "")
            return f"({shown})[{', '.join(text(part) for part in indices)}]", _ATOM
        case Add(terms):
            return _sum(terms), _SUM
        case Multiply(factors):
            return _product(factors), _PRODUCT
        case Power(base, exponent):
            return f"{_wrap(base, _ATOM)}^{_wrap(exponent, _ATOM)}", _POWER
        case Call(function, arguments):
            return f"{function}({', '.join(text(argument) for argument in arguments)})", _ATOM
        case Sum(index, body):
            return f"sum_{index.name} {_wrap(body, _PRODUCT)}", _PRODUCT
        case LogSumExp(index, body):
            return f"log_sum_exp_{index.name}({text(body)})", _ATOM
        case Maximum(index, body):
            return f"max_{index.name}({text(body)})", _ATOM
        case Indicator(left, right):
            return f"[{text(left)} = {text(right)}]", _ATOM
        case AtMost(low, high):
            return f"log[{text(low)} <= {text(high)}]", _ATOM
        case Where(condition, then, otherwise):
            return f"where({text(condition)}, {text(then)}, {text(otherwise)})", _ATOM
        case Quadratic(residual, matrix, row, column):
            return f"quadratic_{row.name},{column.name}({text(residual)}; {text(matrix)})", _ATOM
        case LogDeterminant(matrix, _, _):
            return f"log_det({text(matrix)})", _ATOM
        case Inverse(matrix, row, column, at_row, at_column):
            return f"inverse_{row.name},{column.name}({text(matrix)})[{text(at_row)}, {text(at_column)}]", _ATOM
        case Root(matrix, row, column, at_row, at_column):
            return f"root_{row.name},{column.name}({text(matrix)})[{text(at_row)}, {text(at_column)}]", _ATOM
        case Scan(_, states, axes, bodies, backward, state, at):
            way = "backward" if backward else "forward"
            lines = [f"{text(Before(one, own))} = {text(body)}" for one, own, body in zip(states, axes, bodies)]
            return f"{way}({'; '.join(lines)}).{state}[{', '.join(text(part) for part in at)}]", _ATOM
    raise TypeError(f"not an expression: {expression!r}")


def _negative(term: Expression) -> bool:
    match term:
        case Constant(value) | Multiply((Constant(value), *_)):
            return value < 0
    return False


def _sum(terms: tuple[Expression, ...]) -> str:
    from platewright.algebra.build import multiply  # only to turn a sign round

    shown = _wrap(terms[0], _PRODUCT)
    for term in terms[1:]:
        if _negative(term):
            shown += f" - {_wrap(multiply(-1.0, term), _PRODUCT)}"
        else:
            shown += f" + {_wrap(term, _PRODUCT)}"
    return shown


def _product(factors: tuple[Expression, ...]) -> str:
    if factors[0] == Constant(-1.0):
        return "-" + _product(factors[1:])
    if isinstance(factors[0], Constant) and factors[0].value < 0:
        return "-" + _product((Constant(-factors[0].value), *factors[1:]))
    # A sum reaches as far right as it can, so it goes last or into brackets.
    parts = [_wrap(factor, _POWER) for factor in factors[:-1]]
    last = factors[-1]
    parts.append(text(last) if isinstance(last, Sum) else _wrap(last, _POWER))
    return " ".join(parts)
