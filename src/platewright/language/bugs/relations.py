"""Statements out of their loops: a relation is one assignment or draw with the loops around it, and its grid.

    for (i in 1:N) { for (j in 1:T) { y[i,j] ~ ... } }          grid (i: 1..N) x (j: 1..T)        two axes
    for (i in 1:N) { for (k in 1:n[i]) { x[i,k] ~ ... } }       grid ((i,k): all pairs)           one long axis

Loops whose bounds do not depend on each other make a box; those that do are flattened into one long axis.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from platewright.language.bugs.arithmetic import MOST_CELLS, MOST_ROWS, NotKnown, Scope, compute, count_cells, span
from platewright.language.bugs.complaint import complain
from platewright.language.bugs.syntax import (
    Assignment,
    Draw,
    Element,
    Expression,
    FunctionCall,
    Loop,
    Number,
    Operation,
    Place,
    Range,
    Statement,
    elements,
    expressions,
)

Array = np.ndarray


@dataclass(frozen=True)
class Head:
    """One loop around a statement."""

    variable: str
    domain: Expression | Range
    place: Place


@dataclass(frozen=True)
class Relation:
    """A statement with its loops, outermost first; `fixed` records loops that were unrolled."""

    statement: Assignment | Draw
    loops: tuple[Head, ...] = ()
    fixed: tuple[tuple[str, int], ...] = ()
    series: Series | None = None
    """For a series: what it was made from."""
    limits: tuple[tuple[Head, int], ...] = ()
    """Loops that were unrolled and hang on loops that were not: rounds count where the loop reaches the value."""

    @property
    def target(self) -> Element:
        """The left side."""
        return self.statement.target

    @property
    def name(self) -> str:
        """The array that the statement defines cells of."""
        return self.statement.target.name

    @property
    def is_random(self) -> bool:
        """Whether it is a draw."""
        return isinstance(self.statement, Draw)

    @property
    def place(self) -> Place:
        """Where it was written."""
        return self.statement.place

    def expressions(self) -> tuple[Expression, ...]:
        """What its value depends on; a series leaves this to its beginning and its rule."""
        return () if self.series is not None else expressions(self.statement)

    def uses(self) -> Iterable[Element]:
        """The names on its right side, loop variables left out."""
        variables = {head.variable for head in self.loops}
        for expression in self.expressions():
            for element in elements(expression):
                if element.indices is not None or element.name not in variables:
                    yield element


@dataclass(frozen=True)
class Series:
    """Cells that are each made from the one before; the beginning is a statement, or what other cells hold."""

    rule: Relation
    rest: Relation
    """The statement that the rule was made from."""
    step: int
    """The dimension along which the series runs."""
    first: Relation | None = None

    @property
    def parts(self) -> tuple[Relation, ...]:
        """The relations whose right sides are read."""
        return (self.rule,) if self.first is None else (self.first, self.rule)

    @property
    def written(self) -> tuple[Relation, ...]:
        """The statements of the text that the series stands for."""
        return (self.rest,) if self.first is None else (self.first, self.rest)


@dataclass(frozen=True)
class Axis:
    """One axis of a grid: the loops it stands for, each with its values along the axis."""

    variables: tuple[str, ...]
    values: Mapping[str, Array]
    size: int
    is_open: bool = False

    @property
    def start(self) -> int | None:
        """The first value when a single loop counts upwards by one, else None: the axis needs a table."""
        if len(self.variables) != 1:
            return None
        values = self.values[self.variables[0]]
        return int(values[0]) if values.size and (np.diff(values) == 1).all() else None


@dataclass(frozen=True)
class Grid:
    """All iterations of a relation."""

    axes: tuple[Axis, ...] = ()
    loops: Mapping[str, Array] = field(default_factory=dict)
    """Each loop variable's values, shaped so that they broadcast over the axes."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Sizes of the axes."""
        return tuple(axis.size for axis in self.axes)


def flatten(statements: Iterable[Statement], loops: tuple[Head, ...] = ()) -> list[Relation]:
    """All statements with the loops around them, in the order of writing."""
    found: list[Relation] = []
    for statement in statements:
        if isinstance(statement, Loop):
            head = Head(statement.variable, statement.domain, statement.place)
            found += flatten(statement.body, (*loops, head))
        else:
            found.append(Relation(statement, loops))
    return found


def lay_out(relation: Relation, scope: Scope, source: str) -> Grid:
    """The grid of a relation; loops tied by their bounds or by a limit become one long axis."""
    tied = _tied(relation)
    every = [_axis(relation, [relation.loops[k] for k in group], scope, source) for group in tied]
    axes = [axis for axis in every if axis.size != 1]
    shape = tuple(axis.size for axis in axes)
    if count_cells(shape) > MOST_CELLS:
        raise complain(source, relation.place, f"{count_cells(shape):,} repetitions", f"at most {MOST_CELLS:,}")
    # A loop of one round is no axis: its variable is a number.
    loops = {name: values[0] for axis in every if axis.size == 1 for name, values in axis.values.items()}
    for position, axis in enumerate(axes):
        form = [1] * len(axes)
        form[position] = axis.size
        for variable, values in axis.values.items():
            loops[variable] = values.reshape(form)
    return Grid(tuple(axes), loops)


def _tied(relation: Relation) -> list[list[int]]:
    """Groups of loop positions whose bounds mention one another's variables."""
    group = list(range(len(relation.loops)))
    for inner, head in enumerate(relation.loops):
        mentioned = {element.name for element in elements(head.domain)}
        for outer in range(inner):
            if relation.loops[outer].variable in mentioned:
                old, new = group[inner], group[outer]
                group = [new if mark == old else mark for mark in group]
    for limit, _ in relation.limits:
        mentioned = {element.name for element in elements(limit.domain)}
        marks = {mark for mark, head in zip(group, relation.loops) if head.variable in mentioned}
        group = [min(marks) if mark in marks else mark for mark in group]
    return [[k for k, mark in enumerate(group) if mark == first] for first in dict.fromkeys(group)]


