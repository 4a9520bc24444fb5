"""The quick part of `make outside`: every kind has cases that pass, and none breaks."""

from __future__ import annotations

import json

import pytest

from outside.corpus import cases, needs_corpus
from outside.outcome import COLUMNS, Outcome, cells, line, markdown, tally
from outside.running import run_case
from outside.table import KINDS, main

QUICK = [(kind, name) for kind, module in KINDS.items() for name in cases(kind) if name in module.QUICK]
NOT_IN_CLASS = {"nonlinear_BoxBOD", "exact_posterior_lizards_bde10"}


@needs_corpus
@pytest.mark.parametrize(("kind", "name"), QUICK, ids=[name for _, name in QUICK])
def test_a_quick_case_passes(kind: str, name: str) -> None:
    found = run_case(kind, name, KINDS[kind].run, 8.0)
    assert found.kind == kind and found.case == name
    if found.verdict == "not in class":
        assert name in NOT_IN_CLASS and found.why
        return
    assert found.verdict == "pass", (found.why, found.remark)
    assert found.error is not None and found.error <= 1


def test_whatever_happens_becomes_an_outcome() -> None:
    def sleep(name: str, seconds: float) -> Outcome:
        import time

        time.sleep(60)
        raise AssertionError

    def broken(name: str, seconds: float) -> Outcome:
        raise ZeroDivisionError("one by nought")

    def dead(name: str, seconds: float) -> Outcome:
        import os

        os._exit(3)

    assert run_case("k", "n", broken, 1.0).verdict == "broken"
    assert "ZeroDivisionError" in run_case("k", "n", broken, 1.0).why
    assert run_case("k", "n", dead, 1.0).verdict == "broken"
    assert run_case("k", "n", sleep, -4.5).verdict == "late"


def test_the_table_reads_as_text_markdown_and_json(capsys: pytest.CaptureFixture[str]) -> None:
    one = Outcome("bugs", "a", "pass", "exact", "", 0.1, 2.0, 0.25, "fine | [x]")
    other = Outcome("bugs", "b", "declined", why="no")
    assert "0.25" in line(cells(one)) and line(COLUMNS).startswith("kind")
    assert tally([one, other]) == "bugs: 2 cases, 1 pass, 1 declined"
    assert markdown([one]).splitlines()[2].count(" | ") == len(COLUMNS) - 1
    assert "fine \\| \\[x\\]" in markdown([one])
    assert json.loads(json.dumps(one.json))["verdict"] == "pass"


@needs_corpus
def test_one_case_can_be_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--kind", "trees", "--case", "vote", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["case"] == "vote" and found["verdict"] == "pass"
