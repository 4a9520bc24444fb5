"""A fit as an ArviZ DataTree: draws of the posterior, and the data they were learned from, with plate labels."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from platewright.errors import MissingExtra, PlatewrightError
from platewright.family import Array
from platewright.graph.graph import Graph
from platewright.run.exact.fit import Fit
from platewright.run.hidden.em_fit import EstimatedFit
from platewright.run.hidden.mean_field_fit import MeanFieldFit
from platewright.run.results.shown import Shown
from platewright.run.samplers.sampling import SampledFit

KEPT_BY_ARVIZ = frozenset(("chain", "draw", "sample"))


def to_arviz(fit: Shown, count: int = 4000, seed: int | None = None) -> Any:
    """Draws in the group `posterior` (exact ones are one chain), known variables in `observed_data`."""
    if not isinstance(fit, (Fit, SampledFit, MeanFieldFit)):
        what = "a point estimate" if isinstance(fit, EstimatedFit) else f"an {type(fit).__name__}"
        raise PlatewrightError(f"{what} has no draws", hint="learn with goal='posterior'")
    try:
        from arviz_base import from_dict  # an extra, and slow to load
    except ImportError as error:
        raise MissingExtra(
            "arviz-base is not installed", expected="the extra `arviz`", hint="pip install 'platewright[arviz]'"
        ) from error
    graph = fit.derivation.graph
    if isinstance(fit, SampledFit):
        drawn = {name: np.asarray(values) for name, values in fit.matched.items()}
    else:
        drawn = {name: np.asarray(values)[None] for name, values in fit.draws(count, seed).items()}
    groups: dict[str, dict[str, Array]] = {"posterior": drawn}
    for group, kinds in (("observed_data", ("random", "undirected")), ("constant_data", ("input",))):
        found = {name: np.asarray(fit.columns[name]) for name in fit.columns if _is_in(graph, name, kinds)}
        if found:
            groups[group] = found
    names = {name for found in groups.values() for name in found}
    dims = {name: _dims(graph, name, names) for name in names}
    attributes = {"posterior": {"inference_library": "platewright", "algorithm": fit.how}}
    return from_dict(groups, coords=_coords(fit, dims), dims=dims, attrs=attributes, check_conventions=False)


def _is_in(graph: Graph, name: str, kinds: tuple[str, ...]) -> bool:
    return "@" not in name and name in graph.nodes and graph.nodes[name].kind in kinds


def _dims(graph: Graph, name: str, taken: set[str]) -> list[str]:
    """A dimension for each axis, called like its plate; a second axis over one plate gets a name of its own."""
    return [_dim(axis.name.replace("'", "_too"), taken) for axis in graph.nodes[name].axes]


def _dim(name: str, taken: set[str]) -> str:
    return f"{name}_plate" if name in taken or name in KEPT_BY_ARVIZ else name


def _coords(fit: Fit | SampledFit | MeanFieldFit, dims: Mapping[str, list[str]]) -> dict[str, Any]:
    """Labels of the dimensions in use, where the data or the model gave any."""
    found: dict[str, Any] = {}
    for name, listed in dims.items():
        for dim, axis in zip(listed, fit.derivation.graph.nodes[name].axes, strict=True):
            declared = fit.derivation.graph.plates[axis.plate]
            labels = fit.labels.get(axis.plate) or declared.labels or fit.labels.get(declared.like or "")
            if labels:
                found[dim] = list(labels)
    return found
