"""The updates of a mean-field plan on given data: its printed functions, or what C makes in their place."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from platewright.backends.kernels.bound import Update
from platewright.elimination.loadings import direction_sizes
from platewright.family import Array
from platewright.run.execute import Statistics
from platewright.run.hidden.chain_group import check_counts_of_states
from platewright.run.hidden.gaussian_hidden import with_points
from platewright.run.hidden.native_blocks import NativeBlocks
from platewright.run.hidden.native_cliques import NativeCliques
from platewright.run.hidden.native_em import NativeEM
from platewright.run.hidden.native_em_sums import Doubtful
from platewright.run.hidden.plain_updates import plain_settled, plain_start
from platewright.run.hidden.printed import Printed, printed_field
from platewright.run.hidden.telling import told
from platewright.schemas.few_rows import FewRows
from platewright.schemas.mean_field import MeanFieldPlan

Values = Mapping[str, Array]
STATISTICS = "statistics"
"""What stands in place of hidden probabilities where a pass has left nothing but their statistics."""


@dataclass(frozen=True, eq=False)
class Settled:
    """Distributions of all parameters after an update, what they add to the bound, and their moments."""

    values: dict[str, Array]
    evidence: float
    moments: dict[str, Array]


def with_noises(plan: MeanFieldPlan, sizes: Mapping[str, int]) -> dict[str, int]:
    """Sizes of plates, of the points that stand for hidden Gaussians, and of the noises of Gaussian parameters."""
    return {**with_points(plan.latent, sizes), **direction_sizes(plan.complete.conditionals, sizes)}


@dataclass(frozen=True, eq=False)
class Runner:
    """The updates of a plan on given data; plain ones keep nothing of a distribution but its mean (Equation 26)."""

    plan: MeanFieldPlan
    columns: Values
    sizes: Mapping[str, int]
    plain: bool = False
    native: NativeEM | NativeCliques | None = None
    """Makes the update of what is hidden and its statistics in one pass; without it, or its C, NumPy makes both."""
    few: FewRows[MeanFieldPlan] | None = None
    """How the rows were gathered, where few stand for all."""

    @cached_property
    def text(self) -> Printed:
        """The printed functions of the plan."""
        return printed_field(self.plan, self.few)

    @cached_property
    def data(self) -> dict[str, Array]:
        """The columns under their names in the text."""
        for chain in self.plan.latent.chains:
            check_counts_of_states(chain, self.sizes)
        return self.text.named(self.columns)

    @cached_property
    def size(self) -> dict[str, int]:
        """How many elements each plate has, under their names in the text."""
        return self.text.sized(self.sizes)

    @cached_property
    def all_sizes(self) -> dict[str, int]:
        """Sizes of plates, of the points that stand for hidden Gaussians, and of the noises of Gaussian parameters."""
        return with_noises(self.plan, self.sizes)

    # -- the start ---

    def starts(self, seed: int) -> Callable[[np.random.Generator], Values]:
        """What makes moments to start from: those that follow from soft guesses, made on some rows where many are."""
        if not self.plain:
            begun = self.text("starting_points")(self.data, self.size, seed)
            return lambda generator: self.text.back(begun(generator))
        columns, sizes = self._chosen(seed)
        few = Runner(self.plan, columns, sizes, plain=True)
        return lambda generator: few.posterior(few.start(generator)).moments

    def _chosen(self, seed: int) -> tuple[Values, Mapping[str, int]]:
        """Some rows to start from."""
        if "starting_rows" not in self.text:
            return self.columns, self.sizes
        data, size = self.text("starting_rows")(self.data, self.size, seed)
        return {**self.columns, **self.text.back(data)}, {**self.sizes, **self.text.back(size)}

    def start(self, generator: np.random.Generator) -> dict[str, Array]:
        """Soft assignments to start from, and moments of moderate values where blocks of parameters take turns."""
        found = self.text.back(self.text("start")(self.data, self.size, generator))
        return plain_start(self.plan, found, self.sizes, generator) if self.plain else found

    # -- the updates ---

    def updated(self, moments: Values) -> Update:
        """One update of both distributions."""
        expectations, entropy = self.hidden(moments)
        settled = self.posterior({**moments, **expectations})
        return Update(settled.values, settled.moments, settled.evidence + entropy, expectations)

    def posterior(self, expectations: Mapping[str, Any]) -> Settled:
        """The distribution of each block in turn, given hidden probabilities and moments of the other blocks."""
        left = expectations.get(STATISTICS)
        given = {name: value for name, value in expectations.items() if name != STATISTICS}
        if left is None:
            return self._settled(given)
        if not isinstance(left, NativeBlocks):
            return self._settled(given, lambda number, known: left)
        programs = self.plan.latent.programs
        try:
            return self._settled(given, lambda number, known: left.statistics(programs[number], known))
        except Doubtful as doubt:
            left.native.doubted(doubt)
            return self._settled({**given, **self.expected(given)[0]})

    def _settled(self, given: Values, sums: Callable[[int, Values], Statistics] | None = None) -> Settled:
        """One block after another, each with its statistics, those of C or else of the text."""
        if self.plain:
            return Settled(*plain_settled(self.plan, self.columns, given, self.sizes, self.all_sizes, sums))
        text, known = self.text, {**self.data, **self.text.named(given)}
        with told(self.plan), np.errstate(all="ignore"):
            if sums is None:
                values, moments, evidence = text("parameters")(known, self.size)
            else:
                values, moments, evidence = self._by_sums(sums, known)
        return Settled({n: np.asarray(v) for n, v in values.items()}, evidence, text.back(moments))

    def _by_sums(
        self, sums: Callable[[int, Values], Statistics], known: Values
    ) -> tuple[dict[str, Array], dict[str, Array], float]:
        """The blocks in turn from the statistics that C has left, under the names of the text."""
        values: dict[str, Array] = {}
        moments: dict[str, Array] = {}
        evidence = 0.0
        for number in range(len(self.plan.fields)):
            ending = f"_{number}" if self.plan.takes_turns else ""
            everything = {**known, **moments}
            raw = sums(number, {**self.columns, **self.text.back(everything)})
            block = self.text(f"settled{ending}")(self.text.statistics(number, raw), everything, self.size)
            values, moments, evidence = {**values, **block[0]}, {**moments, **block[1]}, evidence + block[2]
        return values, moments, evidence

    def hidden(self, moments: Values) -> tuple[dict[str, Any], float]:
        """Hidden probabilities given expected log factors, or what C leaves of them, and their entropy."""
        native = self.native if self.native is not None and self.native.native else None
        found = native.soft(moments) if native is not None else None
        if found is None or not np.isfinite(found.entropy):
            return self.expected(moments)
        if isinstance(native, NativeEM) and self.plan.takes_turns:
            return {STATISTICS: NativeBlocks(native, found)}, found.entropy
        return {STATISTICS: found.statistics}, found.entropy

    def kept(self, moments: Values, expectations: Mapping[str, Any]) -> Mapping[str, Any]:
        """Moments and hidden probabilities at the end of a run; a fused pass has not kept them."""
        if STATISTICS not in expectations:
            return {**moments, **expectations}
        if isinstance(self.native, NativeEM):
            return {**moments, **self.native.probabilities(moments)}
        return {**moments, **self.expected(moments)[0]}

    def expected(self, moments: Values) -> tuple[dict[str, Array], float]:
        """Hidden probabilities given expected log factors, and their entropy."""
        with told(self.plan):
            found, entropy = self.text("expect")({**self.data, **self.text.named(moments)}, self.size)
        return self.text.back(found), entropy
