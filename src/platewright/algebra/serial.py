"""Expressions as JSON and back: nested lists, each with the name of its node first.

    mu[z[n]] + 1        ["Add", ["Reference", "mu", ["Reference", "z", ["Index", "n", "n"]]], ["Constant", 1.0]]

What is read may come from anywhere: the list of nodes is closed, depth is limited, nothing is evaluated, and every
field is checked for its type. Nodes come back exactly as they were, without being simplified again.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

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
from platewright.errors import FormatError

DEEPEST = 200
"""How deep lists may be nested: far beyond any model, far below what Python's own stack holds."""

_FIELDS: dict[type[Expression], tuple[str, ...]] = {
    Constant: ("number",),
    Index: ("text", "text"),
    Lag: ("place",),
    Size: ("text",),
    Power: ("expression", "expression"),
    Sum: ("index", "expression"),
    LogSumExp: ("index", "expression"),
    Maximum: ("index", "expression"),
    Indicator: ("expression", "expression"),
    AtMost: ("expression", "expression"),
    Where: ("expression", "expression", "expression"),
    Quadratic: ("expression", "expression", "index", "index"),
    LogDeterminant: ("expression", "index", "index"),
    Inverse: ("expression", "index", "index", "expression", "expression"),
    Root: ("expression", "index", "index", "expression", "expression"),
    Literal: ("numbers", "sizes", "texts", "expressions"),
    Scan: ("index", "texts", "axes", "expressions", "truth", "text", "expressions"),
}
"""Nodes with a fixed number of fields, and what each field holds."""

_OPEN: dict[type[Expression], tuple[str, ...]] = {
    Add: (),
    Multiply: (),
    Reference: ("text",),
    Before: ("text",),
    Call: ("text",),
}
"""Nodes whose last field is a tuple of expressions; they are written after the others without a list of their own."""

_NODES = {node.__name__: node for node in (*_FIELDS, *_OPEN)}


def expression_json(expression: Expression, depth: int = 0) -> list[Any]:
    """An expression as nested lists of text and numbers."""
    if depth > DEEPEST:
        raise FormatError("an expression is nested too deeply to be written", expected=f"at most {DEEPEST} levels")
    kind = type(expression)
    if kind not in _NODES.values():
        raise TypeError(f"not an expression: {expression!r}")
    values = [getattr(expression, name) for name in kind.__dataclass_fields__]  # type: ignore[attr-defined]
    if kind in _OPEN:
        parts = [expression_json(part, depth + 1) for part in values[-1]]
        return [kind.__name__, *values[:-1], *parts]
    return [kind.__name__, *(_WRITERS[what](value, depth + 1) for what, value in zip(_FIELDS[kind], values))]


def expression_from_json(data: object, depth: int = 0) -> Expression:
    """The expression that `expression_json` wrote; a `FormatError` says what is wrong with anything else."""
    if depth > DEEPEST:
        raise FormatError("an expression is nested too deeply to be read", expected=f"at most {DEEPEST} levels")
    if not isinstance(data, list) or not data or not isinstance(data[0], str):
        raise FormatError(f"{_shown(data)} is no expression", expected="a list with the name of a node first")
    node = _NODES.get(data[0])
    if node is None:
        raise FormatError(f"there is no node `{_shown(data[0])}`", expected="one of: " + ", ".join(_NODES))
    if node in _OPEN:
        return _open_node(node, data[1:], depth)
    wanted = _FIELDS[node]
    if len(data) - 1 != len(wanted):
        raise FormatError(f"{data[0]} with {len(data) - 1} fields", expected=f"{len(wanted)} fields")
    made = node(*(_READERS[what](value, depth + 1) for what, value in zip(wanted, data[1:])))
    if isinstance(made, Literal) and math.prod(made.shape) != len(made.values):
        raise FormatError(f"a table of shape {made.shape} with {len(made.values)} numbers")
    if isinstance(made, Literal) and not len(made.shape) == len(made.plates) == len(made.indices):
        raise FormatError(f"a table with {len(made.shape)} axes and {len(made.plates)} plates")
    if isinstance(made, Scan) and not _is_scan(made):
        raise FormatError("a scan whose states, axes and bodies do not belong together")
    return made


