"""Build the tree while the text is parsed, from the leaves up, so that nothing here recurses.

a - b + c      becomes      +(a, neg(b), c)

Sums and products are flattened, so that a sum of a thousand terms is not a thousand levels deep.
"""

from __future__ import annotations

from typing import Any

from lark import Token, Transformer, v_args

from platewright.language.bugs.syntax import (
    Assignment,
    Bounds,
    Density,
    Draw,
    Element,
    Empty,
    Expression,
    FunctionCall,
    Index,
    Loop,
    Number,
    Operation,
    Place,
    Range,
    Statement,
    Text,
)

_FLAT = {"+", "*"}


def _place(token: Token) -> Place:
    return Place(token.line or 0, token.column or 0)


class _Grouped:
    """An expression in parentheses, which a sum around it must not swallow."""

    def __init__(self, inner: Expression) -> None:
        self.inner = inner


class _Chain:
    """A sum or a product that may still grow; a tuple copied at each step would cost the square of its length."""

    def __init__(self, operator: str, operands: list[Expression], place: Place) -> None:
        self.operator = operator
        self.operands = operands
        self.place = place


def _plain(value: Any) -> Any:
    if isinstance(value, _Chain):
        return Operation(value.operator, tuple(value.operands), value.place)
    return value.inner if isinstance(value, _Grouped) else value


@v_args(inline=True)
class TreeBuilder(Transformer[Token, Text]):
    """One method for each rule of the grammar."""

    def number(self, token: Token) -> Number:
        return Number(float(token), _place(token))

    def group(self, inner: Any) -> _Grouped:
        return _Grouped(_plain(inner))

    def element(self, name: Token, indices: tuple[Index, ...] | None = None) -> Element:
        return Element(str(name), indices, _place(name))

    def empty(self) -> Empty:
        return Empty()

    def index_list(self, *indices: Any) -> tuple[Index, ...]:
        return tuple(_plain(index) for index in indices)

    def range(self, first: Any, last: Any) -> Range:
        first = _plain(first)
        return Range(first, _plain(last), first.place)

    def arguments(self, *values: Any) -> tuple[Expression, ...]:
        return tuple(_plain(value) for value in values)

    def call(self, name: Token, arguments: tuple[Expression, ...] | None) -> FunctionCall:
        return FunctionCall(str(name), arguments or (), _place(name))

    def negative(self, sign: Token, value: Any) -> Expression:
        inner = _plain(value)
        if isinstance(inner, Number):
            return Number(-inner.value, _place(sign))
        return Operation("neg", (inner,), _place(sign))

    def positive(self, _sign: Token, value: Any) -> Any:
        return _plain(value)

    def negation(self, sign: Token, value: Any) -> Operation:
        return Operation("not", (_plain(value),), _place(sign))

    def binary(self, left: Any, token: Token, right: Any) -> Operation | _Chain:
        operator, second = str(token), _plain(right)
        place = left.place if isinstance(left, _Chain) else getattr(_plain(left), "place", _place(token))
        if operator == "-":
            operator = "+"
            second = (
                Number(-second.value, second.place)
                if isinstance(second, Number)
                else Operation("neg", (second,), _place(token))
            )
        if operator == "**":
            operator = "^"
        if operator in _FLAT and isinstance(left, _Chain) and left.operator == operator:
            left.operands.append(second)
            return left
        if operator in _FLAT:
            return _Chain(operator, [_plain(left), second], place)
        return Operation(operator, (_plain(left), second), place)

    def link(self, name: Token, element: Element) -> tuple[Token, Element]:
        return name, element

    def assignment(self, target: Any, *rest: Any) -> Assignment:
        value = _plain(rest[-1])
        if isinstance(target, tuple):
            name, element = target
            return Assignment(element, value, str(name), _place(name))
        return Assignment(target, value, None, target.place)

    def draw(self, target: Any, density: Density) -> Draw:
        if isinstance(target, tuple):
            name, element = target
            # `log(x) ~ dnorm(...)` is kept as a target that the translation declines by name.
            return Draw(Element(f"{name}({element.name})", element.indices, _place(name)), density, _place(name))
        return Draw(target, density, target.place)

    def bounds(self, word: Token, lower: Any, upper: Any) -> Bounds:
        return Bounds(str(word)[0], _plain(lower), _plain(upper), _place(word))

    def distribution(self, name: Token, arguments: Any, bounds: Bounds | None = None) -> Density:
        return Density(str(name), arguments or (), bounds, _place(name))

    def loop(self, variable: Token, domain: Any, body: tuple[Statement, ...]) -> Loop:
        return Loop(str(variable), _plain(domain), body, _place(variable))

    def body(self, *statements: Statement) -> tuple[Statement, ...]:
        return tuple(statements)

    def declaration(self, name: Token, *dimensions: Any) -> tuple[str, tuple[Expression, ...]]:
        return str(name), tuple(_plain(size) for size in dimensions if size is not None)

    def var_block(self, *declarations: Any) -> tuple[str, Any]:
        return "var", declarations

    def data_block(self, body: Any) -> tuple[str, Any]:
        return "data", body

    def model(self, *parts: Any) -> tuple[str, Any]:
        return "model", parts[-1]

    def start(self, *blocks: tuple[str, Any]) -> Text:
        declared = [item for kind, body in blocks if kind == "var" for item in body]
        data = [item for kind, body in blocks if kind == "data" for item in body]
        (model,) = [body for kind, body in blocks if kind == "model"]
        return Text(tuple(model), tuple(data), tuple(declared))
