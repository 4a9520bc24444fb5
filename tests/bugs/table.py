"""One line for each public BUGS case: parsed, translated, plated or unrolled, law, learned or why not.

PYTHONPATH=src:tests python -m bugs.table [schema]
"""

from __future__ import annotations

import json
import signal
import sys
from pathlib import Path

import numpy as np

import platewright as pw
from bugs.direct import Direct
from bugs.evaluated import log_joint
from outside.corpus import CORPUS, cases
from platewright.errors import PlatewrightError
from platewright.language.bugs.data import read_data
from platewright.language.bugs.parse import parse
from platewright.language.bugs.reader import BugsModel, read_bugs

SECONDS = 20


def start_of(folder: Path) -> dict[str, np.ndarray]:
    """The first initial values of a case, if there are any."""
    file = folder / "inits.json"
    found = json.loads(file.read_text()) if file.exists() else {}
    first = (found[0] if found else {}) if isinstance(found, list) else found
    return read_data({key: value for key, value in first.items() if not key.startswith(".")})


def learned(read: BugsModel, by: str) -> str:
    """What learning says, within a limit of time."""

    def late(*_: object) -> None:
        raise TimeoutError(f"not planned within {SECONDS} s")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(SECONDS)
    try:
        return str(read.model.learn(read.data(), by=by).how)  # type: ignore[attr-defined]
    except (PlatewrightError, TimeoutError) as error:
        lines = [line.strip() for line in str(error).split("\n") if line.strip()]
        return lines[1] if lines[0].startswith("no schema") and len(lines) > 1 else lines[0]
    finally:
        signal.alarm(0)


def line(name: str, by: str) -> str:
    """The line of one case."""
    folder = CORPUS / "bugs" / name
    text = next(folder.glob("model*.bug")).read_text()
    parse(text)
    data = read_data(folder / "data.json")
    try:
        read = read_bugs(text, data, model=pw.Model("case"))
    except PlatewrightError as error:
        return f"{name} | parsed | declined: {str(error).splitlines()[0]}"
    direct = Direct(read.text, data, 1, start_of(folder))
    expected, found = direct.log_joint(), log_joint(read, direct.arrays())
    law = "agrees" if abs(found - expected) <= max(1e-8, 1e-11 * abs(expected)) else f"DIFFERS {expected} {found}"
    shape = "plated" if read.report.is_plated else f"{len(read.report.unrolled)} loops unrolled"
    missing = f", {sum(read.report.missing.values())} NA" if read.report.missing else ""
    return f"{name} | parsed | translated | {shape}{missing} | {law} | {learned(read, by)[:110]}"


if __name__ == "__main__":
    for case in cases("bugs"):
        print(line(case, sys.argv[1] if len(sys.argv) > 1 else "auto"), flush=True)
