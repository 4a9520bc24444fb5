"""What is believed of a tree before data: each node splits with a probability that may fall with its depth.

    p(tree) = product over leaves of (1 - s(depth)) x product over splits of s(depth) / (inputs x cuts of the input)

    s(depth) = probability (1 + depth)^-decay

Inputs and cuts are those that part the rows at the node; where none does, the node is a leaf with certainty.
"""

from __future__ import annotations

from dataclasses import dataclass

from platewright.errors import ParameterError


@dataclass(frozen=True)
class TreePrior:
    """The probability of a split, by depth."""

    probability: float = 0.5
    decay: float = 0.0

    def __post_init__(self) -> None:
        if isinstance(self.probability, bool) or not isinstance(self.probability, (int, float)):
            raise ParameterError(f"the probability of a split is {self.probability!r}", expected="a number from 0 to 1")
        if not 0.0 < self.probability < 1.0:
            raise ParameterError(f"the probability of a split is {self.probability:g}", expected="between 0 and 1")
        if isinstance(self.decay, bool) or not isinstance(self.decay, (int, float)) or not 0.0 <= self.decay < 1e6:
            raise ParameterError(f"the decay of splits is {self.decay!r}", expected="a number from 0")

    def at(self, depth: int) -> float:
        """The probability that a node at this depth splits."""
        return self.probability * (1.0 + depth) ** -self.decay

    def __str__(self) -> str:
        fading = f" (1 + depth)^-{self.decay:g}" if self.decay else ""
        return f"a node splits with probability {self.probability:g}{fading}"


def branching(probability: float = 0.5, decay: float = 0.0) -> TreePrior:
    """A prior over trees: a node at a depth splits with probability `probability (1 + depth)^-decay`.

    >>> print(pw.branching(0.95, decay=2))
    a node splits with probability 0.95 (1 + depth)^-2
    """
    return TreePrior(probability, decay)
