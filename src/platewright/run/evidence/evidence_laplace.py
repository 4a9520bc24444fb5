"""Evidence by Laplace's method: a Gaussian around the mode, on coordinates that fill the whole space.

    log p(data) = log p(data, mode) + log Jacobian + d/2 log 2 pi - 1/2 log det(-Hessian), about

Discrete unknowns are summed out first, as expressions. Gradients are derivatives of that expression; the Hessian is
taken from gradients on both sides of the mode. Exchangeable labels give as many modes, which count alike.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log, pi

import numpy as np

from platewright.algebra.build import add
from platewright.algebra.differentiate import differentiate
from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Expression, Index, Reference
from platewright.backends.kernels.coordinates import Joined
from platewright.errors import PlatewrightError, SizeError, Unbounded
from platewright.family import Array
from platewright.recognition.exchangeable import Symmetry, find_symmetries
from platewright.run.checks.sanity import check_counts
from platewright.run.evidence.evidence import Evidence
from platewright.run.samplers.starting import starting_values
from platewright.run.samplers.unconstrained import unconstrained
from platewright.schemas.evidence import EvidencePlan

MOST_COORDINATES = 2_000
STEP = 1e-5
"""How far apart gradients are taken, relative to the root of a coordinate; coordinates are logs or of unit scale."""
SAME = 1e-4
"""Relabelled modes nearer than this are one."""
MOST_COPIES = 5_040
FLAT = 1e-6
"""The largest gradient at a mode, relative to the objective."""


@dataclass(frozen=True, eq=False)
class Objective:
    """`log p(data, values) + log Jacobian` as a function of free coordinates, with its gradient."""

    plan: EvidencePlan
    columns: Mapping[str, Array]
    sizes: Mapping[str, int]

    @cached_property
    def chart(self) -> Joined:
        """The coordinates of the continuous unknowns."""
        return unconstrained([self.plan.graph.nodes[name] for name in self.names], self.sizes)

    @property
    def names(self) -> list[str]:
        """The continuous unknowns."""
        return [name for name in self.plan.unknown if name not in self.plan.hidden]

    @cached_property
    def slopes(self) -> dict[str, tuple[Expression, tuple[Index, ...]]]:
        """The derivative of the log joint by each unknown, at free indices."""
        whole = add(*(factor.summed for factor in self.plan.objective))
        found = {}
        for node in (self.plan.graph.nodes[name] for name in self.names):
            at = tuple(Index(f"{axis.name}@{k}", axis.plate) for k, axis in enumerate(node.axes))
            found[node.name] = (differentiate(whole, Reference(node.name, at)), at)
        return found

    def value(self, free: Array) -> float:
        """The objective; minus infinity where it is not defined."""
        with np.errstate(all="ignore"):
            values, volume = self.chart.values(free)
            environment = Environment({**self.columns, **values}, self.sizes)
            total = sum(float(np.sum(evaluate(f.expression, environment, f.axes))) for f in self.plan.objective)
            total += volume
        return total if np.isfinite(total) else -np.inf

    def gradient(self, free: Array) -> Array:
        """The gradient of the objective."""
        with np.errstate(all="ignore"):
            values, _ = self.chart.values(free)
            environment = Environment({**self.columns, **values}, self.sizes)
            slopes = {name: np.array(evaluate(slope, environment, at)) for name, (slope, at) in self.slopes.items()}
            return self.chart.gradient(free, values, slopes)

    def hessian(self, free: Array) -> Array:
        """Second derivatives, from gradients on both sides."""
        columns = []
        for k in range(len(free)):
            step = np.zeros(len(free))
            step[k] = STEP * np.sqrt(1 + abs(free[k]))  # far from zero too it stays below the width of a mode
            columns.append((self.gradient(free + step) - self.gradient(free - step)) / (2 * step[k]))
        found = np.array(columns)
        return (found + found.T) / 2

    def climbed(self, start: Array) -> tuple[Array, float]:
        """A mode near a start: quasi-Newton, then Newton steps while they help."""
        from scipy.optimize import minimize

        def downwards(free: Array) -> tuple[float, Array]:
            value = self.value(free)
            if not np.isfinite(value):
                return 1e300, np.zeros(len(free))
            return -value, -np.nan_to_num(self.gradient(free))

        found = minimize(downwards, start, jac=True, method="L-BFGS-B", options={"maxiter": 2000, "maxfun": 4000})
        free, value = found.x, -float(found.fun)
        for _ in range(20):
            slope = self.gradient(free)
            if not np.isfinite(slope).all() or np.abs(slope).max(initial=0.0) < 1e-9 * (1 + abs(value)):
                break
            step = np.linalg.lstsq(self.hessian(free), slope, rcond=None)[0]
            ahead = self.value(free - step)
            if not ahead > value:
                break
            free, value = free - step, ahead
        return free, value


def laplace(
    plan: EvidencePlan,
    columns: Mapping[str, Array],
    sizes: Mapping[str, int],
    *,
    seed: int = 0,
    restarts: int = 8,
    start: Mapping[str, Array] | None = None,
) -> tuple[Evidence, dict[str, Array]]:
    """The log evidence by Laplace's method, and the mode it was taken at: near `start`, or the best of several."""
    check_counts(restarts=restarts)
    objective = Objective(plan, columns, sizes)
    count = objective.chart.size
    if count > MOST_COORDINATES:
        raise SizeError(f"{count:,} coordinates", expected=f"at most {MOST_COORDINATES:,}", hint='by="chib"')
    symmetries = _countable(objective)
    generators = np.random.default_rng(seed).spawn(restarts)
    starts = [starting_values(plan.graph, objective.names, sizes, generator) for generator in generators]
    free, value = np.zeros(count), -np.inf
    for begun in starts if start is None else [start]:
        tried, reached = objective.climbed(objective.chart.free(begun))
        if reached > value:
            free, value = tried, reached
    if not np.isfinite(value) or np.abs(free).max(initial=0.0) > 1e8:
        raise Unbounded
    slope = float(np.abs(objective.gradient(free)).max(initial=0.0))
    if not slope < FLAT * (1 + abs(value)):
        raise PlatewrightError(f"no mode was found: the slope is {slope:.2g}", hint="more restarts=, or by='chib'")
    return _weighed(objective, symmetries, free, value), objective.chart.values(free)[0]


