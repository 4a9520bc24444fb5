"""The identity of every exact result, at any point theta: log p(data, theta) - log p(theta | data) = log evidence."""

from __future__ import annotations

from typing import Any

import numpy as np


def check_identity(fit: Any, count: int = 3, seed: int = 3, tolerance: float = 1e-8) -> None:
    """Check the identity at points drawn from the posterior; relative to the size of the terms."""
    drawn = fit.draws(count, seed=seed)
    for k in range(count):
        point = {name: drawn[name][k] for name in fit.posterior.unknown}
        joint, density = fit.log_joint_at(point), fit.posterior.log_density(point)
        size = 1 + abs(fit.log_evidence) + abs(joint) + abs(density)
        error = abs(joint - density - fit.log_evidence)
        assert np.isfinite(error) and error <= tolerance * size, (
            f"log joint {joint} - log posterior {density} = {joint - density}, but log evidence {fit.log_evidence}"
        )
