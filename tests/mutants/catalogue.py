"""The planted defects as data: one file a room in `planted/`, each entry a `Mutant`.

`no_defects.toml` holds changes that were drawn and are none: every number and every word stays, and `same` says why.
`unsettled.toml`, where it is there, holds those that were not noticed and that nobody has looked at: each is either a
gap in the tests or no defect. The first are no part of the standing run; the second count there as survivors, and
`python -m mutants.growing RECORD` looks at them again.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterable
from pathlib import Path

from mutants.planting import Mutant

FOLDER = Path(__file__).parent / "planted"
NO_DEFECTS = FOLDER.parent / "no_defects.toml"
UNSETTLED = FOLDER.parent / "unsettled.toml"
UNSEEN = "Not yet looked at."


def catalogue() -> list[Mutant]:
    """All of the standing run, room by room."""
    return [mutant for path in sorted(FOLDER.glob("*.toml")) for mutant in _read(path)]


def no_defects() -> list[Mutant]:
    """Changes that change nothing."""
    return _read(NO_DEFECTS) if NO_DEFECTS.exists() else []


def unsettled() -> list[Mutant]:
    """Those that nobody has looked at."""
    return _read(UNSETTLED) if UNSETTLED.exists() else []


def _read(path: Path) -> list[Mutant]:
    entries = tomllib.loads(path.read_text(encoding="utf-8")).get("mutant", [])
    return [Mutant(**{**entry, "tests": tuple(entry.get("tests", ()))}) for entry in entries]


def write(mutants: Iterable[Mutant]) -> None:
    """The files of the given changes, anew."""
    files: dict[Path, list[Mutant]] = {}
    for mutant in mutants:
        files.setdefault(_home(mutant), []).append(mutant)
    FOLDER.mkdir(exist_ok=True)
    for path in (*FOLDER.glob("*.toml"), NO_DEFECTS, UNSETTLED):
        path.unlink(missing_ok=True)
    for path, several in files.items():
        ordered = sorted(several, key=lambda m: (m.file, m.scope, m.old, m.nth, m.new))
        path.write_text("\n".join(_entry(mutant) for mutant in ordered), encoding="utf-8")


def _home(mutant: Mutant) -> Path:
    if mutant.same:
        return NO_DEFECTS
    return UNSETTLED if mutant.survives == UNSEEN else FOLDER / f"{mutant.room.replace('/', '_')}.toml"


def _entry(mutant: Mutant) -> str:
    lines = ["[[mutant]]"]
    for word in ("file", "scope", "kind", "old", "new", "nth"):
        value = getattr(mutant, word)
        if value or word != "nth":
            lines.append(f"{word} = {json.dumps(value, ensure_ascii=False)}")
    for word in ("survives", "same"):
        if value := getattr(mutant, word):
            lines.append(f"{word} = {json.dumps(value, ensure_ascii=False)}")
    if mutant.same:
        return "\n".join(lines) + "\n"
    lines.append("tests = [" + "".join(f"\n  {json.dumps(test, ensure_ascii=False)}," for test in mutant.tests) + "\n]")
    return "\n".join(lines) + "\n"
