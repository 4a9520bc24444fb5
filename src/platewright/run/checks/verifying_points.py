"""Laws of quadrature over a few numbers, on small simulated data.

log p(data, held) + log p(others | held, data) = log p(data, held, others)      at any values
"""

from __future__ import annotations

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.run.checks.simulating import small_data
from platewright.run.checks.verifying import TOLERANCE, Law, Verification
from platewright.run.points.apart import Apart
from platewright.run.points.gaussians import Gaussians
from platewright.run.points.loaded import eliminated_on
from platewright.schemas.few_numbers import QuadraturePlan

POINTS = 3


def verify_points(plan: QuadraturePlan, seed: int = 0) -> Verification:
    """The density after elimination times the conditional of what is gone is the joint density."""
    values, sizes = small_data(plan.graph, seed)
    known = {name: array for name, array in values.items() if name not in plan.graph.unknown}
    generator = np.random.default_rng(seed)
    worst = 0.0
    for _ in range(POINTS):
        held = {name: np.asarray(values[name], dtype=float).reshape(1) * _shake(generator) for name in plan.held}
        point = {name: np.asarray(one[0]) for name, one in held.items()}
        if plan.pointwise is not None:
            eliminated = eliminated_on(plan.pointwise, known, sizes)
            given = Gaussians(plan.graph, eliminated, sizes, held, np.ones(1))
            others = {name: drawn[0] for name, drawn in given.draws(held, generator).items()}
            found = float(eliminated.log_density(held)[0]) + given.log_density(held, others)
        else:
            assert plan.complete is not None
            apart = Apart(plan.complete, known, sizes)
            posterior = apart.posterior(point)
            others = {name: drawn[0] for name, drawn in posterior.draws(1, generator).items()}
            found = float(apart.log_density(held)[0]) + posterior.log_density({**point, **others})
        environment = Environment({**known, **point, **others}, sizes)
        parts = [float(np.sum(evaluate(factor.expression, environment, factor.axes))) for factor in plan.factors]
        worst = max(worst, abs(found - sum(parts)) / (1 + max(map(abs, parts))))
    return Verification((Law("eliminated density times conditional is the joint", worst, worst < TOLERANCE),))


def _shake(generator: np.random.Generator) -> float:
    """Another value near the one simulated."""
    return float(generator.uniform(0.9, 1.1))
