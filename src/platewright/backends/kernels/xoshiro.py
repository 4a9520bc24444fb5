"""The random numbers of element-by-element samplers: xoshiro256++ (Blackman and Vigna), in Python as in emitted C.

One stream for each chain, so that the same seed gives the same draws whichever backend runs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from platewright.family import Array

MASK = (1 << 64) - 1


def rolled(x: int, by: int) -> int:
    """The bits of a word of 64, turned to the left."""
    return ((x << by) | (x >> (64 - by))) & MASK


@dataclass(eq=False)
class Xoshiro:
    """Four words of state, changed by every number that is taken."""

    state: Array

    @classmethod
    def seeded(cls, seed: np.random.SeedSequence) -> Xoshiro:
        """A stream of its own for each seed; the state is never all zero."""
        state = seed.generate_state(4, np.uint64)
        state[0] |= np.uint64(1)
        return cls(state)

    def uniform(self) -> float:
        """A number in [0, 1): the upper 53 bits."""
        a, b, c, d = (int(word) for word in self.state)
        result = (rolled((a + d) & MASK, 23) + a) & MASK
        shifted = (b << 17) & MASK
        c ^= a
        d ^= b
        b ^= c
        a ^= d
        c ^= shifted
        d = rolled(d, 45)
        self.state[:] = np.array([a, b, c, d], dtype=np.uint64)
        return (result >> 11) * 2.0**-53
