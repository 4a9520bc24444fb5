"""What emitted programs of quadrature over a few numbers do; copied into them as it stands here, without type hints."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from platewright.backends.kernels.eliminated import dense_given, matter, own_moments
from platewright.backends.kernels.held_density import Density_of, at_coordinates, portion
from platewright.backends.kernels.lattice import over_modes
from platewright.backends.numpy.evidence_support import evidence_given
from platewright.family import Array

Data = Mapping[str, Array]
Sizes = Mapping[str, int]


def points_learn(data: Data, size: Sizes, most: int = 60_000, tolerance: float = 1e-4) -> dict[str, Any]:
    """The log evidence with its error, mean and standard deviation of every unknown, from at most so many points."""
    names, ends = held()
    found = statistics(data, size)

    def log_density_at(values: Array) -> Array:
        return log_density(found, data, size, {name: values[:, k] for k, name in enumerate(names)})

    points = over_modes(Density_of(log_density_at, ends), tolerance, most)
    values, share = at_coordinates(points["u"], ends)[0], points["share"]
    learned: dict[str, Any] = {"log_evidence": float(points["log_evidence"]), "error": float(points["error"])}
    for k, name in enumerate(names):
        learned[f"{name}.mean"], learned[f"{name}.sd"] = weighed(values[:, k], share)
    kept = matter(share)
    at, share = scales({name: values[kept, k] for k, name in enumerate(names)}), share[kept] / share[kept].sum()
    gaussian = found["gaussian"]
    mean, root = dense_given(gaussian, at)
    if gaussian["within"].shape[-1] > 1:
        centre = mean[0] + share @ (mean - mean[0])
        spread = np.sqrt(share @ ((root**2).sum(axis=-1) + (mean - centre) ** 2))
        learned |= {"eliminated.mean": centre, "eliminated.sd": spread}
    if gaussian["own"]:
        centre, variance = own_moments(gaussian, at, share, mean, root)
        learned |= {"of_elements.mean": centre, "of_elements.sd": np.sqrt(variance)}
    return learned


def apart_learn(data: Data, size: Sizes, most: int = 3_000, tolerance: float = 1e-4) -> dict[str, float]:
    """The log evidence with its error, mean and standard deviation of the held numbers, point by point."""
    names, ends = held()
    evidence_at = evidence_given(data, size)

    def log_density_at(values: Array) -> Array:
        found = np.full(len(values), -np.inf)
        for k, point in enumerate(values):
            try:
                found[k] = evidence_at({name: np.asarray(value) for name, value in zip(names, point)})
            except (ArithmeticError, ValueError, np.linalg.LinAlgError):
                continue  # at the end of the numbers: as improbable as it looks
        return found

    return learned_of(Density_of(log_density_at, ends), tolerance, most, names)


def together_learn(data: Data, size: Sizes, most: int = 3_000, tolerance: float = 1e-4) -> dict[str, float]:
    """The same, points taken together: each has a copy of the model."""
    names, ends = held()
    many, points = copied()
    fixed = {name: one for name, one in data.items() if name not in many}
    step = portion(sum(np.size(data[name]) for name in many))

    def log_density_of(values: Array) -> Array:
        count = len(values)
        every = {name: np.broadcast_to(data[name], (count, *np.shape(data[name]))) for name in many}
        every |= {name: values[:, k] for k, name in enumerate(names)}
        try:
            return np.asarray(evidence_given(fixed, {**size, points: count})(every)) + np.zeros(count)
        except (ArithmeticError, ValueError, np.linalg.LinAlgError):
            if count == 1:
                return np.array([-np.inf])
        half = count // 2
        return np.concatenate([log_density_of(part) for part in (values[:half], values[half:])])

    def log_density_at(values: Array) -> Array:
        return np.concatenate([log_density_of(values[k : k + step]) for k in range(0, len(values), step)])

    return learned_of(Density_of(log_density_at, ends), tolerance, most, names)


def learned_of(density: Density_of, tolerance: float, most: int, names: Sequence[str]) -> dict[str, float]:
    """The log evidence with its error, mean and standard deviation of the held numbers."""
    points = over_modes(density, tolerance, most)
    values = at_coordinates(points["u"], density.ends)[0]
    learned = {"log_evidence": float(points["log_evidence"]), "error": float(points["error"])}
    for k, name in enumerate(names):
        learned[f"{name}.mean"], learned[f"{name}.sd"] = weighed(values[:, k], points["share"])
    return learned


def weighed(values: Array, share: Array) -> tuple[float, float]:
    """Mean and standard deviation of values with shares."""
    mean = share @ values
    return float(mean), float(np.sqrt(share @ (values - mean) ** 2))


def statistics(data: Data, size: Sizes) -> dict[str, Any]:
    """Stands in for what the rows say, which the emitter writes."""
    raise NotImplementedError


def scales(point: Data) -> Array:
    """Stands in for the scales of the rows, which the emitter writes."""
    raise NotImplementedError


def log_density(found: Mapping[str, Any], data: Data, size: Sizes, point: Data) -> Array:
    """Stands in for the log density at points, which the emitter writes."""
    raise NotImplementedError


def copied() -> tuple[Sequence[str], str]:
    """Stands in for the data that each point has a copy of, which the emitter writes."""
    raise NotImplementedError


def held() -> tuple[Sequence[str], Sequence[tuple[float, float]]]:
    """Stands in for the numbers that are held, which the emitter writes."""
    raise NotImplementedError
