"""Slopes and curvatures of the log joint against extrapolated differences, for every model of the gallery."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from numpy.exceptions import ComplexWarning

from example_models import MAKERS
from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Expression, Index
from platewright.errors import NotSolvable
from platewright.operable import OperableGraph, operable
from platewright.run.checks.simulating import small_data
from platewright.run.density import log_density

Place = tuple[int, ...]
STEPS = (4e-3, 2e-3, 1e-3)


def extrapolated(of: Callable[[float], float]) -> float:
    """The derivative at zero: central differences of three steps, their errors of order two and four taken out."""
    rough = [(of(h) - of(-h)) / (2 * h) for h in STEPS]
    finer = [(4 * b - a) / 3 for a, b in pairwise(rough)]
    return (16 * finer[1] - finer[0]) / 15


@dataclass(frozen=True, eq=False)
class Around:
    """A graph near one point, one element of one unknown at a time."""

    graph: OperableGraph
    values: Mapping[str, np.ndarray]
    sizes: Mapping[str, int]

    def moved(self, name: str, place: Place, by: float) -> dict[str, Any]:
        """The point with one element moved."""
        array = np.array(self.values[name], dtype=float)
        array[place] += by
        return {**self.values, name: array}

    def check(self, name: str) -> None:
        """Slope and curvature of an unknown against differences of the density and of the slope."""
        found = self.graph.differentiate(name)
        slope, curvature = found.at(self.values)
        size = np.max(np.abs(slope), initial=1.0)
        for place in list(np.ndindex(np.shape(self.values[name])))[:4]:
            scale = min(1.0, abs(float(np.asarray(self.values[name])[place])))

            def height(h: float, place: Place = place, scale: float = scale) -> float:
                return log_density(self.graph, self.moved(name, place, h * scale), self.sizes)

            def incline(h: float, place: Place = place, scale: float = scale) -> float:
                return float(found.at(self.moved(name, place, h * scale)).slope[place])

            assert slope[place] == pytest.approx(extrapolated(height) / scale, rel=1e-7, abs=1e-7 * size)
            assert curvature[(*place, *place)] == pytest.approx(
                extrapolated(incline) / scale, rel=1e-7, abs=1e-7 * size
            )

    def complex_step(self, expression: Expression, name: str, place: Place, axes: tuple[Index, ...] = ()) -> Any:
        """The derivative of an analytic expression by a step off the real line: no digits cancel."""
        array = np.array(self.values[name], dtype=complex)
        array[place] += 1e-30j
        with warnings.catch_warnings():
            warnings.simplefilter("error", ComplexWarning)
            found = evaluate(expression, Environment({**self.values, name: array}, self.sizes), axes)
        return np.imag(found) / 1e-30

    def check_analytic(self, name: str) -> bool:
        """Slope and curvature of an unknown against complex steps; false where the density is not analytic in it."""
        found = self.graph.differentiate(name)
        slope, curvature = found.at(self.values)
        for place in list(np.ndindex(np.shape(self.values[name])))[:4]:
            try:
                rise = self.complex_step(found.graph.log_joint, name, place)
                bend = self.complex_step(found.slope, name, place, found.axes)
            except (TypeError, ComplexWarning):  # a function of the gamma family, a comparison
                return False
            size = np.max(np.abs(slope), initial=1.0)
            assert slope[place] == pytest.approx(float(rise), rel=1e-11, abs=1e-11 * size)
            np.testing.assert_allclose(curvature[..., *place], bend, rtol=1e-11, atol=1e-11 * size)
        return True


ANALYTIC = ("coin", "normal_gamma", "normal_inverse_gamma", "regression", "crossed", "autoregression")


@pytest.mark.parametrize("name", ANALYTIC)
def test_derivatives_are_those_of_complex_steps(name: str) -> None:
    around = around_of(name)
    names = [n for n in around.graph.unknown if not around.graph.nodes[n].domain.is_discrete]
    assert all([around.check_analytic(unknown) for unknown in names])


def around_of(name: str) -> Around:
    model, data = MAKERS[name](np.random.default_rng(1), 5)[:2]
    known = [n for n in model.variables if n in data and model.variables[n].kind in ("random", "undirected")]
    graph = operable(model.derive(known).plan.graph)
    values, sizes = small_data(graph, 4)
    return Around(graph, {n: v for n, v in values.items() if graph.nodes[n].kind != "deterministic"}, sizes)


@pytest.mark.parametrize("name", sorted(MAKERS))
def test_derivatives_are_those_of_the_density(name: str) -> None:
    around = around_of(name)
    graph = around.graph
    wanted = [node for name, node in graph.nodes.items() if name in graph.unknown and not node.domain.is_discrete]
    for node in wanted:
        if node.rank or node.domain.kind in ("simplex", "matrix"):
            continue
        if name == "bound":  # the density jumps where the bound passes a value
            with pytest.raises(NotSolvable, match="no derivative"):
                graph.differentiate(node.name)
            continue
        around.check(node.name)
