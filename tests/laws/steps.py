"""What the law of steps compares: the density after a step with the density before, by brute force on tiny data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from laws import integrals
from platewright.algebra.evaluate import Environment, evaluate
from platewright.derive.plans import AnyPlan
from platewright.elimination.expected import moment_name
from platewright.elimination.loadings import mean_name
from platewright.elimination.state import FamilyConditional, GaussianConditional
from platewright.family import Argument, filled
from platewright.operation import Step
from platewright.operations.decompose import Decomposition, decompose
from platewright.run.density import environment_of, log_density
from platewright.schemas.evidence import POWER
from platewright.schemas.iterated_steps import BY_NUMBERS, depending
from platewright.schemas.mean_field import MeanFieldPlan

Values = Mapping[str, np.ndarray]
Sizes = Mapping[str, int]
NUMBERS = tuple(BY_NUMBERS.values())


class TooLarge(Exception):
    """Brute force has no way for this one."""


def integral(step: Step, values: Values, sizes: Mapping[str, int]) -> float:
    """What the density after an elimination must be, from the density before."""

    def density(changed: Values) -> float:
        return log_density(step.before, changed, sizes)

    nodes = [step.before.nodes[name] for name in step.gone]
    maximum = step.operation.startswith("maximise")
    if len(nodes) > 1 or nodes[0].domain.is_unbounded:
        if sum(np.size(values[node.name]) for node in nodes) > 40:
            raise TooLarge
        if is_quadratic(step):
            return integrals.gaussian(density, values, step.gone, maximum)
    node = nodes[0]
    if node.domain.is_finite:
        plate = node.domain.levels
        levels = sizes[plate] if plate is not None else node.domain.listed
        lowest = 0 if plate is not None else int(node.domain.lower)
        if levels ** np.size(values[node.name]) > integrals.MOST_STATES:
            raise TooLarge
        return integrals.summed(density, values, node.name, levels, lowest)
    if node.domain.kind == "simplex":
        if np.shape(values[node.name])[-1] > 3:
            raise TooLarge
        return integrals.over_simplices(density, values, node.name)
    if node.rank or node.domain.kind not in ("real", "positive", "unit", "interval"):
        raise TooLarge
    if np.size(values[node.name]) > 8:
        raise TooLarge
    return integrals.integrated(density, values, node.name, float(node.domain.lower), float(node.domain.upper))


def is_quadratic(step: Step) -> bool:
    return "Gaussian" in step.because


def assert_holds(step: Step, values: Values, sizes: Mapping[str, int]) -> None:
    """The density after the step is what the step says of the density before."""
    if step.operation == "remove_barren":
        step = replace(step, gone=tuple(integrated_away(step)))
    values = {**values, POWER: np.array(1.0)}
    left = {name: value for name, value in values.items() if name in step.after.nodes}
    if step.operation == "decompose":
        found, expected = of_pieces(step, values, sizes), log_density(step.before, values, sizes)
    elif number := left_to_the_program(step):
        found = log_density(step.after, {**left, number: np.array(0.0)}, sizes) + integrand(step, values, sizes)
        expected = log_density(step.before, values, sizes)
    else:
        found = log_density(step.after, left, sizes)
        expected = integral(step, values, sizes) if step.gone else log_density(step.before, values, sizes)
    assert abs(found - expected) <= 1e-7 * (1 + abs(expected)), f"{step.operation}: {found}, by brute force {expected}"


def left_to_the_program(step: Step) -> str:
    """The statistic that stands for an integral by numbers: `integrand` says of what, its value is the program's."""
    new = [name for name in step.after.nodes if name not in step.before.nodes and name.startswith(NUMBERS)]
    return new[0] if new else ""


def integrand(step: Step, values: Values, sizes: Mapping[str, int]) -> float:
    """The log factors that hold what goes, and its own, at the point."""
    environment = environment_of(step.before, values, sizes)
    away = depending(step.before, step.gone)
    inside = [factor for factor in step.before.factors if factor.owner in away or factor.names & away]
    return sum(float(np.sum(evaluate(f.summed, environment))) for f in inside)


def integrated_away(step: Step) -> list[str]:
    """The random nodes that are barren; functions of others go without an integral."""
    gone = [name for name in step.before.nodes if name not in step.after.nodes]
    return [name for name in gone if step.before.nodes[name].kind != "deterministic"]


def of_pieces(step: Step, values: Values, sizes: Mapping[str, int]) -> float:
    """The densities of all pieces and of the rest, together."""
    found = decompose(step.before)
    assert isinstance(found, Decomposition)
    parts = (*found.pieces, found.rest)
    return sum(log_density(part, {n: v for n, v in values.items() if n in part.nodes}, sizes) for part in parts)


def with_moments(plan: AnyPlan, step: Step, values: Values, sizes: Mapping[str, int]) -> tuple[Values, Sizes]:
    """The values with moments of what mean field holds: those of a distribution that is all at the point."""
    if not isinstance(plan, MeanFieldPlan):
        return values, sizes
    every = {axis.plate for block in plan.fields for axes in block.expecter.arrays.values() for axis in axes}
    plates = {**step.before.plates, **step.after.plates}
    made = {name: plates[name].size if name in plates else 1 for name in every}
    sizes = {**{name: size or 1 for name, size in made.items()}, **sizes}
    found = dict(values)
    for block in plan.fields:
        expecter = block.expecter
        for name, axes in expecter.arrays.items():
            found[name] = np.zeros([sizes[axis.plate] for axis in axes])  # loadings: nothing varies
        for conditional in expecter.conditionals:
            if isinstance(conditional, GaussianConditional):
                found |= {mean_name(name): values[name] for name in conditional.variables}
            elif isinstance(conditional, FamilyConditional):
                node = expecter.nodes[conditional.variable]
                for number, statistic in enumerate(conditional.recognised.family.statistics):
                    name = moment_name(node.name, number)
                    written = filled(statistic, {"x": Argument(node.symbol, node.events)}, node.events)
                    found[name] = evaluate(written, Environment(values, sizes), expecter.arrays[name])
    return found, sizes
