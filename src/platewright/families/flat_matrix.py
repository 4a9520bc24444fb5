"""Flat over matrices: no preference between positive definite matrices; written `pw.Flat(over=plate)`.

    log p(S) = 0

Not a distribution. As the prior of a covariance its mode is the scatter divided by the number of rows.
"""

from __future__ import annotations

from platewright.algebra.domain import MATRIX
from platewright.algebra.expression import ZERO
from platewright.family import Family

FLAT_MATRIX = Family(
    name="FlatMatrix",
    parameters=(),
    domain=MATRIX,
    statistics=(),
    natural=(),
    log_normaliser=ZERO,
    rank=2,
    proper=False,
)
