"""Moves of a Markov chain over networks, each of which leaves the posterior as it is  (Section 8.3, steps 1 to 3).

    toggle, reverse     a random ordered pair of nodes: its arc is added, removed or turned. The way back is proposed
                        as often, so the Hastings factor is 1 and the ratio of scores decides; what would close a cycle
                        stays. (Choosing among the *legal* neighbours instead, as printed, needs nbr(G) / nbr(G').)
    swap                two nodes trade places in the network; refused where the rules forbid it
    redraw              a random node and a random block of others: which of the block are its parents is drawn anew
                        from its conditional given all else

The moves are made in C; here is what may be proposed, and what the laws need to add their outcomes up.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, permutations

import numpy as np

from platewright.structure.rules import Rules, members
from platewright.structure.scorer import Scorer

State = tuple[int, ...]
"""Parents of each node as bits."""
Proposal = tuple[int, tuple[int, ...]]
SHARES = {"toggle": 0.3, "reverse": 0.25, "swap": 0.15, "redraw": 0.3}
WIDEST = 5
"""Nodes of a block: its parents are drawn from at most 2^WIDEST sets."""


def proposals(nodes: int) -> Iterator[tuple[float, Proposal]]:
    """Everything that may be proposed, with its probability; for few nodes."""
    pairs = list(permutations(range(nodes), 2))
    for kind, share in enumerate(SHARES.values()):
        if kind < 3:
            yield from ((share / len(pairs), (kind, pair)) for pair in pairs)
            continue
        for node in range(nodes):
            others = [other for other in range(nodes) if other != node]
            blocks = list(combinations(others, min(WIDEST, len(others))))
            yield from ((share / nodes / len(blocks), (kind, (node, *block))) for block in blocks)


def outcomes(scorer: Scorer, state: State, proposal: Proposal) -> list[tuple[float, State]]:
    """Where a proposal leads from a network; what is left of 1 stays."""
    kind, nodes = proposal
    chosen = np.full(WIDEST + 1, -1, dtype=np.int64)
    chosen[: len(nodes)] = nodes
    probability = np.zeros((1 << WIDEST) + 1)
    made = np.zeros((len(probability), len(state), scorer.words), dtype=np.uint64)
    count = scorer.outcomes(state, kind, chosen, made, probability)
    found = [(float(probability[k]), state_of(made[k])) for k in range(count)]
    left = 1.0 - sum(share for share, _ in found)
    return [*found, (left, state)]


def state_of(words: np.ndarray) -> State:
    """Sets of parents as they lie in memory."""
    return tuple(sum(int(word) << 64 * place for place, word in enumerate(row)) for row in words)


def has_cycle(state: State) -> bool:
    """Whether directed arcs lead in a circle."""
    left = (1 << len(state)) - 1
    while left:
        free = 0
        for node in members(left):
            if not state[node] & left:
                free |= 1 << node
        if not free:
            return True
        left &= ~free
    return False


def subsets(code: int) -> Iterator[int]:
    """All subsets of a set of bits, the whole first."""
    part = code
    while True:
        yield part
        if not part:
            return
        part = (part - 1) & code


def all_networks(rules: Rules) -> Iterator[State]:
    """Every network that the rules allow; for few nodes."""
    count = len(rules.allowed)
    masks = list(zip(*rules.masks, strict=True))

    def extended(chosen: tuple[int, ...]) -> Iterator[State]:
        node = len(chosen)
        if node == count:
            yield chosen
            return
        may, must = masks[node]
        for part in subsets(may & ~must):
            above = part | must
            if above.bit_count() > rules.most:
                continue
            made = (*chosen, above, *(0 for _ in range(count - node - 1)))
            if not has_cycle(made):
                yield from extended((*chosen, above))

    yield from extended(())
