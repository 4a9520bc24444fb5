"""A chain of an emitted sampler some of whose blocks learn during warm-up; copied into it as it stands here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from platewright.family import Array


def chain_draws(
    values: Mapping[str, Array],
    data: Mapping[str, Array],
    size: Mapping[str, int],
    generator: np.random.Generator,
    warm_up: int,
    draws: int,
    thin: int = 1,
) -> dict[str, Array]:
    """The draws of one chain from given values on."""
    moving = movers(size)
    for mover in moving.values():
        mover.begin_warm_up(warm_up)
        if warm_up and hasattr(mover, "climb"):  # only along a gradient there is a way up
            values = {**values, **mover.climb({**data, **values}, generator)}
    for _ in range(warm_up):
        values = sweep(values, data, size, generator, moving)
    for mover in moving.values():
        if warm_up and hasattr(mover, "is_lost") and mover.is_lost({**data, **values}):
            raise ArithmeticError("a chain stands where its log density has no finite slope, and would stay there")
    for mover in moving.values():  # from now on nothing is learned, so that draws keep their distribution
        mover.end_warm_up()
    kept: dict[str, list[Array]] = {name: [] for name in values}
    for _ in range(draws):
        for _ in range(thin):
            values = sweep(values, data, size, generator, moving)
        for name, value in values.items():
            kept[name].append(value)
    return {name: np.array(found) for name, found in kept.items()}


def movers(size: Mapping[str, int]) -> dict[int, Any]:
    """Stands in for the movers of a program, which the emitter makes."""
    raise NotImplementedError


def sweep(
    values: Mapping[str, Array],
    data: Mapping[str, Array],
    size: Mapping[str, int],
    generator: np.random.Generator,
    moving: Mapping[int, Any],
) -> dict[str, Array]:
    """Stands in for the sweep of a program, which the emitter writes."""
    raise NotImplementedError