def draws_about(
    plan: EvidencePlan,
    columns: Mapping[str, Array],
    sizes: Mapping[str, int],
    start: Mapping[str, Array],
    count: int,
    seed: int,
) -> dict[str, Array]:
    """Draws from the Gaussian of Laplace's method about the mode near `start`: the spread of an estimate."""
    objective = Objective(plan, columns, sizes)
    free, _ = objective.climbed(objective.chart.free(start))
    curvature, turn = np.linalg.eigh(-objective.hessian(free))
    if not (curvature > 1e-10 * max(1.0, float(curvature[-1]))).all():
        raise PlatewrightError("the log joint is flat or bent upwards at its mode, so no Gaussian fits there")
    noise = np.random.default_rng(seed).standard_normal((count, len(free))) / np.sqrt(curvature)
    points = [objective.chart.values(free + turn @ one)[0] for one in noise]
    return {name: np.array([point[name] for point in points]) for name in objective.names}


def _weighed(objective: Objective, symmetries: Sequence[Symmetry], free: Array, value: float) -> Evidence:
    """The volume under the Gaussian, times the number of modes that are the same but for labels."""
    plan = objective.plan
    total, count = value, len(free)
    if count:
        curvature = np.linalg.eigvalsh(-objective.hessian(free))
        if not (curvature > 1e-10 * max(1.0, float(curvature[-1]))).all():
            raise PlatewrightError(
                "the log joint is flat or bent upwards at its mode, so no Gaussian fits there",
                hint="give proper priors, or use by='chib'",
            )
        total += 0.5 * count * log(2 * pi) - 0.5 * float(np.log(curvature).sum())
    detail = f"{count} coordinate{'' if count == 1 else 's'}"
    if (modes := _copies(objective, symmetries, free)) > 1:
        total += log(modes)
        detail += f", {modes} modes that differ by labels"
    return Evidence(total, "laplace", None, detail + "; the error of the approximation is not known", plan.proper)


def _countable(objective: Objective) -> Sequence[Symmetry]:
    """The symmetries of the labels; refused before any work where a mode has too many copies to be told apart."""
    symmetries = find_symmetries(objective.plan.graph, objective.plan.factors, objective.sizes)
    for symmetry in symmetries:
        if symmetry.order > MOST_COPIES:
            raise SizeError(f"{symmetry.order:,} relabellings of a mode", expected=f"at most {MOST_COPIES:,}")
    return symmetries


def _copies(objective: Objective, symmetries: Sequence[Symmetry], free: Array) -> int:
    """How many different points the relabellings of a mode are; one with equal components has fewer."""
    found = 1
    for symmetry in symmetries:
        values, _ = objective.chart.values(free)
        moved = [objective.chart.free(symmetry.moved(values, to)) for to in symmetry.relabellings()]
        apart = [np.abs(one - moved[0]).max(initial=0.0) > SAME * (1 + np.abs(free).max(initial=0.0)) for one in moved]
        found *= len(moved) // (len(moved) - sum(apart))
    return found
