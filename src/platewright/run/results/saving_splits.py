"""The graph that a saved plan was made for: a file has it as written, which nodes were known in part, and sizes.

as written -> split -> with about so many elements of each plate, as when the order of elimination was chosen
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from platewright.algebra.serial import list_from_json, size_from_json, text_from_json
from platewright.errors import FormatError
from platewright.graph.graph import Graph
from platewright.operation import Step
from platewright.operations.split_partly_known import NAME, split_partly_known


def names_split(steps: Iterable[Step]) -> list[str]:
    """The nodes that were split, in order."""
    return [_split_of(step) for step in steps if step.operation == NAME]


def planned_graph(graph: Graph, written: Mapping[str, Any], where: str) -> tuple[Graph, tuple[Step, ...]]:
    """The graph as the plan had it, and the splits that led there."""
    splits = split_again(graph, written["split"], where)
    if not isinstance(told := written["about"], dict):
        raise FormatError(f"{told!r} is no object"[:80], where=where)
    if strange := sorted(set(told) - set(graph.plates)):
        raise FormatError(f"the size of plate `{strange[0]}`, which the model does not have"[:80], where=where)
    about = {plate: size_from_json(size) for plate, size in told.items()}
    chosen = written["integrate"]
    named = None if chosen is None else frozenset(text_from_json(name) for name in list_from_json(chosen))
    return replace(splits[-1].after if splits else graph, about=about, integrate=named), splits


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
