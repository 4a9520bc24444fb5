"""Load a fit from its file again: a zip of JSON text and plain arrays, never code.

    fit.json              format, version, the graph, nodes that were split, the goal, the program, sizes, labels
    statistics/0.npy ...  what the pass over the rows left
    columns/0.npy ...     the data, only when the work after the pass still reads some

Loading derives the plan anew from the graph and compares program texts, so a file cannot claim numbers for a program
that this version would not run. Whatever is in the file is checked before memory is taken for it.
"""

from __future__ import annotations

import json
import struct
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from platewright.algebra.serial import list_from_json, size_from_json, text_from_json
from platewright.derive.planner import choose_plan
from platewright.errors import FormatError, PlatewrightError
from platewright.graph.graph import Graph
from platewright.graph.serial import graph_from_json
from platewright.language.serial import table_from_json
from platewright.run.checks.allocation import that_fits
from platewright.run.exact.fit import Fit
from platewright.run.results.admitting import admit_columns, admit_sizes, admit_statistics, coherent
from platewright.run.results.array_file import read_array
from platewright.run.results.result import Result
from platewright.run.results.saving_collapsed import read_collapsed
from platewright.run.results.saving_iterated import read_iterated
from platewright.run.results.saving_run import RUN_KEYS, run_from_json, sizes_from_json
from platewright.run.results.saving_splits import planned_graph
from platewright.run.results.signature_of import signature_of
from platewright.run.results.writing import COLLAPSED, EXACT, ITERATED, TEXT, VERSION
from platewright.schema import Plan

MOST_TEXT = 256 * 2**20
_KEYS = ("format", "version", *RUN_KEYS, "program", "statistics", "columns")
_DAMAGE = (OSError, zipfile.BadZipFile, EOFError, RuntimeError, UnicodeDecodeError, struct.error, zlib.error)
"""What Python's zip reader raises on files that are damaged or of another kind."""


def load(path: str | Path) -> Result:
    """The fit that `save` wrote; a `FormatError` says what is wrong with any other file."""
    where = str(path)
    try:
        with zipfile.ZipFile(path) as archive:
            written = _text(archive, where)
            with coherent(where):
                if written["format"] == COLLAPSED:
                    return read_collapsed(archive, written, where)
                read = read_iterated if written["format"] == ITERATED else _read
                return read(archive, written, where)
    except FileNotFoundError:
        raise FormatError("there is no such file", where=where) from None
    except _DAMAGE as error:
        raise FormatError(
            f"this is no saved fit, or it is damaged: {error}", where=where, expected="a file that fit.save(path) wrote"
        ) from error


def _read(archive: zipfile.ZipFile, data: dict[str, Any], where: str) -> Fit:
    written = table_from_json(data, *_KEYS)
    graph = graph_from_json(written["graph"])
    sizes = sizes_from_json(written)
    plan = _same_plan(graph, sizes, written, where)
    names = [text_from_json(name) for name in list_from_json(written["columns"])]
    columns = {name: read_array(archive, f"columns/{number}.npy") for number, name in enumerate(names)}
    statistics, run = _statistics(archive, list_from_json(written["statistics"])), run_from_json(written)
    admit_sizes(plan.graph, sizes, run["labels"])
    admit_statistics(plan.program, statistics, sizes)
    columns = admit_columns(plan.graph, columns, sizes)
    fit = Fit(plan, columns, sizes, statistics, signature_of(graph), **run)
    fit.computed  # noqa: B018 - numbers that do not fit the program are refused here, not at first use
    return fit


def _text(archive: zipfile.ZipFile, where: str) -> dict[str, Any]:
    """The JSON part, when it is one of ours."""
    if TEXT not in archive.namelist():
        raise FormatError(f"a zip file without {TEXT}", where=where, expected="a file that fit.save(path) wrote")
    if archive.getinfo(TEXT).file_size > MOST_TEXT:
        raise FormatError(f"{TEXT} is larger than any that we write", where=where)
    try:
        data = json.loads(archive.read(TEXT))
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{TEXT} cannot be read: {error}", where=where) from error
    if not isinstance(data, dict) or data.get("format") not in (EXACT, ITERATED, COLLAPSED):
        raise FormatError("a file of another kind", where=where, expected=f"format {EXACT!r}")
    if data.get("version") != VERSION:
        raise FormatError(
            f"the file has version {data.get('version')!r}"[:80], where=where, expected=f"version {VERSION}"
        )
    data.setdefault("integrate", None)  # files of before modes could be asked for by name
    return data


def _same_plan(graph: Graph, sizes: Mapping[str, int], written: Mapping[str, Any], where: str) -> Plan:
    """The plan derived anew; its program must be the one that computed the saved numbers."""
    goal, schema = text_from_json(written["goal"]), text_from_json(written["schema"])
    if goal not in ("posterior", "map", "evidence"):
        raise FormatError(f"{goal!r} is no goal"[:80], where=where)
    graph, splits = planned_graph(graph, written, where)
    for by in ("auto", schema):
        try:
            plan = choose_plan(graph, goal, by)  # type: ignore[arg-type]
        except PlatewrightError:
            continue
        if isinstance(plan, Plan) and str((fits := that_fits(plan, sizes)).program) == written["program"]:
            return replace(fits, steps=(*splits, *fits.steps))
    raise FormatError(
        "the program that this version derives from the saved model is not the one that was saved",
        where=where,
        expected="the version of Platewright that saved the file",
        hint="learn again from the data",
    )


def _statistics(archive: zipfile.ZipFile, listed: list[object]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    number = 0
    for item in listed:
        pair = list_from_json(item)
        if len(pair) != 2:
            raise FormatError("a statistic that is not a pair of name and number of parts")
        name, parts = text_from_json(pair[0]), pair[1]
        count = 1 if parts is None else size_from_json(parts)
        arrays = []
        for _ in range(count):
            arrays.append(read_array(archive, f"statistics/{number}.npy")[()])
            number += 1
        found[name] = arrays[0] if parts is None else tuple(arrays)
    return found
