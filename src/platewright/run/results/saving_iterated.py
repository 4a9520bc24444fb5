"""Load the result of an iterative schema: estimates, mean-field distributions, draws and points, as JSON and arrays.

    fit.json           format, version, the graph, which nodes were split, goal, schema, programs, sizes, labels, seed
    values/0.npy ...   estimates or natural parameters      expectations/0.npy ...   probabilities of hidden variables
    chains/0.npy ...   draws                                columns/0.npy ...        the data
    track.npy          the objective or the lower bound at each iteration

Loading derives the plan anew and compares program texts, as for closed forms.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from platewright.algebra.serial import list_from_json, text_from_json
from platewright.derive.planner import choose_plan
from platewright.derive.plans import AnyPlan
from platewright.errors import FormatError, PlatewrightError
from platewright.family import Array
from platewright.graph.graph import Graph
from platewright.graph.serial import graph_from_json
from platewright.language.serial import table_from_json
from platewright.operation import Declined
from platewright.run.hidden.em import Estimate
from platewright.run.hidden.em_fit import EstimatedFit
from platewright.run.hidden.laplace_fit import LaplaceFit
from platewright.run.hidden.mean_field_fit import MeanFieldFit
from platewright.run.hidden.mean_field_search import Bounded
from platewright.run.points.fit import QuadratureFit
from platewright.run.results.admitting import admit_iterated, admit_sizes
from platewright.run.results.array_file import read_array
from platewright.run.results.saving_points import points_of_file
from platewright.run.results.saving_run import (
    RUN_KEYS,
    object_from_json,
    options_of_file,
    run_from_json,
    sizes_from_json,
)
from platewright.run.results.saving_splits import planned_graph
from platewright.run.results.saving_sums import sums_of_file
from platewright.run.results.writing import VERSION, program_texts
from platewright.run.samplers.sampling import SampledFit
from platewright.schemas.em import EMPlan
from platewright.schemas.few_numbers import QuadraturePlan
from platewright.schemas.gibbs import GibbsPlan
from platewright.schemas.mean_field import MeanFieldPlan

_KEYS = ("format", "version", *RUN_KEYS, "programs", "converged", "interrupted", "declined", "why", "arrays")
IteratedFit = EstimatedFit | MeanFieldFit | SampledFit | QuadratureFit
SCHEMAS = ("em", "laplace", "mean-field", "gibbs", "quadrature")


def read_iterated(archive: zipfile.ZipFile, data: Mapping[str, Any], where: str) -> IteratedFit:
    """The fit whose JSON part was read."""
    written = table_from_json(dict(data), *_KEYS)
    if written["version"] != VERSION:
        raise FormatError(f"the file has version {written['version']!r}"[:80], where=where, expected=str(VERSION))
    plan = _same_plan(graph_from_json(written["graph"]), written, where)
    sizes = sizes_from_json(written)
    arrays = {
        text_from_json(group): {
            text_from_json(name): read_array(archive, f"{group}/{number}.npy")
            for number, name in enumerate(list_from_json(names))
        }
        for group, names in object_from_json(written["arrays"]).items()
    }
    rest = run_from_json(written)
    admit_sizes(plan.graph, sizes, rest["labels"])
    arrays = admit_iterated(plan, arrays, sizes)
    columns = arrays["columns"]
    converged = written["converged"] is True
    match plan:
        case GibbsPlan():
            why, summed = text_from_json(written["why"]), sums_of_file(plan.graph, arrays, sizes)
            told = options_of_file(arrays)
            return SampledFit(plan, columns, sizes, arrays.get("chains", {}), why, **rest, sums=summed, told=told)
        case QuadraturePlan():
            return points_of_file(plan, arrays, sizes, rest)
        case EMPlan():
            interrupted, track = written["interrupted"] is True, _track(arrays)
            known, told = arrays["expectations"], options_of_file(arrays)
            found = Estimate(arrays["values"], known, track, converged, interrupted, told)
            kind = LaplaceFit if plan.schema == "laplace" else EstimatedFit
            return kind(plan, columns, sizes, found, **rest)
        case MeanFieldPlan():
            plain = "changes" in arrays.get("track", {})
            bounds, changes = ((), _track(arrays, "changes")) if plain else (_track(arrays), ())
            interrupted = written["interrupted"] is True
            known, told = arrays["expectations"], options_of_file(arrays)
            bounded = Bounded(arrays["values"], known, bounds, converged, interrupted, changes, told)
            fit = MeanFieldFit(plan, columns, sizes, bounded, **rest)
            fit.draws(3)  # natural parameters that do not fit each other are refused here, not at first use
            for name in fit.posterior.unknown:
                np.asarray(fit[name].mean)
            return fit
    raise FormatError(f"a fit by {plan.schema} is not saved", where=where)


def _track(arrays: Mapping[str, Mapping[str, Array]], name: str = "track") -> tuple[float, ...]:
    track = arrays.get("track", {}).get(name)
    if track is None or track.ndim != 1 or not len(track):
        raise FormatError("the file lacks the objective")
    return tuple(float(value) for value in track)


def _same_plan(graph: Graph, written: Mapping[str, Any], where: str) -> AnyPlan:
    """The plan derived anew; its programs must be those that computed the saved numbers."""
    goal, schema = text_from_json(written["goal"]), text_from_json(written["schema"])
    if goal not in ("posterior", "map", "evidence") or schema not in SCHEMAS:
        raise FormatError(f"{goal!r} by {schema!r} is no fit of ours"[:80], where=where)
    graph, splits = planned_graph(graph, written, where)
    try:
        plan = choose_plan(graph, goal, schema)  # type: ignore[arg-type]
    except PlatewrightError as error:
        raise FormatError(f"the saved model has no such plan: {error.found}"[:200], where=where) from error
    if program_texts(plan) != written["programs"]:
        raise FormatError(
            "the program that this version derives from the saved model is not the one that was saved",
            where=where,
            expected="the version of Platewright that saved the file",
            hint="learn again from the data",
        )
    told = [list_from_json(item) for item in list_from_json(written["declined"])]
    declined = tuple(Declined(*(text_from_json(part) for part in item)) for item in told if len(item) == 2)
    return replace(plan, steps=(*splits, *plan.steps), declined=declined)
