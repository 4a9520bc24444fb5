"""Rows of a summary for chosen nodes, whatever they are: unknowns, functions of them, predictions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import product

import numpy as np

from platewright.errors import PlatewrightError, UnknownName
from platewright.family import Array
from platewright.graph.graph import Graph
from platewright.run.exact.fit import Fit
from platewright.run.points.fit import QuadratureFit
from platewright.run.results.outcome import DRAWS_FOR_MARGINALS
from platewright.run.results.table import Row, Summary
from platewright.run.samplers.deviance import Criteria, criteria
from platewright.run.samplers.monitoring import Drawn, Place
from platewright.run.samplers.sampling import SampledFit

PROBABILITIES = (0.05, 0.5, 0.95)
DEVIANCE = "deviance"
"""A word of `--monitor` that is no node: what the data say."""


def drawn_of(fit: object, count: int = DRAWS_FOR_MARGINALS) -> Drawn:
    """The draws of a fit: those of its chains, or independent ones, as one chain."""
    match fit:
        case SampledFit():
            return Drawn(fit.derivation.graph, fit.chains, fit.columns, fit.sizes)
        case Fit() | QuadratureFit():
            graph = fit.derivation.graph
            unknown = set(graph.unknown) - set(fit.derivation.barren)
            draws = fit.draws(count)
            chains = {name: np.asarray(values)[None] for name, values in draws.items() if name in unknown}
            return Drawn(graph, chains, fit.columns, fit.sizes)
    raise PlatewrightError("this fit has no draws to monitor", expected="a closed form, quadrature, or by='gibbs'")


def criteria_of(fit: object) -> Criteria:
    """The deviance of a fit at each draw, with DIC and WAIC: `.deviance`, `.dic`, `.waic`; smaller is better.

    A fit by EM or mean field has no draws, and is refused; closed forms and points are drawn from.
    """
    return criteria(drawn_of(fit))


def with_monitored(found: Summary, fit: object, places: Mapping[str, Place], shifts: Mapping[str, int]) -> Summary:
    """The table with a row for each monitored element; `shifts` are added to values counted from 0."""
    drawn = drawn_of(fit)
    cells = drawn.cells(places).items()
    rows = [_row(name, values.ravel() + shifts.get(places[name][0], 0)) for name, values in cells]
    note = f"monitored: {np.prod(drawn.shape)} draws"
    return replace(found, rows=(*found.rows, *rows), notes=(*found.notes, note))


def with_deviance(found: Summary, fit: object) -> Summary:
    """The table with a row for the deviance, and a note with DIC and WAIC."""
    said = criteria(drawn_of(fit))
    return replace(found, rows=(*found.rows, _row(DEVIANCE, said.deviance.ravel())), notes=(*found.notes, str(said)))


def _row(name: str, values: Array) -> Row:
    quantiles = (float(q) for q in np.quantile(values, PROBABILITIES))
    return Row(name, "draws", float(values.mean()), float(values.std(ddof=1)), *quantiles)


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
