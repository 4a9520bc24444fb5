"""The most probable values of all hidden classes together, given data and parameters.

    sums in the messages       probabilities of what is hidden, its draws
    maxima in the messages     its best values: up the cliques and along the chains, then back for what reached them

The eliminations are those of EM; only what a variable leaves when it goes is another. Values that are equally probable
are all as good: of them the first level is taken where the way back has a choice.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from platewright.algebra.build import log_sum_exp
from platewright.backends.kernels.hidden_chain import forward, forward_best
from platewright.errors import NotSolvable
from platewright.family import Array
from platewright.graph.graph import Graph
from platewright.operation import Declined
from platewright.run.execute import finish, loaded
from platewright.run.hidden.chain_group import Recursed, weighed
from platewright.run.hidden.joint_draws import Conditioned, JointHidden
from platewright.schemas.body_program import body_program
from platewright.schemas.chain_programs import chain_weights
from platewright.schemas.expectations import Leave, largest, upwards
from platewright.schemas.latent import Latent

Values = Mapping[str, Array]


def most_probable_states(
    graph: Graph, latent: Latent, everything: Values, sizes: Mapping[str, int]
) -> tuple[dict[str, Array], float]:
    """Values by name, one an element, and the log of their probability given the data."""
    if latent.gaussian:
        members = ", ".join(member.name for group in latent.gaussian for member in group.members)
        raise NotSolvable(
            f"the most probable values together with {members}, which is integrated out",
            expected="hidden variables with finitely many values",
            hint="fit.probabilities and fit.expected have the posterior of each",
        )
    best, best_weight = _passed(graph, latent, everything, sizes, largest)
    _, whole_weight = _passed(graph, latent, everything, sizes, log_sum_exp)
    return best.draw(None), best_weight - whole_weight


def _passed(
    graph: Graph, latent: Latent, everything: Values, sizes: Mapping[str, int], leave: Leave
) -> tuple[Conditioned, float]:
    """What the messages are when a variable leaves this of its table, and the log weight that is left at the end."""
    known = dict(everything)
    passed, chains = [], []
    total = 0.0
    for chain in latent.chains:
        program = chain_weights(graph, chain.group, leave)
        assert not isinstance(program, Declined)  # the same program with sums is part of the plan
        chains.append(replace(chain, weights=program))
        computed, weights = weighed(chains[-1], everything, sizes)
        added = (forward_best if leave is largest else forward)(weights)[1]
        known[chain.group.norm] = added
        total += 0.0 if chain.group.classes else float(added.sum())
        passed.append(Recursed(weights, {chain.group.norm: added}, computed, np.zeros(0)))
    upward = body_program(graph, [statement for group in latent.groups for statement in upwards(group, leave)])
    left = finish(upward, loaded(upward), {}, known, sizes) if upward.body else {}
    total += sum(float(np.sum(left[name])) for group in latent.groups for name in group.log_norms)
    plan = JointHidden(latent.hidden, tuple(chains), latent.groups, upward)
    return Conditioned(plan, everything, sizes, left, tuple(passed), {}), total
