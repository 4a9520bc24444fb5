"""Time things side by side: taken in turn, best of several, with the memory they needed beyond what was there."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[1] / "src"


@dataclass(frozen=True)
class Line:
    """One claim: what was measured, what was asked."""

    what: str
    measured: float
    target: float
    unit: str
    at_least: bool = False
    note: str = ""

    @property
    def passes(self) -> bool:
        """Whether the claim holds in this run."""
        return self.measured >= self.target if self.at_least else self.measured <= self.target

    def __str__(self) -> str:
        asked = f"{'>=' if self.at_least else '<='} {self.target:g} {self.unit}"
        verdict = "pass" if self.passes else "MISS"
        return f"{verdict}  {self.what:<58} {self.measured:9.3g} {self.unit:<6} target {asked:<14} {self.note}"


def best_of(repeats: int, *actions: Callable[[], object]) -> list[float]:
    """The shortest time of each action in seconds; the actions take turns, after one turn that does not count."""
    best = [float("inf")] * len(actions)
    for turn in range(repeats + 1):
        for number, action in enumerate(actions):
            start = time.perf_counter()
            action()
            if turn:
                best[number] = min(best[number], time.perf_counter() - start)
    return best


def peak_beyond(action: Callable[[], object]) -> float | None:
    """Mebibytes of resident memory an action needs at its peak beyond what was there before; Linux only."""
    try:
        Path("/proc/self/clear_refs").write_text("5")
        before = _status("VmRSS")
        action()
        return (_status("VmHWM") - before) / 1024
    except OSError:
        return None


def _status(field: str) -> float:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) for line in lines if line.startswith(field))


def fresh(code: str, repeats: int = 5) -> list[float]:
    """Numbers that some code prints in a fresh interpreter: for each the smallest of several runs."""
    runs = []
    for _ in range(repeats):
        text = subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONPATH": str(SOURCE)}, capture_output=True, text=True, check=True
        ).stdout
        runs.append([float(word) for word in text.split()])
    return [min(values) for values in zip(*runs, strict=True)]
