"""Every attack on the edge, tries and hits: python -m attack.table [--short] [NAME[=TRIES] ...], or `make attack`.

A hit is an error that is not ours, a process that died or stood still, Ctrl-C that was heard late or left no mark,
other bits after a kill, a broken-off file. There may be none.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from attack.running import SHOWN, Tally, attacked

TRIES = {
    "fits": (2000, 60),
    "checkpoints": (1000, 34),
    "parquet": (400, 60),
    "libraries": (50, 0),
    "interrupts": (300, 10),
    "kills": (200, 8),
    "disk": (20, 6),
    "memory": (18, 0),
    "soak": (10, 0),
    "texts": (100, 0),
}
"""How often each is tried, and how often by the tests of every change. A try of `soak` is a hundred fits, one of
`texts` a thousand texts."""
LONGEST = {"memory": 110.0, "soak": 300.0, "texts": 300.0, "libraries": 300.0}
"""Seconds that a try may take, where a minute is not enough."""
HEAD = f"{'attack':<22} {'tries':>7} {'hits':>5} {'seconds':>7}  outcomes"


def tally_of(name: str, tries: int) -> Tally:
    """One attack in a folder of its own."""
    with tempfile.TemporaryDirectory(prefix="attack-") as folder:
        return attacked(name, 0, tries, Path(folder), LONGEST.get(name, 60.0))


def main(words: list[str]) -> int:
    """Run those that are named, or all; the exit code tells whether there was a hit."""
    place = int("--short" in words)
    named = [word.partition("=") for word in words if not word.startswith("-")]
    wanted = {name: int(count) if count else TRIES[name][place] for name, _, count in named}
    wanted = wanted or {name: tries[place] for name, tries in TRIES.items()}
    print(HEAD)
    hits = 0
    for name, tries in wanted.items():
        if not tries:
            continue
        tally = tally_of(name, tries)
        print(tally, flush=True)
        for hit in tally.hits[:SHOWN]:
            print(f"    {hit}", flush=True)
        hits += len(tally.hits)
    return 1 if hits else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
