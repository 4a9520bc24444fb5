"""Damaged and hostile texts give clean errors, fast; `python -m bugs.fuzz 100000` runs many more."""

from __future__ import annotations

import tracemalloc

import pytest

from bugs.fuzz import Trial, allowed, run, trial
from platewright.errors import BugsError
from platewright.language.bugs import translate
from platewright.language.bugs.data import parse_data
from platewright.language.bugs.parse import parse
from platewright.language.bugs.reader import read_bugs

TRIALS = 2000
PORTIONS = 8


@pytest.mark.parametrize("portion", range(PORTIONS))
def test_damaged_texts_give_clean_errors_and_fast(portion: int) -> None:
    run(trial(0, 0))  # the parser's tables are built at first use
    trials = [trial(0, number) for number in range(portion, TRIALS, PORTIONS)]
    outcomes = [run(one) for one in trials]
    assert not [one for one, (_, seconds) in zip(trials, outcomes) if seconds > allowed(one)]
    assert {"read", "BugsError"} <= {outcome for outcome, _ in outcomes}


FOUND = ((4, 12651), (21, 3662), (21, 8342), (21, 8551), (21, 12240), (21, 41013), (21, 52880))
"""Trials of long runs that once ended in an error of Python's."""


@pytest.mark.parametrize(("seed", "number"), FOUND)
def test_what_long_runs_found_stays_mended(seed: int, number: int) -> None:
    assert run(trial(seed, number))[0] in ("read", "BugsError")


@pytest.mark.parametrize(
    "text",
    [
        "(" * 100_000,
        "model {" + "x <- " + "-" * 100_000 + "1 }",
        "model { x <- " + "2^" * 50_000 + "2 }",
        "model { x <- " + "!" * 50_000 + "2 }",
        "model { x <- " + " + ".join(["1"] * 20_000) + " }",
        "model { for (i in 1:1000000000) { x[i] ~ dnorm(0, 1) } }",
        "model { for (i in 1:1000) { for (j in 1:1000) { for (k in 1:1000) { x[i,j,k] ~ dnorm(0, 1) } } } }",
        "model { x[1000000000] ~ dnorm(0, 1) }",
        "model { x[1,1,1,1,1,100000,100000] ~ dnorm(0, 1) }",
        "model { x[3] ~ dnorm(0, 1) T(0,0) y[-1] ~ dnorm(0,1) }",
        "var x[1000000,1000000]; model { x[1,1] ~ dnorm(0,1) }",
        "model { for (i in 1:1000000) { x[i] <- i * sum(x[1:3]) } }",
        "model { for (t in 3:100000) { x[t] ~ dnorm(x[t-1] + x[t-2], 1) } x[1] ~ dflat() x[2] ~ dflat() }",
        "/*" * 50_000,
        "model { x <- 1e999 y ~ dnorm(x, 1e999) }",
        "\x00",
        "",
    ],
)
def test_a_hostile_text_is_refused_or_read_but_never_crashes(text: str) -> None:
    run(trial(0, 0))
    outcome, seconds = run_text(text)
    assert outcome in ("read", "BugsError")
    assert seconds < allowed(Trial(text, ""))


def run_text(text: str) -> tuple[str, float]:
    return run(Trial(text, "list()"))


@pytest.mark.parametrize(
    "text",
    ["c(" * 10_000, "list(" * 10_000, "x <- " + "-" * 100_000 + "1", "[" * 100_000, "{" * 100_000, '{"a":' * 5_000,
     "x <- 1:1000000000", "x <- rep(1, 1e12)", "x <- structure(c(1,2), .Dim = c(1e9, 1e9))", "x <- system('rm')",
     "x[] y[] 1 2 3 END", "x[", "x <- structure(", "list(a = list(b = 1))", "x <- structure(1:2, .Dim = list(a = 2))",
     "x <- structure(c(), .Dim = c(9223372036854775807, 0, 1000001))", "x <- rep(1, NA)", "x <- 1:NA",
     "x <- rep(1, 1e308)", "x <- c(" + "1:1000000, " * 100 + "1)",
     "list(" + ", ".join(f"v{k} = 1:1000000" for k in range(100)) + ")"],
)  # fmt: skip
def test_hostile_data_are_refused(text: str) -> None:
    try:
        parse_data(text)
    except BugsError:
        return
    assert text.startswith("x <- ---")


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("model { x ~ dnorm(0, 1) }", "x <- c(" + "1:1000000, " * 400 + "1)"),
        ("model { x ~ dnorm(0, 1) }", "list(" + ", ".join(f"v{k} = rep(1, 999999)" for k in range(300)) + ")"),
        ("model { x ~ dnorm(0, 1) }", "x <- " + "rep(" * 20 + "1" + ", 10)" * 20),
        ("model { x[1:1000001] ~ dmnorm(m[], P[,]) }", "list(x = c(0, 1, 2))"),
        ("model { for (i in 1:s-1) { for (j in 2+i:s) { T[i,j] <- 0 } } x ~ dnorm(T[1,3], 1) }", "list(s = 4444)"),
    ],
)
def test_few_letters_do_not_ask_for_much_memory(text: str, data: str) -> None:
    run(trial(0, 0))
    tracemalloc.start()
    try:
        outcome, _ = run(Trial(text, data))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert outcome in ("read", "BugsError")
    assert peak < 200e6


def test_a_text_of_very_many_statements_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(translate, "MOST_STATEMENTS", 1000)
    with pytest.raises(BugsError, match="1,001 statements"):
        read_bugs("model {" + " ".join(f"v{k} ~ dnorm(0, 1)" for k in range(1001)) + "}", {})


def test_reading_takes_time_in_proportion_to_length() -> None:
    def seconds(count: int) -> float:
        steps = " ".join(f"a{k + 1} <- a{k} + 1" for k in range(count))
        return run_text(f"model {{ a0 ~ dnorm(0, 1) {steps} y ~ dnorm(a{count}, 1) }}")[1]

    seconds(10)
    assert min(seconds(2400) for _ in range(2)) < 3 * 4 * min(seconds(600) for _ in range(3))


def test_nothing_in_a_text_is_executed() -> None:
    with pytest.raises(BugsError, match="no function"):
        read_bugs("model { x ~ dnorm(eval(1), 1) }", {})
    with pytest.raises(BugsError):
        parse("model { x ~ dnorm(__import__('os'), 1) }")
