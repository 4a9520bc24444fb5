"""What can go wrong with a plan whatever the data, said before they are there.

    scale[z[n]] with a flat prior     a component that shrinks onto one value makes the likelihood unbounded
    a flat prior without closed form  nobody can say beforehand whether the posterior is a distribution

A closed form needs no caution: its posterior is checked when the data are there.
"""

from __future__ import annotations

from collections.abc import Iterable

from platewright.algebra.expression import Reference, mentions, walk
from platewright.family import Family
from platewright.graph.graph import Factor, Graph
from platewright.schema import Plan


def cautions(plan: object) -> tuple[str, ...]:
    """One sentence for each danger."""
    if isinstance(plan, Plan):
        return ()
    graph: Graph = plan.graph  # type: ignore[attr-defined]
    open_ended = improper_unknowns(graph, plan.barren)  # type: ignore[attr-defined]
    found = []
    for name in open_ended:
        hidden = _picked_by(graph, name, plan.factors)  # type: ignore[attr-defined]
        if hidden is not None and graph.nodes[name].domain.kind in ("real", "matrix") and _is_scale(graph, name):
            found.append(
                f"`{name}` is picked by the hidden `{hidden}` and has no proper prior: "
                "a component that shrinks onto a single value makes the likelihood unbounded"
            )
    if open_ended and plan.schema != "em":  # type: ignore[attr-defined]  # a mode needs no distribution
        listed = ", ".join(f"`{name}`" for name in open_ended)
        has, them = ("has", "it") if len(open_ended) == 1 else ("have", "them")
        found.append(
            f"{listed} {has} no proper prior: unless the data determine {them}, the posterior is no distribution "
            "(outcomes that a line separates do not)"
        )
    return tuple(found)


def improper_unknowns(graph: Graph, barren: Iterable[str] = ()) -> tuple[str, ...]:
    """Unknowns whose prior is no distribution, in the order of writing."""
    left_out = set(barren)
    families = {name: graph.nodes[name].family for name in graph.unknown if name not in left_out}
    return tuple(name for name, family in families.items() if family is not None and not _has_mass(family))


def _has_mass(family: Family) -> bool:
    """Whether the density has a finite integral; what is censored has that of its interval."""
    return family.proper or (family.within is not None and family.within.proper)


def _is_scale(graph: Graph, name: str) -> bool:
    domain = graph.nodes[name].domain
    return domain.kind == "matrix" or domain.lower == 0.0


def _picked_by(graph: Graph, name: str, factors: Iterable[Factor]) -> str | None:
    """The hidden category that looks the variable up, where there is one."""
    hidden = [other for other in graph.unknown if graph.nodes[other].domain.is_finite and graph.nodes[other].axes]
    parts = [part for factor in factors for part in walk(factor.expression)]
    looked_up = [part.indices for part in parts if isinstance(part, Reference) and part.name == name]
    picked = (other for at in looked_up for other in hidden if any(mentions(index, {other}) for index in at))
    return next(picked, None)
