"""Run the public cases of ../shared/corpus and print one table.

PYTHONPATH=src:tests python -m outside.table [--kind KIND] [--case NAME] [--quick] [--seconds S] [--json] [-o FILE]

For each case: what the planner chose and why, seconds to the first result and in total, the error in units of the
tolerance of the case, and pass, fail or declined with the reason.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType

from outside import (
    bugs_cases,
    evidence_cases,
    missing_cases,
    mixture_cases,
    network_cases,
    nist_cases,
    posteriordb_cases,
    structure_cases,
    tree_cases,
)
from outside.corpus import CORPUS, cases
from outside.outcome import COLUMNS, Outcome, cells, line, markdown, tally
from outside.running import run_case

KINDS: dict[str, ModuleType] = {
    "bn": network_cases,
    "uai": network_cases,
    "nist": nist_cases,
    "mixture_hmm": mixture_cases,
    "latent_class": mixture_cases,
    "evidence": evidence_cases,
    "missing": missing_cases,
    "structure": structure_cases,
    "trees": tree_cases,
    "posteriordb": posteriordb_cases,
    "bugs": bugs_cases,
}
"""A module for each kind: `run(name, seconds)` gives an outcome, `QUICK` names the cases that are run in every test."""

SECONDS = 60.0


def outcomes(kinds: Sequence[str], names: Sequence[str], quick: bool, seconds: float) -> Iterator[Outcome]:
    """The chosen cases one after another."""
    for kind in kinds:
        module = KINDS[kind]
        for name in cases(kind):
            if names and name not in names:
                continue
            if quick and name not in module.QUICK:
                continue
            yield run_case(kind, name, module.run, seconds)


def page(found: Sequence[Outcome], seconds: float) -> str:
    """The table with its summary, for the documentation."""
    today = datetime.now(UTC).date().isoformat()
    counts = "\n".join(f"- {text}" for text in tally(found).splitlines())
    return f"Run on {today} with {seconds:.0f} s a case.\n\n{counts}\n\n{markdown(found)}\n"


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; the exit status says whether a case failed or broke."""
    parser = argparse.ArgumentParser(prog="outside", description="Run the public reference cases.")
    parser.add_argument("--kind", action="append", choices=tuple(KINDS), default=None)
    parser.add_argument("--case", action="append", default=[])
    parser.add_argument("--quick", action="store_true", help="the few cases that every test run includes")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="time limit for each case")
    parser.add_argument("--json", action="store_true", help="one JSON object a line instead of the table")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the table as Markdown too")
    given = parser.parse_args(argv)
    if not CORPUS.is_dir():
        print(f"the reference cases are not here: {CORPUS}")
        return 0
    found = []
    if not given.json:
        print(line(COLUMNS))
    for outcome in outcomes(given.kind or tuple(KINDS), given.case, given.quick, given.seconds):
        print(json.dumps(outcome.json) if given.json else line(cells(outcome)), flush=True)
        found.append(outcome)
    if not given.json:
        print(f"\n{tally(found)}")
    if given.output:
        Path(given.output).write_text(page(found, given.seconds), encoding="utf-8")
    return int(any(outcome.verdict in ("fail", "broken", "late") for outcome in found))


if __name__ == "__main__":
    sys.exit(main())
