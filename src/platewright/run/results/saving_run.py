"""What a saved fit of any kind says of its model and its run, as JSON: the same words in every file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from platewright.algebra.serial import list_from_json, size_from_json, text_from_json
from platewright.errors import FormatError
from platewright.graph.serial import graph_json
from platewright.language.serial import label_from_json, label_json
from platewright.operations.split_partly_known import as_written
from platewright.run.results.saving_splits import names_split
from platewright.run.results.shown import Shown

RUN_KEYS = ("graph", "split", "goal", "schema", "sizes", "labels", "backend", "seed", "seconds")


def run_text(fit: Shown) -> dict[str, Any]:
    """The model as it was written, what was asked of it, and how it ran."""
    plan = fit.derivation
    return {
        "graph": graph_json(as_written(plan.graph, plan.steps)),
        "split": names_split(plan.steps),
        "goal": plan.goal,
        "schema": plan.schema,
        "sizes": {plate: int(size) for plate, size in fit.sizes.items()},
        "labels": {plate: [label_json(label) for label in labels] for plate, labels in fit.labels.items()},
        "backend": fit.backend,
        "seed": int(fit.seed),
        "seconds": {name: float(value) for name, value in (fit.seconds or {}).items()},
    }


def sizes_from_json(written: Mapping[str, Any]) -> dict[str, int]:
    """The sizes of the plates."""
    return {text_from_json(name): size_from_json(size) for name, size in object_from_json(written["sizes"]).items()}


def run_from_json(written: Mapping[str, Any]) -> dict[str, Any]:
    """How the fit ran, by the names of the fields that every fit has."""
    return {
        "labels": {
            text_from_json(name): tuple(label_from_json(label) for label in list_from_json(found))
            for name, found in object_from_json(written["labels"]).items()
        },
        "seed": size_from_json(written["seed"]),
        "backend": text_from_json(written["backend"]),
        "seconds": {name: float(value) for name, value in object_from_json(written["seconds"]).items()},
    }


def object_from_json(data: object) -> dict[str, Any]:
    """A JSON object, whatever its keys."""
    if not isinstance(data, dict):
        raise FormatError(f"{data!r} is no object"[:80])
    return data
