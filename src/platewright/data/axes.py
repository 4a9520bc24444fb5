"""Agree on the size of each plate: every array that has the plate as an axis must say the same.

x: (row 5, feature 3)   y: (row 4)      ->  ShapeError: plate `row` has size 5 in `x` and 4 in `y`
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from platewright.data.cells import Cells
from platewright.data.signature import ColumnSpec, Signature
from platewright.errors import ShapeError


def orient(signature: Signature, column: ColumnSpec, cells: Cells) -> Cells:
    """Bring the axes into declared order (by name where the source names them) and check their number."""
    values = cells.values
    if cells.axes is not None:
        return replace(cells, values=values.transpose(_axis_order(column, cells.axes)), axes=None)
    if values.ndim == len(column.plates):
        return cells
    if values.shape == (0,) and len(column.plates) > 1:
        return replace(cells, values=values.reshape(_empty_shape(signature, column)))
    axes = " x ".join(str(size) for size in values.shape) or "a single value"
    plural = "" if len(column.plates) == 1 else "s"
    raise ShapeError(
        f"`{column.name}` has {values.ndim} axes ({axes}), but lives on {len(column.plates)} plate{plural}",
        where=f"column `{column.name}`",
        expected=f"axes in this order: ({', '.join(column.plates)})" if column.plates else "a single value",
        hint="" if column.plates else f"put `{column.name}` on a plate, plates=..., where it repeats",
    )


def agree_sizes(
    signature: Signature, labelled: Mapping[str, int], arrays: Iterable[tuple[ColumnSpec, tuple[int, ...]]]
) -> dict[str, int]:
    """The size of every root plate that the model, labels known before, or some array fixes."""
    claims: dict[str, tuple[int, str]] = {}
    for plate in signature.plates.values():
        if plate.extent is not None:
            _claim(claims, signature.root(plate.name), plate.extent, "the model")
    for plate_name, size in labelled.items():
        _claim(claims, plate_name, size, "its labels")
    for column, shape in arrays:
        for plate_name, size in zip(column.plates, shape):
            _claim(claims, signature.root(plate_name), size, f"`{column.name}`")
    return {plate: size for plate, (size, _) in claims.items()}


def spread(signature: Signature, by_root: Mapping[str, int]) -> dict[str, int]:
    """The sizes of all plates from those of the roots: a plate `like` another has its size."""
    return {name: by_root[signature.root(name)] for name in signature.plates if signature.root(name) in by_root}


def _claim(claims: dict[str, tuple[int, str]], plate: str, size: int, claimant: str) -> None:
    known, who = claims.setdefault(plate, (size, claimant))
    if known != size:
        raise ShapeError(
            f"plate `{plate}` has size {known} in {who} and {size} in {claimant}",
            where=f"plate {plate}",
            expected="one size for each plate",
        )


def _axis_order(column: ColumnSpec, axes: tuple[str, ...]) -> tuple[int, ...]:
    if sorted(axes) != sorted(column.plates):
        raise ShapeError(
            f"`{column.name}` has the dimensions ({', '.join(axes)})",
            where=f"column `{column.name}`",
            expected=f"its plates ({', '.join(column.plates)}), in any order",
        )
    return tuple(axes.index(plate) for plate in column.plates)


def _empty_shape(signature: Signature, column: ColumnSpec) -> tuple[int, ...]:
    """An empty list stands for no rows, whatever the other axes are."""
    return (0, *(signature.plates[signature.root(plate)].extent or 0 for plate in column.plates[1:]))
