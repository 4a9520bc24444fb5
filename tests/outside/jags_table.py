"""Time Platewright and JAGS on the same BUGS cases in one run.

PYTHONPATH=src:tests python -m outside.jags_table [--core] [--case NAME] [--seconds S] [--rounds R]
                                               [--cpu] [--json FILE] [-o FILE]

`rate` is effective samples a second of the worst quantity, over warm-up and draws; `to 1000` is seconds from the text
to 1,000 effective samples, warm-up and compilation included (`outside.jags_race` says how both are measured). Ratios
above 1 are in our favour. `SG` marks plans that hoist statistics of the data or eliminate Gaussian blocks. An engine
that is `late` is counted by the time reckoned from its pilot, or by the limit where it did not even end that; its true
time is longer. A case that one of them refuses is shown and not counted. The table is written anew after every case.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from outside.corpus import CORPUS, cases
from outside.jags import PROGRAM
from outside.jags_race import Race, race, settle_in

HEADER = (
    f"{'case':22} {'plan':4} {'rate':>9} {'to 1000':>9} {'JAGS rate':>9} {'to 1000':>9} {'x rate':>7} {'x 1000':>7}"
    "  algorithm, remarks"
)


def shown(found: Race) -> str:
    """One line of the table."""
    cells = [found.case.ljust(22), (found.ours.marks if found.ours else "").ljust(4)]
    for times in (found.ours, found.jags):
        late = ">" if times is not None and times.late else ""
        texts = ["-"] * 2 if times is None else [f"{times.rate:.0f}", f"{late}{times.thousand:.3f}"]
        cells += [text.rjust(9) for text in texts]
    ratios = found.ratios
    cells += [("-" if ratios is None else f"{ratio:.2g}").rjust(7) for ratio in ratios or (0.0,) * 2]
    how = found.ours.how if found.ours else ""
    return " ".join([*cells, "", "; ".join(part for part in (_short(how), found.remark) if part)]).rstrip()


def _short(how: str) -> str:
    return how if len(how) <= 70 else f"{how[:67]}..."


def means(found: Sequence[Race]) -> list[str]:
    """Geometric means over the core cases that both ran, and the cases that ought to be ahead and are not."""
    core = [one for one in found if one.scope == "core"]
    both = [one for one in core if one.ratios is not None]
    lines = [f"{len(core)} core cases, {len(both)} run by both"]
    for place, label in enumerate(("effective samples a second", "seconds to the first 1,000")):
        ratios = {one.case: one.ratios[place] for one in both if one.ratios is not None}
        usable = {case: ratio for case, ratio in ratios.items() if np.isfinite(ratio) and ratio > 0}
        if not usable:
            continue
        mean = float(np.exp(np.mean(np.log(list(usable.values())))))
        ahead = sum(ratio >= 1 for ratio in usable.values())
        lines.append(f"{label}: geometric mean {mean:.2f}x over {len(usable)} core cases, ahead in {ahead}")
        marked = [one.case for one in both if one.ours is not None and one.ours.marks and one.case in usable]
        behind = [f"{case} ({usable[case]:.2g}x)" for case in marked if usable[case] < 1]
        text = ", ".join(behind) or "none"
        lines.append(f"  of {len(marked)} that hoist statistics or eliminate Gaussian blocks, behind: {text}")
    if refused := [f"{one.case}" for one in core if one.ratios is None]:
        lines.append(f"not compared, for one engine refuses or breaks: {', '.join(refused)}")
    return lines


def warm_session() -> list[str]:
    """Learn small models, so that packages, grammar and shared functions are there; and what that takes."""
    os.environ["PLATEWRIGHT_CACHE"] = tempfile.mkdtemp(prefix="outside-jags-")
    program = (
        "from time import perf_counter as now; start = now(); import platewright; imported = now()\n"
        "from outside.jags_race import settle_in; settle_in(); print(imported - start, now() - imported)"
    )
    taken = []
    for _ in range(2):
        said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        taken.append([float(word) for word in said.stdout.split()[-2:]])
    settle_in()
    (_, machine), (imported, process) = taken
    return [
        f"not counted above: in a new process import {imported:.2f} s, grammar and other packages {process:.2f} s;",
        f"once on a machine the functions that all models share, {max(machine - process, 0):.2f} s",
    ]


def chosen(names: Sequence[str], core: bool) -> list[str]:
    """The cases that were asked for."""
    scopes = {
        name: json.loads((CORPUS / "bugs" / name / "reference.json").read_text())["scope"] for name in cases("bugs")
    }
    return [name for name, scope in scopes.items() if (not names or name in names) and (not core or scope == "core")]


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="outside-jags")
    parser.add_argument("--case", action="append", default=[])
    parser.add_argument("--core", action="store_true", help="only the cases in scope `core`")
    parser.add_argument("--seconds", type=float, default=120.0, help="limit of one run of one engine")
    parser.add_argument("--rounds", type=int, default=3, help="cold runs of each engine; the median counts")
    parser.add_argument("--cpu", action="store_true", help="count seconds of processors, where the machine is busy")
    parser.add_argument("--json", metavar="FILE", help="one line a case, written as they come")
    parser.add_argument("-o", "--output", metavar="FILE", help="the table, written anew after every case")
    given = parser.parse_args(argv)
    if PROGRAM is None or not CORPUS.is_dir():
        print("JAGS is not installed" if PROGRAM is None else f"the reference cases are not here: {CORPUS}")
        return 0
    if given.cpu:
        os.environ["OUTSIDE_CLOCK"] = "cpu"
    session = warm_session()
    found: list[Race] = []
    print(HEADER, flush=True)
    for name in chosen(given.case, given.core):
        try:
            one = race(name, given.seconds, given.rounds)
        except Exception as error:  # whatever happens to one case, the table goes on
            one = Race(name, "core" if given.core else "?", None, None, f"{type(error).__name__}: {error}")
        found.append(one)
        print(shown(one), flush=True)
        if given.json:
            with open(given.json, "a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(one)) + "\n")
        if given.output:
            lines = [HEADER, *map(shown, found), "", *means(found), *session]
            Path(given.output).write_text("```text\n" + "\n".join(lines) + "\n```\n", encoding="utf-8")
    print("\n".join(["", *means(found), *session]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
