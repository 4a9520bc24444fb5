"""One worker of an attack: python -m attack.worker NAME FIRST LAST FOLDER."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from pathlib import Path

from attack.running import attempt_of
from platewright.errors import PlatewrightError


def outcome_of(attempt: object, number: int, folder: Path) -> str:
    """What a try came to."""
    try:
        return str(attempt(number, folder))  # type: ignore[operator]
    except PlatewrightError as error:
        if not str(error).strip():
            return f"HIT: {type(error).__name__} without a word"
        return f"ours: {type(error).__name__}"
    except BaseException as error:  # whatever it is, it is what the attack looks for
        where = traceback.extract_tb(error.__traceback__)[-1]
        told = f"{type(error).__name__}: {error} at {where.filename}:{where.lineno}"
        return "HIT: foreign " + told.replace("\n", " ")[:300]


def main() -> None:
    """Try after try, each told before and after."""
    name, first, last, folder = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])
    warnings.simplefilter("ignore")
    out = os.fdopen(os.dup(1), "w")
    prepare, attempt = attempt_of(name)
    if prepare is not None:
        prepare(folder)  # type: ignore[operator]
    for number in range(first, last):
        print(f"begin {number}", file=out, flush=True)
        print(f"end {number} {outcome_of(attempt, number, folder)}", file=out, flush=True)


if __name__ == "__main__":
    main()
