"""Rows of a summary for chosen nodes, whatever they are: unknowns, functions of them, predictions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import product

import numpy as np

from platewright.errors import PlatewrightError, UnknownName
from platewright.graph.graph import Graph
from platewright.run.exact.fit import DRAWS_FOR_MARGINALS, Fit
from platewright.run.results.table import Row, Summary
from platewright.run.samplers.monitoring import Drawn, Place
from platewright.run.samplers.sampling import SampledFit

PROBABILITIES = (0.05, 0.5, 0.95)


def drawn_of(fit: object, count: int = DRAWS_FOR_MARGINALS) -> Drawn:
    """The draws of a fit: those of its chains, or independent ones from a closed form, as one chain."""
    match fit:
        case SampledFit():
            return Drawn(fit.derivation.graph, fit.chains, fit.columns, fit.sizes)
        case Fit():
            graph = fit.derivation.graph
            unknown = set(graph.unknown) - set(fit.derivation.barren)
            draws = fit.draws(count)
            chains = {name: np.asarray(values)[None] for name, values in draws.items() if name in unknown}
            return Drawn(graph, chains, fit.columns, fit.sizes)
    raise PlatewrightError("this fit has no draws to monitor", expected="a closed form, or by='gibbs'")


def with_monitored(found: Summary, fit: object, places: Mapping[str, Place], shifts: Mapping[str, int]) -> Summary:
    """The table with a row for each monitored element; `shifts` are added to values counted from 0."""
    drawn = drawn_of(fit)
    rows = []
    for name, values in drawn.cells(places).items():
        shown = values.ravel() + shifts.get(places[name][0], 0)
        quantiles = (float(q) for q in np.quantile(shown, PROBABILITIES))
        rows.append(Row(name, "draws", float(shown.mean()), float(shown.std(ddof=1)), *quantiles))
    note = f"monitored: {np.prod(drawn.shape)} draws"
    return replace(found, rows=(*found.rows, *rows), notes=(*found.notes, note))


def places_of(graph: Graph, sizes: Mapping[str, int], wanted: Iterable[str]) -> dict[str, Place]:
    """Every element of the named nodes."""
    found: dict[str, Place] = {}
    for name in wanted:
        if name not in graph.nodes:
            raise UnknownName(name, graph.nodes, where="--monitor")
        ranges = [range(sizes[axis.plate]) for axis in graph.nodes[name].axes]
        for at in product(*ranges):
            shown = f"{name}[{', '.join(map(str, at))}]" if at else name
            found[shown] = (name, at)
    return found
