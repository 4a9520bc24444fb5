"""Check the numbers that a user gives as parameters: `sd=-1` is caught where it is written, not where it is used."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from platewright.algebra.expression import Constant, Expression, Index, Literal
from platewright.errors import ParameterError
from platewright.family import Family, Parameter

_MATRICES = ("Wishart", "InverseWishart")
_ROUNDING = 1e-6


def check_parameter(
    name: str, family: Family, word: str, value: Expression, events: tuple[Index, ...], size: int | None
) -> None:
    """A number, or a table of numbers, must lie in the range of its parameter; expressions are left alone.

    `events` are the axes inside one value that this parameter has, `size` the number of elements along them.
    """
    match value:
        case Constant(number):
            numbers = np.array(number)
        case Literal(cells, shape, _, indices):
            # axes inside one value last; a table looked up along them cannot be checked as a whole
            inside = [k for k, index in enumerate(indices) if index in events]
            others = [k for k in range(len(shape)) if k not in inside]
            numbers = np.transpose(np.array(cells).reshape(shape), (*others, *inside))
            events = events if len(inside) == len(events) else ()
        case _:
            return
    rank = len(events)
    parameter = family.argument(word)
    if rank == 2:
        _check_matrix(name, family, word, numbers)
        return
    _check_range(name, family, parameter, numbers)
    if word == "probabilities" and rank == 1 and numbers.ndim:
        _check_probabilities(name, family, numbers)
    if word == "degrees" and family.name in _MATRICES:
        _check_degrees(name, family, numbers, size)


def check_bounds(name: str, family: Family, given: Mapping[str, object]) -> None:
    """A lower bound must lie below the upper one."""
    low, high = given.get("lower"), given.get("upper")
    if isinstance(low, (int, float)) and isinstance(high, (int, float)) and low >= high:
        raise ParameterError(
            f"{family.name} has lower {low:g} and upper {high:g}", where=f"variable {name}", expected="lower < upper"
        )


def _check_range(name: str, family: Family, parameter: Parameter, numbers: NDArray[np.float64]) -> None:
    word, domain = parameter.name, parameter.domain
    where, shown = f"variable {name}", f"{word} of {family.name} is "
    if family.name != "Flat" and not np.isfinite(numbers).all():
        raise ParameterError(shown + str(numbers[~np.isfinite(numbers)][0]), where=where, expected="a finite number")
    if domain.lower == 0.0 and domain.upper > 1 and not parameter.may_be_zero and not (numbers > 0).all():
        raise ParameterError(f"{shown}{numbers.min():g}", where=where, expected="a number above 0")
    outside = numbers[(numbers < domain.lower) | (numbers > domain.upper)]
    if outside.size:
        raise ParameterError(f"{shown}{outside[0]:g}", where=where, expected=str(domain))
    broken = numbers[numbers != np.floor(numbers)]
    if domain.kind == "integer" and broken.size:
        raise ParameterError(f"{shown}{broken[0]:g}", where=where, expected="a whole number")


def _check_probabilities(name: str, family: Family, numbers: NDArray[np.float64]) -> None:
    sums = numbers.sum(axis=-1)
    worst = float(np.ravel(sums)[np.argmax(np.abs(np.ravel(sums) - 1))])
    if abs(worst - 1) > _ROUNDING:
        raise ParameterError(
            f"the probabilities of {family.name} add up to {worst:g}", where=f"variable {name}", expected="a sum of 1"
        )


def _check_matrix(name: str, family: Family, word: str, numbers: NDArray[np.float64]) -> None:
    where, shown = f"variable {name}", f"{word} of {family.name}"
    if numbers.ndim < 2:
        return
    if not np.allclose(numbers, np.swapaxes(numbers, -1, -2), rtol=1e-9, atol=0):
        raise ParameterError(f"{shown} is not symmetric", where=where, expected="a symmetric matrix")
    smallest = float(np.linalg.eigvalsh(numbers).min())
    if smallest <= 0:
        raise ParameterError(
            f"{shown} is not positive definite: its smallest eigenvalue is {smallest:.3g}",
            where=where,
            expected="a positive definite matrix",
        )


def _check_degrees(name: str, family: Family, numbers: NDArray[np.float64], size: int | None) -> None:
    if size is not None and numbers.min() <= size - 1:
        raise ParameterError(
            f"degrees of {family.name} are {numbers.min():g} for matrices of size {size}",
            where=f"variable {name}",
            expected=f"a number above {size - 1}",
        )
