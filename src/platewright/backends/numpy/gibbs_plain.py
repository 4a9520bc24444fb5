"""Where the chains of an emitted sampler start that need no trials; copied into it as it stands here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from platewright.backends.numpy.gibbs_support import start
from platewright.family import Array


def chain_starts(
    data: Mapping[str, Array], size: Mapping[str, int], generators: Sequence[np.random.Generator], warm_up: int
) -> list[Mapping[str, Array]]:
    """Where each chain starts: one draw moves all that has a place, so nothing holds it there."""
    return [start(data, size, generator) for generator in generators]
