"""The exact log evidence as a function of unknowns that are held: what does not depend on them is computed once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from platewright.backends.kernels.impossible import possible_evidence
from platewright.family import Array
from platewright.program.program import EVIDENCE, Program
from platewright.program.split_program import split_program
from platewright.run.execute import arguments, finish, loaded


def evidence_given(
    program: Program, columns: Mapping[str, Array], sizes: Mapping[str, int]
) -> Callable[[Mapping[str, Array]], Any]:
    """`log p(data, held)` by the program of an exact plan, at values of all that it reads and the columns lack.

    A number, or one for each point where the program is of many.
    """
    fixed, moving = split_program(program, frozenset(program.columns) - set(columns))
    module, whole = loaded(moving), loaded(program)
    known: dict[str, object] = {}
    if fixed.passes:
        first = loaded(fixed)
        known = dict(first.statistics(*arguments(fixed, first, columns, sizes)))

    def log_evidence(values: Mapping[str, Array]) -> Any:
        everything = {**columns, **values}
        with np.errstate(all="ignore"):
            found = {**known, **module.statistics(*arguments(moving, module, everything, sizes))}
            value = finish(program, whole, found, everything, sizes)[EVIDENCE]
        return possible_evidence(value if value.ndim else float(value), found)

    return log_evidence
