"""Choose how the passes of a program run: by the emitted NumPy module, or by compiled C with the same results."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from platewright.backends.c.compile import find_compiler
from platewright.errors import UnknownName
from platewright.family import Array
from platewright.program.program import Program
from platewright.run.exact.native import choose_backend, native_statistics
from platewright.run.execute import Loaded, Statistics, arguments, loaded


@dataclass(frozen=True, eq=False)
class Runner:
    """The way a program's passes are run: by the emitted NumPy module, or by compiled code with the same results."""

    program: Program
    module: Loaded
    backend: str
    why: str
    compiled: Callable[..., Statistics] | None = None

    def statistics(
        self, columns: Mapping[str, Array], sizes: Mapping[str, int], exact: Collection[str] | None = None
    ) -> Statistics:
        """One pass over a batch of rows; the pools named in `exact` are in twofold precision.

        Where none are named, pools that have lost too many digits are found, and a second pass makes them exact.
        """
        given = arguments(self.program, self.module, columns, sizes)
        run = self.compiled if self.compiled is not None else self.module.statistics
        with np.errstate(over="ignore", invalid="ignore"):  # who asks looks for what is not finite
            if exact:
                return self.module.statistics(*given, exact)
            found = run(*given)
            again = self.ill_conditioned(found) if exact is None else []
            return self.module.statistics(*given, again) if again else found

    def ill_conditioned(self, found: Statistics) -> list[str]:
        """Names of the pools that have lost too many digits."""
        with np.errstate(over="ignore", invalid="ignore"):
            return [] if self.module.ill_conditioned is None else self.module.ill_conditioned(found)


def choose_runner(program: Program, backend: str, rows: int) -> Runner:
    """The runner asked for, or the one that suits the size."""
    if backend not in ("auto", "numpy", "c"):
        raise UnknownName(backend, ("auto", "numpy", "c"), where="backend=")
    chosen, why = _chosen(program, rows) if backend == "auto" else (backend, "asked for")
    if backend == "c" and find_compiler() is None:
        compiled_statistics(program)  # warns, once
        chosen, why = "numpy", "no C compiler was found"
    if chosen == "numpy":
        return Runner(program, loaded(program), "numpy", why)
    return Runner(program, loaded(program), "c", why, compiled_statistics(program))


_chosen = lru_cache(maxsize=256)(choose_backend)
"""Looking for C in a program takes longer than a pass over few rows."""


@lru_cache(maxsize=64)
def compiled_statistics(program: Program) -> Callable[..., Statistics]:
    """The compiled passes of a program, made once."""
    return native_statistics(program)


def most_rows(program: Program, sizes: Mapping[str, int]) -> int:
    """The size of the largest plate that a pass runs over."""
    return max((sizes[index.plate] for statement in program.passes for index in statement.over), default=0)


def all_finite(found: Statistics) -> bool:
    """Whether no NaN or infinity came into the statistics (the maximum of no rows is minus infinity, and allowed)."""
    for value in found.values():
        for part in value if isinstance(value, tuple) else (value,):
            array = np.asarray(part)
            good = np.isfinite(array) if isinstance(value, tuple) else array == array
            if array.dtype.kind == "f" and not good.all():
                return False
    return True
