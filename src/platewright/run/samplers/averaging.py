"""Posterior means from a Gibbs run, Rao-Blackwellised: averages of the blocks' conditional means, not of the draws.

    E[theta | data] = E[ E[theta | data, the other blocks] ],    whose inner mean is known in closed form

So the noise of drawing theta itself is gone. Discrete unknowns give probabilities instead of means.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from platewright.algebra.evaluate import Environment
from platewright.errors import UnknownName
from platewright.family import Array
from platewright.run.forward import extended
from platewright.run.samplers.block_conditional import BlockConditional
from platewright.run.samplers.labels import Matching
from platewright.schemas.gibbs import Block, GibbsPlan

MOST_DRAWS = 1_000
"""Draws whose conditional means are averaged; neighbouring draws of a chain say much the same."""


@dataclass(frozen=True, eq=False)
class Averager:
    """A Gibbs plan with its data and its draws as they came."""

    plan: GibbsPlan
    columns: Mapping[str, Array]
    sizes: Mapping[str, int]
    chains: Mapping[str, Array]
    matching: Matching

    def means(self, block: Block) -> dict[str, Array]:
        """Averages over draws of the conditional means of a block, under matched labels."""
        unknown = frozenset(self.chains)
        conditional = BlockConditional(self.plan, block, self.columns, self.sizes, unknown)
        count, draws = next(iter(self.chains.values())).shape[:2]
        chosen = np.unique(np.linspace(0, draws - 1, max(1, min(draws, MOST_DRAWS // count))).astype(int))
        found: dict[str, list[list[Array]]] = {}
        for chain in range(count):
            for draw in chosen:
                state = {name: values[chain, draw] for name, values in self.chains.items()}
                for name, mean in conditional.means(state).items():
                    found.setdefault(name, [[] for _ in range(count)])[chain].append(mean)
        some = Matching(self.matching.symmetries, tuple(to[:, chosen] for to in self.matching.to))
        whole = {name: np.array(parts) for name, parts in found.items() if all(len(p) == len(chosen) for p in parts)}
        moved = {name: some.with_axes(name, values) for name, values in whole.items()}
        levels = [name for name in whole if self.plan.graph.nodes[name].domain.is_finite]
        moved |= {name: some.with_levels(name, moved[name]) for name in levels}
        return {name: values.mean(axis=(0, 1)) for name, values in moved.items()}


class Drawn(Protocol):
    """A fit that holds draws."""

    @property
    def derivation(self) -> GibbsPlan: ...
    @property
    def columns(self) -> Mapping[str, Array]: ...
    @property
    def sizes(self) -> Mapping[str, int]: ...
    @property
    def chains(self) -> Mapping[str, Array]: ...
    @property
    def matching(self) -> Matching: ...
    @property
    def sums(self) -> Mapping[str, object]: ...
    @property
    def seed(self) -> int: ...
    @property
    def flat(self) -> Mapping[str, Array]: ...
    def probabilities(self, name: str) -> Array: ...


def expected_value(fit: Drawn, name: str) -> Array:
    """The posterior mean of an unknown, or of what nobody depends on."""
    if name in fit.derivation.barren:
        return _predicted(fit, name)
    block = next((block for block in fit.derivation.blocks if name in block.variables), None)
    if block is None or name not in fit.chains:
        raise UnknownName(name, fit.chains, where="expected")
    if fit.sums:  # a conditional mean is one given all other unknowns
        return (
            fit.probabilities(name)
            if fit.derivation.graph.nodes[name].domain.is_finite
            else fit.flat[name].mean(axis=0)
        )
    means = Averager(fit.derivation, fit.columns, fit.sizes, fit.chains, fit.matching).means(block)
    if name in means:
        return means[name]
    if fit.derivation.graph.nodes[name].domain.is_finite:
        return fit.probabilities(name)
    found: Array = fit.flat[name].mean(axis=0)
    return found


def _predicted(fit: Drawn, name: str) -> Array:
    """The mean of what nobody depends on, such as missing responses: one draw of it for each draw of the rest."""
    count = len(next(iter(fit.flat.values())))
    environment = Environment(fit.columns, fit.sizes)
    generator = np.random.default_rng(fit.seed)
    found = extended(fit.derivation.graph, fit.derivation.barren, environment, fit.flat, count, generator)
    return np.asarray(found[name].mean(axis=0))
