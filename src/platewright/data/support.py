"""Check that numbers are in the domain of their variable, in one pass, and give them their final type.

    real, vector, circle     finite float64 within bounds; a half line from 0 leaves out 0 itself
    integer                  integral, within bounds, int64
    simplex                  last axis is not negative and sums to 1 within 1e-6
    matrix                   last two axes symmetric and positive definite

A block whose sum is finite holds no NaN and no infinity, so good data are read once and nothing else is built.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from platewright.algebra.domain import Domain
from platewright.data.blocks import blocks, find, row_blocks
from platewright.data.cells import check_cell_count, is_upright
from platewright.data.place import Place
from platewright.data.settle import missing_value, wrong_text
from platewright.errors import NotFinite, ShapeError, SupportError

SUM_TOLERANCE = 1e-6
SYMMETRY_TOLERANCE = 1e-8


MUCH = 2**16
"""Real columns with fewer cells are searched for NaN and infinity in any case."""


def check_numbers(place: Place, values: NDArray[Any], scan: bool = True, upright: bool = False) -> NDArray[Any]:
    """The values as read-only contiguous float64 or int64 (the user's own memory where it fits), all in the domain.

    Without `scan`, large columns on the whole real line are taken as they are; with `upright`, a matrix of them may
    stay as it lies when it lies column by column.
    """
    domain = place.column.domain
    if values.size == 0:
        values = np.zeros(values.shape)
    if values.dtype.kind not in "biuf":
        raise wrong_text(place, 0, values.reshape(-1)[:1].tolist()[0])
    if domain.kind == "integer":
        return freeze(_check_integers(place, values))
    is_open = domain.kind not in ("simplex", "matrix") and domain.lower == -inf and domain.upper == inf
    is_taken = not scan and is_open and values.size >= MUCH
    if is_taken and upright and is_upright(values):
        return freeze(values)
    numbers = _contiguous(place, values, np.float64)
    if domain.kind == "simplex":
        _check_reals(place, numbers, Domain("real"))
        _check_simplex(place, numbers)
    elif domain.kind == "matrix":
        _check_reals(place, numbers, Domain("real"))
        _check_matrices(place, numbers)
    elif not is_taken:
        _check_reals(place, numbers, domain)
    return freeze(numbers)


def freeze(values: NDArray[Any]) -> NDArray[Any]:
    """A read-only view; the user's own array stays writable for the user."""
    view = values.view()
    view.flags.writeable = False
    return view


def _contiguous(place: Place, values: NDArray[Any], dtype: type) -> NDArray[Any]:
    """Convert only where type or layout differ."""
    if values.dtype == np.dtype(dtype) and values.flags.c_contiguous and values.flags.aligned:
        return values
    check_cell_count(place.column.name, values.shape)
    return np.array(values, dtype=dtype, order="C")


def _check_reals(place: Place, values: NDArray[Any], domain: Domain) -> None:
    is_bounded = domain.lower > -inf or domain.upper < inf
    with np.errstate(over="ignore", invalid="ignore"):
        for _, block in blocks(values):
            is_good = _is_within(block, domain) if is_bounded else _is_finite(block)
            if not is_good:
                raise _name_fault(place, values, domain)


def are_finite(columns: Iterable[NDArray[Any]]) -> bool:
    """Whether no real column holds NaN or infinity."""
    with np.errstate(over="ignore", invalid="ignore"):
        return all(_is_finite(block) for c in columns if c.dtype.kind == "f" for _, block in blocks(c))


def _is_finite(block: NDArray[Any]) -> bool:
    """A finite sum proves it; a sum that overflowed is looked at cell by cell."""
    return bool(np.isfinite(block.sum()) or np.isfinite(block).all())


def _is_within(block: NDArray[Any], domain: Domain) -> bool:
    """NaN survives min and max, and then fails every comparison."""
    low, high = block.min(), block.max()
    above = low > domain.lower if _leaves_out_zero(domain) else low >= domain.lower
    return bool(above and high <= domain.upper and low > -inf and high < inf)


def _leaves_out_zero(domain: Domain) -> bool:
    return domain.kind == "real" and domain.lower == 0.0 and domain.upper == inf


def _name_fault(place: Place, values: NDArray[Any], domain: Domain) -> Exception:
    """Missing cells first, then infinite ones, then values outside."""
    position, count = find(values, np.isnan)
    if count:
        return missing_value(place, position, count)
    position, count = find(values, np.isinf)
    if count:
        return NotFinite(
            f"`{place.column.name}` has {count} infinite value{'s' if count > 1 else ''}",
            where=place.name_first(position, count),
            expected=f"finite numbers ({place.column.domain})",
        )
    if _leaves_out_zero(domain):
        position, count = find(values, lambda block: block <= domain.lower)
    else:
        position, count = find(values, lambda block: (block < domain.lower) | (block > domain.upper))
    return _outside(place, values, position, count)


def _outside(place: Place, values: NDArray[Any], position: int, count: int) -> SupportError:
    value = values.reshape(-1)[position]
    return SupportError(
        f"`{place.column.name}` is {value:g}, which its distribution cannot produce",
        where=place.name_first(position, count),
        expected=str(place.column.domain),
    )


def _check_integers(place: Place, values: NDArray[Any]) -> NDArray[Any]:
    domain = place.column.domain
    numbers = as_integers(place, values)
    for _, block in blocks(numbers):
        if block.min() < domain.lower or block.max() > domain.upper:
            position, count = find(numbers, lambda block: (block < domain.lower) | (block > domain.upper))
            raise _outside(place, numbers, position, count)
    return numbers


def as_integers(place: Place, values: NDArray[Any]) -> NDArray[np.int64]:
    """Integral numbers of any type as contiguous int64."""
    if values.dtype.kind == "f":
        values = np.asarray(values, order="C")  # keeps a single number single
        _check_reals(place, values, Domain("real"))
        position, count = find(values, lambda block: (np.floor(block) != block) | (np.abs(block) >= 2.0**63))
        if count:
            raise _outside(place, values, position, count)
    if values.dtype.kind == "u" and values.dtype.itemsize == 8:
        values = np.asarray(values, order="C")
        position, count = find(values, lambda block: block > np.iinfo(np.int64).max)
        if count:
            raise _outside(place, values, position, count)
    return _contiguous(place, values, np.int64)


def _check_simplex(place: Place, values: NDArray[Any]) -> None:
    if values.ndim == 0:
        raise ShapeError(f"`{place.column.name}` is a single number", expected="a probability vector on its last axis")
    if values.size == 0:
        return
    width = values.shape[-1]
    for start, rows in row_blocks(values.reshape(-1, width)):
        off = (rows.min(axis=1, initial=0.0) < 0) | (np.abs(rows.sum(axis=1) - 1) > SUM_TOLERANCE)
        if off.any():
            row = start + int(np.flatnonzero(off)[0])
            raise SupportError(
                f"`{place.column.name}` is not a probability vector: its entries sum to "
                f"{values.reshape(-1, width)[row].sum():g}, the least is {values.reshape(-1, width)[row].min():g}",
                where=place.name_cell(row * width),
                expected="entries >= 0 that sum to 1 (within 1e-6) along the last axis",
            )


def _check_matrices(place: Place, values: NDArray[Any]) -> None:
    if values.ndim < 2 or values.shape[-1] != values.shape[-2]:
        raise ShapeError(
            f"`{place.column.name}` has shape {values.shape}, so its last two axes are not a square matrix",
            where=f"column `{place.column.name}`",
        )
    if values.size == 0:
        return
    width = values.shape[-1]
    matrices = values.reshape(-1, width, width)
    for start, group in row_blocks(matrices):
        for offset, reason in _find_indefinite(group):
            raise SupportError(
                f"`{place.column.name}` is not a covariance or precision matrix: it is not {reason}",
                where=place.name_cell((start + offset) * width * width),
                expected="a symmetric positive definite matrix on the last two axes",
            )


def _find_indefinite(group: NDArray[Any]) -> list[tuple[int, str]]:
    """The first matrix of a group that is not symmetric, or not positive definite; empty when all are."""
    scale = np.abs(group).max(axis=(1, 2), initial=0.0)
    gap = np.abs(group - group.transpose(0, 2, 1)).max(axis=(1, 2), initial=0.0)
    if (gap > SYMMETRY_TOLERANCE * scale).any():
        return [(int(np.flatnonzero(gap > SYMMETRY_TOLERANCE * scale)[0]), "symmetric")]
    try:
        np.linalg.cholesky(group)
    except np.linalg.LinAlgError:
        return [(_first_without_factor(group), "positive definite")]
    return []


def _first_without_factor(group: NDArray[Any]) -> int:
    for position, matrix in enumerate(group):
        try:
            np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            return position
    return 0
