"""What stands on bound data at points of the held numbers: one pass over the rows, and the log density from it."""

from __future__ import annotations

from collections.abc import Mapping

from platewright.backends.kernels.held_density import Density_of
from platewright.errors import ModelError
from platewright.family import Array
from platewright.program.pointwise import Pointwise
from platewright.run.points.apart import Apart
from platewright.run.points.loaded import Eliminated, eliminated_on
from platewright.schemas.few_numbers import QuadraturePlan


def given_points(plan: QuadraturePlan, columns: Mapping[str, Array], sizes: Mapping[str, int]) -> Eliminated | Apart:
    """The elimination of all that is not held, on data."""
    if plan.pointwise is not None:
        check_plates(plan.pointwise, sizes)
        return eliminated_on(plan.pointwise, columns, sizes)
    assert plan.complete is not None
    return Apart(plan.complete, columns, sizes, plan.together)


def density_of(plan: QuadraturePlan, given: Eliminated | Apart) -> Density_of:
    """`log p(data, held)` over coordinates without ends."""

    def at(values: Array) -> Array:
        return given.log_density({name: values[:, k] for k, name in enumerate(plan.held)})

    return Density_of(at, [plan.graph.nodes[name].domain.open_ends for name in plan.held])


def check_plates(program: Pointwise, sizes: Mapping[str, int]) -> None:
    """Every plate that the program runs over must have a size."""
    for plate in program.plates:
        if plate not in sizes:
            raise ModelError(
                f"the size of plate `{plate}` is not known", hint=f"give it in the model: m.plate('{plate}', size)"
            )
