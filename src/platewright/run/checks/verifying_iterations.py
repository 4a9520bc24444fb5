"""Laws of iterative plans on small simulated data.

Gibbs   log p(a, rest) - log p(b, rest) = log p(a | rest) - log p(b | rest)       for any two values of a block,
        exact or moved along a log density
Collapsed Gibbs   log weight(a) - log weight(b) = log evidence(a) - log evidence(b)       for levels of an element
EM      objective = log sum over hidden values of p(data, hidden, parameters); it never falls; its slopes are the
        expected slopes of the log joint (Equation 18)
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.backends.kernels.ascent import looked
from platewright.backends.kernels.xoshiro import Xoshiro
from platewright.family import Array
from platewright.graph.graph import Factor
from platewright.program.program import EVIDENCE
from platewright.run.checks.simulating import small_data
from platewright.run.checks.verifying import TOLERANCE, Law, Verification
from platewright.run.checks.verifying_moves import verify_moves
from platewright.run.exact.posterior import Posterior
from platewright.run.execute import arguments, finish, loaded
from platewright.run.hidden.em import Runner
from platewright.run.hidden.mean_field_search import run_mean_field
from platewright.run.samplers.collapsed import CollapsedSampler
from platewright.run.samplers.collapsed_data import CollapsedData
from platewright.schemas.collapsed import CollapsedPlan
from platewright.schemas.collapsed_move import Move
from platewright.schemas.em import EMPlan
from platewright.schemas.gibbs import ExactBlock, GibbsPlan
from platewright.schemas.mean_field import MeanFieldPlan

MOST_ASSIGNMENTS = 5000
MOST_SLOPES = 20
NEAR, ASIDE = 1e-5, 0.1
OF_SLOPES = 1e-6
"""How far slopes may be from differences, relative to the objective."""


def verify_iterations(plan: CollapsedPlan | EMPlan | GibbsPlan | MeanFieldPlan, seed: int = 0) -> Verification:
    """The laws that apply to an iterative plan."""
    values, sizes = small_data(plan.graph, seed)
    match plan:
        case GibbsPlan():
            blocks = [block for block in plan.blocks if isinstance(block, ExactBlock)]
            own = [block.plan.factors if block.without else plan.factors for block in blocks]
            exact = tuple(_ratio(b, factors, values, sizes, seed) for b, factors in zip(blocks, own, strict=True))
            return Verification((*exact, *verify_moves(plan, values, sizes, seed)))
        case CollapsedPlan():
            return Verification(tuple(_collapsed(plan, move, values, sizes) for move in plan.moves))
        case EMPlan():
            return Verification(tuple(_em(plan, values, sizes, seed)))
    return Verification((_bound(plan, values, sizes, seed),))


def _log_joint(factors: tuple[Factor, ...], values: Mapping[str, Array], sizes: Mapping[str, int]) -> float:
    environment = Environment(values, sizes)
    return float(sum(float(np.sum(evaluate(f.expression, environment, f.axes))) for f in factors))


def _ratio(
    block: ExactBlock, factors: tuple[Factor, ...], values: Mapping[str, Array], sizes: Mapping[str, int], seed: int
) -> Law:
    program = block.plan.program
    module = loaded(program)
    found = module.statistics(*arguments(program, module, values, sizes))
    computed = finish(program, module, found, values, sizes)
    posterior = Posterior(block.plan, computed, values, sizes)
    drawn = posterior.draws(2, np.random.default_rng(seed))
    joints, conditionals = [], []
    for number in range(2):
        point = {name: draws[number] for name, draws in drawn.items()}
        joints.append(_log_joint(factors, {**values, **point}, sizes))
        conditionals.append(posterior.log_density(point))
    error = abs((joints[0] - joints[1]) - (conditionals[0] - conditionals[1])) / (1 + abs(joints[0]))
    return Law(f"conditional ratio of {', '.join(block.variables)}", error, error < TOLERANCE)


def _collapsed(plan: CollapsedPlan, move: Move, values: Mapping[str, Array], sizes: Mapping[str, int]) -> Law:
    """Weights of an element's levels are ratios of evidences; the last element stands for all."""
    columns = {name: value for name, value in values.items() if name not in plan.graph.unknown}
    hidden = {name: np.array(values[name], dtype=np.int64) for name in plan.hidden}
    sampler = CollapsedSampler(CollapsedData(plan, columns, sizes), hidden, Xoshiro.seeded(np.random.SeedSequence(0)))
    element = tuple(sizes[axis.plate] - 1 for axis in move.axes)
    weights = sampler.log_weights(move, element)
    program, evidences = plan.complete.program, []
    module = loaded(program)
    for level in range(len(weights)):
        hidden[move.hidden][element] = level
        everything = {**columns, **hidden}
        found = module.statistics(*arguments(program, module, everything, sizes))
        evidences.append(float(finish(program, module, found, everything, sizes)[EVIDENCE]))
    error = np.ptp(weights - np.array(evidences)) / (1 + abs(evidences[0]))
    return Law(f"ratio of evidences of {move.hidden}", float(error), bool(error < TOLERANCE))


