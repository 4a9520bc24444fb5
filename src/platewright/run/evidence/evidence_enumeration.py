"""Evidence by listing all values of the discrete unknowns (`backends/kernels/enumeration.py`)."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from platewright.backends.kernels import enumeration as kernel
from platewright.backends.kernels.enumeration import COUNTLESS, MOST_ASSIGNMENTS, Listing
from platewright.errors import SizeError
from platewright.family import Array
from platewright.operations.split_partly_known import observed_name, seen_name
from platewright.run.evidence.evidence import Evidence
from platewright.run.samplers.evidence_given import evidence_given
from platewright.schemas.evidence import EvidencePlan, exchanged_together


def listing(plan: EvidencePlan, columns: Mapping[str, Array], sizes: Mapping[str, int]) -> Listing:
    """What enumeration would list on given data."""
    nodes = plan.graph.nodes
    shapes = tuple(tuple(sizes[axis.plate] for axis in nodes[name].axes) for name in plan.hidden)
    levels = tuple(
        sizes[str(node.domain.levels)] if node.domain.kind == "levels" else node.domain.listed
        for node in (nodes[name] for name in plan.hidden)
    )
    given = {
        name: np.where(columns[observed_name(name)] != 0, columns[seen_name(name)], -1)
        for name in plan.hidden
        if seen_name(name) in columns
    }
    return Listing(plan.hidden, shapes, levels, exchanged_together(plan, sizes), given)


def shown_count(count: int) -> str:
    """A number in full while it can be read, else its size."""
    return f"{count:,}" if count <= COUNTLESS else "more than 10^18"


def enumerated(
    plan: EvidencePlan, columns: Mapping[str, Array], sizes: Mapping[str, int], *, most: int = MOST_ASSIGNMENTS
) -> Evidence:
    """The evidence by enumeration; refused where there are too many assignments."""
    listed = listing(plan, columns, sizes)
    if listed.count > most:
        raise SizeError(
            f"{shown_count(listed.count)} assignments of {', '.join(plan.hidden)} would have to be listed",
            expected=f"at most {most:,}",
            hint='by="chib" or by="annealed", which estimate the evidence; most= raises the limit',
        )
    assert plan.complete is not None
    value = kernel.enumerated(listed, evidence_given(plan.complete.program, columns, sizes))
    detail = f"{listed.count:,} assignments of {', '.join(plan.hidden)}"
    if listed.count != listed.total:
        detail += f", which stand for {listed.total:,} relabelled ones"
    return Evidence(value, "enumeration", 0.0, detail, plan.proper)
