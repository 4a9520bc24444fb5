"""Grow the catalogue: defects drawn at random, tried on the tests that run their function, the most telling first.

python -m pytest -p mutants.recorded ...          records what each test runs (see `recorded`)
python -m mutants.growing RECORD ROOM=COUNT ...   tries defects of some rooms and puts them into the catalogue, those
                                                  that no test noticed too: somebody has to look at them
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from mutants.catalogue import UNSEEN, catalogue, no_defects, unsettled, write
from mutants.planting import Mutant
from mutants.proposing import proposals
from mutants.run import outcomes
from mutants.workshop import TOP

SOURCE = TOP / "src" / "platewright"
REFUSALS = re.compile("refus|named|declin|messag|error|wrong|bad_|told|says")
"""Tests that look at words come last."""
LAWS_OF_FAMILIES = "algebra/evaluate.py:evaluate"
"""A function that they all run."""
BUDGET = 3.0
"""Seconds of tests for one defect; a second look takes more."""


@dataclass(frozen=True)
class Recorded:
    """A test, its seconds, and how many functions it runs."""

    name: str
    seconds: float
    wide: int


def recorded(files: Iterable[Path]) -> dict[str, list[Recorded]]:
    """For each function (`file:scope`) the tests that run it."""
    found: dict[str, list[Recorded]] = {}
    for file in files:
        for line in file.read_text(encoding="utf-8").splitlines():
            seconds, name, functions = json.loads(line)
            for function in functions:
                found.setdefault(function, []).append(Recorded(name, seconds, len(functions)))
    return found


def chosen(tests: Sequence[Recorded], wide: bool = False) -> tuple[str, ...]:
    """The most specific tests, and the most specific one of each of several files, within a budget."""
    ordered = sorted(
        (test for test in tests if test.seconds < (5.0 if wide else 1.5)),
        key=lambda test: (REFUSALS.search(test.name) is not None, test.wide, test.seconds),
    )
    seen: Counter[str] = Counter()
    picked: list[Recorded] = []
    for test in ordered:
        file, function = test.name.split("::")[0], test.name.split("[")[0]
        if not wide and (seen[file] >= 6 or len(picked) >= 14):
            continue
        if seen[function] >= (4 if wide else 2) or len(picked) >= 60:
            continue
        if sum(one.seconds for one in picked) + test.seconds < (6 * BUDGET if wide else BUDGET):
            picked.append(test)
            seen.update((file, function))
    return tuple(test.name for test in picked)


def candidates(room: str, tests: Mapping[str, list[Recorded]], count: int, seed: int) -> list[Mutant]:
    """Defects of a room, at most three a function, of functions that some test runs."""
    have = {mutant.place for mutant in (*catalogue(), *no_defects(), *unsettled())}
    every = []
    for path in sorted(SOURCE.rglob("*.py")):
        file = path.relative_to(SOURCE).as_posix()
        if Mutant(file, "", "", "", "").room != room:
            continue
        family = of_family(path, tests) if room == "families" else []
        picked: dict[str, tuple[str, ...]] = {}
        for mutant in proposals(file, path.read_text(encoding="utf-8")):
            if mutant.scope not in picked:
                picked[mutant.scope] = chosen(tests.get(f"{file}:{mutant.scope}", family), wide=room == "families")
            if picked[mutant.scope] and mutant.place not in have:
                every.append(replace(mutant, tests=picked[mutant.scope]))
    random.Random(seed).shuffle(every)
    each: Counter[str] = Counter()
    found = []
    for mutant in every:
        each[f"{mutant.file}:{mutant.scope}"] += 1
        if each[f"{mutant.file}:{mutant.scope}"] <= 3:
            found.append(mutant)
    return found[:count]


def of_family(path: Path, tests: Mapping[str, list[Recorded]]) -> list[Recorded]:
    """The laws of the family that a file states: it is data, and no function says that it runs."""
    name = re.search(r'name="(\w+)"', path.read_text(encoding="utf-8"))
    laws = {test for test in tests.get(LAWS_OF_FAMILIES, ()) if "tests/laws/" in test.name}
    return [test for test in laws if name is not None and re.search(rf"\b{name[1]}\b", test.name.split("[")[-1])]


def second_look(tests: Mapping[str, list[Recorded]]) -> list[Mutant]:
    """What was not noticed, with many more tests."""
    found = []
    for mutant in unsettled():
        path = SOURCE / mutant.file
        family = of_family(path, tests) if mutant.room == "families" else []
        known = chosen(tests.get(f"{mutant.file}:{mutant.scope}", family), wide=True)
        named = [str(file.relative_to(TOP)) for file in TOP.glob(f"tests/*/test_{path.stem}.py")]
        found.append(replace(mutant, tests=(*known, *named)))
    return found


def main() -> None:
    """The command."""
    words = argparse.ArgumentParser(prog="python -m mutants.growing", description=__doc__)
    words.add_argument("record", help="what `mutants.recorded` wrote; files that begin so are all read")
    words.add_argument("rooms", nargs="*", help="ROOM=COUNT; without any, a second look at what was not noticed")
    words.add_argument("--seed", type=int, default=0)
    words.add_argument("--workers", type=int, default=2)
    words.add_argument("--quick", action="store_true", help="what is not noticed in memory is not tried afresh")
    asked = words.parse_args()
    record = Path(asked.record)
    tests = recorded(record.parent.glob(f"{record.name}*"))
    tried = [] if asked.rooms else second_look(tests)
    for room, _, count in (word.partition("=") for word in asked.rooms):
        tried += candidates(room, tests, int(count), asked.seed)
    for outcome in outcomes(tried, asked.workers, quick=asked.quick):
        mutant = outcome.mutant
        print(
            f"{outcome.verdict:9}{outcome.seconds:6.1f} s  {mutant}  #{mutant.nth} {mutant.kind}  {outcome.by}",
            flush=True,
        )
        if outcome.verdict == "killed" and "::" in outcome.by:
            others = [test for test in mutant.tests if test != outcome.by]
            keep(replace(mutant, tests=(outcome.by, *others[:3]), survives=""))
        if outcome.verdict == "survived":
            keep(replace(mutant, tests=mutant.tests[:8], survives=UNSEEN))


def keep(mutant: Mutant) -> None:
    """Put a defect into the catalogue, in place of the same one."""
    others = [other for other in (*catalogue(), *no_defects(), *unsettled()) if other.place != mutant.place]
    write([*others, mutant])


if __name__ == "__main__":
    main()
