"""Data that are drawn and also read: what is read is a known column of its own, as data of Stan never are unknown.

    y[t] ~ dnorm(a * y[t - 1], 1)        y[t] ~ dnorm(a * y.known[t - 1], 1)

So an autoregression of data is a regression on earlier data, and not a series whose steps lean on one another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from platewright.language.bugs.relations import flatten
from platewright.language.bugs.syntax import (
    Assignment,
    Draw,
    Element,
    FunctionCall,
    Loop,
    Operation,
    Range,
    Statement,
    elements,
)


def with_data_apart(statements: Sequence[Statement], constants: dict[str, np.ndarray]) -> list[Statement]:
    """The statements with such data under two names; the second is added to the constants."""
    relations = flatten(statements)
    drawn = {one.name for one in relations if one.is_random and one.name in constants}
    read = {part.name for one in relations for node in one.expressions() for part in elements(node)}
    read |= {part.name for one in relations for node in one.target.indices or () for part in elements(node)}
    twice = drawn & read
    for name in twice:
        constants[f"{name}.known"] = constants[name]
    return [_renamed(one, twice) for one in statements] if twice else list(statements)


def _renamed(statement: Statement, names: set[str]) -> Statement:
    match statement:
        case Loop():
            body = tuple(_renamed(one, names) for one in statement.body)
            return replace(statement, domain=_reading(statement.domain, names), body=body)
        case Assignment():
            return replace(statement, target=_target(statement.target, names), value=_reading(statement.value, names))
        case Draw():
            density = statement.density
            bounds = density.bounds
            if bounds is not None:
                ends = (None if end is None else _reading(end, names) for end in (bounds.lower, bounds.upper))
                bounds = replace(bounds, lower=next(ends), upper=next(ends))
            arguments = tuple(_reading(part, names) for part in density.arguments)
            density = replace(density, arguments=arguments, bounds=bounds)
            return replace(statement, target=_target(statement.target, names), density=density)


def _target(target: Element, names: set[str]) -> Element:
    """The left side, which keeps its name."""
    return replace(target, indices=None if target.indices is None else _all(target.indices, names))


def _all(parts: tuple[Any, ...], names: set[str]) -> tuple[Any, ...]:
    return tuple(_reading(part, names) for part in parts)


def _reading(node: Any, names: set[str]) -> Any:
    match node:
        case Element(name, indices):
            found = f"{name}.known" if name in names else name
            return replace(node, name=found, indices=None if indices is None else _all(indices, names))
        case Operation(_, operands):
            return replace(node, operands=_all(operands, names))
        case FunctionCall(_, arguments):
            return replace(node, arguments=_all(arguments, names))
        case Range(first, last):
            return replace(node, first=_reading(first, names), last=_reading(last, names))
    return node
