r"""Print expressions as LaTeX, the form that derivations on paper show.

    Sum(n, [z[n] = k] x[n]^2)      prints      \sum_{n} \left[z_{n} = k\right] x_{n}^{2}

Every printed expression is one group of balanced braces; user names reach the page only as letters or escaped text.
"""

from __future__ import annotations

import math

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
from platewright.algebra.functions import FUNCTIONS

_GREEK = (
    "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau upsilon phi chi psi "
    "omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
)
GREEK = frozenset(_GREEK.split())
MOST_SHOWN = 6
CONSTANTS = {
    0.5: r"\tfrac{1}{2}",
    math.log(2): r"\log(2)",
    math.log(math.pi): r"\log(\pi)",
    math.log(2 * math.pi): r"\log(2\pi)",
    0.5 * math.log(2 * math.pi): r"\tfrac{1}{2} \log(2\pi)",
}
"""Numbers that densities are full of, by their names."""

_SUM, _PRODUCT, _POWER, _ATOM = 1, 2, 3, 4
_ESCAPES = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    "$": r"\$",
    "&": r"\&",
    "%": r"\%",
    "#": r"\#",
    "_": r"\_",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
}


def escaped(text: str) -> str:
    """Any text made safe for LaTeX, on one line."""
    flat = "".join(letter if letter.isprintable() else " " for letter in text)
    return "".join(_ESCAPES.get(letter, letter) for letter in flat)


def symbol(name: str, at: tuple[str, ...] = ()) -> str:
    r"""A name with its places below: `tau.shape` at `k` is `\tau_{\mathrm{shape},k}`."""
    stem, _, tail = name.partition("." if "." in name else "_")
    letters = stem.rstrip("0123456789")
    digits = stem[len(letters) :]
    if letters not in GREEK and len(letters) != 1:
        letters, digits, tail = name, "", ""
    below = [digits] if digits else []
    if tail:
        below.append(f"\\mathrm{{{escaped(tail)}}}")
    below += at
    shown = _letters(letters)
    return f"{shown}_{{{','.join(below)}}}" if below else shown


def _letters(stem: str) -> str:
    if stem in GREEK:
        return f"\\{stem}"
    if len(stem) == 1 and stem.isalpha():
        return stem
    return f"\\mathit{{{escaped(stem)}}}"


def number_latex(value: float) -> str:
    """A number as short as it can be read back; powers of ten are set as such."""
    if math.isnan(value):
        return r"\mathrm{nan}"
    if math.isinf(value):
        return r"\infty" if value > 0 else r"-\infty"
    if abs(value) in CONSTANTS:
        return ("-" if value < 0 else "") + CONSTANTS[abs(value)]
    if float(value).is_integer() and abs(value) < 1e15:
        return str(int(value))
    digits, _, exponent = repr(float(value)).partition("e")
    return f"{digits} \\cdot 10^{{{int(exponent)}}}" if exponent else digits


def latex(expression: Expression) -> str:
    """One line of LaTeX for mathematics mode, minimal brackets."""
    return _latex(expression)[0]


def _wrap(expression: Expression, least: int) -> str:
    shown, level = _latex(expression)
    return shown if level >= least else _round(shown)


def _round(shown: str) -> str:
    return f"\\left({shown}\\right)"


def _latex(expression: Expression) -> tuple[str, int]:
    """The text and how tightly it holds together."""
    match expression:
        case Constant(value):
            shown = number_latex(value)
            return shown, _ATOM if shown.replace(".", "").isalnum() else _PRODUCT
        case Index(name, _):
            return index_latex(name), _ATOM
        case Lag(index):
            back, place = 1, index
            while isinstance(place, Lag):
                back, place = back + 1, place.index
            return f"{latex(place)}-{back}", _SUM
        case Size(plate):
            return f"N_{{\\mathrm{{{escaped(plate)}}}}}", _ATOM
        case Reference(name, indices) if "@" in name:
            return f"{index_latex(name.partition('@')[0])}({_listed(indices)})", _ATOM
        case Before(name, indices) | Reference(name, indices) | Scan(state=name, at=indices):
            return symbol(name, tuple(latex(part) for part in indices)), _ATOM
        case Literal(values, _, _, indices):
            shown = ", ".join(number_latex(value) for value in values[:MOST_SHOWN])
            dots = r", \ldots" if len(values) > MOST_SHOWN else ""
            return f"{_round(shown + dots)}_{{{_listed(indices)}}}", _ATOM
        case Add(terms):
            return _sum(terms), _SUM
        case Multiply(factors):
            return _product(factors)
        case Power(base, exponent):
            return _power(base, exponent)
        case Call(function, arguments):
            return _call(function, arguments)
        case Sum(index, body):
            return f"\\sum_{{{index_latex(index.name)}}} {_wrap(body, _PRODUCT)}", _PRODUCT
        case LogSumExp(index, body):
            return f"\\log \\sum_{{{index_latex(index.name)}}} \\exp{_round(latex(body))}", _PRODUCT
        case Maximum(index, body):
            return f"\\max_{{{index_latex(index.name)}}} {_wrap(body, _POWER)}", _PRODUCT
        case Indicator(left, right):
            return f"\\left[{latex(left)} = {latex(right)}\\right]", _ATOM
        case AtMost(low, high):
            return f"\\log\\left[{latex(low)} \\le {latex(high)}\\right]", _PRODUCT
        case Where(condition, then, otherwise):
            rows = f"{latex(then)} & \\text{{if }} {latex(condition)} \\\\ {latex(otherwise)} & \\text{{otherwise}}"
            return f"\\begin{{cases}} {rows} \\end{{cases}}", _ATOM
    return _matrix(expression)


