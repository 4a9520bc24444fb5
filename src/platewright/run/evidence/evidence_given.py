"""The exact log evidence as a function of unknowns that are held: what does not depend on them is computed once."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from platewright.family import Array
from platewright.program.program import EVIDENCE
from platewright.run.execute import arguments, finish, loaded
from platewright.run.samplers.gibbs import split_program
from platewright.schemas.evidence import EvidencePlan


def evidence_given(
    plan: EvidencePlan, columns: Mapping[str, Array], sizes: Mapping[str, int]
) -> Callable[[Mapping[str, Array]], float]:
    """`log p(data, held)` by the exact plan that takes the held unknowns as known."""
    assert plan.complete is not None
    program = plan.complete.program
    fixed, moving = split_program(program, frozenset(plan.hidden))
    module, whole = loaded(moving), loaded(program)
    known: dict[str, object] = {}
    if fixed.passes:
        first = loaded(fixed)
        known = dict(first.statistics(*arguments(fixed, first, columns, sizes)))

    def log_evidence(values: Mapping[str, Array]) -> float:
        everything = {**columns, **values}
        with np.errstate(all="ignore"):
            found = {**known, **module.statistics(*arguments(moving, module, everything, sizes))}
            return float(finish(program, whole, found, everything, sizes)[EVIDENCE])

    return log_evidence
