"""What a saved fit of any kind says of its model and its run, as JSON: the same words in every file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from platewright.algebra.serial import list_from_json, number_from_json, size_from_json, text_from_json
from platewright.backends.numpy.learning import Options
from platewright.errors import FormatError
from platewright.family import Array
from platewright.language.serial import label_from_json

RUN_KEYS = ("graph", "split", "about", "integrate", "goal", "schema", "sizes", "labels", "backend", "seed", "seconds")


def sizes_from_json(written: Mapping[str, Any]) -> dict[str, int]:
    """The sizes of the plates."""
    return {text_from_json(name): size_from_json(size) for name, size in object_from_json(written["sizes"]).items()}


def run_from_json(written: Mapping[str, Any]) -> dict[str, Any]:
    """How the fit ran, by the names of the fields that every fit has."""
    backend, made_by = _told(text_from_json(written["backend"]))
    return {
        "labels": {
            text_from_json(name): tuple(label_from_json(label) for label in list_from_json(found))
            for name, found in object_from_json(written["labels"]).items()
        },
        "seed": size_from_json(written["seed"]),
        "backend": backend,
        "made_by": made_by,
        "seconds": {name: number_from_json(value) for name, value in object_from_json(written["seconds"]).items()},
    }


def _told(ran_by: str) -> tuple[str, str]:
    """The backend, and who compiled its C."""
    backend, _, made_by = ran_by.partition(": ")
    return (backend, made_by) if backend == "c" else (ran_by, "")


def options_of_file(arrays: Mapping[str, Mapping[str, Array]]) -> Options:
    """The same, read: whole numbers but for the tolerance."""
    numbers = {
        name.removesuffix("="): float(value) if name == "tolerance=" else int(value)
        for name, value in arrays.get("options", {}).items()
    }
    return Options(numbers, arrays.get("initial", {}))


def object_from_json(data: object) -> dict[str, Any]:
    """A JSON object, whatever its keys."""
    if not isinstance(data, dict):
        raise FormatError(f"{data!r} is no object"[:80])
    return data
