"""The passes of a block's program in two: over data alone, computed once, and those that unknowns enter."""

from __future__ import annotations

from dataclasses import replace

from platewright.algebra.expression import names
from platewright.program.program import Program, expressions_of
from platewright.program.statements import Pool, Statistic


def split_program(program: Program, changing: frozenset[str]) -> tuple[Program, Program]:
    """A program's passes in two: those over data alone, and those that unknowns enter."""
    fixed: list[Statistic | Pool] = []
    moving: list[Statistic | Pool] = []
    for statement in program.passes:
        used: set[str] = set()
        for expression in expressions_of(statement):
            used |= names(expression)
        (moving if used & changing else fixed).append(statement)
    return replace(program, passes=tuple(fixed)), replace(program, passes=tuple(moving))
