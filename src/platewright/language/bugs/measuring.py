"""Sizes that the data or a `var` block give: `length(y)` and `dim(y)` become numbers, whatever `y` is drawn from.

for (i in 1:length(y)) { y[i] ~ ... }        for (i in 1:40) { y[i] ~ ... }
D <- dim(X)                                  D[1] <- 40;  D[2] <- 3
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from platewright.language.bugs.syntax import (
    Assignment,
    Density,
    Draw,
    Element,
    Empty,
    Expression,
    FunctionCall,
    Loop,
    Number,
    Operation,
    Range,
    Statement,
)

Shapes = Mapping[str, tuple[int, ...]]


def measure(statements: Iterable[Statement], shapes: Shapes) -> tuple[Statement, ...]:
    """Statements with every known size in place."""
    found: list[Statement] = []
    for statement in statements:
        match statement:
            case Loop():
                domain, body = _measured(statement.domain, shapes), measure(statement.body, shapes)
                found.append(replace(statement, domain=domain, body=body))
            case Assignment(value=FunctionCall("dim", (argument,))) if (sizes := _sizes(argument, shapes)) is not None:
                found += _one_by_one(statement, sizes)
            case Assignment():
                target, value = _measured(statement.target, shapes), _measured(statement.value, shapes)
                found.append(replace(statement, target=target, value=value))
            case Draw():
                target, density = _measured(statement.target, shapes), _density(statement.density, shapes)
                found.append(replace(statement, target=target, density=density))
    return tuple(found)


def _one_by_one(statement: Assignment, sizes: tuple[int, ...]) -> list[Statement]:
    """The sizes of an array, a cell of the target each."""
    place = statement.place
    return [
        replace(statement, target=replace(statement.target, indices=(Number(k + 1.0, place),)), value=Number(size))
        for k, size in enumerate(map(float, sizes))
    ]


def _density(density: Density, shapes: Shapes) -> Density:
    bounds = density.bounds
    if bounds is not None:
        lower, upper = (None if end is None else _measured(end, shapes) for end in (bounds.lower, bounds.upper))
        bounds = replace(bounds, lower=lower, upper=upper)
    return replace(density, arguments=tuple(_measured(part, shapes) for part in density.arguments), bounds=bounds)


def _measured(node: Any, shapes: Shapes) -> Any:
    match node:
        case FunctionCall("length", (argument,)) if (sizes := _sizes(argument, shapes)) is not None:
            return Number(float(math.prod(sizes)), node.place)
        case FunctionCall(_, arguments):
            return replace(node, arguments=tuple(_measured(part, shapes) for part in arguments))
        case Operation(_, operands):
            return replace(node, operands=tuple(_measured(part, shapes) for part in operands))
        case Element(_, indices) if indices is not None:
            return replace(node, indices=tuple(_measured(part, shapes) for part in indices))
        case Range(first, last):
            return replace(node, first=_measured(first, shapes), last=_measured(last, shapes))
    return node


def _sizes(argument: Expression, shapes: Shapes) -> tuple[int, ...] | None:
    """The sizes of an array, or of the dimensions that are left open in `y[, 1]`; None where they are not known."""
    if not isinstance(argument, Element) or argument.name not in shapes:
        return None
    shape = shapes[argument.name]
    if argument.indices is None:
        return shape
    if len(argument.indices) != len(shape) or any(isinstance(part, Range) for part in argument.indices):
        return None
    return tuple(size for part, size in zip(argument.indices, shape) if isinstance(part, Empty))
