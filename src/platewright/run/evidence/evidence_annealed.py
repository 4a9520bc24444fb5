"""Evidence by annealed importance sampling: from draws of the prior to the posterior in small steps  (Neal 2001).

    weight of a particle = product over t of likelihood(state_t)^(power_t+1 - power_t)

Its mean over particles is the evidence, whatever the steps; between them the particle is moved by the Gibbs sampler of
prior x likelihood^power, derived from the model like any other. The particles are independent, and so the error is
known.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from platewright.algebra.evaluate import Environment
from platewright.errors import NotFinite
from platewright.family import Array
from platewright.graph.graph import topological
from platewright.run.checks.sanity import check_counts
from platewright.run.evidence.evidence import Evidence, error_of_independent, log_mean
from platewright.run.evidence.evidence_chib import log_joint
from platewright.run.forward import draw_node
from platewright.run.samplers.gibbs import Sampler
from platewright.run.ticking import progress
from platewright.schemas.evidence import POWER, EvidencePlan
from platewright.schemas.gibbs import GibbsPlan

BEND = 4.0
"""Powers are (t / steps)^BEND: most steps are taken where the likelihood begins to be felt."""


@dataclass(frozen=True, eq=False)
class Annealed:
    """A tempered sampler on given data."""

    plan: EvidencePlan
    columns: Mapping[str, Array]
    sizes: Mapping[str, int]

    @property
    def gibbs(self) -> GibbsPlan:
        """The sampler of prior x likelihood^power."""
        assert self.plan.gibbs is not None
        return self.plan.gibbs

    def prior_draw(self, generator: np.random.Generator) -> dict[str, Array]:
        """All unknowns drawn from the model, parents first."""
        drawn = {name for block in self.gibbs.blocks for name in block.variables}
        found: dict[str, Array] = {}
        for name in topological(self.gibbs.graph):
            if name in drawn:
                environment = Environment({**self.columns, **found}, self.sizes)
                found[name] = draw_node(self.gibbs.graph.nodes[name], environment, frozenset(), generator)
        return found

    def log_likelihood(self, values: Mapping[str, Array]) -> float:
        """The log factors of the data at values of all unknowns."""
        known = [factor for factor in self.plan.factors if self.plan.graph.is_known(factor.owner)]
        return log_joint(known, {**self.columns, **values}, self.sizes)

    def log_weight(self, powers: Array, sweeps: int, generator: np.random.Generator) -> float:
        """The log weight of one particle."""
        start = {**self.prior_draw(generator), POWER: np.asarray(0.0)}
        sampler = Sampler(self.gibbs, self.columns, self.sizes, generator, start)
        total = 0.0
        for before, power in pairwise(powers.tolist()):
            total += (power - before) * self.log_likelihood(sampler.values)
            if np.isneginf(total):
                return total  # the prior drew what the data rule out
            sampler.values[POWER] = np.asarray(power)
            if power < 1.0:
                for _ in range(sweeps):
                    sampler.sweep()
        return float(total)


def annealed(
    plan: EvidencePlan,
    columns: Mapping[str, Array],
    sizes: Mapping[str, int],
    *,
    seed: int = 0,
    particles: int = 40,
    powers: int = 100,
    sweeps: int = 1,
) -> Evidence:
    """The log evidence from independent particles, with its Monte Carlo error."""
    check_counts(2, particles=particles)
    check_counts(1, powers=powers, sweeps=sweeps)
    run = Annealed(plan, columns, sizes)
    ladder = (np.arange(powers + 1) / powers) ** BEND
    generators = np.random.default_rng(seed).spawn(particles)
    weighed: list[float] = []
    cut = ""
    try:
        for k in progress(range(particles), "annealed"):
            weighed.append(run.log_weight(ladder, sweeps, generators[k]))
    except KeyboardInterrupt:
        if np.isfinite(weighed).sum() < 2:
            raise  # no estimate yet, nor how far off it may be
        cut = f"interrupted: {len(weighed)} of "
    logs = np.array(weighed)
    if np.isneginf(logs).all():
        raise NotFinite("every particle met data of probability zero", hint="use more particles, or by='chib'")
    if np.isnan(logs).any():
        raise NotFinite("the likelihood of a particle is NaN", hint="look for values at the edge of their range")
    weights = np.exp(logs - logs.max())
    worth = weights.sum() ** 2 / (weights**2).sum()
    detail = f"{cut}{particles} particles over {powers} powers, worth {worth:.0f} of equal weight"
    return Evidence(log_mean(logs), "annealed", error_of_independent(logs), detail)
