"""Refuse tables that would not fit, before any memory is taken."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from math import prod

from platewright.algebra.expression import Index
from platewright.derive.planner import choose_plan
from platewright.errors import SizeError
from platewright.operations.split_partly_known import NAME as SPLIT
from platewright.program.program import Program
from platewright.program.statements import Assign, Pool, Statistic, Triangularise
from platewright.run.checks.room import check_room
from platewright.schema import Plan

MOST_NUMBERS = 2**29
"""4 GiB of doubles in one array."""


def check_allocations(program: Program, sizes: Mapping[str, int]) -> float:
    """Every array that the program makes must have a reasonable size; how many numbers they have together."""
    total = 0.0
    for statement in (*program.passes, *program.body):
        count = _numbers(statement, sizes)
        total += count
        if count > MOST_NUMBERS:
            raise SizeError(
                f"`{statement.name}` would hold {count:.3g} numbers ({8 * count / 2**30:.3g} GiB)",
                expected=f"at most {MOST_NUMBERS:.3g} numbers in one table",
                hint="give the plates fewer elements, or the unknowns fewer plates in common",
            )
    return total


@lru_cache(maxsize=256)
def _check_once(program: Program, sizes: tuple[tuple[str, int], ...]) -> float:
    """The same, made once for the same sizes: a model is often fitted to many tables of one shape."""
    return check_allocations(program, dict(sizes))


def _check_fits(numbers: float) -> None:
    """The tables of a program together."""
    check_room(8 * numbers, "the tables of the program", "give the plates fewer elements")


def _numbers(statement: Statistic | Pool | Assign | Triangularise, sizes: Mapping[str, int]) -> int:
    def count(indices: tuple[Index, ...]) -> int:
        return prod(sizes.get(index.plate, 1) for index in indices)

    match statement:
        case Statistic() | Assign():
            return count(statement.indices)
        case Pool():
            width = sum(count(feature.inner) for feature in statement.features)
            return prod(sizes.get(cell.index.plate, 1) for cell in statement.cells) * width**2
        case Triangularise():
            width = sum(count(statement.inside(column)) for column in statement.columns) + 1
            apart = statement.batch
            if statement.along is not None:  # a small problem for each step, with those before and after it
                apart = (*apart, Index(statement.along, statement.along))
                width += 2 * sum(
                    count(statement.inside(column)) for column in statement.columns[: statement.eliminated]
                )
            rows = 0
            for source in statement.sources:
                own = (*statement.batch, *(() if statement.along is None else (statement.step_of(source),)))
                others = tuple(index for index in source.cells if index not in own)
                slots = 1 if source.pool is None else 1 + sum(count(feature.inner) for feature in source.features)
                rows += count(others) * slots
            return count(apart) * max(rows, width) * width
    raise TypeError(statement)


def that_fits(plan: Plan, sizes: Mapping[str, int]) -> Plan:
    """The plan, or where its tables are too large one that was derived for plates of these sizes."""
    try:
        _check_fits(_check_once(plan.program, tuple(sizes.items())))
    except SizeError:
        graph = plan.graph
        plates = {name: replace(plate, size=sizes.get(name, plate.size)) for name, plate in graph.plates.items()}
        again = choose_plan(replace(graph, plates=plates), plan.goal, plan.schema)
        if not isinstance(again, Plan):
            raise
        _check_fits(check_allocations(again.program, sizes))
        # Only the order was chosen for these sizes: the model itself leaves them open as before.
        splits = (step for step in plan.steps if step.operation == SPLIT)
        program = replace(again.program, sizes=plan.program.sizes)
        return replace(again, graph=graph, program=program, steps=(*splits, *again.steps))
    return plan
