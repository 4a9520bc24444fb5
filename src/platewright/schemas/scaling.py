"""Scales and what they scale: `b = mean + e / sqrt(precision)`, where the precision holds an unknown of its own.

Given b the scale hardly moves when b is small, and given the scale b cannot grow: two coordinates of one funnel. A move
of the scale with e held fixed goes along it (interweaving, Yu & Meng 2011); it needs only the form of the density.
"""

from __future__ import annotations

from collections.abc import Sequence

from platewright.algebra.domain import REAL
from platewright.algebra.expression import Lag, names, walk
from platewright.graph.graph import Graph
from platewright.language.variable import Variable
from platewright.program.derivatives import Scaled


def scaled_form(node: Variable) -> Scaled | None:
    """The location and precision of a node whose density is a function of (x - mean) sqrt(precision) alone."""
    parameters = dict(node.parameters)
    if node.family is None or node.family.domain != REAL or node.domain != REAL:
        return None
    if not {"mean", "precision"} <= parameters.keys() or any(isinstance(p, Lag) for p in walk(node.log_density)):
        return None
    if node.name in names(parameters["mean"]) | names(parameters["precision"]):
        return None
    return Scaled(node.name, parameters["mean"], parameters["precision"])


def scales_of(graph: Graph, scaled: Scaled, unknowns: Sequence[str]) -> tuple[str, ...]:
    """The single unknowns that set the precision of another."""
    found = names(scaled.precision) - names(scaled.mean)
    return tuple(
        name
        for name in unknowns
        if name in found and not graph.nodes[name].axes and graph.nodes[name].domain.kind == "real"
    )


def fixed_scales(graph: Graph, group: Sequence[str]) -> tuple[Scaled, ...]:
    """The members of a group whose precision depends on none of them."""
    found = [scaled_form(graph.nodes[name]) for name in group]
    return tuple(form for form in found if form is not None and not names(form.precision) & set(group))


def scales_within(graph: Graph, group: Sequence[str]) -> tuple[str, ...]:
    """The members of a group that have ends, as scales have, or decide about more than the location of another."""
    setting: set[str] = set()
    for name in group:
        parameters = dict(graph.nodes[name].parameters)
        setting |= {other for word, value in parameters.items() if word != "mean" for other in names(value)}
    return tuple(name for name in group if name in setting or not graph.nodes[name].domain.is_unbounded)
