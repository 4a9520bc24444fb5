"""Build the tree of a Stan text while it is parsed, from the leaves up, so that nothing here recurses."""

from __future__ import annotations

from typing import Any

from lark import Token, Transformer, v_args

from platewright.language.bugs.syntax import NOWHERE, Place
from platewright.language.stan.reading.syntax import (
    BLOCKS,
    Assignment,
    Between,
    Call,
    Choice,
    Declaration,
    Expression,
    Indexed,
    Listed,
    Loop,
    Name,
    Number,
    Operation,
    Program,
    Refused,
    Scope,
    Statement,
    Tilde,
    Type,
)
from platewright.language.stan.reading.trouble import Trouble


def _place(token: Token) -> Place:
    return Place(token.line or 0, token.column or 0)


def _body(statement: Any) -> tuple[Statement, ...]:
    """A statement as a list: braces around several are no scope of their own here."""
    match statement:
        case Scope(body):
            return body
        case None:
            return ()
    return (statement,)


def _block(name: str) -> Any:
    def built(self: Any, body: tuple[Statement, ...]) -> tuple[str, tuple[Statement, ...]]:
        return name, body

    return built


@v_args(inline=True)
class TreeBuilder(Transformer[Token, Program]):
    """One method for each rule of the grammar."""

    data, transformed_data, parameters, transformed_parameters, model, generated_quantities = map(_block, BLOCKS)

    def start(self, *blocks: tuple[str, tuple[Statement, ...]]) -> Program:
        found: dict[str, tuple[Statement, ...]] = {}
        for name, body in blocks:
            if name in found:
                raise Trouble(NOWHERE, f"the block `{name.replace('_', ' ')}` stands twice")
            if found and BLOCKS.index(name) < max(map(BLOCKS.index, found)):
                raise Trouble(NOWHERE, f"the block `{name.replace('_', ' ')}` stands too late")
            found[name] = body
        return Program(found)

    # -- statements ---

    def body(self, *statements: Statement | None) -> tuple[Statement, ...]:
        return tuple(statement for statement in statements if statement is not None)

    def scope(self, body: tuple[Statement, ...]) -> Scope:
        return Scope(body)

    def profile(self, _: Token, name: Token, body: tuple[Statement, ...]) -> Scope:
        return Scope(body)

    def nothing(self) -> None:
        return None

    def refused(self, word: Token, *_: Any) -> Refused:
        return Refused(str(word), _place(word))

    def while_loop(self, condition: Expression, _: Any) -> Refused:
        return Refused("while", condition.place)

    def array(self, sizes: tuple[Expression, ...]) -> tuple[Expression, ...]:
        return sizes

    def sizes(self, *sizes: Expression) -> tuple[Expression, ...]:
        return sizes

    def bound(self, word: Token, value: Expression) -> tuple[str, Expression]:
        return str(word), value

    def bounds(self, *bounds: tuple[str, Expression]) -> tuple[tuple[str, Expression], ...]:
        return bounds

    def type(self, kind: Token, bounds: Any, sizes: Any) -> Type:
        return Type(str(kind), (), sizes or (), bounds or ())

    def declaration(self, array: Any, kind: Type, name: Token, sizes: Any, value: Any) -> Declaration:
        whole = Type(kind.kind, (*(array or ()), *(sizes or ())), kind.sizes, kind.bounds)
        return Declaration(str(name), whole, value, _place(name))

    def assignment(self, target: Expression, *rest: Any) -> Assignment:
        operator = str(rest[0])[:-1] if len(rest) == 2 else ""
        return Assignment(target, operator, rest[-1], target.place)

    def tilde(self, value: Expression, name: Token, arguments: Any, truncation: Any) -> Tilde:
        return Tilde(value, str(name), arguments or (), truncation, _place(name))

    def truncation(self, _: Token, *ends: Any) -> tuple[Any, Any]:
        return (ends[0], ends[1]) if ends else (None, None)

    def loop(self, name: Token, first: Expression, last: Expression, body: Any) -> Loop:
        return Loop(str(name), first, last, _body(body), _place(name))

    def each(self, name: Token, over: Expression, body: Any) -> Loop:
        return Loop(str(name), over, None, _body(body), _place(name))

    def choice(self, condition: Expression, then: Any, otherwise: Any = None) -> Choice:
        return Choice(condition, _body(then), _body(otherwise), condition.place)

    def mixed(self, *_: Any) -> None:
        return None

    def call_statement(self, name: Any, *_: Any) -> Refused | None:
        if isinstance(name, Token):
            return None if str(name) == "print" else Refused(str(name), _place(name))
        if isinstance(name, Operation) and name.operator == "<":
            return Refused("<-", name.place)
        return Refused(name.name if isinstance(name, Call) else "a value alone", name.place)

    # -- expressions ---

    def number(self, token: Token) -> Number:
        return Number(float(token), token.isdigit(), _place(token))

    def name(self, token: Token) -> Name:
        return Name(str(token), _place(token))

    def arguments(self, *values: Expression) -> tuple[Expression, ...]:
        return values

    def call(self, name: Token, arguments: Any) -> Call:
        return Call(str(name), arguments or (), _place(name))

    def given(self, name: Token, value: Expression, arguments: Any) -> Call:
        return Call(str(name), (value, *(arguments or ())), _place(name))

    def array_value(self, items: tuple[Expression, ...]) -> Listed:
        return Listed(items, False, items[0].place)

    def row_value(self, items: Any) -> Listed:
        return Listed(items or (), True, items[0].place if items else NOWHERE)

    def binary(self, left: Expression, token: Token, right: Expression) -> Expression:
        return Operation(str(token), (left, right), left.place)

    def unary(self, token: Token, value: Expression) -> Expression:
        if str(token) == "-" and isinstance(value, Number):
            return Number(-value.value, value.whole, _place(token))
        return value if str(token) == "+" else Operation({"-": "neg", "!": "not"}[str(token)], (value,), _place(token))

    def ternary(self, condition: Expression, then: Expression, otherwise: Expression) -> Operation:
        return Operation("?", (condition, then, otherwise), condition.place)

    def transpose(self, value: Expression, _: Token) -> Operation:
        return Operation("'", (value,), value.place)

    def index(self, inner: Expression, indices: tuple[Any, ...]) -> Indexed:
        return Indexed(inner, indices, inner.place)

    def indices(self, *indices: Any) -> tuple[Any, ...]:
        return indices

    def between(self, *ends: Any) -> Between:
        return Between(*ends)

    def every(self) -> Between:
        return Between()
