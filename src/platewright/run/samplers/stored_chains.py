"""Chains of a sampler as they are stored: their draws so far, and the state from which the next one follows.

A chain that is still warming up leaves nothing: it is begun anew, and takes the same way again. So a run that goes on
ends at the very draws of one that was never interrupted.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from platewright.family import Array
from platewright.run.checkpoint import Checkpoint, State

Draws = Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class StoredChain:
    """The draws of a chain, and what it needs to go on after the last of them."""

    draws: Draws
    facts: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, Array] = field(default_factory=dict)

    @property
    def count(self) -> int:
        """How many draws there are."""
        return min((len(values) for values in self.draws.values()), default=0)


def packed(chains: Mapping[int, StoredChain]) -> State:
    """All chains as one state."""
    arrays: dict[str, Array] = {}
    for number, chain in chains.items():
        for group, found in (("draws", chain.draws), ("state", chain.arrays)):
            arrays |= {f"{number}:{group}:{name}": np.asarray(values) for name, values in found.items()}
    return State({"chains": {str(number): dict(chain.facts) for number, chain in chains.items()}}, arrays)


def stored_chains(checkpoint: Checkpoint) -> dict[int, StoredChain]:
    """The chains of a stored state, by their numbers; none where nothing was stored."""
    state = checkpoint.load()
    if state is None:
        return {}
    groups: dict[tuple[int, str], dict[str, Array]] = {}
    for key, values in state.arrays.items():
        number, group, name = key.split(":", 2)
        groups.setdefault((int(number), group), {})[name] = values
    return {
        int(number): StoredChain(groups.get((int(number), "draws"), {}), facts, groups.get((int(number), "state"), {}))
        for number, facts in state.facts["chains"].items()
    }


def side_by_side(chains: Sequence[Draws], wanted: int) -> dict[str, Array]:
    """Chains of equal length: all that are complete, else those with any draws, cut to the shortest of them."""
    counts = [StoredChain(draws).count for draws in chains]
    complete = [draws for draws, count in zip(chains, counts, strict=True) if count == wanted]
    some = complete or [draws for draws, count in zip(chains, counts, strict=True) if count]
    shortest = min(StoredChain(draws).count for draws in some)
    return {name: np.stack([draws[name][:shortest] for draws in some]) for name in some[0]}


def interrupted(chains: Mapping[str, Array], wanted: tuple[int, int]) -> str:
    """What Ctrl-C left, in words; nothing where all chains are there."""
    found = next(iter(chains.values())).shape[:2] if chains else wanted
    if found == wanted:
        return ""
    return f"interrupted: {found[0]} of {wanted[0]} chains, {found[1]} of {wanted[1]} draws each"
