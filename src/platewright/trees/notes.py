"""What is remarkable about the rows that a tree is grown on, in sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from platewright.trees.leaves import ClassLeaf, Leaf


def notes_on(values: Mapping[str, NDArray[Any]], leaf: Leaf, target: NDArray[Any]) -> tuple[str, ...]:
    """Inputs that never vary, and classes seen once or never."""
    found = [
        f"`{name}` is the same in every row, so nothing is asked of it"
        for name, column in values.items()
        if len(column) and (column == column[0]).all()
    ]
    if isinstance(leaf, ClassLeaf):
        counts = np.bincount(target, minlength=leaf.size)
        names = leaf.labels or tuple(range(leaf.size))
        found += [
            f"class {name} was seen once: its probability is mostly the prior's" for name in _at(names, counts, 1)
        ]
        found += [f"class {name} was never seen: its probability is the prior's" for name in _at(names, counts, 0)]
    return tuple(found)


def _at(names: tuple[object, ...], counts: NDArray[np.int64], wanted: int) -> list[object]:
    return [name for name, count in zip(names, counts.tolist(), strict=True) if count == wanted]
