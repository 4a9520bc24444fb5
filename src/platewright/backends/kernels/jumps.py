"""Jumps between modes that mirror each other: unknowns turned over, elements of a plate exchanged.

accept  x -> T(x)  with probability  p(T(x), rest) / (p(x, rest) + p(T(x), rest)),   T and its inverse equally likely

Turning twice changes nothing, and exchanges undone in reverse are as likely as they were, so each step keeps the
density. Only factors that a jump changes need be in it. Where both sides are equal half of the jumps are made (Barker
1965): were all made, jumps in turn would go around in a circle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from platewright.family import Array

PAIRS = (1, 1, 1, 2, 3)
"""How many pairs of elements change places in each jump; of two elements there is one pair."""

Values = Mapping[str, Array]


class Jumper:
    """Jumps of some unknowns, one after another."""

    def __init__(self, log_factors: Callable[[Values], float]) -> None:
        self.log_factors = log_factors

    def begin_warm_up(self, sweeps: int) -> None:
        """There is nothing to learn."""

    def end_warm_up(self) -> None:
        """There was nothing to learn."""

    def jumps(self, values: Values, generator: np.random.Generator) -> Iterator[tuple[int, ...]]:
        """The jumps of one sweep."""
        raise NotImplementedError

    def made(self, values: Values, jump: tuple[int, ...]) -> dict[str, Array]:
        """Where a jump leads."""
        raise NotImplementedError

    def move(self, values: Values, generator: np.random.Generator) -> dict[str, Array]:
        """New values of all that moved."""
        found: dict[str, Array] = {}
        with np.errstate(all="ignore"):
            height = self.log_factors(values)
            for jump in self.jumps(values, generator):
                there = self.made({**values, **found}, jump)
                other = self.log_factors({**values, **there})
                if generator.uniform() * (1 + np.exp(height - other)) < 1:
                    found, height = {**found, **there}, other
        return found


class MirrorMover(Jumper):
    """Unknowns that are turned over: of each the axes over whose elements that goes one by one, and its other end."""

    def __init__(
        self, log_factors: Callable[[Values], float], shared: Mapping[str, tuple[tuple[int, ...], int]]
    ) -> None:
        super().__init__(log_factors)
        self.shared = shared

    def jumps(self, values: Values, generator: np.random.Generator) -> Iterator[tuple[int, ...]]:
        """The elements of the common plates, one after another."""
        name, (axes, _) = next(iter(self.shared.items()))
        yield from np.ndindex(*(np.shape(values[name])[axis] for axis in axes))

    def made(self, values: Values, jump: tuple[int, ...]) -> dict[str, Array]:
        """Unknowns with this element turned over."""
        found = {}
        for name, (axes, end) in self.shared.items():
            found[name] = np.array(values[name])
            every: list[slice | int] = [slice(None)] * found[name].ndim
            for axis, at in zip(axes, jump):
                every[axis] = at
            found[name][tuple(every)] = end - found[name][tuple(every)]
        return found


class RelabelMover(Jumper):
    """Elements of a plate that change places: of each unknown the axes over it, and whether its values are labels."""

    def __init__(
        self, log_factors: Callable[[Values], float], size: int, parts: Mapping[str, tuple[tuple[int, ...], bool]]
    ) -> None:
        super().__init__(log_factors)
        self.size, self.parts = size, parts

    def jumps(self, values: Values, generator: np.random.Generator) -> Iterator[tuple[int, ...]]:
        """Where each element goes: one pair exchanged, or a few one after another."""
        for pairs in PAIRS if self.size > 2 else PAIRS[:1]:
            to = np.arange(self.size)
            for _ in range(pairs):
                one, other = generator.choice(self.size, 2, replace=False)
                to[[one, other]] = to[[other, one]]
            yield tuple(to.tolist())

    def made(self, values: Values, jump: tuple[int, ...]) -> dict[str, Array]:
        """Unknowns after element k has become element `jump[k]`."""
        back, found = np.argsort(jump), {}
        for name, (axes, is_label) in self.parts.items():
            found[name] = np.array(jump)[values[name]] if is_label else np.array(values[name])
            for axis in axes:
                found[name] = np.take(found[name], back, axis=axis)
        return found
