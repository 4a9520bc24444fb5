"""Goals, plans, and what a schema is: a function from a graph and a goal to a plan, or the reason why not."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal as OneOf

from platewright.elimination.state import Conditional
from platewright.graph.graph import Factor, Graph
from platewright.operation import Declined, Step
from platewright.program.program import Program

Goal = OneOf["posterior", "map", "evidence"]
GOALS: tuple[Goal, ...] = ("posterior", "map", "evidence")


@dataclass(frozen=True)
class Question:
    """What is asked of a model: a goal, a schema or "auto", and for a mode the unknowns to be integrated out."""

    goal: Goal
    by: str = "auto"
    integrate: frozenset[str] | None = None


@dataclass(frozen=True)
class Plan:
    """The algorithm for one problem: the steps that justify it and the program that carries it out."""

    graph: Graph
    goal: Goal
    schema: str
    summary: str
    steps: tuple[Step, ...]
    program: Program
    conditionals: tuple[Conditional, ...]
    factors: tuple[Factor, ...]
    """The log joint of the problem, for checks."""
    barren: tuple[str, ...] = ()
    """Unknown nodes without data below them: they are predicted, not learned."""
    declined: tuple[Declined, ...] = field(default=())
    proper: bool = True
    """Whether the evidence is that of a proper prior."""
    pieces: tuple[tuple[str, ...], ...] = ()
    """The unknowns of each independent piece (Theorem 6.1)."""
