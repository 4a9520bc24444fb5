"""Let a plan prove itself on small simulated data: the laws that any exact plan must obey.

log p(data, point) - log p(point | data) = log evidence         at any point (Bayes' theorem)
sum of prequential scores = log evidence                        (chain rule)
statistics of two halves, merged = statistics of all            (monoid)
log p(data, mode) >= log p(data, point nearby)                  (goal `map`)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from platewright.family import Array
from platewright.run.checks.simulating import small_data
from platewright.run.exact.runner import choose_runner
from platewright.run.exact.solved import Solved
from platewright.schema import Plan

TOLERANCE = 1e-7
NEIGHBOURS = 20


@dataclass(frozen=True)
class Law:
    """One law and how far it was off."""

    name: str
    error: float
    passed: bool

    def __str__(self) -> str:
        return f"{'holds ' if self.passed else 'FAILS '} {self.name} (off by {self.error:.2e})"


@dataclass(frozen=True)
class Verification:
    """All laws of one run."""

    laws: tuple[Law, ...]

    @property
    def passed(self) -> bool:
        """Whether every law holds."""
        return all(law.passed for law in self.laws)

    def __str__(self) -> str:
        return "\n".join(str(law) for law in self.laws) or "no law applies to a plan of this kind"


def verify_plan(plan: Plan, seed: int = 0) -> Verification:
    """Check a closed-form plan on small made-up data."""
    values, sizes = small_data(plan.graph, seed)
    columns = {name: values[name] for name in plan.program.columns}
    found = choose_runner(plan.program, "numpy", 0).statistics(columns, sizes)
    return verify_fit(Solved(plan, columns, sizes, found, seed=seed), seed)


def verify_fit(fit: Solved, seed: int = 0) -> Verification:
    """Check a fit against the laws of exact learning."""
    if fit.derivation.goal == "map":
        return Verification((_mode(fit, seed),))
    return Verification((_bayes(fit, seed), *_halves(fit)))


def _bayes(fit: Solved, seed: int) -> Law:
    drawn = fit.posterior.draws(5, np.random.default_rng(seed))
    errors = []
    for number in range(5):
        point = {name: values[number] for name, values in drawn.items()}
        errors.append(fit.log_joint_at(point) - fit.posterior.log_density(point) - fit.log_evidence)
    error = float(np.max(np.abs(errors))) / (1 + abs(fit.log_evidence))
    return Law("Bayes' theorem at 5 points", error, error < TOLERANCE)


def _mode(fit: Solved, seed: int) -> Law:
    """No point nearby is higher than the mode."""
    generator = np.random.default_rng(seed)
    rises = []
    for _ in range(NEIGHBOURS):
        point = {name: _nearby(fit, name, value, generator) for name, value in fit.estimate.items()}
        with np.errstate(all="ignore"):
            rises.append(fit.log_joint_at(point) - fit.log_joint)
    error = max(0.0, float(np.nanmax(rises))) / (1 + abs(fit.log_joint))
    return Law(f"the mode is higher than {NEIGHBOURS} points nearby", error, error < TOLERANCE)


def _nearby(fit: Solved, name: str, value: Array, generator: np.random.Generator) -> Array:
    """A point a few hundredths away, within the range of the variable; any other category."""
    shape, domain = np.shape(value), fit.derivation.graph.nodes[name].domain
    if domain.is_finite:
        levels = fit.sizes[str(domain.levels)] if domain.kind == "levels" else domain.listed
        return generator.integers(0, levels, shape)
    factor = np.exp(0.02 * generator.standard_normal(shape[: len(shape) - 2] if domain.kind == "matrix" else shape))
    moved = value * (factor[..., None, None] if domain.kind == "matrix" else factor)
    if domain.kind == "simplex":
        return moved / moved.sum(axis=-1, keepdims=True)
    return np.where((moved >= domain.lower) & (moved <= domain.upper), moved, value)


def _halves(fit: Solved) -> list[Law]:
    from platewright.errors import DataError
    from platewright.program.program import EVIDENCE
    from platewright.run.exact.changing import chosen_rows, is_numbered, needs_rows, row_plate
    from platewright.run.execute import arguments, finish

    program, module = fit.derivation.program, fit.module
    try:
        row = row_plate(program, fit.columns)
    except DataError:
        return []
    if needs_rows(program) or is_numbered(program, row) or any("@" in name for name in program.columns):
        return []
    count = fit.sizes[row]
    found = None
    for rows in (np.arange(count // 2), np.arange(count // 2, count)):
        part = chosen_rows(program, fit.columns, row, rows)
        one = module.statistics(*arguments(program, module, part, {**fit.sizes, row: len(rows)}))
        found = one if found is None else module.merged(found, one)
    again = float(finish(program, module, found or {}, fit.columns, fit.sizes)[EVIDENCE])
    error = abs(again - fit.log_evidence) / (1 + abs(fit.log_evidence))
    return [Law("two halves of the rows, merged, give the same evidence", error, error < TOLERANCE)]
