"""A sampler's C as a program of the interpreter, called as the compiled library would be."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable
from functools import lru_cache

from platewright.backends.c.compile import Compiler, loaded_library, shared_library
from platewright.backends.c_gibbs.apart import object_text
from platewright.backends.c_interpreted.interpreter import interpreter_text

MOST_ARGUMENTS = 8
FULL = -2
"""What a call returns whose frames do not fit."""


class NotInterpreted(Exception):
    """The text has what the interpreter does not read, or needs more room than it has; a compiler takes it."""


class _Program:
    """Where the machine keeps a text that was read."""

    def __init__(self, place: int) -> None:
        self.place = ctypes.c_void_p(place)


class Interpreted:
    """The functions of a text by name; `steps` tells about how many instructions were run so far."""

    def __init__(self, text: str, compiler: Compiler) -> None:
        machine = _machine(compiler)
        trouble = ctypes.create_string_buffer(200)
        place = machine.platewright_read(text.encode(), trouble, ctypes.c_int64(len(trouble)))
        if not place:
            raise NotInterpreted(f"{trouble.value.decode(errors='replace')}")
        self._machine, self._program = machine, _Program(place)
        weakref.finalize(self._program, machine.platewright_forget, ctypes.c_void_p(place))
        self._functions: dict[str, Callable[..., int]] = {}
        self._steps = ctypes.c_int64(0)

    @property
    def steps(self) -> int:
        """About how many instructions were run; not exact where threads run at once."""
        return self._steps.value

    def assemble(self) -> bool:
        """Make machine code of what was read, if this machine's is known; the same bits, and no steps are counted."""
        return bool(self._machine.platewright_assemble(self._program.place))

    def __getattr__(self, name: str) -> Callable[..., int]:
        """A function that takes what the compiled one would: at most eight integers and addresses."""
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._functions:
            self._functions[name] = self._called(name)
        return self._functions[name]

    def _called(self, name: str) -> Callable[..., int]:
        number = self._machine.platewright_find(self._program.place, name.encode())
        if number < 0:
            raise AttributeError(name)
        call, program = self._machine.platewright_call, self._program  # which lives as long as its functions
        before = (ctypes.c_int64(number), ctypes.byref(self._steps))
        nothing = ctypes.c_int64(0)

        def called(*given: object) -> int:
            found: int = call(program.place, *before, *given, *[nothing] * (MOST_ARGUMENTS - len(given)))
            if found == FULL:
                raise NotInterpreted("its arrays are too large")
            return found

        return called


@lru_cache(maxsize=4)
def _machine(compiler: Compiler) -> ctypes.CDLL:
    machine = loaded_library(shared_library(interpreter_text(), compiler, object_text()))
    machine.platewright_read.restype = ctypes.c_void_p
    machine.platewright_find.restype = ctypes.c_int64
    machine.platewright_assemble.restype = ctypes.c_int64
    machine.platewright_call.restype = ctypes.c_int64
    return machine