def _matrix(expression: Expression) -> tuple[str, int]:
    """Linear algebra: bound rows and columns are not shown, the matrix stands in brackets."""
    match expression:
        case Quadratic(residual, matrix, row, column):
            vector = _bracketed(residual, row)
            return f"{vector}^{{\\top}} {_bracketed(matrix, row, column)} {vector}", _PRODUCT
        case LogDeterminant(matrix, row, column):
            return f"\\log \\det {_bracketed(matrix, row, column)}", _PRODUCT
        case Inverse(matrix, row, column, at_row, at_column):
            shown = _bracketed(matrix, row, column)
            return f"\\left({shown}^{{-1}}\\right)_{{{latex(at_row)},{latex(at_column)}}}", _ATOM
        case Root(matrix, row, column, at_row, at_column):
            shown = _bracketed(matrix, row, column)
            return f"\\left({shown}^{{1/2}}\\right)_{{{latex(at_row)},{latex(at_column)}}}", _ATOM
    raise TypeError(f"not an expression: {expression!r}")


def _bracketed(element: Expression, *bound: Index) -> str:
    """The matrix or vector with these elements: a plain variable by its name, anything else in square brackets."""
    if isinstance(element, Reference) and element.indices[-len(bound) :] == bound:
        return symbol(element.name, tuple(latex(part) for part in element.indices[: -len(bound)]))
    below = ",".join(index_latex(index.name) for index in bound)
    return f"\\left[{latex(element)}\\right]_{{{below}}}"


def index_latex(name: str) -> str:
    """The name of an index: a letter as it is, a word upright."""
    stem = name.rstrip("'")
    shown = stem if len(stem) == 1 and stem.isalpha() else f"\\mathrm{{{escaped(stem)}}}"
    return shown + name[len(stem) :]


def _listed(indices: tuple[Expression, ...]) -> str:
    return ",".join(latex(part) for part in indices)


def _power(base: Expression, exponent: Expression) -> tuple[str, int]:
    if exponent == Constant(0.5):
        return f"\\sqrt{{{latex(base)}}}", _ATOM
    if exponent == Constant(-1.0):
        return f"\\frac{{1}}{{{latex(base)}}}", _PRODUCT
    if isinstance(base, Reference):
        return f"{{{latex(base)}}}^{{{latex(exponent)}}}", _POWER
    return f"{_wrap(base, _ATOM)}^{{{latex(exponent)}}}", _POWER


def _call(function: str, arguments: tuple[Expression, ...]) -> tuple[str, int]:
    shown = ", ".join(latex(argument) for argument in arguments)
    if function == "absolute":
        return f"\\left|{shown}\\right|", _ATOM
    if function == "floor":
        return f"\\left\\lfloor {shown}\\right\\rfloor", _ATOM
    name = FUNCTIONS[function].latex if function in FUNCTIONS else f"\\mathrm{{{escaped(function)}}}"
    return f"{name}{_round(shown)}", _ATOM


def _sum(terms: tuple[Expression, ...]) -> str:
    shown = _wrap(terms[0], _PRODUCT)
    for term in terms[1:]:
        part = _wrap(term, _PRODUCT)
        shown += f" - {part[1:]}" if part.startswith("-") else f" + {part}"
    return shown


def _product(factors: tuple[Expression, ...]) -> tuple[str, int]:
    """Factors above the line and below it; a leading minus one is a sign."""
    first = factors[0]
    if isinstance(first, Constant) and first.value < 0 and len(factors) > 1:
        rest = factors[1:] if first.value == -1.0 else (Constant(-first.value), *factors[1:])
        return "-" + (_wrap(rest[0], _PRODUCT) if len(rest) == 1 else _product(rest)[0]), _PRODUCT
    below = [factor for factor in factors if _is_reciprocal(factor)]
    above = [factor for factor in factors if not _is_reciprocal(factor)]
    if below:
        upper = _side(above) if above else "1"
        return f"\\frac{{{upper}}}{{{_side([_turned(factor) for factor in below])}}}", _PRODUCT
    if len(factors) == 1:
        return _latex(factors[0])
    return _side(above), _PRODUCT


def _side(factors: list[Expression]) -> str:
    """Factors side by side; one that is a sum of terms needs brackets unless it is alone, a Sum unless it is last."""
    if len(factors) == 1:
        return latex(factors[0])
    parts = []
    for place, factor in enumerate(factors):
        open_ended = isinstance(factor, Sum | Maximum | LogSumExp | LogDeterminant | AtMost)
        is_last = place == len(factors) - 1
        first_number = place == 0 and isinstance(factor, Constant)
        is_number_inside = place > 0 and isinstance(factor, Constant)
        if (open_ended and is_last) or first_number:
            parts.append(latex(factor))
        elif is_number_inside:
            parts.append(f"\\cdot {_wrap(factor, _ATOM)}")
        else:
            parts.append(_wrap(factor, _POWER))
    return " ".join(parts)


def _is_reciprocal(factor: Expression) -> bool:
    return isinstance(factor, Power) and isinstance(factor.exponent, Constant) and factor.exponent.value < 0


def _turned(factor: Expression) -> Expression:
    assert isinstance(factor, Power) and isinstance(factor.exponent, Constant)
    if factor.exponent.value == -1.0:
        return factor.base
    return Power(factor.base, Constant(-factor.exponent.value))
