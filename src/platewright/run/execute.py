"""Run a program on bound data: load the emitted source, pass over the rows, finish."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from platewright.algebra.lazy import special
from platewright.backends.naming import Names
from platewright.backends.numpy.program import Emitter
from platewright.backends.numpy.support import SHARED
from platewright.data.dataset import Dataset
from platewright.errors import ImproperPosterior, NotFinite
from platewright.family import Array
from platewright.graph.graph import Graph
from platewright.language.plate import beginning, membership
from platewright.operations.split_partly_known import observed_name, seen_name
from platewright.program.program import Program

Statistics = Mapping[str, Any]

CARRIED = {function.__name__: function for function in SHARED}
"""What an emitted file would carry along."""


@dataclass(frozen=True, eq=False)
class Loaded:
    """The functions of an emitted module, and how things are named in it."""

    statistics: Callable[..., Statistics]
    merged: Callable[..., Statistics]
    finish: Callable[..., Mapping[str, Array]]
    names: Mapping[str, str]
    source: str
    ill_conditioned: Callable[..., list[str]] | None = None


@lru_cache(maxsize=256)
def load_numpy(source: str, keys: tuple[str, ...]) -> Loaded:
    """Compile the functions of an emitted module; those that a file would carry are at hand.

    The text is ours: names in it are made by `backends/naming.py`.
    """
    space: dict[str, Any] = {"__name__": "learned", "np": np, "special": special, **CARRIED}
    exec(compile(source, "<platewright>", "exec"), space)
    names = Names()
    table = {key: names(key) for key in keys}
    # The logarithm of an exact zero is minus infinity and means it; NaN is looked for afterwards.
    statistics = np.errstate(divide="ignore")(space["statistics"])
    return Loaded(statistics, space["merged"], space["finish"], table, source, space.get("ill_conditioned"))


@lru_cache(maxsize=64)
def loaded(program: Program) -> Loaded:
    """The NumPy module of a program."""
    text = "\n".join(Emitter(program).functions())
    return load_numpy(text, (*program.columns, *program.plates))


def columns_of(graph: Graph, dataset: Dataset) -> dict[str, Array]:
    """Data by variable name, with the hidden columns: membership, beginnings of sequences, which cells were seen."""
    found: dict[str, Array] = dict(dataset.columns)
    for plate, codes in dataset.parents.items():
        outer = graph.plates[plate].within
        if outer is not None:
            found[membership(plate, outer)] = codes
    for plate, flags in dataset.first.items():
        found[beginning(plate)] = np.asarray(flags, dtype=np.int64)
    for name, values in dataset.columns.items():
        if observed_name(name) in graph.nodes:
            holes = dataset.missing.get(name)
            found[observed_name(name)] = np.ones(values.shape) if holes is None else 1.0 - holes
            if seen_name(name) in graph.nodes:
                found[seen_name(name)] = found.pop(name)
    return found


def all_in_rows(columns: Mapping[str, Array]) -> dict[str, Array]:
    """The columns, none lying column by column: NumPy's sums would depend on it."""
    return {name: np.ascontiguousarray(v) if np.ndim(v) > 1 else v for name, v in columns.items()}


def arguments(
    program: Program, module: Loaded, columns: Mapping[str, Array], sizes: Mapping[str, int]
) -> tuple[Any, Any]:
    """Data and sizes under the names of the emitted module."""
    data = {module.names[name]: columns[name] for name in program.columns if name in columns}
    size = {module.names[plate]: sizes[plate] for plate in program.plates}
    return data, size


def finish(
    program: Program, module: Loaded, found: Statistics, columns: Mapping[str, Array], sizes: Mapping[str, int]
) -> dict[str, Array]:
    """What follows from the statistics, checked: no NaN passes, an improper posterior is refused."""
    data, size = arguments(program, module, columns, sizes)
    try:
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            values = module.finish(found, data, size)
    except ArithmeticError as error:
        raise improper(error) from error
    return {name: np.asarray(value) for name, value in values.items()}


def improper(error: ArithmeticError) -> ImproperPosterior:
    """What a printed function says when its posterior has no normaliser."""
    return ImproperPosterior(
        f"the posterior is improper: {str(error).removeprefix('improper: ')}", hint="give proper priors, or more data"
    )


def check_finite(name: str, value: Array) -> None:
    """A result that is not a number is an error, never an answer."""
    if np.isnan(value).any():
        raise NotFinite(f"`{name}` came out as NaN", hint="look for values at the edge of their range, such as 0 or 1")
