"""The density of predicted rows, however it is found, is the ratio of evidence with and without the row."""

from __future__ import annotations

import numpy as np
import pytest

from laws.random_models import random_model
from platewright.errors import NotSolvable, PlatewrightError

CHUNKS, EACH = 3, 50


def compared(seed: int) -> bool:
    """Whether the model was solved, has one predicted variable, and rows that can be added one by one."""
    sample = random_model(seed)
    try:
        fit = sample.model.learn(dict(sample.data), by="exact", backend="numpy")
        inputs = {name: value for name, value in sample.data.items() if name not in fit.plan.graph.known}
        predicted = fit.predict(inputs)
        if not inputs or len(predicted) != 1:
            return False
        (target,) = predicted
        ratio = predicted.log_density({target: sample.data[target]})
    except (NotSolvable, PlatewrightError):
        return False
    found = np.asarray(predicted[target].log_density(sample.data[target]))
    if found.ndim > 1:
        return False  # several values a row, each with a density of its own
    np.testing.assert_allclose(found, ratio, rtol=1e-7, atol=1e-7, err_msg=f"seed {seed}\n\n{sample}")
    return True


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_the_density_of_a_predicted_row_is_a_ratio_of_evidence(chunk: int) -> None:
    seeds = range(90_000 + chunk * EACH, 90_000 + (chunk + 1) * EACH)
    assert sum(compared(seed) for seed in seeds) > 5
