"""Run an EM plan: expectation and maximisation in turn until the objective stands still; it may never fall."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.errors import ImproperPosterior, PlatewrightError, Unbounded, UnknownName
from platewright.family import Array
from platewright.language.plate import beginning
from platewright.run.chain import ChainWeights, chain_weights, forward, smooth
from platewright.run.execute import Loaded, arguments, finish, loaded
from platewright.run.interior import moved_inside
from platewright.run.posterior import Posterior
from platewright.run.sanity import check_counts, check_possible
from platewright.run.soft_start import start_expectations
from platewright.schemas.em import EMPlan, Hidden

FALL = 1e-9
"""How far the objective may fall by rounding, relative to its size."""
SHORT = 20
"""Iterations of each start before the best is carried on."""
STEEPEST = 23.0
"""How far the log density of a row may rise above the first iteration's, for each real number in it: a scale that fell
by 1e-10 holds nothing but rounding."""


@dataclass(frozen=True, eq=False)
class Expected:
    """Posterior probabilities of hidden variables, the objective, and the largest log density of a row."""

    expectations: dict[str, Array]
    objective: float
    steepest: float


@dataclass(frozen=True, eq=False)
class Estimate:
    """Parameters, the expectations they came from, and the objective at each iteration."""

    values: Mapping[str, Array]
    expectations: Mapping[str, Array]
    objective: tuple[float, ...]
    converged: bool


@dataclass(frozen=True, eq=False)
class Runner:
    """The two steps of a plan on given data."""

    plan: EMPlan
    columns: Mapping[str, Array]
    sizes: Mapping[str, int]

    @cached_property
    def _maximise(self) -> Loaded:
        return loaded(self.plan.maximise)

    @cached_property
    def _expect(self) -> Loaded:
        return loaded(self.plan.expect)

    def maximised(self, expectations: Mapping[str, Array]) -> dict[str, Array]:
        """The mode of the parameters given expectations of the hidden variables."""
        program, module = self.plan.maximise, self._maximise
        everything = {**self.columns, **expectations}
        found = module.statistics(*arguments(program, module, everything, self.sizes))
        with np.errstate(divide="ignore", invalid="ignore"):
            values = finish(program, module, found, everything, self.sizes)
            modes = Posterior(self.plan.complete, values, everything, self.sizes).modes
        if not all(np.isfinite(value).all() for value in modes.values()):
            raise Unbounded
        return {name: moved_inside(self.plan.graph.nodes[name], value) for name, value in modes.items()}

    def expected(self, values: Mapping[str, Array]) -> Expected:
        """Posterior probabilities of the hidden variables, and the objective `log p(data, parameters)`."""
        everything = {**self.columns, **values}
        found: dict[str, Array] = {}
        total = 0.0
        steepest = -np.inf
        if self.plan.expect.body:
            computed = finish(self.plan.expect, self._expect, {}, everything, self.sizes)
            for item in self.plan.hidden:
                if not item.chain:
                    check_possible(item.name, computed[f"{item.name}.log_norm"])
                    found[item.probability] = computed[item.probability]
                    total += float(np.sum(computed[f"{item.name}.log_norm"]))
                    steepest = max(steepest, float(np.max(computed[f"{item.name}.log_weight"], initial=-np.inf)))
        environment = Environment(everything, self.sizes)
        for item in self.plan.hidden:
            if item.chain:
                weights = self._weights(item, environment)
                filtered, log_total = forward(weights)
                check_possible(item.name, np.asarray(log_total))
                found[item.probability], found[item.pair] = smooth(weights, filtered)
                total += log_total
                steepest = max(steepest, float(np.max(weights.single, initial=-np.inf)))
        with np.errstate(divide="ignore"):
            for factor in self.plan.rest:
                total += float(np.sum(evaluate(factor.expression, environment, factor.axes)))
        return Expected(found, total, steepest)

    def _weights(self, item: Hidden, environment: Environment) -> ChainWeights:
        first = self.columns[beginning(item.axes[0].plate)]
        return chain_weights(item.name, item.factors, item.level.plate, first, environment)

    @cached_property
    def _reals_in_a_row(self) -> float:
        """How many real numbers are seen for each element of a hidden variable."""
        nodes = self.plan.graph.nodes
        seen = [name for name in self.columns if name in nodes and nodes[name].kind == "random"]
        reals = [name for name in seen if not nodes[name].domain.is_discrete]
        rows = min(int(np.prod([self.sizes[axis.plate] for axis in item.axes])) for item in self.plan.hidden)
        return sum(np.size(self.columns[name]) for name in reals) / max(rows, 1)

    def run(self, expectations: Mapping[str, Array], iterations: int, tolerance: float) -> Estimate:
        """EM from given expectations."""
        history: list[float] = []
        values: dict[str, Array] = {}
        current = dict(expectations)
        highest = np.inf
        for _ in range(iterations):
            values = self.maximised(current)
            found = self.expected(values)
            current, objective = found.expectations, found.objective
            if not history and self._reals_in_a_row:
                highest = found.steepest + STEEPEST * self._reals_in_a_row
            if found.steepest > highest or objective == np.inf:
                raise Unbounded
            if not np.isfinite(objective):
                raise PlatewrightError(
                    f"the objective of EM is {objective}", hint="this is a defect of the derivation: report the model"
                )
            if history and objective < history[-1] - FALL * (1 + abs(history[-1])):
                raise PlatewrightError(
                    f"the objective of EM fell from {history[-1]:.10g} to {objective:.10g}",
                    hint="this is a defect of the derivation: please report the model",
                )
            history.append(objective)
            if len(history) > 1 and abs(history[-1] - history[-2]) <= tolerance * (1 + abs(history[-1])):
                return Estimate(values, current, tuple(history), True)
        return Estimate(values, current, tuple(history), False)


def run_em(
    plan: EMPlan,
    columns: Mapping[str, Array],
    sizes: Mapping[str, int],
    *,
    seed: int = 0,
    restarts: int = 5,
    iterations: int = 1000,
    tolerance: float = 1e-10,
) -> Estimate:
    """The best of several short runs, carried on until it stands still; one that has no upper bound gives way."""
    check_counts(restarts=restarts, iterations=iterations)
    runner = Runner(plan, columns, sizes)
    short: list[Estimate] = []
    trouble: PlatewrightError | None = None
    for generator in np.random.default_rng(seed).spawn(restarts):
        start = start_expectations(plan, columns, sizes, generator)
        try:
            short.append(runner.run(start, min(SHORT, iterations) if restarts > 1 else iterations, tolerance))
        except (Unbounded, ImproperPosterior) as error:
            trouble = error
    for begun in sorted(short, key=lambda estimate: -estimate.objective[-1]):
        left = iterations - len(begun.objective)
        if begun.converged or left <= 0:
            return begun
        try:
            ended = runner.run(begun.expectations, left, tolerance)
        except (Unbounded, ImproperPosterior) as error:
            trouble = error
            continue
        return Estimate(ended.values, ended.expectations, begun.objective + ended.objective, ended.converged)
    assert trouble is not None
    raise trouble


@dataclass(frozen=True, eq=False)
class Point:
    """The estimate of one unknown."""

    name: str
    value: Array
    labels: Mapping[str, tuple[object, ...]] = field(default_factory=dict)

    @property
    def mean(self) -> Array:
        """The estimate itself: a point has no spread."""
        return self.value


@dataclass(frozen=True, eq=False)
class EstimatedFit:
    """What `m.learn(data, goal="map")` returns when hidden variables are there."""

    plan: EMPlan
    estimate: Estimate
    columns: Mapping[str, Array]
    sizes: Mapping[str, int]
    labels: Mapping[str, tuple[object, ...]] = field(default_factory=dict)
    seed: int = 0
    backend: str = "numpy"
    seconds: Mapping[str, float] | None = None

    @property
    def how(self) -> str:
        """One line: which algorithm ran."""
        count = len(self.estimate.objective)
        state = "converged" if self.estimate.converged else "stopped"
        return f"em: {self.plan.summary}; {state} after {count} iterations ({self.backend})"

    def __getitem__(self, name: str) -> Point:
        """The estimate of a parameter."""
        if name not in self.estimate.values:
            raise UnknownName(name, self.estimate.values, where="fit[...]")
        return Point(name, self.estimate.values[name], self.labels)

    def probabilities(self, name: str) -> Array:
        """Row by row the posterior of a hidden discrete variable at the estimate."""
        item = next((item for item in self.plan.hidden if item.name == name), None)
        if item is None:
            raise UnknownName(name, [item.name for item in self.plan.hidden], where="probabilities")
        return self.estimate.expectations[item.probability]

    @property
    def log_joint(self) -> float:
        """`log p(data, estimate)`."""
        return self.estimate.objective[-1]

    @property
    def log_likelihood(self) -> float:
        """`log p(data | estimate)`: the objective without the priors."""
        environment = Environment({**self.columns, **self.estimate.values}, self.sizes)
        known = self.plan.graph.known | {item.name for item in self.plan.hidden}
        prior = sum(
            float(np.sum(evaluate(f.expression, environment, f.axes))) for f in self.plan.rest if f.owner not in known
        )
        return self.log_joint - prior

    def explain(self) -> str:
        """The derivation in words."""
        from platewright.derive.explain import explain_em

        return explain_em(self.plan)

    def summary(self, most: int | None = 20) -> Any:
        """A table of estimates; `most=None` shows every row."""
        from platewright.run.summary import summary

        return summary(self, most)

    def report(self) -> str:
        """The derivation as one HTML page with pictures."""
        from platewright.run.report import report

        return report(self.plan, self)

    def _repr_html_(self) -> str:
        from platewright.run.summary import summary_html

        return summary_html(self)

    def __repr__(self) -> str:
        return f"<EstimatedFit {self.plan.graph.title}: {self.how}>"
