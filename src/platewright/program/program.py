"""The target-neutral program: passes over rows, then work on what they left.

passes   pure functions of a batch of rows; partial results merge, so batches, threads and engines are all alike
body     assignments and triangularisations on the merged statistics
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from platewright.algebra.build import multiply, substitute
from platewright.algebra.expression import (
    Expression,
    Index,
    Indicator,
    Maximum,
    Multiply,
    Reference,
    Size,
    Sum,
    all_indices,
    free_indices,
    names,
    rebuild,
    walk,
)
from platewright.program.statements import Assign, Pool, Statistic, Triangularise

EVIDENCE = "log_evidence"


@dataclass(frozen=True, eq=False)
class Program:
    """Everything a backend needs to print or run. Compared by identity, so that backends can keep what they print."""

    title: str
    columns: Mapping[str, tuple[Index, ...]]
    """Data that the program reads, with their axes."""
    passes: tuple[Statistic | Pool, ...]
    body: tuple[Assign | Pool | Triangularise, ...]
    results: tuple[str, ...] = ()
    codes: Mapping[str, str] = field(default_factory=dict)
    """For each categorical column the plate whose positions it holds."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Plate sizes that the model fixes."""
    labels: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    """Labels that the model gives to elements of a plate."""
    within: Mapping[str, str] = field(default_factory=dict)
    """Inner plate -> the plate it lies within: a column of that name says where each row belongs."""
    whole: tuple[str, ...] = ()
    """Columns that hold whole numbers: counts and truth values."""

    def __str__(self) -> str:
        return program_text(self)

    @property
    def assignments(self) -> tuple[Assign, ...]:
        """The body of a program that only assigns, such as those of expectations."""
        found = tuple(statement for statement in self.body if isinstance(statement, Assign))
        assert len(found) == len(self.body)
        return found

    @cached_property
    def plates(self) -> tuple[str, ...]:
        """Plates whose size the program uses, in a fixed order."""
        found: dict[str, None] = {}
        for axes in self.columns.values():
            found.update({axis.plate: None for axis in axes})
        for statement in (*self.passes, *self.body):
            for index in _indices(statement):
                found.setdefault(index.plate, None)
        return tuple(plate for plate in found if not plate.endswith(".rows"))


def expressions_of(statement: Statistic | Pool | Assign | Triangularise) -> list[Expression]:
    """Every expression that a statement evaluates."""
    match statement:
        case Statistic():
            return [statement.summand]
        case Assign():
            return [statement.expression]
        case Pool():
            found = [statement.weight, *(cell.code for cell in statement.cells)]
            return found + [feature.expression for feature in statement.features]
        case Triangularise():
            found = []
            for source in statement.sources:
                if source.pool is None:  # pooled rows were evaluated by their pool
                    found += [source.weight, *(feature.expression for feature in source.features)]
                found += [position for entry in source.entries for position in entry.positions]
            return found
    raise TypeError(statement)


def _indices(statement: Statistic | Pool | Assign | Triangularise) -> list[Index]:
    """Every index of a statement, in a fixed order."""
    found: list[Index] = []
    match statement:
        case Statistic():
            found = [*statement.indices, *statement.over]
        case Assign():
            found = list(statement.indices)
        case Pool():
            found = [*statement.over, *(cell.index for cell in statement.cells)]
            found += [index for feature in statement.features for index in feature.inner]
        case Triangularise():
            found = [*statement.batch, *(index for column in statement.columns for index in column.dense)]
            for source in statement.sources:
                found += [*source.cells, *(index for feature in source.features for index in feature.inner)]
            if statement.output is not None:
                found.append(statement.output)
    for expression in expressions_of(statement):
        found += sorted(all_indices(expression), key=lambda index: index.name)
        found += [Index(node.plate, node.plate) for node in walk(expression) if isinstance(node, Size)]
    return found


