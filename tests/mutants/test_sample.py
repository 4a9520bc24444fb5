"""A part of the standing mutation run (`make mutants`): forty planted defects must be noticed."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from mutants.catalogue import catalogue
from mutants.planting import Gone, Mutant, planted
from mutants.proposing import proposals
from mutants.run import LEAST_KILLED, MOST_GONE, outcomes
from mutants.workshop import SOURCE, TOP

SAMPLE = 40


def sample() -> list[Mutant]:
    """Forty that are said to be noticed, spread over the rooms; the same ones until the catalogue changes."""
    rooms: dict[str, list[Mutant]] = {}
    for mutant in catalogue():
        if not mutant.survives:
            rooms.setdefault(mutant.room, []).append(mutant)
    chance = random.Random(1994)
    for several in rooms.values():
        chance.shuffle(several)
    found: list[Mutant] = []
    while len(found) < SAMPLE and any(rooms.values()):
        found += [several.pop() for several in rooms.values() if several]
    return found[:SAMPLE]


def test_planted_defects_are_noticed() -> None:
    found = list(outcomes(sample(), workers=1))
    missed = [str(outcome.mutant) for outcome in found if outcome.verdict in ("survived", "untested")]
    there = sum(outcome.verdict != "gone" for outcome in found)
    assert there >= SAMPLE * (1 - 4 * MOST_GONE), "make the catalogue anew: `python -m mutants.growing`"
    assert len(missed) <= there * (1 - LEAST_KILLED), "\n".join(missed)


def test_the_catalogue_is_large_and_fits_the_source() -> None:
    every = catalogue()
    gone = []
    for mutant in every:
        try:
            planted((TOP / SOURCE / mutant.file).read_text(encoding="utf-8"), mutant)
        except (Gone, OSError) as reason:
            gone.append(f"{mutant}: {reason}")
    assert len(every) >= 300
    assert len(gone) <= MOST_GONE * len(every), "\n".join(gone)


def test_what_means_the_same_survives() -> None:
    """The tests that notice defects pass where nothing is planted: the run can tell."""
    some = sample()
    harmless = replace(some[0], new=some[0].old, tests=tuple(dict.fromkeys(mutant.tests[0] for mutant in some)))
    assert [outcome.verdict for outcome in outcomes([some[0], harmless], workers=1)] == ["killed", "survived"]


def test_what_memory_does_not_reach_is_planted_in_files() -> None:
    """A constant of a module is bound when it is imported: a fork that cannot exchange it has noticed nothing."""
    test = "tests/run/test_effective_size.py::test_lost_paths_and_energies_that_were_not_explored_are_told"
    place = ("run/samplers/path_warnings.py", "LEAST_PATHS", "constant", "100")
    mutants = [Mutant(*place, "60 + 40", tests=(test,)), Mutant(*place, "1000", tests=(test,))]
    assert [outcome.verdict for outcome in outcomes(mutants, workers=1)] == ["survived", "killed"]


TEXT = '''
TABLE = {"a": 1 - x}

class Line:
    def at(self, x):
        """a + b x"""
        return self.a + self.b * x + f(x, 2)
'''


def test_a_defect_is_planted_where_its_expression_stands() -> None:
    one = Mutant("line.py", "Line.at", "operator", "self.b * x", "self.b / x")
    assert "return self.a + (self.b / x) + f(x, 2)" in planted(TEXT, one)
    assert '{"a": (1 + x)}' in planted(TEXT, Mutant("line.py", "TABLE", "operator", "1 - x", "1 + x"))
    assert '"b": 1 - x' in planted(TEXT, Mutant("line.py", "TABLE", "text", '"a"', '"b"'))


@pytest.mark.parametrize(
    "gone", [Mutant("line.py", "Line.at", "sign", "-x", "x"), Mutant("line.py", "Line.to", "sign", "x", "-x")]
)
def test_what_is_not_there_is_said_to_be_gone(gone: Mutant) -> None:
    with pytest.raises(Gone):
        planted(TEXT, gone)


def test_proposals_are_of_many_kinds_and_leave_words_alone() -> None:
    kinds = Counter(mutant.kind for mutant in proposals("line.py", TEXT))
    assert {"operator", "dropped", "swapped", "constant"} <= set(kinds)
    assert all("a + b x" not in mutant.old for mutant in proposals("line.py", TEXT))


def test_every_proposal_can_be_planted() -> None:
    text = Path(TOP / SOURCE / "families" / "gamma.py").read_text(encoding="utf-8")
    every = list(proposals("families/gamma.py", text))
    assert len(every) > 10
    for mutant in every:
        assert planted(text, mutant) != text
