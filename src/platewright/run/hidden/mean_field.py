"""The updates of a mean-field plan on given data: hidden probabilities, and the distribution of each block in turn."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.elimination.loadings import direction_sizes
from platewright.family import Array
from platewright.program.program import EVIDENCE, Program
from platewright.run.exact.posterior import Posterior
from platewright.run.exact.runner import choose_runner
from platewright.run.execute import Loaded, Statistics, finish, loaded
from platewright.run.hidden.chain_group import chain_entropy, entropy_of, possible, shared
from platewright.run.hidden.field_moments import field_moments, mean_values, value_moments
from platewright.run.hidden.gaussian_hidden import condition, weighed, with_points
from platewright.run.hidden.native_blocks import NativeBlocks
from platewright.run.hidden.native_cliques import NativeCliques
from platewright.run.hidden.native_em import NativeEM
from platewright.run.hidden.native_em_sums import Doubtful
from platewright.run.hidden.soft_start import start_expectations
from platewright.run.hidden.starting_rows import starting_rows
from platewright.run.samplers.starting import starting_values
from platewright.schemas.field_blocks import ENTROPY, FieldBlock
from platewright.schemas.mean_field import MeanFieldPlan

Values = Mapping[str, Array]
STATISTICS = "statistics"
"""What stands in place of hidden probabilities where a pass has left nothing but their statistics."""


@dataclass(frozen=True, eq=False)
class Settled:
    """Distributions of all parameters after an update, what they add to the bound, and their moments."""

    posterior: Posterior
    evidence: float
    moments: dict[str, Array]


def with_noises(plan: MeanFieldPlan, sizes: Mapping[str, int]) -> dict[str, int]:
    """Sizes of plates, of the points that stand for hidden Gaussians, and of the noises of Gaussian parameters."""
    return {**with_points(plan.latent, sizes), **direction_sizes(plan.complete.conditionals, sizes)}


@dataclass(frozen=True, eq=False)
class Runner:
    """The updates of a plan on given data; plain ones keep nothing of a distribution but its mean (Equation 26)."""

    plan: MeanFieldPlan
    columns: Mapping[str, Array]
    sizes: Mapping[str, int]
    plain: bool = False
    native: NativeEM | NativeCliques | None = None
    """Makes the update of what is hidden and its statistics in one pass; without it, or its C, NumPy makes both."""

    @cached_property
    def _hidden(self) -> Loaded:
        return loaded(self.plan.expect)

    @cached_property
    def all_sizes(self) -> dict[str, int]:
        """Sizes of plates, of the points that stand for hidden Gaussians, and of the noises of Gaussian parameters."""
        return with_noises(self.plan, self.sizes)

    def begun(self, generator: np.random.Generator) -> dict[str, Array]:
        """Moments to start from: those that follow from soft guesses, made on a choice of rows where there are many."""
        columns, sizes = starting_rows(self.plan, self.columns, self.sizes, generator)
        few = Runner(self.plan, columns, sizes, self.plain)
        return few.posterior(few.start(generator)).moments

    def start(self, generator: np.random.Generator) -> dict[str, Array]:
        """Soft assignments to start from, and moderate values of parameters where blocks of them take turns."""
        found = start_expectations(self.plan, self.columns, self.sizes, generator)
        if len(self.plan.fields) > 1:
            wanted = [name for block in self.plan.fields for name in block.variables]
            values = starting_values(self.plan.graph, wanted, self.sizes, generator)
            for block in self.plan.fields:
                found |= value_moments(block.expecter, values, self.sizes)
        return found

    def posterior(self, expectations: Mapping[str, Any]) -> Settled:
        """The distribution of each block in turn, given hidden probabilities and moments of the other blocks."""
        left = expectations.get(STATISTICS)
        if left is None:
            return self.turns(self.summed, expectations)
        if not isinstance(left, NativeBlocks):
            return self.settled(left)
        given = {name: value for name, value in expectations.items() if name != STATISTICS}
        try:
            return self.turns(left.statistics, given)
        except Doubtful as doubt:
            left.native.doubted(doubt)
            return self.turns(self.summed, {**given, **self.expected(given)[0]})

    def turns(self, statistics: Callable[[Program, Values], Statistics], expectations: Values) -> Settled:
        """One block after another, each with its statistics given what is known of the others by then."""
        known = {**self.columns, **expectations}
        values: dict[str, Array] = {}
        moments: dict[str, Array] = {}
        others = 0.0
        for block, program in zip(self.plan.fields, self.plan.latent.programs, strict=True):
            found = statistics(program, known)
            values |= finish(program, loaded(program), found, known, self.all_sizes)
            posterior = Posterior(self.plan.complete, values, {**self.columns, **expectations}, self.sizes)
            own = self.moments(posterior, block)
            known |= own
            moments |= own
            if block is not self.plan.fields[-1] and not self.plain:
                others += self.entropy(block, {**values, **own})
        return Settled(posterior, float(values[EVIDENCE]) + others, moments)

    def summed(self, program: Program, known: Values) -> Statistics:
        """The statistics of a block from hidden probabilities, row by row."""
        # Means that shrink to nothing leave columns that follow from others: then every digit of a pool counts.
        return choose_runner(program, "numpy", 0).statistics(known, self.all_sizes)

    def settled(self, found: Statistics) -> Settled:
        """The distribution of the only block from its statistics, its log normaliser and its moments."""
        program = self.plan.maximise
        values = finish(program, loaded(program), found, self.columns, self.all_sizes)
        posterior = Posterior(self.plan.complete, values, self.columns, self.sizes)
        return Settled(posterior, float(values[EVIDENCE]), self.moments(posterior, self.plan.fields[-1]))

    def moments(self, posterior: Posterior, block: FieldBlock) -> dict[str, Array]:
        """What the other updates need to know about a block."""
        if not self.plain:
            return field_moments(posterior, block.plan.conditionals)
        return value_moments(block.expecter, mean_values(posterior, block.plan.conditionals), self.sizes)

    def entropy(self, block: FieldBlock, known: Mapping[str, Array]) -> float:
        """The entropy of a block from its parameters and moments."""
        assert block.entropy is not None
        return float(finish(block.entropy, loaded(block.entropy), {}, known, self.all_sizes)[ENTROPY])

    def hidden(self, moments: Mapping[str, Array]) -> tuple[dict[str, Any], float]:
        """Hidden probabilities given expected log factors, or what C leaves of them, and their entropy."""
        native = self.native if self.native is not None and self.native.native else None
        found = native.soft(moments) if native is not None else None
        if found is None or not np.isfinite(found.entropy):
            return self.expected(moments)
        if isinstance(native, NativeEM) and self.plan.takes_turns:
            return {STATISTICS: NativeBlocks(native, found)}, found.entropy
        return {STATISTICS: found.statistics}, found.entropy

    def kept(self, moments: Mapping[str, Array], expectations: Mapping[str, Any]) -> Mapping[str, Any]:
        """Moments and hidden probabilities at the end of a run; a fused pass has not kept them."""
        if STATISTICS not in expectations:
            return {**moments, **expectations}
        if isinstance(self.native, NativeEM):
            return {**moments, **self.native.probabilities(moments)}
        return {**moments, **self.expected(moments)[0]}

    def expected(self, moments: Mapping[str, Array]) -> tuple[dict[str, Array], float]:
        """Hidden probabilities given expected log factors, and their entropy."""
        everything = {**self.columns, **moments}
        found: dict[str, Array] = {}
        entropy = 0.0
        clouds = {cloud: condition(cloud, everything, self.all_sizes) for cloud in self.plan.latent.gaussian}
        for conditioned in clouds.values():
            found |= conditioned.arrays
            everything |= conditioned.arrays
        passed = [possible(chain, everything, self.all_sizes) for chain in self.plan.latent.chains]
        for one in passed:
            everything |= one.arrays
        if self.plan.expect.body:
            computed = finish(self.plan.expect, self._hidden, {}, everything, self.all_sizes)
            found |= {name: values for name, values in computed.items() if name.endswith(".probability")}
            entropy += sum(entropy_of(group, computed) for group in self.plan.latent.groups)
        for chain, one in zip(self.plan.latent.chains, passed, strict=True):
            given = {**everything, **found}
            shares = shared(chain, one, given, self.all_sizes)
            found |= shares
            entropy += chain_entropy(chain, one, shares, given, self.all_sizes)
        for cloud, conditioned in clouds.items():
            known = Environment({**everything, **found}, self.all_sizes)
            weight = evaluate(cloud.share, known, cloud.axes) if cloud.classes else 1.0
            entropy += float(np.sum(weight * weighed(cloud, conditioned.entropy, everything, self.all_sizes)))
        return found, entropy
