"""Statistics of blocks of parameters that take turns, from the sums of one pass over the rows.

    sum over n of q(z[n] = k) (y[n] - E mu[k])^2      =      S2[k] - 2 E mu[k] S1[k] + E mu[k]^2 S0[k]

What the rows leave does not change while blocks are updated: the moments that their statistics need are coefficients.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from platewright.algebra.expression import names
from platewright.family import Array
from platewright.program.program import Program, expressions_of
from platewright.run.exact.native import _keys
from platewright.run.execute import Statistics, arguments, loaded
from platewright.run.hidden.native_em import NativeEM, SoftStep


@dataclass(frozen=True, eq=False)
class NativeBlocks:
    """What a pass has left, for one block after another."""

    native: NativeEM
    step: SoftStep

    def statistics(self, program: Program, moments: Mapping[str, Array]) -> Statistics:
        """The statistics of a block, given moments of the others as they are now."""
        hidden = {name for item in self.native.plan.hidden for name in (item.probability, item.pair)}
        apart = tuple(
            statement
            for statement in program.passes
            if not any(names(part) & hidden for part in expressions_of(statement))
        )
        soft = frozenset(statement.name for statement in program.passes if statement not in apart)
        found = self.without_rows(replace(program, passes=apart, body=(), results=()), moments) if apart else {}
        for one, sums in self.step.passed:
            found |= one.statistics(sums.at(moments), soft)
        keys = zip(_keys(loaded(program)), program.passes, strict=True)
        return {key: found[statement.name] for key, statement in keys}

    def without_rows(self, small: Program, moments: Mapping[str, Array]) -> dict[str, Any]:
        """Statistics that no hidden variable has part in, by NumPy: most are of moments alone."""
        module = loaded(small)
        given = {**self.native.columns, **moments}
        made = module.statistics(*arguments(small, module, given, self.native.sizes))
        return dict(zip((statement.name for statement in small.passes), made.values(), strict=True))
