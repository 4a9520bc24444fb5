"""Slope and curvature of the log joint in one unknown  (Section 6.1, Lemma 6.2, Equations 17 to 20).

    slope[j] = d log p / d w[j]          curvature[j, j'] = d^2 log p / d w[j] d w[j']

Functions are looked through: derivatives go along islands of determinism to the nodes that carry densities.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from platewright.algebra.build import add
from platewright.algebra.differentiate import differentiate
from platewright.algebra.evaluate import evaluate
from platewright.algebra.expression import Expression, Index, Reference
from platewright.elimination.conditional import other_axes
from platewright.errors import ModelError
from platewright.family import Array
from platewright.graph.computed import computed_from
from platewright.graph.graph import Factor, Graph
from platewright.operation import Declined, Step
from platewright.operations.remove_deterministic import remove_deterministic
from platewright.run.density import environment_of
from platewright.run.point import read_point
from platewright.schemas.exact import normalisers
from platewright.schemas.slopes import slopes_of

NAME = "differentiate"


class Numbers(NamedTuple):
    """A derivative at a point."""

    slope: Array
    curvature: Array


@dataclass(frozen=True)
class Derivative:
    """First and second derivative of the log joint in `variable`, as expressions over its axes."""

    graph: Graph
    variable: str
    slope: Expression
    curvature: Expression
    axes: tuple[Index, ...]
    others: tuple[Index, ...]
    """The second indices of the curvature."""

    def at(self, point: Mapping[str, Any]) -> Numbers:
        """Slope and curvature at a point, as arrays."""
        values, sizes = read_point(self.graph, point)
        environment = environment_of(self.graph, values, sizes)
        with np.errstate(all="ignore"):
            slope = evaluate(self.slope, environment, self.axes)
            curvature = evaluate(self.curvature, environment, (*self.axes, *self.others))
        return Numbers(np.array(slope), np.array(curvature))

    def __str__(self) -> str:
        return f"d/d {Reference(self.variable, self.axes)}: {self.slope}\nd^2: {self.curvature}"


def derivative(graph: Graph, name: str) -> Derivative | Declined:
    """The derivative in one unknown, or the part that has none."""
    node = graph.nodes[name]
    if node.kind not in ("random", "input") or node.domain.is_discrete:
        return Declined(NAME, f"{name} is {node.kind if node.kind != 'random' else node.domain}: it has no slope")
    if array := computed_from(graph, name):
        return Declined(NAME, f"{array} is computed from {name} where the program runs, not by a formula")
    flat = remove_deterministic(graph)
    now = flat.after if isinstance(flat, Step) else graph
    minus = normalisers(now)
    if isinstance(minus, Declined):
        return Declined(NAME, minus.reason)
    factors: tuple[Factor, ...] = (*now.factors, *minus)
    bent = slopes_of([factor for factor in factors if name in factor.names], [name])
    if isinstance(bent, Declined):
        return Declined(NAME, bent.reason)
    try:
        slope = differentiate(add(*(factor.summed for factor in factors)), node.symbol)
        others = other_axes(node, slope)
        curvature = differentiate(slope, Reference(name, others))
    except ModelError as refusal:
        return Declined(NAME, str(refusal).splitlines()[0])
    return Derivative(replace(now), name, slope, curvature, node.axes, others)