def _is_scan(made: Scan) -> bool:
    """Whether there is a body and the step for each state, and a place for each axis of the one that is asked for."""
    if not len(made.states) == len(set(made.states)) == len(made.axes) == len(made.bodies):
        return False
    if made.state not in made.states or any(axes.count(made.step) != 1 for axes in made.axes):
        return False
    return len(made.at) == len(made.axes[made.states.index(made.state)])


def _open_node(node: type[Expression], data: list[object], depth: int) -> Expression:
    lead = len(_OPEN[node])
    if len(data) < lead:
        raise FormatError(f"{node.__name__} without a name")
    head = [text_from_json(value) for value in data[:lead]]
    parts = tuple(expression_from_json(part, depth + 1) for part in data[lead:])
    if node is Call:
        function = FUNCTIONS.get(head[0])
        if function is None or function.arity != len(parts):
            raise FormatError(f"there is no function `{_shown(head[0])}` of {len(parts)} arguments")
    made: Callable[..., Expression] = node
    return made(*head, parts)


def number_json(value: float) -> float | str:
    """A number; those that JSON does not have are written as text."""
    value = float(value)
    return value if math.isfinite(value) else str(value)


def number_from_json(data: object) -> float:
    """A number that `number_json` wrote."""
    if isinstance(data, str) and data in ("inf", "-inf", "nan"):
        return float(data)
    if isinstance(data, bool) or not isinstance(data, (int, float)):
        raise FormatError(f"{_shown(data)} is no number")
    return float(data)


def text_from_json(data: object) -> str:
    """Text, and nothing else."""
    if not isinstance(data, str):
        raise FormatError(f"{_shown(data)} is no text")
    return data


def list_from_json(data: object) -> list[object]:
    """A list, and nothing else."""
    if not isinstance(data, list):
        raise FormatError(f"{_shown(data)} is no list")
    return data


def index_from_json(data: object) -> Index:
    """An index, and no other expression."""
    found = expression_from_json(data)
    if not isinstance(found, Index):
        raise FormatError(f"{_shown(data)} is no index")
    return found


def _place_from_json(data: object, depth: int) -> Expression:
    """An index, or a place some steps before one."""
    found = expression_from_json(data, depth)
    if not isinstance(found, (Index, Lag)):
        raise FormatError(f"{_shown(data)} is no place of a sequence")
    return found


def _truth_from_json(data: object, depth: int) -> bool:
    if not isinstance(data, bool):
        raise FormatError(f"{_shown(data)} is neither true nor false")
    return data


def size_from_json(data: object) -> int:
    """A whole number from 0."""
    if isinstance(data, bool) or not isinstance(data, int) or data < 0:
        raise FormatError(f"{_shown(data)} is no size")
    return data


def _shown(data: object) -> str:
    return repr(data)[:60]


_WRITERS: dict[str, Callable[[Any, int], object]] = {
    "number": lambda value, depth: number_json(value),
    "text": lambda value, depth: value,
    "index": expression_json,
    "expression": expression_json,
    "numbers": lambda values, depth: [number_json(value) for value in values],
    "sizes": lambda values, depth: [int(value) for value in values],
    "texts": lambda values, depth: list(values),
    "expressions": lambda parts, depth: [expression_json(part, depth) for part in parts],
    "place": expression_json,
    "truth": lambda value, depth: bool(value),
    "axes": lambda axes, depth: [[expression_json(index, depth) for index in one] for one in axes],
}
_READERS: dict[str, Callable[[Any, int], object]] = {
    "number": lambda data, depth: number_from_json(data),
    "text": lambda data, depth: text_from_json(data),
    "index": lambda data, depth: index_from_json(data),
    "place": _place_from_json,
    "truth": _truth_from_json,
    "axes": lambda data, depth: tuple(tuple(map(index_from_json, list_from_json(one))) for one in list_from_json(data)),
    "expression": expression_from_json,
    "numbers": lambda data, depth: tuple(number_from_json(value) for value in list_from_json(data)),
    "sizes": lambda data, depth: tuple(size_from_json(value) for value in list_from_json(data)),
    "texts": lambda data, depth: tuple(text_from_json(value) for value in list_from_json(data)),
    "expressions": lambda data, depth: tuple(expression_from_json(part, depth) for part in list_from_json(data)),
}
