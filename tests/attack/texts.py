"""Hostile texts of models and data: a thousand a try, each read or refused in words, fast and small."""

from __future__ import annotations

from pathlib import Path

from bugs.fuzz import run, trial

TEXTS = 1_000
"""Texts of one try."""
LONGEST = 5.0
"""Seconds that one text may take, on a machine that others work on too."""


def attempt(number: int, folder: Path) -> str:
    """One thousand texts of a seed of their own."""
    run(trial(number, 0))
    for each in range(TEXTS):
        one = trial(number, each)
        try:
            outcome, seconds = run(one)
        except Exception as error:
            return f"HIT: text {number}-{each}: {type(error).__name__}: {error}"[:300]
        if seconds > LONGEST:
            return f"HIT: text {number}-{each} took {seconds:.1f} s: {outcome}"
    return "1000 texts"
