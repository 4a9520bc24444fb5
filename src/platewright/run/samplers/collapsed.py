"""Run a collapsed Gibbs plan by its printed functions: the judge of the compiled one.

    for each element:   take it out of its tables;  weigh every level;  draw one;  put it back

Tables of real numbers are filled anew before each sweep, so that rounding cannot pile up.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from platewright.backends.kernels.collapsed import NoLevel
from platewright.backends.kernels.xoshiro import Xoshiro
from platewright.backends.numpy.learning import Visited
from platewright.errors import PlatewrightError
from platewright.family import Array
from platewright.run.hidden.printed import printed_collapsed
from platewright.run.samplers.collapsed_data import CollapsedData
from platewright.schemas.collapsed_move import Move

HIDDEN, RANDOM = "hidden ", "random numbers"
"""What hidden variables, and the words of the random state, are called in a stored state."""


class CollapsedSampler:
    """One chain: hidden variables, and what follows from the data once and for all."""

    def __init__(
        self, data: CollapsedData, hidden: Mapping[str, Array], random: Xoshiro, visited: Visited | None = None
    ) -> None:
        self.data, self.random, self.visited = data, random, visited or {}
        self.hidden = {name: np.array(values, dtype=np.int64) for name, values in hidden.items()}
        self.printed = printed_collapsed(data.plan, self.visited)
        self.size = self.printed.sized(data.sizes)
        self.given = self.printed("prepared")(self.printed.named(data.given), self.size)

    def state(self) -> dict[str, Array]:
        """All that the next sweep follows from."""
        found = {f"{HIDDEN}{name}": np.array(values) for name, values in self.hidden.items()}
        return {**found, RANDOM: self.random.state.copy()}

    def set_state(self, state: Mapping[str, Array]) -> None:
        """Go on from a state that was looked at."""
        for name, values in self.hidden.items():
            values[...] = state[f"{HIDDEN}{name}"]
        self.random.state[...] = state[RANDOM]

    def sweep(self, count: int = 1) -> None:
        """Every element of every hidden variable once, so many times over."""
        hidden = self.printed.named(self.hidden)
        try:
            for _ in range(count):
                self.printed("sweep")(hidden, self.given, self.size, self.random)
        except NoLevel as impossible:
            name = self.printed.things[impossible.name]
            raise PlatewrightError(
                f"no level of `{name}` has a positive probability",
                where=f"element {', '.join(map(str, impossible.element))} of `{name}`",
                hint="look for probabilities of exactly 0 or 1 in the model, and for data of extreme size",
            ) from impossible

    def log_weights(self, move: Move, element: tuple[int, ...]) -> Array:
        """The change of log evidence for each level of an element, which is taken out of its tables for that."""
        everything = {**self.given, **self.printed.named(self.hidden)}
        everything |= self.printed("tables")(everything, self.size)
        word = self.printed.names[move.hidden]
        level = int(self.hidden[move.hidden][element])
        self.printed(f"enter_{word}")(-1.0, everything, self.size, *element, level)
        found: Array = self.printed(f"weigh_{word}")(everything, self.size, *element)
        return found
