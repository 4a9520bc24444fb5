"""What iterative schemas check as they go: numbers of things to do, data that cannot be, values that ran away."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from platewright.errors import ImproperPosterior, ParameterError, PlatewrightError
from platewright.family import Array


def check_counts(least: int = 1, **counts: float) -> None:
    """Numbers of things to do are whole and not too small."""
    for name, count in counts.items():
        if count < least or count != int(count):
            raise ParameterError(f"{name}={count!r}", expected=f"a whole number from {least}")


def check_possible(name: str, log_weight: Array) -> None:
    """Data that no value of a hidden variable allows are an error, never a NaN."""
    impossible = np.argwhere(np.isneginf(log_weight))
    if not len(impossible):
        return
    where = ", ".join(str(number) for number in impossible[0])
    raise PlatewrightError(
        f"the data have probability zero whatever `{name}` is",
        where=f"element {where} of `{name}`" if where else "",
        expected="data that the model can produce",
        hint="look for probabilities of exactly 0 or 1 in the model",
    )


def check_finite(values: Mapping[str, Array]) -> None:
    """Draws that run away to infinity show a posterior that is not a distribution."""
    for name, value in values.items():
        if not np.isfinite(value).all():
            raise ImproperPosterior(
                f"draws of `{name}` have left the finite numbers: the posterior is improper, or the data are too large",
                hint="give proper priors, and data of moderate size",
            )