def _em(plan: EMPlan, values: Mapping[str, Array], sizes: Mapping[str, int], seed: int) -> list[Law]:
    hidden = plan.latent.names
    columns = {name: array for name, array in values.items() if name not in hidden and name not in plan.graph.unknown}
    runner = Runner(plan, columns, sizes)
    result = runner.run(runner.guessed(np.random.default_rng(seed)), 15, 0.0)
    falls = max((a - b for a, b in zip(result.objective, result.objective[1:], strict=False)), default=0.0)
    laws = [Law("the objective never falls", max(falls, 0.0), falls <= 1e-9 * (1 + abs(result.objective[-1])))]
    laws += _slopes(runner, result.values)
    tables = []
    count = 1
    for item in plan.hidden:
        shape = tuple(sizes[axis.plate] for axis in item.axes)
        size = sizes[item.level.plate]
        count *= size ** int(np.prod(shape))
        tables.append((item.name, shape, size))
    if count <= MOST_ASSIGNMENTS and not plan.latent.gaussian:
        everything = {**columns, **result.values}
        totals = []
        ranges = [product(range(size), repeat=int(np.prod(shape))) for _, shape, size in tables]
        for choice in product(*ranges):
            point = {n: np.array(c).reshape(s) for (n, s, _), c in zip(tables, choice, strict=True)}
            with np.errstate(divide="ignore"):
                totals.append(_log_joint(plan.factors, {**everything, **point}, sizes))
        error = abs(np.logaddexp.reduce(totals) - result.objective[-1]) / (1 + abs(result.objective[-1]))
        laws.append(Law("the objective equals the sum over all hidden values", float(error), error < TOLERANCE))
    return laws


def _slopes(runner: Runner, values: Mapping[str, Array]) -> list[Law]:
    """Slopes of expected log factors are those of the objective itself, beside a place where they vanish."""
    laws = []
    for number, hill in enumerate(runner.hills, start=len(runner.plan.blocks)):
        named, back, program = runner.text.named, runner.text.back, runner.plan.latent.programs[number]
        u = hill.coordinates.free(named(values)) + ASIDE
        at = {**values, **back(hill.coordinates.values(u)[0])}
        seen = runner.expected(at)
        everything = {**runner.columns, **at, **seen.expectations}
        sums = runner.text.statistics(number, runner.summed(program, everything))
        hill.given({**named(everything), **sums})
        _, slope = looked(hill, u)
        errors = []
        for place in range(min(len(u), MOST_SLOPES)):
            apart = NEAR * (np.arange(len(u)) == place)
            ends = [runner.expected({**at, **back(hill.coordinates.values(end)[0])}) for end in (u + apart, u - apart)]
            errors.append(abs((ends[0].objective - ends[1].objective) / (2 * NEAR) - slope[place]))
        error = max(errors, default=0.0) / (1 + abs(seen.objective))
        shown = ", ".join(runner.text.things[part.name] for part in hill.coordinates.parts)
        laws.append(Law(f"slopes in {shown} are those of the objective", float(error), bool(error < OF_SLOPES)))
    return laws


def _bound(plan: MeanFieldPlan, values: Mapping[str, Array], sizes: Mapping[str, int], seed: int) -> Law:
    columns = {name: array for name, array in values.items() if name not in plan.graph.unknown}
    result = run_mean_field(plan, columns, sizes, seed=seed, restarts=1, iterations=15, tolerance=0.0)
    falls = max((a - b for a, b in zip(result.bounds, result.bounds[1:], strict=False)), default=0.0)
    return Law("the lower bound never falls", max(falls, 0.0), falls <= 1e-9 * (1 + abs(result.bounds[-1])))
