"""Laplace's method as emitted programs run it; copied into them without type hints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from platewright.backends.kernels.density import Density
from platewright.backends.kernels.laplace import highest, modes_alike, volume_about
from platewright.family import Array

Data = Mapping[str, Array]
Sizes = Mapping[str, int]


def learn(data: Data, size: Sizes, seed: int = 0, restarts: int = 8) -> dict[str, float]:
    """The log evidence, about: a Gaussian around the highest mode that climbs from some starts reach."""
    density = objective(data, size)
    generators = np.random.default_rng(seed).spawn(restarts)
    starts = [density.coordinates.free(start(data, size, generator)) for generator in generators]
    u, value = highest(density, starts)
    modes = modes_alike(density, u, symmetries())
    return {"log_evidence": value + volume_about(density, u) + float(np.log(modes)), "modes": modes}


def objective(data: Data, size: Sizes) -> Density:
    """Stands in for the log joint on coordinates, which the emitter writes."""
    raise NotImplementedError


def start(data: Data, size: Sizes, generator: np.random.Generator) -> Data:
    """Stands in for the start of a climb, which the emitter writes."""
    raise NotImplementedError


def symmetries() -> list[Any]:
    """Stands in for the labels that may be exchanged, which the emitter writes."""
    raise NotImplementedError
