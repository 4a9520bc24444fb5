"""All marginals of networks given evidence beside pyAgrum, processor time of one thread, warm, turns interleaved.

    python benchmarks/networks.py alarm.bif hailfinder.bif pigs.bif andes.bif [--turns 3]

Evidence are six parts of one joint draw, a tenth of the variables each. pyAgrum (`pip install pyagrum`) has two engines
for the same question; the faster one counts. The gap is the largest difference of a probability; a file whose rows do
not add up to one is read in different ways.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import platewright as pw

SETS = 6


def turns(count: int, *actions: Callable[[], object]) -> list[float]:
    """The least processor time of each, after one turn that does not count."""
    best = [float("inf")] * len(actions)
    for turn in range(count + 1):
        for number, action in enumerate(actions):
            start = time.process_time()
            action()
            if turn:
                best[number] = min(best[number], time.process_time() - start)
    return best


def line(path: Path, count: int) -> str:
    """One network."""
    import pyagrum as gum

    model, network = pw.read_bif(path), gum.loadBN(str(path))
    state = {name: values[0] for name, values in model.infer().draws(1, seed=1).items()}
    choose = random.Random(0)
    sets = [{n: state[n] for n in choose.sample(sorted(state), max(1, len(state) // 10))} for _ in range(SETS)]

    def ours() -> None:
        for evidence in sets:
            model.infer(evidence).marginals()

    def asked(engine: Any) -> Callable[[], None]:
        def run() -> None:
            for evidence in sets:
                engine.setEvidence({name: str(label) for name, label in evidence.items()})
                engine.makeInference()
                for node in network.nodes():
                    engine.posterior(node)

        return run

    lazy, sums = gum.LazyPropagation(network), gum.ShaferShenoyInference(network)
    mine, *peers = (best / SETS * 1e3 for best in turns(count, ours, asked(lazy), asked(sums)))
    found = model.infer(sets[0])
    lazy.setEvidence({name: str(label) for name, label in sets[0].items()})
    lazy.makeInference()
    gap = max(
        float(np.abs([found[n][label] for label in found[n].labels] - lazy.posterior(n).toarray()).max())
        for n in found.unknown
    )
    return f"{path.stem:14s} {mine:9.3f} ms  pyAgrum {min(peers):9.3f} ms  {min(peers) / mine:6.1f}x  gap {gap:.1e}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--turns", type=int, default=3)
    asked = parser.parse_args()
    for path in asked.files:
        print(line(path, asked.turns), flush=True)


if __name__ == "__main__":
    main()
