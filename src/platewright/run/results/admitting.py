"""What a saved fit must hold, told by its plan: sizes, labels, data, statistics, estimates, draws.

    file -> JSON and arrays -> plan derived anew -> this door -> fit

`run/door.py` looks at single arrays; here stands which arrays a plan expects.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np

from platewright.backends.numpy.learning import Options
from platewright.derive.plans import AnyPlan
from platewright.errors import FormatError, PlatewrightError
from platewright.family import Array
from platewright.graph.fixed_sizes import fixed_sizes
from platewright.graph.graph import Graph
from platewright.language.plate import Plate
from platewright.program.program import Program
from platewright.program.statements import Pool
from platewright.run.door import LARGEST_WHOLE, Expected, admitted, all_admitted, as_values_of, size_of
from platewright.run.exact.native import _keys
from platewright.run.exact.native_blocks import widths_of
from platewright.run.execute import loaded
from platewright.run.results.saving_run import options_of_file
from platewright.schemas.em import EMPlan
from platewright.schemas.few_numbers import QuadraturePlan
from platewright.schemas.gibbs import GibbsPlan
from platewright.schemas.hidden_plan import HiddenPlan

MOST_ELEMENTS = 2**40
"""A plate that claims more elements has no data that could be in a file."""
COUNT = Expected((), "whole", lower=0, upper=LARGEST_WHOLE)
OPTIONS = {
    **dict.fromkeys(("seed=", "restarts=", "iterations=", "chains=", "draws=", "warm_up=", "thin="), COUNT),
    **dict.fromkeys(("particles=", "powers=", "sweeps="), COUNT),
    "tolerance=": Expected(()),
}
"""What an iterated run was told, under names that no variable has."""
POOL_PARTS = (4, 5)
"""Total, mean, scatter, the rest of the mean; and of an exact pool the rest of the scatter."""


@contextmanager
def coherent(where: str) -> Iterator[None]:
    """Around what is derived of a file: a model whose parts contradict each other ends in words."""
    try:
        yield
    except FormatError as error:
        if not error.where:
            error.add_place(where)
        raise
    except PlatewrightError:
        raise
    except (ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
        raise FormatError(
            f"the parts of the file do not fit together: {type(error).__name__}: {error}"[:200],
            where=where,
            expected="a file that fit.save(path) wrote",
        ) from error


def admit_sizes(graph: Graph, sizes: Mapping[str, int], labels: Mapping[str, tuple[object, ...]]) -> None:
    """Sizes are those that the model fixes, and labels as many as there are elements."""
    for plate, size in fixed_sizes(graph).items():
        if sizes.get(plate, size) != size:
            raise FormatError(f"plate `{plate}` has the size {sizes[plate]}"[:80], expected=str(size))
    for plate, size in sizes.items():
        if size > MOST_ELEMENTS:
            raise FormatError(f"plate `{plate}` has {size} elements"[:80], expected=f"at most {MOST_ELEMENTS}")
    for plate, given in labels.items():
        if plate not in graph.plates:
            raise FormatError(f"labels for plate `{plate}`, which the model does not have"[:80])
        if len(given) != sizes.get(plate):
            raise FormatError(f"{len(given)} labels for plate `{plate}`"[:80], expected=f"{sizes.get(plate)}")
        known = graph.plates[_root(graph.plates, plate)].labels
        if known is not None and tuple(given) != known:
            raise FormatError(f"other labels for plate `{plate}` than the model has"[:80])


def _root(plates: Mapping[str, Plate], plate: str) -> str:
    like = plates[plate].like
    return plate if like is None else _root(plates, like)


def admit_columns(graph: Graph, columns: Mapping[str, Array], sizes: Mapping[str, int]) -> dict[str, Array]:
    """Data must have the shape of their plates and codes within them, or lookups would go astray."""
    for name in columns:
        if name not in graph.nodes:
            raise FormatError(f"data for `{name}`, which the model does not have"[:80])
    return all_admitted(columns, {name: as_values_of(graph.nodes[name], sizes) for name in columns})


def admit_statistics(program: Program, found: Mapping[str, Any], sizes: Mapping[str, int]) -> None:
    """What the pass left is what the pass of this program leaves."""
    for plate in program.plates:
        size_of(plate, sizes)
    keys = dict(zip(_keys(loaded(program)), program.passes, strict=True)) if program.passes else {}
    if list(found) != list(keys):
        raise FormatError(
            f"statistics {', '.join(found)}"[:120] if found else "there are no statistics",
            expected=", ".join(keys) or "none",
        )
    for name, statement in keys.items():
        value = found[name]
        if isinstance(statement, Pool):
            cells = tuple(size_of(cell.index.plate, sizes) for cell in statement.cells)
            width = sum(widths_of(statement, sizes))
            shapes = (cells, (*cells, width), (*cells, width, width), (*cells, width), (*cells, width, width))
            if not isinstance(value, tuple) or len(value) not in POOL_PARTS:
                raise FormatError(f"`{name}` is no pool"[:80], expected="four or five arrays")
            for part, shape in zip(value, shapes):
                admitted(name, part, Expected(shape))
            if (np.asarray(value[0]) < 0).any():
                raise FormatError(f"`{name}` is a pool of fewer than no rows"[:80])
            continue
        if isinstance(value, tuple):
            raise FormatError(f"`{name}` has {len(value)} parts"[:80], expected="one array")
        shape = tuple(size_of(index.plate, sizes) for index in statement.indices)
        admitted(name, value, Expected(shape, finite=statement.kind == "sum"))


def admit_iterated(
    plan: AnyPlan, arrays: Mapping[str, Mapping[str, Array]], sizes: Mapping[str, int]
) -> dict[str, dict[str, Array]]:
    """Estimates, expectations, draws and data of a fit by an iterative schema."""
    graph = plan.graph
    found = {"columns": admit_columns(graph, arrays.get("columns", {}), sizes)}
    if isinstance(plan, GibbsPlan):
        summed = {group: dict(arrays[group]) for group in ("sums", "counts") if group in arrays}
        drawn = {name for block in plan.blocks for name in block.variables} - set(summed.get("sums", ()))
        told = {group: dict(arrays[group]) for group in ("initial", "options") if group in arrays}
        admitted_options(graph, arrays, sizes)
        found |= told
        _exactly(arrays, ("chains", "columns", *summed, *told))
        if summed and not drawn and not arrays["chains"]:
            return {**found, **summed, "chains": {}}
        shape = np.shape(next(iter(arrays["chains"].values()), np.zeros((0, 0))))
        if len(shape) < 2 or not shape[0] or not shape[1]:
            raise FormatError(f"draws of shape {shape}"[:80], expected="chains, draws, and the axes of the variable")
        wanted = {name: as_values_of(graph.nodes[name], sizes).after(*shape[:2]) for name in drawn}
        return {**found, **summed, "chains": all_admitted(arrays["chains"], wanted)}
    if isinstance(plan, QuadraturePlan):
        _exactly(arrays, ("columns", "points", "options"))  # whose points are looked at where they are read
        return {**found, "points": dict(arrays["points"]), "options": dict(arrays["options"])}
    groups = ("columns", "expectations", "options", "track", "values")
    _exactly(arrays, (*groups, "initial") if isinstance(plan, EMPlan) else groups)
    found["options"] = all_admitted(arrays["options"], OPTIONS, optional=OPTIONS)
    if len(arrays["track"]) != 1:
        raise FormatError("the file lacks the objective")
    (name, track), *_ = arrays["track"].items()
    found["track"] = {name: admitted(name, track, Expected((None,)))}
    if not len(track):
        raise FormatError("the file lacks the objective")
    values = arrays["values"]
    if isinstance(plan, EMPlan):
        wanted = {name: as_values_of(graph.nodes[name], sizes, expects_codes=False) for name in plan.learned}
        found["values"] = all_admitted(values, wanted)
        found["initial"] = all_admitted(arrays["initial"], wanted, optional=wanted)
    else:
        found["values"] = {name: admitted(name, each, _any_shape(each)) for name, each in values.items()}
    assert isinstance(plan, HiddenPlan)
    found["expectations"] = _expectations(plan, arrays["expectations"], sizes)
    return found


def admitted_options(graph: Graph, arrays: Mapping[str, Mapping[str, Array]], sizes: Mapping[str, int]) -> Options:
    """What a sampler was told, each number looked at; files that say nothing of it have the defaults."""
    all_admitted(arrays.get("options", {}), OPTIONS, optional=OPTIONS)
    begun = arrays.get("initial", {})
    unknown = {name: as_values_of(graph.nodes[name], sizes) for name in graph.unknown}
    all_admitted(begun, unknown, optional=unknown)
    return options_of_file(arrays)


def _expectations(plan: HiddenPlan, found: Mapping[str, Array], sizes: Mapping[str, int]) -> dict[str, Array]:
    """Probabilities of hidden variables have their axes and lie in [0, 1]; all else are numbers."""
    shares = {
        item.probability: Expected(
            tuple(size_of(axis.plate, sizes) for axis in (*item.axes, item.level)), lower=0.0, upper=1 + 1e-6
        )
        for item in plan.hidden
    }
    missing = [name for name in shares if name not in found]
    if missing:
        raise FormatError(f"`{missing[0]}` is missing"[:80])
    return {name: admitted(name, each, shares.get(name, _any_shape(each))) for name, each in found.items()}


def _any_shape(found: Array) -> Expected:
    return replace(Expected(()), shape=(None,) * np.ndim(found), finite=False)


def _exactly(arrays: Mapping[str, object], wanted: tuple[str, ...]) -> None:
    if sorted(arrays) != sorted(wanted):
        raise FormatError(f"groups of arrays: {', '.join(sorted(arrays))}"[:120], expected=", ".join(wanted))
