"""Draw hidden classes together, given the parameters: down the cliques of groups, backwards along chains.

    classes of sequences   ->   states of chains, backwards, given these   ->   inner values of steps, given both

The order is that of summing out, the other way round, so each draw is one of all hidden values together.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.backends.kernels.hidden_chain import ChainWeights, backward_sample, forward, forward_best
from platewright.family import Array
from platewright.graph.graph import Graph
from platewright.operation import Declined
from platewright.program.program import Program
from platewright.run.checks.sanity import check_possible
from platewright.run.execute import finish, loaded
from platewright.run.hidden.chain_group import Recursed, possible, shared
from platewright.schemas.chain_group import find_chain_groups, without_chains
from platewright.schemas.expectations import expectations
from platewright.schemas.hidden import Group, Hidden, find_hidden
from platewright.schemas.latent import Chain, chain_programs
from platewright.schemas.nested_groups import find_groups, outermost_first

Sizes = Mapping[str, int]
Values = Mapping[str, Array]


@dataclass(frozen=True)
class JointHidden:
    """Hidden variables in the order in which they are summed out."""

    hidden: tuple[Hidden, ...]
    chains: tuple[Chain, ...]
    groups: tuple[Group, ...]
    expect: Program


def joint_hidden(graph: Graph, names: Sequence[str], given: Collection[str]) -> JointHidden | Declined:
    """Hidden variables with their log factors and those of given values, or why they are not drawn together."""
    hidden = []
    for name in names:
        item = find_hidden(graph, name)
        if isinstance(item, Declined):
            return item
        kept = tuple(factor for factor in item.factors if factor.owner in names or factor.owner in given)
        hidden.append(replace(item, factors=kept))
    bound = find_chain_groups(hidden)
    if isinstance(bound, Declined):
        return bound
    groups = find_groups(without_chains(hidden, bound))
    if isinstance(groups, Declined):
        return groups
    chains = []
    for group in bound:
        chain = chain_programs(graph, group, ())
        if isinstance(chain, Declined):
            return chain
        chains.append(chain)
    joint = tuple(group.above for group in bound if len(group.above) > 1)
    return JointHidden(tuple(hidden), tuple(chains), groups, expectations(graph, groups, joint))


@dataclass(frozen=True, eq=False)
class Conditioned:
    """Hidden variables given data and parameters: their probabilities, and all that drawing needs."""

    plan: JointHidden
    everything: Values
    sizes: Sizes
    computed: Values
    passed: tuple[Recursed, ...]
    probabilities: Values

    def draw(self, generator: np.random.Generator | None) -> dict[str, Array]:
        """One draw of all of them together; without a generator the best values, if maxima were taken before."""
        drawn: dict[str, Array] = {}
        for group in outermost_first(self.plan.groups):
            drawn |= _descended(group, self.computed, self._around(group, drawn), generator)
        for chain, one in zip(self.plan.chains, self.passed, strict=True):
            drawn |= self._along(chain, one, drawn, generator)
        return drawn

    def _around(self, group: Group, drawn: Values) -> dict[str, Array]:
        """The classes around a group, as each of its elements finds them."""
        environment = Environment(self.everything, self.sizes)
        found = {}
        for item, place in zip(group.given, group.places, strict=True):
            codes = [np.asarray(evaluate(at, environment, group.axes), dtype=np.int64) for at in place]
            found[item.name] = drawn[item.name][tuple(codes)]
        return found

    def _along(
        self, chain: Chain, one: Recursed, drawn: Values, generator: np.random.Generator | None
    ) -> dict[str, Array]:
        """States given the classes of their sequences, then inner values given both."""
        group, weights = chain.group, one.weights
        steps = np.arange(weights.length)
        seen: dict[str, Array] = {}
        if group.classes:
            at = evaluate(group.place[0], Environment(self.everything, self.sizes), (group.step,))
            seen = {name: drawn[name][np.asarray(at, dtype=np.int64)] for name in group.above}
        reached = (forward_best if generator is None else forward)(weights)[0]
        single, filtered = (array[(steps, *seen.values())] for array in (weights.single, reached))
        held = [
            code if size > 1 else 0 for code, size in zip((steps, *seen.values()), weights.pair.shape, strict=False)
        ]
        pair = np.broadcast_to(weights.pair[tuple(held)], (*single.shape, single.shape[-1]))
        path = backward_sample(ChainWeights(single, pair, weights.first), filtered, generator)
        counts = [self.sizes[item.level.plate] for item in group.states]
        states = dict(zip(group.now, np.unravel_index(path, counts), strict=True))
        for name, before in zip(group.now, group.before, strict=True):
            values = states[name]
            seen[before] = np.where(weights.first, 0, np.concatenate([values[:1], values[:-1]]))
        found = dict(states)
        for inner in group.inner:
            shape = [-1 if axis == group.step else 1 for axis in inner.axes]
            given = {name: values.reshape(shape) for name, values in {**seen, **states}.items()}
            found |= _descended(inner, one.computed, given, generator)
        return found


def conditioned(plan: JointHidden, everything: Values, sizes: Sizes) -> Conditioned:
    """Sum out all hidden variables, and keep what is needed to draw them."""
    passed = [possible(chain, everything, sizes) for chain in plan.chains]
    known = dict(everything)
    for one in passed:
        known |= one.arrays
    computed = finish(plan.expect, loaded(plan.expect), {}, known, sizes) if plan.expect.body else {}
    for group in plan.groups:
        for name in group.log_norms:
            check_possible(", ".join(group.levels), computed[name])
    found = {**known, **computed}
    for chain, one in zip(plan.chains, passed, strict=True):
        found |= shared(chain, one, found, sizes)
    probabilities = {item.name: found[item.probability] for item in plan.hidden}
    return Conditioned(plan, everything, sizes, computed, tuple(passed), probabilities)


def _descended(
    group: Group, computed: Values, given: Values, generator: np.random.Generator | None
) -> dict[str, Array]:
    """The first variable of each clique given the others, the last clique first; `given` are those of the elements."""
    drawn: dict[str, Array] = {}
    for clique in reversed(group.cliques):
        weights = np.asarray(computed[clique.log_weight])
        shape = weights.shape[: len(group.axes)]
        places: list[Array] = list(np.indices(shape, sparse=True))
        others = [drawn[name] if name in drawn else given[name] for name in clique.others]
        rows = np.moveaxis(weights, len(group.axes), -1)[(*places, *others)]
        noise = 0.0 if generator is None else generator.gumbel(size=rows.shape)
        drawn[clique.first] = np.argmax(rows + noise, axis=-1)
    return drawn
