"""Damaged and hostile Stan texts give clean errors, fast; `python -m stan.fuzz 100000` runs many more."""

from __future__ import annotations

import pytest

from bugs.fuzz import allowed
from platewright.errors import StanError
from platewright.reading import read_stan
from stan.fuzz import run, trial

TRIALS = 300
PORTIONS = 3


@pytest.mark.parametrize("portion", range(PORTIONS))
def test_damaged_programs_give_clean_errors_and_fast(portion: int) -> None:
    run(trial(0, 0))  # the parser's tables are built at first use
    trials = [trial(0, number) for number in range(portion, TRIALS, PORTIONS)]
    outcomes = [run(one) for one in trials]
    assert not [one for one, (_, seconds) in zip(trials, outcomes) if seconds > allowed(one)]
    assert {"read", "StanError"} == {outcome for outcome, _ in outcomes}


FOUND = ((11, 23382),)
"""Trials of long runs that once ended in an error of Python's."""


@pytest.mark.parametrize(("seed", "number"), FOUND)
def test_what_long_runs_found_stays_mended(seed: int, number: int) -> None:
    assert run(trial(seed, number))[0] in ("read", "StanError")


def test_nothing_in_a_program_is_executed() -> None:
    for call in ("eval(1)", "system(1)", "__import__(1)", "print(1)"):
        with pytest.raises(StanError):
            read_stan(f"parameters {{ real a; }} model {{ a ~ normal({call}, 1); }}")
