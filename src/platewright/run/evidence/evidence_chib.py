"""Evidence by Chib's identity: the joint density at a point, over the posterior density there  (Chib 1995).

    log p(data) = log p(data, point) - sum over blocks b of log p(point_b | data, blocks before b at the point)

Each ordinate is an average of exact conditionals over draws of the blocks after b: for the first block of the Gibbs run
itself, for the others of reduced runs in which the earlier blocks stay at the point; the last needs no draws. Where
labels are exchangeable the posterior has a copy for each relabelling while a sampler may see one only; the first
ordinate is therefore averaged over all relabellings (Berkhof, van Mechelen and Gelman 2003).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.backends.kernels.log_means import log_mean
from platewright.errors import PlatewrightError, SizeError
from platewright.family import Array
from platewright.graph.graph import Factor
from platewright.operation import Declined
from platewright.recognition.exchangeable import Symmetry, find_symmetries
from platewright.run.evidence.evidence import Evidence, error_of_log_mean
from platewright.run.samplers.block_conditional import BlockConditional
from platewright.run.samplers.gibbs import Sampler
from platewright.schemas.evidence import normalised
from platewright.schemas.gibbs import GibbsPlan

MOST_RELABELLINGS = 720
"""The most relabellings that an ordinate is averaged over."""
CANDIDATES = 16
"""How many draws are looked at for a point."""
MOST_DRAWS = 2_000
MOST_DENSITIES = 20_000
"""The most densities evaluated for one ordinate: fewer draws are used where there are more relabellings."""
Point = Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class Chib:
    """A sampler's plan on given data, with draws of all its unknowns by chain."""

    plan: GibbsPlan
    columns: Mapping[str, Array]
    sizes: Mapping[str, int]
    chains: Mapping[str, Array]
    seed: int = 0

    @property
    def unknown(self) -> frozenset[str]:
        """All that the sampler draws."""
        return frozenset(name for block in self.plan.blocks for name in block.variables)

    def state(self, chain: int, draw: int) -> dict[str, Array]:
        """The values of all unknowns at one draw."""
        return {name: self.chains[name][chain, draw] for name in self.unknown}

    @property
    def count(self) -> tuple[int, int]:
        """Chains, and draws of each."""
        found = next(iter(self.chains.values())).shape
        return found[0], found[1]

    # -- the point ---

    def point(self, symmetries: Sequence[Symmetry]) -> dict[str, Array]:
        """A draw whose first block is likely under other draws too: any point is right, but a lonely one is not seen.

        Candidates are spread over all chains; each is judged by the draws of the other candidates.
        """
        chains, draws = self.count
        each = -(-CANDIDATES // chains)
        spread = np.unique(np.linspace(0, draws - 1, each).astype(int))
        states = [self.state(chain, int(draw)) for chain in range(chains) for draw in spread]
        if len(self.plan.blocks) == 1 or len(states) < 3:
            return states[-1]
        conditional = self.conditional(0)
        moved = [point for state in states for point in _all_moved(state, symmetries)]
        logs = np.array([conditional.log_densities(state, moved) for state in states])
        logs = logs.reshape(len(states), len(states), -1)
        judged = [log_mean(np.delete(logs[:, k], k, axis=0).ravel()) for k in range(len(states))]
        return states[int(np.argmax(judged))]

    # -- ordinates ---

    def conditional(self, number: int) -> BlockConditional:
        """A block with all that it needs to give densities."""
        return BlockConditional(self.plan, self.plan.blocks[number], self.columns, self.sizes, self.unknown)

    def first_ordinate(self, point: Point, symmetries: Sequence[Symmetry]) -> tuple[float, float]:
        """Log density of the first block at the point, and its error, over draws and relabellings."""
        moved = _all_moved(point, symmetries)
        conditional = self.conditional(0)
        chains, draws = self.count
        each = max(20, min(draws, MOST_DRAWS // chains, MOST_DENSITIES // (chains * len(moved))))
        chosen = np.unique(np.linspace(0, draws - 1, each).astype(int))
        logs = np.array(
            [
                [log_mean(np.array(conditional.log_densities(self.state(chain, int(draw)), moved))) for draw in chosen]
                for chain in range(chains)
            ]
        )
        return log_mean(logs.ravel()), error_of_log_mean(logs)

    def reduced_ordinate(self, number: int, point: Point) -> tuple[float, float]:
        """Log density of a later block at the point, from a run in which the blocks before it stay there."""
        conditional = self.conditional(number)
        if number == len(self.plan.blocks) - 1:
            return conditional.log_densities(point, [point])[0], 0.0
        fixed = {name: point[name] for block in self.plan.blocks[:number] for name in block.variables}
        left = replace(self.plan, blocks=self.plan.blocks[number:])
        chains, draws = self.count
        draws = min(draws, MOST_DRAWS // chains)
        logs = np.empty((chains, draws))
        for chain, generator in enumerate(np.random.default_rng([self.seed, number]).spawn(chains)):
            start = {name: values for name, values in self.state(chain, -1).items() if name not in fixed}
            sampler = Sampler(left, {**self.columns, **fixed}, self.sizes, generator, start)
            for _ in range(max(50, draws // 10)):
                sampler.sweep()
            for draw in range(draws):
                sampler.sweep()
                logs[chain, draw] = conditional.log_densities({**fixed, **sampler.values}, [point])[0]
        return log_mean(logs.ravel()), error_of_log_mean(logs)


def chib(
    plan: GibbsPlan, columns: Mapping[str, Array], sizes: Mapping[str, int], chains: Mapping[str, Array], seed: int = 0
) -> Evidence:
    """The log evidence from a Gibbs run, with its Monte Carlo error."""
    exact = normalised(plan)
    if isinstance(exact, Declined):
        raise PlatewrightError(
            f"Chib's method declined: {exact.reason}", hint='learn(data, goal="evidence", by="annealed")'
        )
    plan = exact
    symmetries = find_symmetries(plan.graph, plan.factors, sizes)
    order = prod(symmetry.order for symmetry in symmetries)
    if order > MOST_RELABELLINGS and len(plan.blocks) > 1:
        raise SizeError(
            f"the posterior has {order:,} copies, one for each relabelling", expected=f"at most {MOST_RELABELLINGS}",
            hint='learn(data, goal="evidence", by="annealed")',
        )  # fmt: skip
    run = Chib(plan, columns, sizes, chains, seed)
    point = run.point(symmetries)
    total = log_joint(plan.factors, {**columns, **point}, sizes)
    variance = 0.0
    for number in range(len(plan.blocks)):
        averaged = number == 0 and len(plan.blocks) > 1
        ordinate, error = run.first_ordinate(point, symmetries) if averaged else run.reduced_ordinate(number, point)
        total -= ordinate
        variance += error**2
    chains_, draws = run.count
    detail = f"{len(plan.blocks)} blocks, {chains_} chains of {draws} draws"
    if order > 1:
        detail += f", averaged over {order} relabellings"
    return Evidence(total, "chib", float(np.sqrt(variance)), detail, plan.proper)


def log_joint(factors: Sequence[Factor], values: Mapping[str, Array], sizes: Mapping[str, int]) -> float:
    """`log p(data, point)`: the factors of a joint at values of everything."""
    environment = Environment(values, sizes)
    with np.errstate(all="ignore"):
        return float(sum(float(np.sum(evaluate(f.expression, environment, f.axes))) for f in factors))


def _all_moved(point: Point, symmetries: Sequence[Symmetry]) -> list[Point]:
    """A point under all relabellings."""
    found: list[Point] = []
    for chosen in product(*(symmetry.relabellings() for symmetry in symmetries)):
        moved = dict(point)
        for symmetry, to in zip(symmetries, chosen, strict=True):
            moved = symmetry.moved(moved, to)
        found.append(moved)
    return found
