"""What is known about the common scale of a Gaussian block."""

from __future__ import annotations

from dataclasses import dataclass

from platewright.family import Array


@dataclass(frozen=True, eq=False)
class Scale:
    """The distribution of a Gaussian block's scale in each batch: a number, Gamma, or a matrix (Wishart)."""

    kind: str
    value: Array | None = None
    shape: Array | None = None
    rate: Array | None = None
    degrees: Array | None = None
    inverse_scale: Array | None = None
