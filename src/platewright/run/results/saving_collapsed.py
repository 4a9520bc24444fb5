"""Load draws of a collapsed chain, and the evidence without a closed form, as JSON and plain arrays.

    fit.json         format, version, the graph, which nodes were split, goal, schema, what ran, sizes, labels, seed
    chains/0.npy ... draws                means/0.npy ...  averaged conditional means        trace/0.npy  log joints
    mode/0.npy ...   the mode of Laplace  evidence/0.npy   value and error                   columns/0.npy ...  the data

Loading derives the plan anew and compares its words with those of the file, as for other schemas.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from platewright.algebra.serial import list_from_json, text_from_json
from platewright.derive.planner import choose_plan
from platewright.errors import FormatError, PlatewrightError
from platewright.graph.graph import Graph
from platewright.graph.serial import graph_from_json
from platewright.language.serial import table_from_json
from platewright.operation import Declined
from platewright.run.evidence.evidence import Evidence
from platewright.run.evidence.evidence_fit import EvidenceFit
from platewright.run.results.admitting import admitted_options
from platewright.run.results.array_file import read_array
from platewright.run.results.saving_run import (
    RUN_KEYS,
    object_from_json,
    run_from_json,
    sizes_from_json,
)
from platewright.run.results.saving_splits import planned_graph
from platewright.run.results.saving_sums import sums_of_file
from platewright.run.results.writing import Groups, plan_words
from platewright.run.samplers.collapsed_fit import CollapsedFit
from platewright.run.samplers.sampling import SampledFit
from platewright.schemas.collapsed import CollapsedPlan
from platewright.schemas.evidence import EvidencePlan

_KEYS = ("format", "version", *RUN_KEYS, "plan", "declined", "detail", "arrays")
Saved = CollapsedFit | EvidenceFit


def read_collapsed(archive: zipfile.ZipFile, data: Mapping[str, Any], where: str) -> Saved:
    """The fit whose JSON part was read."""
    written = table_from_json(dict(data), *_KEYS)
    plan = _same_plan(graph_from_json(written["graph"]), written, where)
    sizes, rest = sizes_from_json(written), run_from_json(written)
    arrays = {
        text_from_json(group): {
            text_from_json(name): read_array(archive, f"{group}/{number}.npy")
            for number, name in enumerate(list_from_json(names))
        }
        for group, names in object_from_json(written["arrays"]).items()
    }
    _check_shapes(plan.graph, arrays, sizes)
    columns, chains, detail = arrays["columns"], arrays["chains"], text_from_json(written["detail"])
    if isinstance(plan, CollapsedPlan):
        trace = arrays["trace"].get("log joint")
        summed = sums_of_file(plan.graph, arrays, sizes)
        told = {
            "means": arrays["means"],
            "log_joint": trace,
            "sums": summed,
            "told": admitted_options(plan.graph, arrays, sizes),
            **rest,
        }
        return CollapsedFit(plan, columns, sizes, chains, detail, **told)
    numbers = {name: float(value) for name, value in arrays["evidence"].items() if value.shape == ()}
    if "value" not in numbers:
        raise FormatError("the file lacks the evidence", where=where)
    found = Evidence(numbers["value"], plan.schema, numbers.get("error"), detail, plan.proper)
    sampled = None
    if chains:
        if plan.gibbs is None:
            raise FormatError(f"draws, which {plan.schema} does not make", where=where)
        sampled = SampledFit(plan.gibbs, columns, sizes, chains, **{**rest, "seconds": None})
    ran_with = admitted_options(plan.graph, arrays, sizes)
    return EvidenceFit(plan, columns, sizes, found, sampled, arrays["mode"], ran_with, **rest)


def _same_plan(graph: Graph, written: Mapping[str, Any], where: str) -> CollapsedPlan | EvidencePlan:
    """The plan derived anew; it must do what the one did that computed the saved numbers."""
    goal, schema = text_from_json(written["goal"]), text_from_json(written["schema"])
    if goal not in ("posterior", "evidence"):
        raise FormatError(f"{goal!r} is no goal of {schema!r}"[:80], where=where)
    graph, splits = planned_graph(graph, written, where)
    try:
        plan = choose_plan(graph, goal, schema)  # type: ignore[arg-type]
    except PlatewrightError as error:
        raise FormatError(f"the saved model has no such plan: {error.found}"[:200], where=where) from error
    plan = replace(plan, steps=(*splits, *plan.steps))
    if not isinstance(plan, CollapsedPlan | EvidencePlan) or plan_words(plan) != written["plan"]:
        raise FormatError(
            "the plan that this version derives from the saved model is not the one that was saved",
            where=where,
            expected="the version of Platewright that saved the file",
            hint="learn again from the data",
        )
    told = [list_from_json(item) for item in list_from_json(written["declined"])]
    return replace(plan, declined=tuple(Declined(*map(text_from_json, item)) for item in told if len(item) == 2))


def _check_shapes(graph: Graph, arrays: Groups, sizes: Mapping[str, int]) -> None:
    """Arrays must have the shape of their plates, and draws be those of as many chains, or lookups would go astray."""
    leading: set[tuple[int, ...]] = set()
    for group in ("chains", "means", "mode", "columns"):
        for name, values in arrays.get(group, {}).items():
            if name not in graph.nodes:
                raise FormatError(f"{group} of `{name}`, which the model does not have"[:80])
            wanted = tuple(sizes.get(axis.plate, -1) for axis in graph.nodes[name].axes)
            before = values.ndim - len(wanted)
            if values.shape[before:] != wanted or before != (2 if group == "chains" else 0):
                raise FormatError(f"{group} of `{name}` have shape {values.shape}"[:120], expected=str(wanted))
            leading |= {values.shape[:2]} if group == "chains" else set()
    if len(leading) > 1 or any(0 in shape for shape in leading):
        raise FormatError("the chains are of different lengths")
    if lacking := [group for group in ("chains", "columns") if group not in arrays]:
        raise FormatError(f"the file lacks {lacking[0]}")
