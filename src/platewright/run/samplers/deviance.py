"""What the data say at each draw: the deviance, and the criteria DIC and WAIC that are made of it.

    D(s) = -2 sum_i log p(y_i | draw s)              DIC  = mean(D) + pD,      pD = var(D) / 2
    lppd = sum_i log mean_s p(y_i | s)               WAIC = -2 (lppd - pW),    pW = sum_i var_s log p(y_i | s)

A cell that is known only to lie within bounds says the probability of its interval; a potential counts where it looks
at what is known. (Spiegelhalter et al. 2002 with the pD of Gelman et al. 2014; Watanabe 2010.)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from platewright.algebra.build import add, multiply, substitute, where
from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Constant, Expression, Reference, names
from platewright.families.bounded import log_mass
from platewright.family import Array
from platewright.graph.graph import Factor, Graph
from platewright.language.variable import DENSITY, Variable
from platewright.operations.split_partly_known import missing_name, observed_name, seen_name
from platewright.run.exact.posterior import lift
from platewright.run.samplers.monitoring import DRAW, Drawn


@dataclass(frozen=True)
class Criteria:
    """The deviance of each chain and draw, and what is made of it: smaller is better."""

    deviance: Array
    dic: float
    parameters: float
    """The effective number of parameters in DIC."""
    waic: float
    waic_parameters: float

    def __str__(self) -> str:
        shown = f"DIC {self.dic:.2f} with {self.parameters:.2f} effective parameters"
        return f"{shown}, WAIC {self.waic:.2f} with {self.waic_parameters:.2f}"


def criteria(drawn: Drawn) -> Criteria:
    """Deviance, DIC and WAIC of draws."""
    found = deviance(drawn)
    spread = float(np.var(found)) / 2
    mean, variance = 0.0, 0.0
    for cells in _cells(drawn):
        top = cells.max(axis=0)
        top = np.where(np.isfinite(top), top, 0.0)
        with np.errstate(all="ignore"):
            mean += float(np.sum(top + np.log(np.mean(np.exp(cells - top), axis=0))))
            variance += float(np.sum(np.var(cells, axis=0, ddof=min(1, len(cells) - 1))))
    return Criteria(found, float(np.mean(found)) + spread, spread, -2 * (mean - variance), variance)


def deviance(drawn: Drawn) -> Array:
    """Minus twice the log density of the data given everything else, by chain and draw."""
    total = add(*(factor.summed for factor in data_factors(drawn.graph)))
    parts = []
    for count, values in drawn.parts(names(total)):
        environment = Environment({**drawn.columns, **values}, {**drawn.sizes, DRAW.plate: count})
        with np.errstate(all="ignore"):
            found = evaluate(lift(total, frozenset(values), DRAW), environment, (DRAW,))
        parts.append(-2 * np.broadcast_to(np.asarray(found, dtype=float), (count,)))
    return np.concatenate(parts).reshape(drawn.shape)


def _cells(drawn: Drawn) -> Iterator[Array]:
    """For each factor, the log density of each of its cells: draws first, the cells in one row."""
    for factor in data_factors(drawn.graph):
        parts = []
        for count, values in drawn.parts(factor.names):
            environment = Environment({**drawn.columns, **values}, {**drawn.sizes, DRAW.plate: count})
            lifted = lift(factor.expression, frozenset(values), DRAW)
            with np.errstate(all="ignore"):
                found = evaluate(lifted, environment, (DRAW, *factor.axes))
            shape = (count, *(drawn.sizes[axis.plate] for axis in factor.axes))
            parts.append(np.broadcast_to(np.asarray(found, dtype=float), shape).reshape(count, -1))
        yield np.concatenate(parts)


def data_factors(graph: Graph) -> Iterator[Factor]:
    """The factors of what was seen; of a node that is known cell by cell, those of the cells that are."""
    reports = {seen_name(name): name for name in graph.nodes}
    for factor in graph.factors:
        node = graph.nodes.get(factor.owner)
        if factor.owner in reports:
            continue
        if node is None:
            if _looks_at_data(graph, factor):
                yield factor
        elif factor.owner in graph.known:
            yield factor
        elif seen_name(factor.owner) in graph.nodes:
            mask: Expression = Reference(observed_name(factor.owner), node.axes)
            yield Factor(factor.owner, factor.axes, multiply(mask, factor.expression))
        elif (censored := _censored(graph, factor, node)) is not None:
            yield censored


def _looks_at_data(graph: Graph, factor: Factor) -> bool:
    """Whether a potential is the density of something known, or leans on it, itself or through deterministic nodes."""
    return factor.owner.removesuffix(DENSITY) in graph.known or any(
        name in graph.known or (name in graph.nodes and graph.nodes[name].kind == "input")
        for name in {*factor.names, *_through_definitions(graph, factor.names)}
    )


def _through_definitions(graph: Graph, wanted: frozenset[str]) -> set[str]:
    """The names that deterministic nodes among the wanted are made of."""
    found: set[str] = set()
    waiting = [name for name in wanted if name in graph.nodes]
    while waiting:
        definition = graph.nodes[waiting.pop()].definition
        further = set() if definition is None else set(names(definition)) - found
        found |= further
        waiting += [name for name in further if name in graph.nodes]
    return found


def _censored(graph: Graph, factor: Factor, node: Variable) -> Factor | None:
    """Missing cells of a censored variable: the probability of the interval that each is known to lie in."""
    own = next((name for name in graph.nodes if missing_name(name) == node.name), None)
    if own is None or node.family is None or node.family.within is None or not node.family.name.startswith("Censored"):
        return None
    given = dict(node.parameters)
    mass = log_mass(node.family.within, "lower" in given, "upper" in given)
    changes: dict[Expression, Expression] = {Reference(word): value for word, value in given.items()}
    mask = Reference(observed_name(own), node.axes)
    return Factor(factor.owner, factor.axes, where(mask, Constant(0.0), substitute(mass, changes)))
