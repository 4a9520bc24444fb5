"""Print a program in the language asked for."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from platewright.backends.c.program import c_source
from platewright.backends.numpy.program import numpy_source
from platewright.errors import UnknownName
from platewright.program.program import Program

BACKENDS: Mapping[str, Callable[[Program], str]] = {"numpy": numpy_source, "c": c_source}


def emit(program: Program, backend: str = "numpy") -> str:
    """The program as standalone source."""
    if backend not in BACKENDS:
        raise UnknownName(backend, BACKENDS, where="backend")
    return BACKENDS[backend](program)
