"""Checkpoints with something wrong in them: refused in words, or gone on from; never an end of the process."""

from __future__ import annotations

import random
from contextlib import suppress
from pathlib import Path
from typing import Any

from attack.mutating import damaged_archive
from platewright.run import checkpoint
from run import test_long_runs, test_long_samplers
from run.test_long_samplers import RUNS, learn, stopped_after

EM: dict[str, dict[str, Any]] = {
    "em": {"goal": "map", "backend": "numpy"},
    "em in C": {"goal": "map", "backend": "c"},
    "mean field of reals": {"by": "mean-field"},
}
NAMES = [*RUNS, *EM]


def run(name: str, path: Path) -> Any:
    """One run that stores its state."""
    if name in RUNS:
        return learn(name, checkpoint=path)
    model, data = test_long_runs.mixture(), test_long_runs.data()
    return model.learn(data, restarts=2, iterations=40, checkpoint=path, **EM[name])


def prepare(folder: Path) -> None:
    """States from the middle of each run."""
    import pytest

    checkpoint.SECONDS = checkpoint.WRITING = 0.0
    for number, name in enumerate(NAMES):
        path = folder / f"state{number}"
        if path.exists():
            continue
        with pytest.MonkeyPatch.context() as patch:
            stopped_after(5, test_long_samplers.Killed, patch)
            with suppress(test_long_samplers.Killed):
                run(name, folder / "whole")
        (folder / "whole").replace(path)
    checkpoint.SECONDS, checkpoint.WRITING = 5.0, 20.0


def attempt(number: int, folder: Path) -> str:
    """Damage one state and go on from it."""
    rng = random.Random(number)
    place = number % len(NAMES)
    path = folder / "damaged"
    damaged_archive(folder / f"state{place}", path, rng, text=checkpoint.FACTS)
    run(NAMES[place], path)
    return "fine"
