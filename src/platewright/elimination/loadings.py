"""How Gaussian unknowns vary under their posterior: a mean, and loadings on independent noises of unit scale.

    u = E u + sum over sources s, sum_m loading(u, s)[m] noise_s[m] / sqrt(phi)

The sources are the Gaussian blocks: a block has a noise of its own, and moves with the blocks eliminated after it. With
loadings every expected square is a sum of squares again, linear in whatever else is unknown:

    E (f'u - y)^2 = (f' E u - y)^2 + sum_s sum_m (f' loading(u, s)[m])^2 / phi
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from platewright.algebra.expression import Index
from platewright.elimination.state import Conditional, GaussianConditional
from platewright.language.variable import Variable
from platewright.program.statements import Column


def mean_name(variable: str) -> str:
    """The array of a Gaussian unknown's mean."""
    return f"{variable}.mean"


def source_name(conditional: GaussianConditional) -> str:
    """The noise of a Gaussian block, named after its first unknown."""
    return conditional.variables[0]


def loading_name(variable: str, source: str) -> str:
    """The array of a Gaussian unknown's loadings: its axes without outputs, then the direction of the noise."""
    return f"{variable}.along.{source}"


def direction(source: str) -> Index:
    """The index of the independent parts of a noise."""
    return Index(f"{source}.direction", f"{source}.direction")


def owner_of(conditionals: Sequence[Conditional], variable: str) -> Conditional:
    """The conditional of an unknown."""
    return next(found for found in conditionals if variable in found.variables)


def sources_of(conditionals: Sequence[Conditional], variable: str) -> tuple[str, ...]:
    """The noises that an unknown moves with: that of its own block, then those of blocks eliminated later."""
    owner = owner_of(conditionals, variable)
    if not isinstance(owner, GaussianConditional):
        return ()
    found = {source_name(owner): None}
    for column in owner.statement.outer:
        found |= dict.fromkeys(sources_of(conditionals, column.variable))
    return tuple(found)


def column_of(conditional: GaussianConditional, variable: str) -> Column:
    """Where an unknown stands among the columns of its block."""
    return next(column for column in conditional.statement.columns if column.variable == variable)


def without_output(conditional: GaussianConditional, variable: str) -> tuple[int, ...]:
    """The numbers of the axes of an unknown that are not outputs: all outputs of a block have the same loadings."""
    places = column_of(conditional, variable).at
    return tuple(number for number, at in enumerate(places) if at != conditional.statement.output)


def direction_sizes(conditionals: Sequence[Conditional], sizes: Mapping[str, int]) -> dict[str, int]:
    """How many directions each noise has: as many as its block has unknowns, where the plates of these have a size."""
    found: dict[str, int] = {}
    for conditional in conditionals:
        if isinstance(conditional, GaussianConditional):
            columns = conditional.statement.columns[: conditional.statement.eliminated]
            if all(index.plate in sizes for column in columns for index in column.dense):
                count = sum(prod(sizes[index.plate] for index in column.dense) for column in columns)
                found[direction(source_name(conditional)).plate] = count
    return found


def gaussian_arrays(conditionals: Sequence[Conditional], nodes: Mapping[str, Variable]) -> dict[str, tuple[Index, ...]]:
    """Means and loadings of all Gaussian unknowns, with their axes."""
    found: dict[str, tuple[Index, ...]] = {}
    for conditional in conditionals:
        if not isinstance(conditional, GaussianConditional):
            continue
        for name in conditional.variables:
            axes = nodes[name].axes
            kept = tuple(axes[number] for number in without_output(conditional, name))
            found[mean_name(name)] = axes
            for source in sources_of(conditionals, name):
                found[loading_name(name, source)] = (*kept, direction(source))
    return found
