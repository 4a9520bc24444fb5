"""Print how exact inference does on every network of the corpus.

PYTHONPATH=src python tests/outside/networks_table.py

Words after the command pick cases: `... networks_table.py alarm Grids_11`.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from outside.corpus import CORPUS, cases
from outside.networks import HEADER, all_lines, discrete, gaussian, undirected


def main(chosen: list[str]) -> int:
    """Print the table; the exit status is the number of cases that miss their tolerance."""
    if not CORPUS.is_dir():
        print(f"the reference cases are not here: {CORPUS}")
        return 0
    print(HEADER)
    missed = 0
    if chosen:
        networks, markov = cases("bn"), cases("uai")
        lines = (
            (gaussian if name.startswith("gauss_") else discrete)(name) if name in networks else undirected(name)
            for name in chosen
            if name in networks or name in markov
        )
    else:
        lines = all_lines()
    for line in lines:
        print(line, flush=True)
        missed += line.error is not None and line.error > 1
    print(f"{missed} outside their tolerance")
    return missed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
