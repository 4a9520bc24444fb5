"""Chains of a sampler as they are stored: their draws so far, and the state from which the next one follows.

A chain that is still warming up leaves nothing: it is begun anew, and takes the same way again. So a run that goes on
ends at the very draws of one that was never interrupted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from platewright.backends.numpy.learning import Options
from platewright.errors import FormatError
from platewright.family import Array
from platewright.run.checkpoint import Checkpoint, State
from platewright.run.door import Expected, all_admitted, check_generator
from platewright.run.samplers.sums_of_draws import Sums

Draws = Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class StoredChain:
    """The draws of a chain, and what it needs to go on after the last of them."""

    draws: Draws
    facts: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, Array] = field(default_factory=dict)
    sums: Mapping[str, Sums] = field(default_factory=dict)
    """Of the unknowns whose draws are not kept."""

    @property
    def count(self) -> int:
        """How many draws there are."""
        summed = (each.count for each in self.sums.values())
        return min((*map(len, self.draws.values()), *summed), default=0)


def ended(chain: StoredChain) -> StoredChain:
    """A chain that will not go on: its draws and sums alone."""
    return StoredChain(chain.draws, sums=chain.sums)


def packed(chains: Mapping[int, StoredChain]) -> State:
    """All chains as one state."""
    arrays: dict[str, Array] = {}
    for number, chain in chains.items():
        sums = {name: each.values for name, each in chain.sums.items()}
        for group, found in (("draws", chain.draws), ("state", chain.arrays), ("sums", sums)):
            arrays |= {f"{number}:{group}:{name}": np.asarray(values) for name, values in found.items()}
    facts: dict[str, Any] = {"chains": {str(number): dict(chain.facts) for number, chain in chains.items()}}
    if counts := {str(number): chain.count for number, chain in chains.items() if chain.sums}:
        facts["counts"] = counts
    return State(facts, arrays)


@dataclass(frozen=True, eq=False)
class Wanted:
    """What the stored chains of a run must be: so many at most, with draws of these unknowns, and this state."""

    chains: int
    draws: int
    values: Mapping[str, Expected]
    arrays: Callable[[StoredChain], Mapping[str, Expected]]
    """What the state of a chain with such draws must hold."""
    generator: str = ""
    """The kind of the random numbers whose state is among the facts, if there is one."""
    sums: Mapping[str, Sums] = field(default_factory=dict)
    """The unknowns whose draws are not kept, with the sums of none."""


def stored_chains(checkpoint: Checkpoint, wanted: Wanted) -> dict[int, StoredChain]:
    """The chains of a stored state, by their numbers, each looked at; none where nothing was stored."""
    state = checkpoint.load()
    if state is None:
        return {}
    with checkpoint.looked_at():
        groups: dict[tuple[int, str], dict[str, Array]] = {}
        for key, values in state.arrays.items():
            number, group, name = key.split(":", 2)
            groups.setdefault((int(number), group), {})[name] = values
        told_of = state.facts["chains"]
        if not isinstance(told_of, dict):
            raise FormatError("the chains are damaged")
        facts = {int(number): told for number, told in told_of.items()}
        if set(facts) - set(range(wanted.chains)) or any(
            number not in facts or group not in ("draws", "state", "sums") for number, group in groups
        ):
            raise FormatError("a chain that the run does not have", expected=f"{wanted.chains} chains")
        counts = state.facts.get("counts", {})
        found = {}
        for place, told in facts.items():
            draws, arrays, summed = (groups.get((place, group), {}) for group in ("draws", "state", "sums"))
            sums = _sums(summed, counts, place, wanted)
            found[place] = _looked_at(StoredChain(draws, told, arrays, sums), wanted)
        return found


def _sums(found: Mapping[str, Array], counts: Any, number: int, wanted: Wanted) -> dict[str, Sums]:
    """The sums of the draws that were not kept."""
    if set(found) != set(wanted.sums):
        raise FormatError("the sums of a chain are not those of this run", expected=", ".join(wanted.sums) or "none")
    if not wanted.sums:
        return {}
    count = counts.get(str(number)) if isinstance(counts, dict) else None
    if type(count) is not int or not 0 < count <= wanted.draws:
        raise FormatError("the number of draws of a chain is damaged", expected=f"at most {wanted.draws}")
    return {name: one.admitted(name, count, found[name]) for name, one in wanted.sums.items()}


def _looked_at(chain: StoredChain, wanted: Wanted) -> StoredChain:
    """A chain that may go on; of one that has ended the draws are enough."""
    ended = chain.count == wanted.draws and not chain.facts and not chain.arrays
    needed = {} if ended else wanted.arrays(chain)
    if not isinstance(chain.facts, dict):
        raise FormatError("the facts of a chain are damaged")
    if not ended and set(chain.facts) != ({"generator"} if wanted.generator else set()):
        raise FormatError("the facts of a chain are not those of this sampler")
    if wanted.generator and not ended:
        check_generator(chain.facts["generator"], wanted.generator)
    if chain.count > wanted.draws:
        raise FormatError(f"a chain of {chain.count} draws", expected=f"at most {wanted.draws}")
    kept = {name: one.after(chain.count) for name, one in wanted.values.items() if name not in wanted.sums}
    draws = all_admitted(chain.draws, kept)
    return replace(chain, draws=draws, arrays=all_admitted(chain.arrays, needed))


def ran_with(
    initial: Mapping[str, Array],
    found: Mapping[str, Array],
    sums: Mapping[str, tuple[Sums, ...]],
    **numbers: int,
) -> Options:
    """The options with which a file makes these draws, such as seed and sweeps; after Ctrl-C those that there are."""
    kept = next(iter(found.values()), None)
    summed = next(iter(sums.values()), ())
    chains, draws = kept.shape[:2] if kept is not None else (len(summed), min(each.count for each in summed))
    return Options({**{name: int(n) for name, n in numbers.items()}, "chains": chains, "draws": draws}, initial)


def with_draws(chains: Sequence[StoredChain], wanted: int) -> list[StoredChain]:
    """The chains that have so many, else those with any draws."""
    return [chain for chain in chains if chain.count >= wanted] or [chain for chain in chains if chain.count]


def side_by_side(chains: Sequence[StoredChain], wanted: int) -> dict[str, Array]:
    """Their draws, cut to the shortest."""
    some = with_draws(chains, wanted)
    shortest = min(chain.count for chain in some)
    return {name: np.stack([chain.draws[name][:shortest] for chain in some]) for name in some[0].draws}


def sums_by_chain(chains: Sequence[StoredChain], wanted: int) -> dict[str, tuple[Sums, ...]]:
    """The sums of the same chains, each of all draws that it made."""
    some = with_draws(chains, wanted)
    return {name: tuple(chain.sums[name] for chain in some) for name in some[0].sums}


def interrupted(chains: Mapping[str, Array], sums: Mapping[str, Sequence[Sums]], wanted: tuple[int, int]) -> str:
    """What Ctrl-C left, in words; nothing where all chains are there."""
    lengths = [values.shape[:2] for values in chains.values()]
    lengths += [(len(each), min(one.count for one in each)) for each in sums.values()]
    found = lengths[0] if lengths else wanted
    if found == wanted:
        return ""
    return f"interrupted: {found[0]} of {wanted[0]} chains, {found[1]} of {wanted[1]} draws each"
