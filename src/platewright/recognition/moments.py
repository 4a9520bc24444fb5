"""Expected statistics of a family from its log normaliser  (Lemma 4.2, Equation 28 as corrected).

    E t_i = d log Z / d natural_i

Written in the collected weights (which are the natural parameters) the derivative is direct: no Jacobian to invert.
"""

from __future__ import annotations

from functools import lru_cache

from platewright.algebra.build import substitute
from platewright.algebra.differentiate import differentiate
from platewright.algebra.expression import Expression, Index, Reference, all_indices, free_indices, fresh
from platewright.families import FAMILY_BY_NAME
from platewright.family import EVENT, EVENT_TOO, Argument, Family, instantiate, weight


@lru_cache(maxsize=64)
def _expected(name: str) -> tuple[Expression, ...]:
    family = FAMILY_BY_NAME[name]
    assert family.from_natural is not None
    axes = (EVENT, EVENT_TOO)
    parameters = {
        parameter.name: Argument(family.from_natural[parameter.name], axes[: parameter.rank])
        for parameter in family.parameters
    }
    normaliser = instantiate(family.log_normaliser, parameters)
    found = []
    for number, statistic in enumerate(family.statistics):
        rank = _rank(statistic)
        target = weight(number, rank)
        outside: list[Index] = []
        for index in target.indices:
            assert isinstance(index, Index)
            outside.append(fresh(index, all_indices(normaliser) | set(outside)))
        moved = differentiate(normaliser, Reference(target.name, tuple(outside)))
        found.append(substitute(moved, dict(zip(outside, target.indices, strict=True))))
    return tuple(found)


def _rank(statistic: Expression) -> int:
    """How many event axes a statistic has free."""
    return len(free_indices(statistic) & {EVENT, EVENT_TOO})


def expected_statistics(family: Family) -> tuple[Expression, ...]:
    """`E t_i` for each statistic, over the family's own parameters and event axes."""
    return _over_parameters(family.name, family.natural, family.statistics)


@lru_cache(maxsize=64)
def _over_parameters(
    name: str, natural: tuple[Expression, ...], statistics: tuple[Expression, ...]
) -> tuple[Expression, ...]:
    """The same, made once: mean field asks after every update."""
    arguments = {}
    for number, (weighed, statistic) in enumerate(zip(natural, statistics, strict=True)):
        axes = (EVENT, EVENT_TOO)[: _rank(statistic)]
        arguments[f"weight{number}"] = Argument(weighed, axes)
    return tuple(instantiate(moment, arguments) for moment in _expected(name))
