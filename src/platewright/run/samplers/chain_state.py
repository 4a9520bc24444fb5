"""What is stored of a chain of C: its unknowns, what warm-up has set, and its random numbers; and what each must be.

All else is computed anew in every sweep. C takes lengths and places from the tuning of a block, so a stored one must be
of one piece: so many leaves and trunk, a permutation of the coordinates, ties that lie in the trunk.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from platewright.backends.c_gibbs.arrow import STATE, TUNING
from platewright.backends.c_gibbs.coordinate_slices import ALONG
from platewright.backends.kernels.hamiltonian import MOST_DOUBLINGS
from platewright.errors import FormatError
from platewright.family import Array
from platewright.run.door import Expected, admitted, as_values_of
from platewright.run.samplers.native_gibbs import RANDOM, NativeChain

LEAST = float(np.finfo(float).tiny)
AT = {word: place for place, word in enumerate(TUNING)}
HEAD = len(STATE.split())
"""Numbers of a tuning that C goes by; those after them only tell how the paths went."""


def values_expected(chain: NativeChain) -> dict[str, Expected]:
    """What a draw of each unknown must be."""
    nodes, sizes = chain.owner.plan.graph.nodes, chain.owner.sizes
    return {name: as_values_of(nodes[name], sizes) for name in chain.owner.source.unknown}


def state_expected(chain: NativeChain, found: Mapping[str, Array]) -> dict[str, Expected]:
    """What the stored state of this chain must be; the form of a metric is told by its own tuning."""
    values = values_expected(chain)
    wanted = {name: values[name] for name in chain.owner.source.unknown}
    wanted[RANDOM] = Expected((4,), "words")
    if RANDOM in found and not np.any(found[RANDOM]):
        raise FormatError("the random numbers are all zero, and would stay so")
    for key in chain.owner.source.sliced.values():
        wanted[key] = Expected(chain.arrays[key].shape, lower=LEAST)
    doors = chain.owner.source.doors
    for number in doors.scales:
        wanted[f"{number}:tuning"] = Expected(chain.arrays[f"{number}:tuning"].shape, lower=0.0)
    for number in doors.coordinates:
        size = chain.coordinates_of(number).size
        wanted[f"{number}:tuning"] = Expected((1,), lower=0.0)
        lowest = (-np.inf, LEAST, 0.0)
        wanted |= {f"{number}:{word}": Expected((size,), lower=least) for word, least in zip(ALONG, lowest)}
    for number in doors.paths:
        wanted |= dict(_metric(number, chain.coordinates_of(number).size, found))
    return wanted


def _metric(number: int, count: int, found: Mapping[str, Array]) -> Iterator[tuple[str, Expected]]:
    """What the tuning, the metric and the places of a block must be."""
    tuning, places = f"{number}:tuning", f"{number}:places"
    if tuning not in found or places not in found:
        raise FormatError(f"the tuning of block {number} is missing")
    numbers = admitted(tuning, found[tuning], Expected((len(TUNING),), finite=False, nan=True))
    head = admitted(tuning, numbers[:HEAD], Expected((HEAD,)))
    leaves, wide, doublings, learns = (float(head[AT[word]]) for word in ("LEAVES", "WIDE", "DOUBLINGS", "LEARNS"))
    trunk = count - leaves
    whole = all(value == int(value) for value in (leaves, wide, doublings))
    if not (whole and 0 <= leaves <= count and 0 <= wide <= trunk and 0 <= doublings <= MOST_DOUBLINGS):
        raise FormatError(f"the tuning of block {number} has {leaves:g} leaves, {wide:g} ties, {doublings:g} doublings")
    if learns or not head[AT["STEP"]] > 0:
        raise FormatError(f"the step of block {number} is {head[AT['STEP']]:g}, or still learned")
    tied = int(leaves * wide)
    order = admitted(places, found[places], Expected((count + tied,), "whole"))
    if not np.array_equal(np.sort(order[:count]), np.arange(count)):
        raise FormatError(f"the coordinates of block {number} are no permutation")
    if tied and (order[count:].min() < 0 or order[count:].max() >= trunk):
        raise FormatError(f"a tie of block {number} is outside its trunk")
    yield tuning, Expected((len(TUNING),), finite=False, nan=True)
    yield places, Expected((count + tied,), "whole")
    yield f"{number}:curvature", Expected((int(leaves) + tied + int(trunk) ** 2 + 2 * count,), finite=False, nan=True)
    yield f"{number}:spread_sums", Expected((count,), finite=False, nan=True)
