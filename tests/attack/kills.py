"""Runs that are killed without warning at any moment, and go on to the same bits."""

from __future__ import annotations

import random
import signal
import time
from pathlib import Path
from typing import Any

from attack.checkpoints import NAMES, run
from attack.forked import Child, with_arrays
from platewright.run import checkpoint

WHOLE: dict[str, dict[str, str]] = {}
SECONDS: dict[str, float] = {}


def prepare(folder: Path) -> None:
    """What each run comes to when nobody disturbs it, and how long it takes."""
    checkpoint.SECONDS = checkpoint.WRITING = 0.0
    for name in NAMES:
        run(name, folder / "first")
        (folder / "first").unlink()
        begin = time.monotonic()
        WHOLE[name] = with_arrays(run(name, folder / "first"))
        SECONDS[name] = time.monotonic() - begin
        (folder / "first").unlink()


def attempt(number: int, folder: Path) -> str:
    """Kill one run, sometimes two in a row, and carry it on."""
    rng = random.Random(number)
    name = NAMES[number % len(NAMES)]
    path = folder / f"state{number}"
    killed = 0
    for _ in range(rng.choice([1, 1, 2])):

        def work() -> dict[str, Any]:
            run(name, path)
            return {"kind": "ended"}

        child = Child(work, folder / "told")
        if child.ended(rng.uniform(0, SECONDS[name])) is None:
            child.send(signal.SIGKILL)
            killed += 1
            assert child.ended(10) is not None
    found = with_arrays(run(name, path))
    path.unlink(missing_ok=True)
    for left in folder.glob("*.part"):  # a killed process cannot clear up; nothing reads it
        left.unlink()
    if found != WHOLE[name]:
        return f"HIT: {name} went on to other bits"
    return "same bits" if killed else "ended before"
