"""Open classes above given values of new rows, exact: every combination of them completes the row, and is weighed.

    p(y = k | x, data) = p(y = k, x | data) / sum_j p(y = j, x | data)

Nothing is drawn: a classifier that was learned in closed form classifies in closed form. Each row is taken by itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product

import numpy as np

from platewright.errors import PlatewrightError, SizeError, UnknownName
from platewright.families import FAMILY_BY_NAME
from platewright.family import Array
from platewright.language.variable import Variable
from platewright.run.exact.marginal import Marginal
from platewright.run.results.quantity import Predictions

Weighed = Callable[[Mapping[str, Array]], Array]
"""The log predictive density of each new row, its open variables filled in."""
MOST_NUMBERS = 200_000_000
"""The most weights of combinations, over all rows."""


@dataclass(frozen=True, eq=False)
class Inference(Predictions):
    """Discrete variables of new rows by name, each with its exact probabilities given the rest of its row."""

    nodes: tuple[Variable, ...]
    levels: tuple[int, ...]
    rows: int
    weighed: Weighed
    count: int
    seed: int
    labels: Mapping[str, tuple[object, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        size = self.rows * math.prod(self.levels)
        if size > MOST_NUMBERS:
            raise SizeError(
                f"{size} weights of combinations of {', '.join(self)}",
                expected=f"at most {MOST_NUMBERS}",
                hint="infer fewer rows at a time, or give some of these variables",
            )

    def __repr__(self) -> str:
        return f"<Prediction of {', '.join(self)}>"

    def __iter__(self) -> Iterator[str]:
        return (node.name for node in self.nodes)

    def __len__(self) -> int:
        return len(self.nodes)

    def __getitem__(self, name: str) -> Marginal:
        probabilities = self.probabilities(name)
        node = self.nodes[tuple(self).index(name)]
        if node.family is not None and node.family.name == "Bernoulli":
            parameters = {"p": probabilities[..., 1]}
            return Marginal(name, node.family, parameters, axes=node.axes, labels=self.labels)
        with np.errstate(divide="ignore"):
            parameters = {"log_probabilities": np.log(probabilities)}
        return Marginal(name, FAMILY_BY_NAME["Categorical"], parameters, axes=node.axes, labels=self.labels)

    def probabilities(self, name: str) -> Array:
        """For each new row the probability of each value of a variable, along the last axis."""
        if name not in tuple(self):
            raise UnknownName(name, tuple(self), where="prediction")
        place = 1 + tuple(self).index(name)
        others = tuple(axis for axis in range(1, 1 + len(self.nodes)) if axis != place)
        return self.joint.sum(axis=others)

    @cached_property
    def joint(self) -> Array:
        """The probability of every combination; the first axis numbers the rows, then each variable has one."""
        every = list(product(*(range(size) for size in self.levels)))
        weights = np.empty((self.rows, len(every)))
        for place, values in enumerate(every):
            filled = {name: np.full(self.rows, value, dtype=np.int64) for name, value in zip(self, values, strict=True)}
            weights[:, place] = self.weighed(filled)
        highest = weights.max(axis=-1, keepdims=True, initial=-np.inf)
        if not np.isfinite(highest).all():
            number = int(np.argmin(np.isfinite(highest[:, 0])))
            raise PlatewrightError(
                f"new row {number} has probability zero whatever {', '.join(f'`{name}`' for name in self)} may be",
                where=f"row {number} (rows count from 0)",
            )
        found = np.exp(weights - highest)
        found /= found.sum(axis=-1, keepdims=True)
        return found.reshape(self.rows, *self.levels)

    @cached_property
    def draws(self) -> dict[str, Array]:
        """Joint draws of the open variables of each row; the first axis numbers them."""
        generator = np.random.default_rng(self.seed)
        flat = self.joint.reshape(self.rows, math.prod(self.levels))
        ends = np.cumsum(flat, axis=-1)
        chosen = (generator.random((self.count, self.rows))[..., None] > ends[:, :-1]).sum(axis=-1)
        places = np.unravel_index(chosen, self.levels)
        return dict(zip(self, places, strict=True))
