"""The result of a Gibbs run: draws by chain, their diagnostics, and the plan behind them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from platewright.errors import PlatewrightError, UnknownName
from platewright.family import Array
from platewright.run.averaging import expected_value
from platewright.run.diagnosing import array_stats
from platewright.run.gibbs import Sampler, run_chain
from platewright.run.labels import Matching, match
from platewright.run.predicting import RowPrediction, predict_rows
from platewright.run.sampled import Sampled
from platewright.run.sanity import check_counts
from platewright.run.shown import Shown
from platewright.run.starting import starting_values
from platewright.run.ticking import progress
from platewright.schemas.gibbs import GibbsPlan


@dataclass(frozen=True, eq=False, repr=False)
class SampledFit(Shown):
    """Draws from the posterior, chain by chain."""

    plan: GibbsPlan
    chains: Mapping[str, Array]
    """By name: chain, draw, then the axes of the variable."""
    columns: Mapping[str, Array]
    sizes: Mapping[str, int]
    labels: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    seed: int = 0
    backend: str = "numpy"
    seconds: Mapping[str, float] | None = None

    @property
    def how(self) -> str:
        """One line: which algorithm ran."""
        return f"gibbs: {self.plan.summary} ({self.backend})"

    def __getitem__(self, name: str) -> Sampled:
        """The posterior of one unknown, as draws of all chains."""
        if name not in self.flat:
            raise UnknownName(name, self.flat, where="fit[...]")
        return Sampled(name, self.flat[name], self.labels, self.matched[name])

    @cached_property
    def matching(self) -> Matching:
        """For exchangeable labels the relabelling of every draw that makes all draws agree."""
        return match(self.symmetries, self.chains)

    @cached_property
    def matched(self) -> Mapping[str, Array]:
        """The draws by chain, under labels that agree from draw to draw."""
        return self.matching.moved(self.chains)

    @cached_property
    def flat(self) -> Mapping[str, Array]:
        """Draws of all chains one after another, under labels that agree."""
        return {name: values.reshape(-1, *values.shape[2:]) for name, values in self.matched.items()}

    def expected(self, name: str) -> Array:
        """The posterior mean, of a discrete unknown the probabilities; of conditional means where they are known."""
        return expected_value(self, name)

    def predict(self, new: object, count: int = 1000, seed: int | None = None) -> RowPrediction:
        """Posterior predictive of what `new` leaves open; `new` gives values of new rows, or just their number."""
        chosen = self.seed if seed is None else seed
        return predict_rows(self.plan, self.draws(count, chosen), self.sizes, self.labels, new, chosen)

    def save(self, path: str | Path) -> None:
        """Write the result to a file that `pw.load` reads: JSON and arrays, no code."""
        from platewright.run.saving import save

        save(self, path)

    def draws(self, count: int | None = None, seed: int | None = None) -> dict[str, Array]:
        """All draws, or a random choice of them."""
        if count is None:
            return dict(self.flat)
        total = len(next(iter(self.flat.values())))
        chosen = np.random.default_rng(self.seed if seed is None else seed).integers(0, total, count)
        return {name: values[chosen] for name, values in self.flat.items()}

    @property
    def log_evidence(self) -> float:
        """`log p(data | model)` by Chib's method; `evidence` has its Monte Carlo error."""
        return self.evidence.value

    def probabilities(self, name: str) -> Array:
        """For a discrete unknown the share of draws in which each element has each value."""
        node = self.plan.graph.nodes[name]
        if not node.domain.is_finite:
            raise PlatewrightError(f"`{name}` is {node.domain}", expected="a variable with finitely many values")
        size = self.sizes[str(node.domain.levels)] if node.domain.kind == "levels" else int(node.domain.upper) + 1
        return np.stack([(self.flat[name] == level).mean(axis=0) for level in range(size)], axis=-1)

    def diagnostics(self) -> dict[str, dict[str, Array]]:
        """R-hat and effective sample size of every quantity, under labels that agree (needs the extra `arviz`)."""
        stats = array_stats()
        found: dict[str, dict[str, Array]] = {}
        for name, values in self.matched.items():
            if not np.issubdtype(values.dtype, np.floating):
                continue
            found[name] = {
                "r_hat": np.asarray(stats.rhat(values, chain_axis=0, draw_axis=1)),
                "effective_size": np.asarray(stats.ess(values, chain_axis=0, draw_axis=1)),
            }
        return found

    def to_arviz(self, count: int = 4000, seed: int | None = None) -> Any:
        """The draws as an ArviZ DataTree (needs the extra `arviz`)."""
        from platewright.run.arviz import to_arviz

        return to_arviz(self, count, seed)


def run_gibbs(
    plan: GibbsPlan,
    columns: Mapping[str, Array],
    sizes: Mapping[str, int],
    *,
    chains: int = 4,
    draws: int = 1000,
    warm_up: int = 500,
    thin: int = 1,
    seed: int = 0,
) -> dict[str, Array]:
    """Independent chains from jittered starts; the first axis of each result numbers them."""
    check_counts(chains=chains, draws=draws, thin=thin)
    check_counts(0, warm_up=warm_up)
    wanted = [name for block in plan.blocks for name in block.variables]
    found: list[dict[str, Array]] = []
    ticks = progress(range(chains * (warm_up + draws)), "gibbs")
    for generator in np.random.default_rng(seed).spawn(chains):
        start = starting_values(plan.graph, wanted, sizes, generator)
        sampler = Sampler(plan, columns, sizes, generator, start)
        found.append(run_chain(sampler, warm_up, draws, thin, lambda: next(ticks, None)))
    order = [name for name in plan.graph.nodes if name in found[0]]
    return {name: np.stack([chain[name] for chain in found]) for name in order}
