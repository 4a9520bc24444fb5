"""What a model asks of its data: its plates, and the columns that live on them.

    Signature(
        plates  = {"doc": PlateSpec("doc", None), "word": PlateSpec("word", None, within="doc")},
        columns = {"token": ColumnSpec("token", ("word",), Domain("levels", levels="vocabulary"))},
    )

The model hands this over; the data room knows nothing else about models.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from platewright.algebra.domain import Domain
from platewright.errors import PlateError, UnknownName


@dataclass(frozen=True, slots=True)
class PlateSpec:
    """A plate: its size when the model fixes it, and how it hangs together with other plates.

    `within` names the outer plate of a long table, `like` a plate that shares size and labels with this one, and
    `ordered` says that the order of its elements has a meaning (a series).
    """

    name: str
    size: int | None
    labels: tuple[object, ...] | None = None
    within: str | None = None
    like: str | None = None
    ordered: bool = False

    def __post_init__(self) -> None:
        if self.labels is None:
            return
        if self.size is not None and self.size != len(self.labels):
            raise PlateError(f"plate `{self.name}` has size {self.size} but {len(self.labels)} labels")
        if len(set(self.labels)) != len(self.labels):
            raise PlateError(f"plate `{self.name}` has a label twice", expected="distinct labels")

    @property
    def extent(self) -> int | None:
        """The number of elements where the model fixes it, by size or by labels."""
        return self.size if self.labels is None else len(self.labels)


@dataclass(frozen=True, slots=True)
class ColumnSpec:
    """A variable that data can make known: its axes in declared order (event axes last) and its values."""

    name: str
    plates: tuple[str, ...]
    domain: Domain
    required: bool = True
    is_random: bool = False
    """Whether the model says how its values come about, so that single cells may be missing."""


@dataclass(frozen=True)
class Signature:
    """All plates and columns of a model, by name."""

    plates: Mapping[str, PlateSpec]
    columns: Mapping[str, ColumnSpec]

    def __post_init__(self) -> None:
        for plate in self.plates.values():
            for other in (plate.within, plate.like):
                self._check_plate(other, f"plate {plate.name}")
            self.root(plate.name)
        for column in self.columns.values():
            for name in (*column.plates, column.domain.levels):
                self._check_plate(name, f"variable {column.name}")

    def _check_plate(self, name: str | None, where: str) -> None:
        """A plate that is spoken of must be there."""
        if name is not None and name not in self.plates:
            raise UnknownName(name, self.plates, where=where)

    def root(self, plate: str) -> str:
        """The plate at the end of the chain of `like`: the one that owns size and labels."""
        seen = [plate]
        while (base := self.plates[seen[-1]].like) is not None:
            if base in seen:
                raise PlateError(f"plates {', '.join(seen)} are `like` each other in a circle")
            seen.append(base)
        return seen[-1]

    def parent_columns(self) -> dict[str, ColumnSpec]:
        """For each plate within another, the column that says which outer element a row belongs to."""
        return {
            name: ColumnSpec(plate.within, (name,), Domain("levels", levels=plate.within), required=False)
            for name, plate in self.plates.items()
            if plate.within is not None
        }

    def category_plates(self) -> frozenset[str]:
        """The root plates whose elements are values of some column, or outer groups of some plate."""
        columns = (*self.columns.values(), *self.parent_columns().values())
        return frozenset(self.root(column.domain.levels) for column in columns if column.domain.levels is not None)

    def is_open(self, plate: str) -> bool:
        """Whether each data set brings elements of its own: rows, as against categories, groups or features."""
        spec = self.plates[plate]
        if spec.extent is not None or spec.like is not None or plate in self.category_plates():
            return False
        if any(other.like == plate for other in self.plates.values()):
            return False
        return all(plate not in column.plates[1:] for column in self.columns.values())

    def without_size(self, plate: str) -> Signature:
        """The same signature with the size of one plate left to the data (a batch holds only some rows)."""
        freed = replace(self.plates[plate], size=None, labels=None)
        return Signature({**self.plates, plate: freed}, self.columns)
