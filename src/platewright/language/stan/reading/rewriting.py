"""A statement with an expression replaced everywhere: a loop variable by its value, a choice by one of its branches."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from platewright.language.stan.reading.syntax import (
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
    Operation,
    Statement,
    Tilde,
)
from platewright.language.stan.reading.syntax import Scope as Braces


def with_name(statement: Statement, name: str, by: Expression) -> Statement:
    """A statement with a variable replaced everywhere."""
    return with_part(statement, Name(name), by)


def with_part(statement: Statement, old: Expression, by: Expression) -> Statement:
    """A statement with an expression replaced everywhere."""

    def changed(node: Any) -> Any:
        if node == old:
            return by
        match node:
            case Indexed(inner, indices):
                return replace(node, inner=changed(inner), indices=tuple(changed(part) for part in indices))
            case Operation(_, operands):
                return replace(node, operands=tuple(changed(part) for part in operands))
            case Call(_, arguments):
                return replace(node, arguments=tuple(changed(part) for part in arguments))
            case Listed(items):
                return replace(node, items=tuple(changed(part) for part in items))
            case Between(first, last):
                return Between(None if first is None else changed(first), None if last is None else changed(last))
        return node

    def one(node: Expression) -> Expression:
        found = changed(node)
        assert not isinstance(found, Between)
        return found

    match statement:
        case Declaration():
            kind = statement.type
            kind = replace(kind, arrays=tuple(map(one, kind.arrays)), sizes=tuple(map(one, kind.sizes)),
                           bounds=tuple((word, one(value)) for word, value in kind.bounds))  # fmt: skip
            return replace(statement, type=kind, value=None if statement.value is None else one(statement.value))
        case Assignment():
            return replace(statement, target=one(statement.target), value=one(statement.value))
        case Tilde():
            ends = statement.truncation
            if ends is not None:
                ends = (None if ends[0] is None else one(ends[0]), None if ends[1] is None else one(ends[1]))
            return replace(statement, value=one(statement.value), arguments=tuple(map(one, statement.arguments)),
                           truncation=ends)  # fmt: skip
        case Loop():
            last = None if statement.last is None else one(statement.last)
            body = tuple(with_part(part, old, by) for part in statement.body)
            return replace(statement, first=one(statement.first), last=last, body=body)
        case Choice():
            then, otherwise = (tuple(with_part(part, old, by) for part in body)
                               for body in (statement.then, statement.otherwise))  # fmt: skip
            return replace(statement, condition=one(statement.condition), then=then, otherwise=otherwise)
        case Braces(body):
            return Braces(tuple(with_part(part, old, by) for part in body))
    return statement