class Hoister:
    """Moves sums over data out of expressions into named statistics, each computed once."""

    def __init__(self, data: frozenset[str], taken: Iterable[str] = ()) -> None:
        self.data = data
        self.statistics: dict[Expression, Statistic] = {}
        self.taken = set(taken)

    def hoist(self, expression: Expression, because: str = "") -> Expression:
        """The expression with every sum (or maximum) over data replaced by a reference to its statistic."""
        if isinstance(expression, (Sum, Maximum)) and self.is_statistic(expression) and self.is_row_index(expression):
            return self.named(expression, because)
        return rebuild(expression, lambda part: self.hoist(part, because))

    def is_statistic(self, expression: Expression) -> bool:
        used = names(expression)
        return bool(used) and used <= self.data

    def named(self, expression: Sum | Maximum, because: str) -> Expression:
        kind = "sum" if isinstance(expression, Sum) else "max"
        over: list[Index] = []
        body: Expression = expression
        while isinstance(body, (Sum if kind == "sum" else Maximum)) and self.is_row_index(body):
            over.append(body.index)
            body = body.body
        indices = tuple(sorted(free_indices(expression), key=lambda index: index.name))
        if expression in self.statistics:
            return Reference(self.statistics[expression].name, indices)
        body = _at_groups(body, indices)
        name = self.fresh(_label(body, kind, self.data))
        self.statistics[expression] = Statistic(name, indices, tuple(over), body, kind, because)  # type: ignore[arg-type]
        return Reference(name, indices)

    def is_row_index(self, node: Sum | Maximum) -> bool:
        """Sums nested in the statistic run over rows as long as their body depends on data through them."""
        return any(
            isinstance(part, Reference) and part.name in self.data and node.index in part.indices
            for part in walk(node.body)
        )

    def fresh(self, label: str) -> str:
        name, number = label, 1
        while name in self.taken:
            number += 1
            name = f"{label}_{number}"
        self.taken.add(name)
        return name


def _at_groups(body: Expression, indices: tuple[Index, ...]) -> Expression:
    """Under `[z[n] = k]` other factors may look k up at z[n]: rows then go to their group in one pass."""
    if not isinstance(body, Multiply):
        return body
    for factor in body.factors:
        if not isinstance(factor, Indicator) or not isinstance(factor.right, Index) or factor.right not in indices:
            continue
        if isinstance(factor.left, Index):
            continue
        others = [other for other in body.factors if other is not factor]
        moved = [o if isinstance(o, Indicator) else substitute(o, {factor.right: factor.left}) for o in others]
        if moved != others:
            return _at_groups(multiply(factor, *moved), indices)
    return body


def _label(body: Expression, kind: str, data: frozenset[str]) -> str:
    """A readable name: `count_z`, `sum_x_y`, `max_x`; emitted text has the same, so that both can be asked for it."""
    plain = isinstance(body, Indicator) or _only_indicators(body)
    named = (n.name.replace("@", "_of_").replace(".", "_") for n in walk(body) if isinstance(n, Reference))
    words = list(dict.fromkeys(named))
    return "_".join(["count" if plain and kind == "sum" else kind, *words[:4]])


def _only_indicators(body: Expression) -> bool:
    return isinstance(body, Multiply) and all(isinstance(factor, Indicator) for factor in body.factors)


def program_text(program: Program) -> str:
    """The stable text form."""
    lines = [f"program {program.title}"]
    lines += [f"  data {name}[{_listed(axes)}]" for name, axes in program.columns.items()]
    for statement in program.passes:
        lines.append(f"  pass {statement_text(statement)}")
    for step in program.body:
        lines.append(f"  then {statement_text(step)}")
    return "\n".join(lines)


def _listed(indices: Sequence[Index]) -> str:
    return ", ".join(index.name for index in indices)


def statement_text(statement: Statistic | Pool | Assign | Triangularise) -> str:
    match statement:
        case Statistic(name, indices, over, summand, kind, _):
            return f"{name}[{_listed(indices)}] = {kind} over {_listed(over)} of {summand}"
        case Assign(name, indices, expression, _):
            return f"{name}[{_listed(indices)}] = {expression}"
        case Pool(name, over, cells, features, weight, _):
            where = ", ".join(f"{cell.index.name} = {cell.code}" for cell in cells)
            shown = ", ".join(str(feature.expression) for feature in features)
            return f"{name}[{where}] = weight, mean and scatter over {_listed(over)} of ({shown}), weight {weight}"
        case Triangularise():
            columns = ", ".join(f"{column.variable}[{_listed(column.dense)}]" for column in statement.columns)
            sources = ", ".join(source.pool or source.owner for source in statement.sources)
            return (
                f"{statement.name}[{_listed(statement.batch)}] = triangularise columns ({columns}), rows of {sources}"
            )
    raise TypeError(statement)
