"""Levels that a row rules out: where the logarithm of nothing is multiplied by a function of the row.

    log(rate[k]) y[n]  with  rate[k] = 0       is 0 where y[n] = 0, and minus infinity where y[n] > 0

Zero counts of a class that gives no others, sites where nobody lives, animals that are dead: such weights are the rule
there, not a defect. The product of zero and minus infinity is no number, so the coefficient becomes one that is finite
and beyond all others: zero times it is zero, and a row where the function is positive gives the level no share.
"""

from __future__ import annotations

import numpy as np

from platewright.run.hidden.native_em_layout import Doubles, Layout
from platewright.run.hidden.native_em_sums import Doubtful

NEVER = -1e250
"""The coefficient of a function that rules a level out wherever it is positive."""
IMPOSSIBLE = 0.5e210
"""The size of log weights from which no level of a row was possible."""
LEAST, MOST = 1e-40, 1e40
"""Positive values of such functions lie between these: then no product with `NEVER` is of moderate size or infinite."""


class RulesOut:
    """Which functions of the rows of a layout may rule levels out; each is looked at when it is first asked for."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.able: dict[int, bool] = {}
        held = dict(layout.one.centres)
        self.columns = {
            layout.offset[atom] + k: None if atom in held else values[:, k]
            for atom, values in zip(layout.one.atoms, layout.values, strict=True)
            for k in range(values.shape[1])
        }
        """The values of each function that is a column; nothing for one with a centre, whose zeros are moved."""

    def checked(self, basis: Doubles, entry: Doubles) -> tuple[Doubles, Doubles]:
        """Coefficients of functions and of codes, all of functions finite; `Doubtful` where that cannot be."""
        lost = np.isneginf(basis)
        lost[0] = False  # the function that is 1: its levels have no chance in any row
        for place in np.flatnonzero(lost.any(axis=1)):
            if self.rules_out(int(place)):
                basis[place] = np.where(lost[place], NEVER, basis[place])
        bad = not np.isfinite(basis[1:]).all() or not (basis[0] < np.inf).all() or not (entry < np.inf).all()
        if bad:
            raise Doubtful(f"a coefficient of the log weights of {self.layout.one.item.name} is not finite")
        return basis, entry

    def rules_out(self, place: int) -> bool:
        """Whether a function is never negative, exactly zero or well above."""
        if place not in self.able:
            values = self.values(place)
            positive = None if values is None or (values < 0).any() else values[values > 0]
            self.able[place] = positive is not None and bool(((positive > LEAST) & (positive < MOST)).all())
        return self.able[place]

    def values(self, place: int) -> Doubles | None:
        """A function of all rows; nothing where a centre has a part in it."""
        if place in self.columns:
            return self.columns[place]
        left, right = (self.values(part) for part in self.layout.pairs[place])
        return None if left is None or right is None else left * right


def moderate(coefficient: Doubles) -> Doubles:
    """Coefficients without those that rule levels out: what may be lost to rounding is theirs alone."""
    return np.where(coefficient > NEVER, coefficient, 0.0)
