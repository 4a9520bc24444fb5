"""The attacks on the edge, a few tries of each (`make attack` makes all), and: the attacks notice a lost door."""

from __future__ import annotations

import random
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import pytest

import platewright as pw
from attack import fits
from attack.mutating import damaged_archive
from attack.table import TRIES, tally_of
from platewright.run.results import saving, saving_iterated


@pytest.mark.parametrize("name", [name for name, (_, short) in TRIES.items() if short])
def test_an_attack_has_no_hit(name: str) -> None:
    tally = tally_of(name, TRIES[name][1])
    assert tally.tries == TRIES[name][1]
    assert tally.hits == []
    assert tally.outcomes


def test_a_door_that_lets_everything_through_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A law that lets a planted defect through is no law."""
    monkeypatch.setattr(fits, "FITS", {"coin": fits.FITS["coin"], "regression": fits.FITS["regression"]})
    fits.prepare(tmp_path)
    for module in (saving, saving_iterated):
        for name in ("admit_columns", "admit_statistics", "admit_sizes", "admit_iterated"):
            if hasattr(module, name):
                monkeypatch.setattr(module, name, lambda *given: given[1])
    monkeypatch.setattr(saving, "coherent", lambda where: nullcontext())
    foreign = 0
    for number in range(80):
        rng, path = random.Random(number), tmp_path / "damaged.fit"
        damaged_archive(tmp_path / f"fit{number % 2}.fit", path, rng, text="fit.json")
        foreign += _is_foreign(path)
    assert foreign >= 3


def _is_foreign(path: Path) -> bool:
    """Whether loading and using a fit ends in an error that is not ours."""
    try:
        fit: Any = pw.load(path)
        fits.used(fit)
    except pw.errors.PlatewrightError:
        return False
    except Exception:  # what the attack calls a hit
        return True
    return False
