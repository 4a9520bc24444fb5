"""A plate: a named set of repetitions, and with it a named index."""

from __future__ import annotations

from dataclasses import dataclass

from platewright.algebra.expression import Index


@dataclass(frozen=True, slots=True)
class Plate:
    """What `m.plate(...)` returns. Its size may come from the data."""

    name: str
    size: int | None = None
    labels: tuple[object, ...] | None = None
    within: str | None = None
    like: str | None = None
    ordered: bool = False

    @property
    def index(self) -> Index:
        """The index that runs over this plate."""
        return Index(self.name, self.name)

    def __repr__(self) -> str:
        return f"<{self}>"

    def __str__(self) -> str:
        size = "?" if self.size is None else str(self.size)
        inside = f" within {self.within}" if self.within else ""
        return f"plate {self.name} ({size}{inside})"


def membership(inner: str, outer: str) -> str:
    """The name of the known column that says which outer element each inner element belongs to."""
    return f"{outer}@{inner}"


def beginning(plate: str) -> str:
    """The name of the known column that is one on the first element of each sequence of an ordered plate."""
    return f"first@{plate}"
