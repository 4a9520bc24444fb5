"""The conditional of a Gibbs block at given values of all else: its log density, and its mean.

Exact blocks are plans whose posterior is normalised; a hidden chain has the density of its path, from the filter.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from platewright.algebra.evaluate import Environment
from platewright.algebra.expression import mentions
from platewright.backends.kernels.hidden_chain import ChainWeights, forward, smooth
from platewright.elimination.state import FamilyConditional
from platewright.errors import PlatewrightError
from platewright.family import Array
from platewright.language.plate import beginning
from platewright.program.split_program import split_program
from platewright.run.exact.posterior import Posterior
from platewright.run.execute import Statistics, arguments, finish, loaded
from platewright.run.hidden.chain import chain_weights
from platewright.schemas.gibbs import Block, ChainBlock, ExactBlock, GibbsPlan


class BlockConditional:
    """One block of a sampler on given data; statistics that no unknown enters are computed once."""

    def __init__(
        self,
        plan: GibbsPlan,
        block: Block,
        columns: Mapping[str, Array],
        sizes: Mapping[str, int],
        moving: frozenset[str],
    ) -> None:
        self.plan, self.block, self.columns, self.sizes = plan, block, columns, sizes
        if isinstance(block, ExactBlock):
            self.program = block.plan.program
            fixed, self.moving = split_program(self.program, moving)
            self.known: Statistics = {}
            if fixed.passes:
                module = loaded(fixed)
                self.known = module.statistics(*arguments(fixed, module, columns, sizes))

    def posterior(self, values: Mapping[str, Array]) -> Posterior:
        """The exact conditional given values of all other unknowns."""
        if not isinstance(self.block, ExactBlock):
            raise PlatewrightError(f"the conditional of {', '.join(self.block.variables)} has no closed form")
        everything = {**self.columns, **values}
        module = loaded(self.moving)
        found = {**self.known, **module.statistics(*arguments(self.moving, module, everything, self.sizes))}
        computed = finish(self.program, loaded(self.program), found, everything, self.sizes)
        return Posterior(self.block.plan, computed, everything, self.sizes)

    def log_densities(self, values: Mapping[str, Array], points: list[Mapping[str, Array]]) -> list[float]:
        """The log conditional density at several points, given values of all other unknowns."""
        with np.errstate(all="ignore"):
            if isinstance(self.block, ExactBlock):
                conditional = self.posterior(values)
                names = self.block.variables
                return log_densities(conditional, [{name: point[name] for name in names} for point in points])
            name = self.block.variables[0]
            weights = self._chain(values)
            total = float(forward(weights)[1].sum())
            return [_path_weight(weights, np.asarray(point[name], dtype=int)) - total for point in points]

    def _chain(self, values: Mapping[str, Array]) -> ChainWeights:
        if not isinstance(self.block, ChainBlock):
            raise PlatewrightError(f"the density of {', '.join(self.block.variables)} is not normalised")
        name = self.block.variables[0]
        node = self.plan.graph.nodes[name]
        levels = str(node.domain.levels) if node.domain.kind == "levels" else f"{name}.levels"
        environment = Environment({**self.columns, **values}, self.sizes)
        first = self.columns[beginning(node.axes[0].plate)]
        return chain_weights(name, self.block.factors, levels, first, environment)

    def means(self, values: Mapping[str, Array]) -> dict[str, Array]:
        """The conditional mean of each unknown of the block that has one; of discrete ones the probabilities."""
        with np.errstate(all="ignore"):
            if isinstance(self.block, ChainBlock):
                weights = self._chain(values)
                return {self.block.variables[0]: smooth(weights, forward(weights)[0])[0]}
            if not isinstance(self.block, ExactBlock):
                return {}
            conditional = self.posterior(values)
            found = {name: _mean(conditional, name) for name in self.block.variables}
        return {name: value for name, value in found.items() if value is not None}


def log_densities(posterior: Posterior, points: list[Mapping[str, Array]]) -> list[float]:
    """The log density of a posterior at several points; families without other unknowns in them take all at once."""
    free = [
        found
        for found in posterior.plan.conditionals
        if isinstance(found, FamilyConditional)
        and not any(mentions(value, set(posterior.unknown)) for value in found.parameters.values())
    ]
    total = np.zeros(len(points))
    for found in free:
        marginal = posterior.marginal(found.variable)
        assert marginal is not None
        wide = {
            name: np.broadcast_to(value, (len(points), *np.shape(value))) for name, value in marginal.parameters.items()
        }
        stacked = np.array([point[found.variable] for point in points])
        density = replace(marginal, parameters=wide).log_density(stacked)
        total += density.reshape(len(points), -1).sum(axis=1)
    others = tuple(found for found in posterior.plan.conditionals if found not in free)
    if not others:
        return total.tolist()
    left = Posterior(replace(posterior.plan, conditionals=others), posterior.values, posterior.data, posterior.sizes)
    return [float(value) + left.log_density(point) for value, point in zip(total, points, strict=True)]


def _mean(conditional: Posterior, name: str) -> Array | None:
    marginal = conditional.marginal(name)
    if marginal is None:
        return None
    if "log_probabilities" in marginal.parameters:
        return np.exp(marginal.parameters["log_probabilities"])
    if marginal.family.name == "Bernoulli":
        return np.stack([1 - marginal.parameters["p"], marginal.parameters["p"]], axis=-1)
    if marginal.family.mean is None and marginal.transform.name == "identity":
        return None
    try:
        mean = np.asarray(marginal.mean)
    except PlatewrightError:
        return None
    return mean if np.isfinite(mean).all() else None


def _path_weight(weights: ChainWeights, path: Array) -> float:
    """The log weight of one path through a chain."""
    steps = np.arange(len(path))
    found = weights.single[steps, path].sum()
    later = steps[~weights.first]
    return float(found + weights.pair[later, path[later - 1], path[later]].sum())
