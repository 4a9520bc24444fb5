"""Parameters given the hidden variables, draw after draw: statistics and what follows from them, then a draw.

    hidden  ->  statistics  ->  conditionals and log evidence  ->  draw, conditional means

The first two arrows are the exact plan of the complete data, by C where many draws pay for it; both give the same
numbers, and NumPy draws from them, so that emitted files make the same draws.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from platewright.backends.c.expression import Unprintable
from platewright.errors import NotFinite, PlatewrightError
from platewright.family import Array
from platewright.program.program import EVIDENCE
from platewright.run.exact.posterior import Posterior
from platewright.run.execute import arguments, finish, loaded
from platewright.run.samplers.collapsed_data import CollapsedData
from platewright.run.samplers.native_choice import native_gibbs
from platewright.schemas.blocks import ExactBlock
from platewright.schemas.collapsed import CollapsedPlan
from platewright.schemas.gibbs import GibbsPlan

FEWEST = 200
"""Draws from which on C is written; NumPy takes about half a millisecond for each."""

Hidden = Mapping[str, Array]
Following = Callable[[Hidden], Mapping[str, Array]]
"""From hidden variables to all that the exact plan computes."""


class ParametersGiven:
    """Made once for a run."""

    def __init__(self, data: CollapsedData, following: Following) -> None:
        self.data, self.following = data, following

    def __call__(
        self, hidden: Hidden, generator: np.random.Generator
    ) -> tuple[dict[str, Array], dict[str, Array], float]:
        """One draw of the parameters given the hidden variables, their conditional means, and the log evidence."""
        computed = self.following(hidden)
        evidence = float(computed[EVIDENCE])
        if not np.isfinite(evidence):
            raise NotFinite(
                f"the log evidence of a draw is {evidence}",
                hint="look for probabilities of exactly 0 or 1 in the model",
            )
        everything = {**self.data.given, **hidden}
        posterior = Posterior(self.data.plan.complete, computed, everything, self.data.sizes)
        drawn = {name: values[0] for name, values in posterior.draws(1, generator).items()}
        means = {}
        for name, value in drawn.items():
            marginal = posterior.marginal(name)
            means[name] = np.asarray(value if marginal is None else marginal.mean, dtype=float)
        return drawn, means, evidence


def parameters_given(data: CollapsedData, hidden: Hidden, draws: int, backend: str) -> ParametersGiven:
    """How so many draws are made; `hidden` are values that a chain starts from."""
    if backend == "numpy" or draws < FEWEST:
        return ParametersGiven(data, by_numpy(data))
    try:
        return ParametersGiven(data, by_c(data, hidden, draws))
    except (Unprintable, PlatewrightError):  # NumPy computes the same, or says what is wrong
        return ParametersGiven(data, by_numpy(data))


def by_numpy(data: CollapsedData) -> Following:
    """The program of the exact plan as NumPy."""
    program = data.plan.complete.program
    module = loaded(program)

    def following(hidden: Hidden) -> Mapping[str, Array]:
        everything: dict[str, Any] = {**data.given, **hidden}
        statistics = module.statistics(*arguments(program, module, everything, data.sizes))
        return finish(program, module, statistics, everything, data.sizes)

    return following


def by_c(data: CollapsedData, hidden: Hidden, draws: int) -> Following:
    """The same program as the one block of a Gibbs sampler in C, whose hidden variables others move."""
    plan = as_block(data.plan)
    nodes = plan.graph.nodes
    shapes = {name: tuple(data.sizes[axis.plate] for axis in nodes[name].axes) for name in plan.blocks[0].variables}
    start = {**{name: np.zeros(shape) for name, shape in shapes.items()}, **hidden}
    native = native_gibbs(plan, data.given, data.sizes, draws, lambda _: start, 0, data.plan.hidden)
    chain = native.chain(start, np.random.default_rng(0))

    def following(hidden: Hidden) -> Mapping[str, Array]:
        for name, values in hidden.items():
            chain.arrays[name][...] = values
        return chain.statistics(0)

    return following


def as_block(plan: CollapsedPlan) -> GibbsPlan:
    """All parameters given the hidden variables as a plan of one block."""
    complete = plan.complete
    variables = tuple(name for conditional in complete.conditionals for name in conditional.variables)
    return GibbsPlan(complete.graph, "posterior", (ExactBlock(variables, complete),), (), complete.graph.factors)
