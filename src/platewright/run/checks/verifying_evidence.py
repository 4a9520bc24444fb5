"""Laws of plans for the evidence on small simulated data: those of what each method stands on.

enumeration        the exact plan with the discrete unknowns known obeys Bayes' theorem
chib, annealed     every conditional of the sampler is a ratio of joints
laplace            the objective is the log of the sum over the discrete unknowns
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.family import Array
from platewright.graph.graph import Factor
from platewright.run.checks.simulating import small_data
from platewright.run.checks.verifying import TOLERANCE, Law, Verification, verify_plan
from platewright.run.checks.verifying_iterations import MOST_ASSIGNMENTS, verify_iterations
from platewright.schemas.evidence import EvidencePlan


def verify_evidence(plan: EvidencePlan, seed: int = 0) -> Verification:
    """The laws that apply to a method for the evidence."""
    if plan.complete is not None:
        return verify_plan(plan.complete, seed)
    if plan.gibbs is not None:
        return verify_iterations(plan.gibbs, seed)
    return Verification((_summed_out(plan, seed),))


def _summed_out(plan: EvidencePlan, seed: int) -> Law:
    name = "the objective is the log of the sum over all discrete values"
    values, sizes = small_data(plan.graph, seed)
    places = [(hidden, tuple(sizes[axis.plate] for axis in plan.graph.nodes[hidden].axes)) for hidden in plan.hidden]
    levels = [_levels(plan, hidden, sizes) for hidden in plan.hidden]
    counts = [int(np.prod(shape)) for _, shape in places]
    if np.prod([float(size) ** count for size, count in zip(levels, counts, strict=True)]) > MOST_ASSIGNMENTS:
        return Law(f"{name} (too many to list here)", 0.0, True)
    terms = []
    every = [product(range(size), repeat=count) for size, count in zip(levels, counts, strict=True)]
    for choice in product(*every):
        point = {hidden: np.reshape(chosen, shape) for (hidden, shape), chosen in zip(places, choice, strict=True)}
        terms.append(_total(plan.factors, {**values, **point}, sizes))
    found = _total(plan.objective, values, sizes)
    error = abs(np.logaddexp.reduce(terms) - found) / (1 + abs(found))
    return Law(name, float(error), bool(error < TOLERANCE))


def _levels(plan: EvidencePlan, hidden: str, sizes: Mapping[str, int]) -> int:
    domain = plan.graph.nodes[hidden].domain
    return sizes[str(domain.levels)] if domain.kind == "levels" else domain.listed


def _total(factors: tuple[Factor, ...], values: Mapping[str, Array], sizes: Mapping[str, int]) -> float:
    environment = Environment(values, sizes)
    with np.errstate(divide="ignore"):
        return float(sum(float(np.sum(evaluate(f.expression, environment, f.axes))) for f in factors))
