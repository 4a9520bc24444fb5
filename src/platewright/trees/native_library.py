"""The compiled part of this room: growing trees and following rows through them, around evidences that are derived.

It is plain C, so that the compiler in memory does it where the machine has none.
"""

from __future__ import annotations

import ctypes
from functools import lru_cache
from pathlib import Path
from typing import Any

from platewright.backends.c.compile import FLAGS, compiled, find_compiler
from platewright.backends.c.in_memory import compiled_in_memory, has_memory_compiler
from platewright.errors import BackendError
from platewright.structure.derived import derived_source

PARTS = ("grow.c", "follow.c")
HEAD = "\n".join(f"#include <{name}.h>" for name in ("math", "stdint", "stdlib", "string"))


@lru_cache(maxsize=1)
def tree_source() -> str:
    """The C of this room."""
    texts = (Path(__file__).with_name("native").joinpath(name).read_text(encoding="utf-8") for name in PARTS)
    return "\n".join((HEAD, derived_source(), *texts))


@lru_cache(maxsize=1)
def tree_library() -> Any:
    """Its functions."""
    compiler = find_compiler()
    if compiler is None and not has_memory_compiler():
        raise BackendError(
            "no C compiler was found, and trees are grown by C",
            hint="install one (cc, gcc, clang), or `pip install ziglang`",
        )
    found = compiled(tree_source(), compiler, FLAGS) if compiler is not None else compiled_in_memory(tree_source())
    pointer, whole = ctypes.c_void_p, ctypes.c_int64
    for name, result, arguments in (
        ("grow", pointer, (pointer, pointer)),
        ("grown_sizes", whole, (pointer, whole)),
        ("grown", None, (pointer, pointer, pointer, pointer)),
        ("close_grower", None, (pointer,)),
        ("code_numbers", None, (pointer, whole, pointer, whole, pointer)),
        ("follow_rows", None, (pointer, whole, pointer)),
    ):
        function = getattr(found, name)
        function.restype, function.argtypes = result, list(arguments)
    return found