def _axis(relation: Relation, heads: list[Head], scope: Scope, source: str) -> Axis:
    before = set(scope.touched)
    table = np.zeros((1, 0), dtype=np.int64)
    names: list[str] = []
    for head in heads:
        if len(table) > MOST_ROWS:
            raise complain(source, head.place, "the loop inside is too long", f"at most {MOST_ROWS:,} outer rounds")
        spans = [_values(head, scope.at(dict(zip(names, row.tolist()))), source) for row in table]
        lengths = [len(values) for values in spans]
        if sum(lengths) > MOST_CELLS:
            raise complain(source, head.place, "the loop is too long", f"at most {MOST_CELLS:,} repetitions")
        last = np.concatenate(spans) if spans else np.zeros(0, dtype=np.int64)
        table = np.column_stack([np.repeat(table, lengths, axis=0), last])
        names.append(head.variable)
    for limit, value in relation.limits:
        if {element.name for element in elements(limit.domain)} & set(names):
            reached = [value in _values(limit, scope.at(dict(zip(names, row.tolist()))), source) for row in table]
            table = table[np.array(reached, dtype=bool)]
    assumed = bool(scope.touched - before) or any(
        element.name in scope.assumed for head in heads for element in elements(head.domain)
    )
    scope.touched.clear()
    scope.touched.update(before)
    columns = {head.variable: table[:, k] for k, head in enumerate(heads)}
    return Axis(tuple(columns), columns, len(table), is_open=assumed)


def _values(head: Head, scope: Scope, source: str) -> Array:
    try:
        return span(head.domain, scope)
    except NotKnown:
        missing = [element.name for element in elements(head.domain) if element.name not in scope.constants]
        shown = f"`{missing[0]}` has no value" if missing else "the bounds are not whole numbers"
        raise complain(
            source,
            head.place,
            f"the loop over `{head.variable}` has no known length: {shown}",
            expected="constants, or names that the data give",
        ) from None
    except OverflowError as trouble:
        raise complain(source, head.place, f"the loop {trouble} is too long", f"at most {MOST_CELLS:,}") from None


def compute_on(expression: Any, grid: Grid, scope: Scope) -> Any:
    """A number for each cell of the grid, row by row where columns do not do; broadcastable over the grid."""
    try:
        found = compute(expression, scope.at(grid.loops))
        if np.ndim(found) and np.broadcast_shapes(np.shape(found), grid.shape) != grid.shape:
            raise NotKnown
        return found
    except ValueError:
        raise NotKnown from None
    except NotKnown:
        if not grid.axes or count_cells(grid.shape) > MOST_ROWS:
            raise
    found = np.empty(grid.shape)
    for at in np.ndindex(*grid.shape):
        loops = {name: int(np.broadcast_to(values, grid.shape)[at]) for name, values in grid.loops.items()}
        value = compute(expression, scope.at(loops))
        if np.ndim(value):
            raise NotKnown
        found[at] = value
    return found


def unroll(relation: Relation, variable: str, values: Iterable[int]) -> list[Relation]:
    """One relation for each value of a loop variable; where its bounds hang on outer loops, those keep to them."""
    gone = next(head for head in relation.loops if head.variable == variable)
    others = [head for head in relation.loops if head is not gone]
    copies = []
    for value in values:
        loops = tuple(_head_at(head, variable, value) for head in others)
        limits = ((_head_at(head, variable, value), at) for head, at in (*relation.limits, (gone, value)))
        kept = tuple(limit for limit in limits if _hangs_on(limit[0], loops))
        fixed = (*relation.fixed, (variable, value))
        copies.append(Relation(_fix(relation.statement, variable, value), loops, fixed, limits=kept))
    return copies


def _head_at(head: Head, variable: str, value: int) -> Head:
    return replace(head, domain=fix_index(head.domain, variable, value))


def _hangs_on(head: Head, loops: Iterable[Head]) -> bool:
    """Whether the bounds of a loop mention the variables of others."""
    return bool({element.name for element in elements(head.domain)} & {other.variable for other in loops})


def _fix(statement: Assignment | Draw, variable: str, value: int) -> Assignment | Draw:
    target = fix_index(statement.target, variable, value)
    if isinstance(statement, Assignment):
        return replace(statement, target=target, value=fix_index(statement.value, variable, value))
    density = statement.density
    bounds = density.bounds
    if bounds is not None:
        ends = (None if end is None else fix_index(end, variable, value) for end in (bounds.lower, bounds.upper))
        bounds = replace(bounds, lower=next(ends), upper=next(ends))
    arguments = tuple(fix_index(part, variable, value) for part in density.arguments)
    return replace(statement, target=target, density=replace(density, arguments=arguments, bounds=bounds))


def fix_index(node: Any, variable: str, value: int) -> Any:
    """An expression with a loop variable at one value."""
    match node:
        case Element(name, None) if name == variable:
            return Number(float(value), node.place)
        case Element(name, indices) if indices is not None:
            return replace(node, indices=tuple(fix_index(part, variable, value) for part in indices))
        case Operation(_, operands):
            return replace(node, operands=tuple(fix_index(part, variable, value) for part in operands))
        case FunctionCall(_, arguments):
            return replace(node, arguments=tuple(fix_index(part, variable, value) for part in arguments))
        case Range(first, last):
            return replace(node, first=fix_index(first, variable, value), last=fix_index(last, variable, value))
    return node
