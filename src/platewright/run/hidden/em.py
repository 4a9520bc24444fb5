"""Run an EM plan: expectation and maximisation in turn until the objective stands still; it may never fall."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.backends.kernels.ascent import ascended
from platewright.errors import Unbounded
from platewright.family import Array
from platewright.program.program import Program
from platewright.run.checks.sanity import check_possible
from platewright.run.exact.posterior import Posterior
from platewright.run.exact.runner import compiled_passes
from platewright.run.execute import Loaded, Statistics, arguments, finish, loaded
from platewright.run.hidden.chain_group import possible, shared
from platewright.run.hidden.climbing import Climb, Slope, climb
from platewright.run.hidden.gaussian_hidden import condition, weighed, with_points
from platewright.run.hidden.interior import moved_inside
from platewright.run.hidden.native_cliques import NativeCliques
from platewright.run.hidden.native_em import EMStep, NativeEM
from platewright.run.hidden.native_em_sums import Doubtful
from platewright.run.hidden.soft_start import start_expectations
from platewright.run.hidden.starting_rows import starting_rows
from platewright.run.samplers.block_density import BlockDensity
from platewright.run.samplers.starting import starting_values
from platewright.run.samplers.unconstrained import unconstrained
from platewright.schemas.em import EMPlan

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
    interrupted: bool = False


@dataclass(frozen=True, eq=False)
class Runner:
    """The two steps of a plan on given data."""

    plan: EMPlan
    columns: Mapping[str, Array]
    sizes: Mapping[str, int]
    native: NativeEM | NativeCliques | None = None
    """Makes both steps in one pass over the rows; without it, or where it has no C, NumPy makes them one by one."""
    compiled: bool = False
    """Whether C sums up the expectations that NumPy made."""

    @cached_property
    def _expect(self) -> Loaded:
        return loaded(self.plan.expect)

    def maximised(self, expectations: Mapping[str, Array], values: Mapping[str, Array]) -> dict[str, Array]:
        """The mode of the parameters given expectations of the hidden variables, block after block."""
        found = dict(values)
        for number, program in enumerate(self.plan.latent.programs):
            everything = {**self.columns, **expectations, **found}
            found |= self.improved(self.summed(program, everything), everything, number)
        return found

    def improved(self, found: Statistics, everything: Mapping[str, Array], number: int) -> dict[str, Array]:
        """The mode of a block of parameters given expected statistics, or higher values where it has no closed mode."""
        closed = len(self.plan.blocks)
        if number < closed:
            return self.mode(found, everything, number)
        hill = self.hills[number - closed]
        hill.given({**everything, **found})
        raised = ascended(hill, {part.name: everything[part.name] for part in hill.coordinates.parts})
        inside = {name: moved_inside(self.plan.graph.nodes[name], value) for name, value in raised.items()}
        if edge := next((name for name, value in raised.items() if (inside[name] != value).any()), None):
            # Where the density is finite at an edge, slopes lose their force long before numbers end.
            raise Unbounded(edge=edge)
        return inside

    @cached_property
    def hills(self) -> list[BlockDensity]:
        """The expected log factors of parameters without a closed mode."""
        graph, sizes = self.plan.graph, self.all_sizes
        return [BlockDensity(graph, a.variables, a.factors, a.slopes, sizes) for a in self.plan.ascents]

    def summed(self, program: Program, everything: Mapping[str, Array]) -> Statistics:
        """The expected statistics of a block."""
        if not program.passes:
            return {}
        module = loaded(program)
        statistics = (compiled_passes(program) if self.compiled else None) or module.statistics
        return statistics(*arguments(program, module, everything, self.all_sizes))

    @cached_property
    def all_sizes(self) -> dict[str, int]:
        """Sizes of plates, and of the points that stand for hidden Gaussians."""
        return with_points(self.plan.latent, self.sizes)

    def mode(self, found: Statistics, everything: Mapping[str, Array], number: int = 0) -> dict[str, Array]:
        """The mode of a block of parameters given expected statistics."""
        program, block = self.plan.latent.programs[number], self.plan.blocks[number]
        with np.errstate(divide="ignore", invalid="ignore"):
            values = finish(program, loaded(program), found, everything, self.all_sizes)
            modes = Posterior(block, values, everything, self.sizes).modes
        if not all(np.isfinite(value).all() for value in modes.values()):
            raise Unbounded
        return {name: moved_inside(self.plan.graph.nodes[name], value) for name, value in modes.items()}

    def expected(self, values: Mapping[str, Array]) -> Expected:
        """Posterior probabilities of the hidden variables, and the objective `log p(data, parameters)`."""
        everything = {**self.columns, **values}
        found: dict[str, Array] = {}
        total = 0.0
        steepest = -np.inf
        for cloud in self.plan.latent.gaussian:
            conditioned = condition(cloud, everything, self.sizes)
            found |= conditioned.arrays
            everything |= conditioned.arrays
            steepest = max(steepest, float(np.max(conditioned.log_norm, initial=-np.inf)))
            if not cloud.classes:
                total += float(np.sum(weighed(cloud, conditioned.log_norm, everything, self.sizes)))
        passed = [possible(chain, everything, self.sizes) for chain in self.plan.latent.chains]
        for chain, one in zip(self.plan.latent.chains, passed, strict=True):
            everything |= one.arrays
            steepest = max(steepest, one.steepest)
            total += 0.0 if chain.group.classes else float(np.sum(one.arrays[chain.group.norm]))
        if self.plan.expect.body:
            computed = finish(self.plan.expect, self._expect, {}, everything, self.sizes)
            for group in self.plan.latent.groups:
                for name in group.log_norms:
                    check_possible(", ".join(group.levels), computed[name])
                    total += float(np.sum(computed[name]))
                    steepest = max(steepest, float(np.max(computed[name], initial=-np.inf)))
            found |= {name: values for name, values in computed.items() if name.endswith(".probability")}
        for chain, one in zip(self.plan.latent.chains, passed, strict=True):
            found |= shared(chain, one, {**everything, **found}, self.sizes)
        return Expected(found, total + self.elsewhere(everything), steepest)

    def elsewhere(self, everything: Mapping[str, Array]) -> float:
        """The log factors without hidden variables."""
        environment = Environment(everything, self.sizes)
        with np.errstate(divide="ignore"):
            return sum(float(np.sum(evaluate(f.expression, environment, f.axes))) for f in self.plan.rest)

    @cached_property
    def reals_in_a_row(self) -> float:
        """How many real numbers are seen for each element of a hidden variable."""
        nodes = self.plan.graph.nodes
        seen = [name for name in self.columns if name in nodes and nodes[name].kind == "random"]
        reals = [name for name in seen if not nodes[name].domain.is_discrete]
        counts = [int(np.prod([self.sizes[axis.plate] for axis in axes])) for axes in self.plan.latent.elements]
        rows = min(counts, default=1)
        return sum(np.size(self.columns[name]) for name in reals) / max(rows, 1)

    def run(self, expectations: Mapping[str, Array], iterations: int, tolerance: float) -> Estimate:
        """EM from given expectations."""
        return self.run_from(self.begun(expectations), iterations, tolerance)

    def begun(
        self, expectations: Mapping[str, Array], generator: np.random.Generator | None = None
    ) -> dict[str, Array]:
        """The first mode; where blocks need each other's values, from moderate ones."""
        values: dict[str, Array] = {}
        if self.plan.takes_turns:
            chosen = np.random.default_rng(0) if generator is None else generator
            values = starting_values(self.plan.graph, self.plan.learned, self.sizes, chosen)
        return self.maximised(expectations, values)

    def run_from(self, values: Mapping[str, Array], iterations: int, tolerance: float) -> Estimate:
        """EM from given parameters."""
        return self.ended(climb(self.slope, Climb(values), iterations, tolerance))

    @cached_property
    def slope(self) -> Slope[Expected | EMStep]:
        """What there is to climb."""
        nodes = self.plan.graph.nodes
        learned = [nodes[name] for name in self.plan.learned]
        smooth = not any(node.domain.is_discrete or node.domain.kind == "circle" for node in learned)
        joined = unconstrained(learned, self.sizes) if smooth else None
        return Slope(self.look, self.next_values, joined, self.reals_in_a_row, STEEPEST)

    def look(self, values: Mapping[str, Array]) -> Expected | EMStep:
        """The expectation at given parameters, by C where it is there."""
        if self.native is None or not self.native.native:
            return self.expected(values)
        found = self.native.step(values)
        if not np.isfinite(found.objective):
            self.expected(values)  # says what is wrong, in which row
        return found

    def ended(self, climbed: Climb[Expected | EMStep]) -> Estimate:
        """The result of a climb."""
        assert climbed.seen is not None  # there is at least one iteration
        expectations = self.probabilities(climbed.seen, climbed.values)
        return Estimate(
            climbed.values, expectations, tuple(climbed.history), climbed.converged, interrupted=climbed.interrupted
        )

    def probabilities(self, found: Expected | EMStep, values: Mapping[str, Array]) -> Mapping[str, Array]:
        """The expectations at given parameters; a fused step has not kept them."""
        if isinstance(found, Expected):
            return found.expectations
        if isinstance(self.native, NativeEM):
            return self.native.probabilities(values)
        return self.expected(values).expectations

    def next_values(self, found: Expected | EMStep, values: Mapping[str, Array]) -> dict[str, Array]:
        """The mode after an expectation, whoever made it."""
        if isinstance(found, Expected):
            return self.maximised(found.expectations, values)
        if not self.plan.takes_turns:
            return self.mode(found.statistics, self.columns)
        try:
            return self.in_turn(found, values)
        except Doubtful as doubt:
            assert isinstance(self.native, NativeEM)
            self.native.doubted(doubt)
            return self.maximised(self.native.probabilities(values), values)

    def in_turn(self, found: EMStep, values: Mapping[str, Array]) -> dict[str, Array]:
        """The modes of the blocks one after the other, each of the same sums at the values of those before it."""
        result = dict(values)
        for number in range(len(self.plan.latent.programs)):
            result |= self.improved(found.given(number, result), {**self.columns, **result}, number)
        return result


def start_values(runner: Runner, generator: np.random.Generator) -> dict[str, Array]:
    """Parameters to start from: the mode of a soft guess, made on a choice of rows where there are many."""
    columns, sizes = starting_rows(runner.plan, runner.columns, runner.sizes, generator)
    few = runner if sizes is runner.sizes else Runner(runner.plan, columns, sizes)
    return few.begun(start_expectations(few.plan, columns, sizes, generator), generator)
