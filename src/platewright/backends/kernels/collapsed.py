"""Parts of a sampler that draws one element at a time: which level it takes, and which rows are its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from platewright.family import Array

LANES = 8
"""Levels are drawn lane by lane, as vector code adds them up: level 0, 8, 16, ... then 1, 9, 17, ..."""


class NoLevel(ArithmeticError):
    """An element that can have no value: the state or the data are impossible."""

    def __init__(self, name: str, element: tuple[int, ...]) -> None:
        self.name, self.element = name, tuple(int(number) for number in element)
        super().__init__(f"no level of element {self.element} of `{name}` has a positive probability")


def drawn_level(log_weights: Array, uniform: float, name: str, element: tuple[int, ...]) -> int:
    """A level with its probability, from a number between 0 and 1."""
    top = log_weights.max()
    if not np.isfinite(top):
        raise NoLevel(name, element)
    weights = np.exp(log_weights - top)
    order = sorted(range(len(weights)), key=lambda level: (level % LANES, level // LANES))
    running = np.cumsum(weights[order])
    return order[int(np.searchsorted(running[:-1], uniform * running[-1], side="right"))]


def filled(shape: tuple[int, ...], codes: Sequence[Array], value: Array) -> Array:
    """A table from all its rows: each adds its value at the cell that its codes name."""
    if not codes:
        return np.asarray(np.sum(value))
    table = np.zeros(shape)
    np.add.at(table, tuple(np.asarray(code, dtype=np.intp) for code in codes), value)
    return table


def dealt(codes: Array, count: int) -> tuple[Array, Array]:
    """Where each element's rows start, and the rows one after another; `codes` say to which element a row belongs."""
    codes = np.asarray(codes, dtype=np.int64)
    starts = np.concatenate([[0], np.cumsum(np.bincount(codes, minlength=count))])
    return starts.astype(np.int64), np.argsort(codes, kind="stable").astype(np.int64)


def pilot_fit(designs: Sequence[tuple[Array, Array]]) -> Array:
    """Least squares of all rows at once; any value would do, a near one keeps the digits."""
    lefts, rights = [], []
    for left, right in designs:
        rows = left.ndim - 1
        count, width = int(np.prod(left.shape[:rows])), int(np.prod(right.shape[rows:]))  # there may be no rows
        lefts.append(left.reshape(count, left.shape[-1]))
        rights.append(right.reshape(count, width))
    found: Array = np.linalg.lstsq(np.concatenate(lefts), np.concatenate(rights), rcond=None)[0]
    return found


def about_pilot(left: Array, right: Array, pilot: Array) -> Array:
    """Right-hand sides less their pilot fit: this moves the unknowns, and keeps the digits of data far from zero."""
    return np.asarray(right - (left @ pilot).reshape(right.shape))
