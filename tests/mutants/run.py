"""The standing mutation run: every planted defect of the catalogue, what noticed it, and what did not.

python -m mutants.run [--room ROOM] [--sample COUNT] [--workers 2] [--page docs/mutants.md]
python -m mutants.run --kept FILE [--minutes 4] ...      in pieces: what stands in the file is not tried again
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from queue import Queue

from mutants.catalogue import catalogue, no_defects, unsettled
from mutants.planting import Mutant
from mutants.workshop import TOP, Outcome, Workshop, workshop

LEAST_KILLED = 0.95
MOST_GONE = 0.05


def outcomes(mutants: Sequence[Mutant], workers: int, quick: bool = False) -> Iterator[Outcome]:
    """What becomes of each, as it is known; each worker has a copy of its own."""
    shelf: Queue[Workshop] = Queue()
    files = sorted({test.split("::")[0] for mutant in mutants for test in mutant.tests})
    opened = [workshop(files) for _ in range(workers)]
    try:
        for one in opened:
            shelf.put(one.__enter__())

        def tried(mutant: Mutant) -> Outcome:
            mine = shelf.get()
            try:
                return mine.tried(mutant, quick=quick)
            finally:
                shelf.put(mine)

        with ThreadPoolExecutor(workers) as pool:
            yield from pool.map(tried, mutants)
    finally:
        for one in opened:
            one.__exit__(None, None, None)


def table(found: Sequence[Outcome]) -> str:
    """Room by room: planted, killed, survived, gone."""
    rooms: dict[str, Counter[str]] = {}
    for outcome in found:
        rooms.setdefault(outcome.mutant.room, Counter())[outcome.verdict] += 1
    lines = ["| room | planted | killed | survived | gone |", "|---|---:|---:|---:|---:|"]
    total: Counter[str] = Counter()
    for room in sorted(rooms):
        total += rooms[room]
        lines.append(_row(f"`{room}`", rooms[room]))
    return "\n".join([*lines, _row("all", total)])


def _row(name: str, counts: Counter[str]) -> str:
    survived = counts["survived"] + counts["untested"]
    return f"| {name} | {counts.total()} | {counts['killed']} | {survived} | {counts['gone']} |"


def page(found: Sequence[Outcome], minutes: float, workers: int) -> str:
    """The page in the documentation."""
    kinds = Counter(outcome.mutant.kind for outcome in found)
    killed = sum(outcome.verdict == "killed" for outcome in found)
    survivors = [outcome.mutant for outcome in found if outcome.verdict in ("survived", "untested")]
    listed = [
        f"- `{m.file}`, `{m.scope}`: `{m.old}` -> `{m.new}`. {m.survives or 'NOT YET LOOKED AT.'}" for m in survivors
    ]
    return "\n".join(
        [
            "# Planted defects",
            "",
            "Tests are worth what they notice. `make mutants` plants defects in a copy of the source, one at a time,",
            "runs the tests that concern each, and writes this page. A defect is one expression, exchanged: "
            + ", ".join(f"{kind} ({count})" for kind, count in kinds.most_common())
            + ".",
            "They were drawn at random among all such changes of functions that tests run, but for those in C text and",
            "about the top of an objective (`run/hidden`), which were written by hand. One that no test noticed was",
            "looked at: it got a test or a reason below. The catalogue is `tests/mutants/planted/`;",
            "`tests/mutants/test_sample.py` runs forty in `make test`. With `--kept FILE` a run can be broken off and",
            "goes on from there.",
            "",
            *apart(),
            "",
            f"The last run: {len(found)} planted, {killed} killed ({killed / max(len(found), 1):.1%}), "
            f"{minutes:.0f} minutes with {workers} workers. What nobody has looked at counts as survived.",
            "",
            table(found),
            "",
            "## Survivors, and why they do not matter",
            "",
            *(listed or ["None."]),
            "",
            "## Changes that are no defects",
            "",
            *(f"- `{m.file}`, `{m.scope}`: `{m.old}` -> `{m.new}`. {m.same}" for m in no_defects()),
            "",
        ]
    )


def apart() -> list[str]:
    """What was drawn and does not count."""
    return [
        f"{len(no_defects())} more changes were drawn that are none: every number stays. They are listed below with",
        "the reason, and are not counted.",
    ]


@dataclass(frozen=True)
class Kept:
    """A file of outcomes, a line each: a run that is broken off goes on from there."""

    path: Path | None

    def read(self, mutants: Iterable[Mutant]) -> list[Outcome]:
        """What is known of these."""
        if self.path is None or not self.path.exists():
            return []
        known = {m.place: m for m in mutants}
        lines = [json.loads(line) for line in self.path.read_text(encoding="utf-8").splitlines()]
        latest = {tuple(place): rest for place, *rest in lines if tuple(place) in known}
        return [Outcome(known[place], *rest) for place, rest in latest.items()]

    def add(self, outcome: Outcome) -> None:
        """One more."""
        if self.path is not None:
            line = json.dumps([outcome.mutant.place, outcome.verdict, outcome.seconds, outcome.by])
            with self.path.open("a", encoding="utf-8") as file:
                file.write(line + "\n")


def main() -> int:
    """The command."""
    words = argparse.ArgumentParser(prog="python -m mutants.run", description=__doc__)
    words.add_argument("--room", help="only this room")
    words.add_argument("--sample", type=int, help="only so many, drawn anew each time")
    words.add_argument("--workers", type=int, default=2)
    words.add_argument("--page", type=Path, help="write the page there")
    words.add_argument("--kept", type=Path, help="keep outcomes in this file, and go on from what stands there")
    words.add_argument("--minutes", type=float, default=float("inf"), help="try no more after so many")
    asked = words.parse_args()
    mutants = [mutant for mutant in (*catalogue(), *unsettled()) if asked.room in (None, mutant.room)]
    if asked.sample:
        mutants = random.sample(mutants, min(asked.sample, len(mutants)))
    kept, start = Kept(asked.kept), time.monotonic()
    found = kept.read(mutants)
    done = {outcome.mutant.place for outcome in found}
    with closing(outcomes([mutant for mutant in mutants if mutant.place not in done], asked.workers)) as tried:
        for outcome in tried:
            found.append(outcome)
            kept.add(outcome)
            print(f"{outcome.verdict:9}{outcome.seconds:6.1f} s  {outcome.mutant}  {outcome.by}", flush=True)
            if time.monotonic() - start > 60 * asked.minutes:
                break
    minutes = sum(outcome.seconds for outcome in found) / 60 / asked.workers
    print(f"\n{table(found)}\n\n{minutes:.1f} minutes, {len(mutants) - len(found)} not tried")
    if asked.page and len(found) == len(mutants):
        (TOP / asked.page).write_text(page(found, minutes, asked.workers), encoding="utf-8")
    counts = Counter(outcome.verdict for outcome in found)
    return int(counts["killed"] < LEAST_KILLED * len(found) or counts["gone"] > MOST_GONE * len(found))


if __name__ == "__main__":
    raise SystemExit(main())
