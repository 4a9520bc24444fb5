"""Everything a program reads must be there, and every plate that it runs over must have a size."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from platewright.errors import MissingColumn, ModelError
from platewright.program.program import Program
from platewright.schema import Plan


def check_complete(plan: Plan, columns: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    """Everything the program reads must be there."""
    for name in plan.program.columns:
        if name not in columns:
            shown = name.split("@")[0]
            raise MissingColumn(f"the data have no `{shown}`", expected=f"a column named {shown}")
    check_sizes(plan.program, sizes)
    for name in plan.graph.unknown:
        node = plan.graph.nodes[name]
        empty = [axis.plate for axis in node.events if sizes.get(axis.plate) == 0]
        if empty and node.domain.kind == "simplex":
            raise ModelError(
                f"plate `{empty[0]}` has no elements, so `{name}` has no probabilities to share out",
                hint=f"the data show no level: name them, m.plate('{empty[0]}', labels=[...])",
            )


def check_sizes(program: Program, sizes: Mapping[str, int], made: Collection[str] = ()) -> None:
    """Every plate that the program runs over must have a size; those in `made` get theirs on the way."""
    for plate in program.plates:
        if plate not in sizes and plate not in made:
            raise ModelError(
                f"the size of plate `{plate}` is not known", hint=f"give it in the model: m.plate('{plate}', size)"
            )
