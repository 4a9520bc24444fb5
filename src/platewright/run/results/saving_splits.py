"""Which nodes of a saved model were known in part: a file has the graph as written, and their names."""

from __future__ import annotations

from collections.abc import Iterable

from platewright.algebra.serial import list_from_json, text_from_json
from platewright.errors import FormatError
from platewright.graph.graph import Graph
from platewright.operation import Step
from platewright.operations.split_partly_known import NAME, split_partly_known


def names_split(steps: Iterable[Step]) -> list[str]:
    """The nodes that were split, in order."""
    return [_split_of(step) for step in steps if step.operation == NAME]


def split_again(graph: Graph, listed: object, where: str) -> tuple[Step, ...]:
    """The same splits of the graph that a file has."""
    steps: list[Step] = []
    for name in list_from_json(listed):
        step = split_partly_known(steps[-1].after if steps else graph, text_from_json(name))
        if not isinstance(step, Step):
            raise FormatError(f"`{name}` cannot be known in part: {step.reason}"[:120], where=where)
        steps.append(step)
    return tuple(steps)


def _split_of(step: Step) -> str:
    """The node that a step split: the one whose `observed` twin is new."""
    new = [name for name in step.after.nodes if name not in step.before.nodes and name.endswith(".observed")]
    return new[0].removesuffix(".observed")
