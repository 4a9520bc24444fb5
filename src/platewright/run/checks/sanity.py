"""What iterative schemas check as they go: numbers of things to do, data that cannot be, values that ran away."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from platewright.backends.kernels import impossible
from platewright.errors import ImproperPosterior, NotFinite, ParameterError, PlatewrightError
from platewright.family import Array

RUNAWAY = 1e9
"""In units of the data, how far draws may be from zero under a flat prior."""
LARGEST = 1e150
"""Beyond this, sums of squares overflow."""


def check_counts(least: int = 1, **counts: float) -> None:
    """Numbers of things to do are whole and not too small."""
    for name, count in counts.items():
        whole = isinstance(count, (int, float, np.integer, np.floating)) and not isinstance(count, bool)
        if not whole or not np.isfinite(count) or count < least or count != int(count):
            raise ParameterError(f"{name}={count!r}", expected=f"a whole number from {least}")


def check_possible(name: str, log_weight: Array) -> None:
    """Data that no value of a hidden variable allows are an error, never a NaN."""
    try:
        impossible.check_possible(name, log_weight)
    except impossible.ImpossibleData as error:
        raise impossible_data(error) from error


def impossible_data(found: impossible.ImpossibleData) -> PlatewrightError:
    """The error that says so."""
    where = ", ".join(map(str, found.place))
    return PlatewrightError(
        f"the data have probability zero whatever `{found.name}` is",
        where=f"element {where} of `{found.name}`" if where else "",
        expected="data that the model can produce",
        hint="look for probabilities of exactly 0 or 1 in the model",
    )


def check_moderate(columns: Mapping[str, Array]) -> None:
    """Numbers whose squares are beyond the range of floating point would make every density infinite."""
    for name, values in columns.items():
        if np.asarray(values).dtype.kind == "f" and np.size(values) and np.nanmax(np.abs(values)) > LARGEST:
            raise NotFinite(
                f"`{name}` has the value {values.flat[np.nanargmax(np.abs(values))]:g}, too large to be squared",
                where=f"column {name}",
                expected=f"numbers below {LARGEST:g} in size",
                hint="measure it in other units",
            )


def check_near(chains: Mapping[str, Array], improper: Iterable[str], columns: Mapping[str, Array]) -> None:
    """Draws under a flat prior that are far beyond anything the data could mean have run away."""
    sizes = [np.abs(np.asarray(values, dtype=float)) for values in columns.values() if np.size(values)]
    largest = max((float(size.max()) for size in sizes), default=1.0)
    smallest = min((float(size[size > 0].min()) for size in sizes if (size > 0).any()), default=1.0)
    for name in improper:
        if name not in chains or not np.size(chains[name]):
            continue
        furthest = float(np.max(np.abs(chains[name])))
        if furthest > RUNAWAY * max(1.0, largest) ** 2 / min(1.0, smallest) ** 2:
            raise ImproperPosterior(
                f"draws of `{name}` ran away to {furthest:.0e}: its prior is improper and data do not determine it",
                expected="a proper prior, or data that determine every unknown",
                hint="give it a proper prior; outcomes that a line separates leave its slope open",
            )


def check_finite(values: Mapping[str, Array]) -> None:
    """Draws that run away to infinity show a posterior that is not a distribution."""
    for name, value in values.items():
        if not np.isfinite(value).all():
            raise ImproperPosterior(
                f"draws of `{name}` have left the finite numbers: the posterior is improper, or the data are too large",
                hint="give proper priors, and data of moderate size",
            )
