"""Every model of the gallery at three sizes: time and memory of each, and how fast they grow.

    python benchmarks/sweep.py [--only NAME ...] [--sizes 1000 4000 16000] [--seconds 60]

Each plate without a size of its own is made longer by itself, the others staying short. Data are drawn from the model.
Seconds are those of the processor, the best of two runs of a learned model; of iterations, restarts and draws there are
as many at every size. The exponent is that of the last step, `log(t3 / t2) / log(n3 / n2)`; where a run takes less than
`SURE` seconds it says nothing. What grows faster than its algorithm should is marked, and told again at the end.
"""

from __future__ import annotations

import argparse
import math
import os
import runpy
import subprocess
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from side_by_side import peak_beyond

from platewright.errors import PlatewrightError
from platewright.run.checks.simulating import small_data, small_sizes

GALLERY = Path(__file__).resolve().parents[1] / "examples"
OPTIONS: dict[str, dict[str, int]] = {
    "em": {"restarts": 1, "iterations": 10},
    "mean-field": {"restarts": 1, "iterations": 10},
    "gibbs": {"chains": 1, "draws": 40, "warm_up": 20},
    "collapsed-gibbs": {"chains": 1, "draws": 40, "warm_up": 20},
}
SHORT = 4
"""How long the other plates are."""
SURE = 0.02
"""Seconds below which times are those of the way to the algorithm."""
LINEAR = 1.15
"""The most that a pass over rows may show as its exponent."""


@dataclass(frozen=True)
class Growth:
    """One model along one of its plates."""

    model: str
    plate: str
    schema: str
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]
    mebibytes: tuple[float | None, ...]

    @property
    def exponent(self) -> float | None:
        """How time grows with size at the end; none where it is too short to say."""
        if len(self.seconds) < 2 or self.seconds[-2] < SURE:
            return None
        return math.log(self.seconds[-1] / self.seconds[-2]) / math.log(self.sizes[-1] / self.sizes[-2])

    @property
    def is_fast(self) -> bool:
        """Whether it grows as an algorithm of passes over rows does, or nothing is said against it."""
        return self.exponent is None or self.exponent <= LINEAR

    def __str__(self) -> str:
        times = " ".join(f"{value * 1e3:9.1f}" for value in self.seconds)
        memory = " ".join("      -" if value is None else f"{value:7.1f}" for value in self.mebibytes)
        grown = "    -" if self.exponent is None else f"{self.exponent:5.2f}"
        mark = "" if self.is_fast else "  FASTER THAN LINEAR"
        return f"{self.model:38s} {self.plate:12s} {self.schema:16s} {times}  {memory}  {grown}{mark}"


def models(only: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The models of the gallery that are learned from data."""
    for path in sorted(GALLERY.rglob("model.py")):
        name = path.parent.relative_to(GALLERY).as_posix()
        if only and name not in only:
            continue
        written = runpy.run_path(str(path))
        if "m" in written and written.get("known"):
            yield name, written


def grown(name: str, written: dict[str, Any], sizes: tuple[int, ...], most: float) -> Iterator[Growth]:
    """A model along each plate whose length is open."""
    model, known, goal = written["m"], written["known"], written.get("goal", "posterior")
    plan = model.derive(known=known, goal=goal)
    graph = plan.graph
    base = {
        plate: SHORT if graph.plates[plate].size is None else size
        for plate, size in small_sizes(graph).items()
        if plate in graph.plates
    }
    for plate in [plate for plate in base if graph.plates[plate].size is None and graph.plates[plate].like is None]:
        done: list[int] = []
        seconds: list[float] = []
        memory: list[float | None] = []
        for size in sizes:
            values, _ = small_data(graph, 0, {**base, plate: size})
            wanted = [c for c, node in model.variables.items() if "@" not in c and (c in known or node.kind == "input")]
            data = {column: values[column] for column in wanted}

            def learn(data: dict[str, np.ndarray] = data) -> None:
                model.learn(data, goal, seed=0, **OPTIONS.get(plan.schema, {}))

            started = time.process_time()
            memory.append(peak_beyond(learn))
            again = time.process_time()
            learn()
            done.append(size)
            seconds.append(min(again - started, time.process_time() - again))
            if again - started > most:
                break
        yield Growth(name, plate, plan.schema, tuple(done), tuple(seconds), tuple(memory))


def main() -> None:
    """Print the table; each model in a process of its own, so that memory is its own."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--sizes", nargs=3, type=int, default=[1000, 4000, 16000])
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--alone", action="store_true", help="in this process")
    asked = parser.parse_args()
    if asked.alone:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for name, written in models(asked.only):
                try:
                    for growth in grown(name, written, tuple(asked.sizes), asked.seconds):
                        print(growth, flush=True)
                except PlatewrightError as refused:  # what was made up is no data of this model
                    print(f"{name:38s} not learned: {str(refused).splitlines()[0][:80]}", flush=True)
        return
    sized = " ".join(f"{size:9d}" for size in asked.sizes)
    print(f"{'model':38s} {'plate':12s} {'schema':16s} {sized}  {'MiB':>23s}  exponent")
    told = []
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    for name, _ in models(asked.only):
        sizes = map(str, asked.sizes)
        command = [
            sys.executable,
            __file__,
            "--alone",
            "--only",
            name,
            "--sizes",
            *sizes,
            "--seconds",
            str(asked.seconds),
        ]
        found = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        print(found.stdout, end="", flush=True)
        told += [line for line in found.stdout.splitlines() if "FASTER" in line]
        if found.returncode:
            print(f"{name:38s} {found.stderr.strip().splitlines()[-1][:100]}", flush=True)
    print(f"\n{len(told)} grow faster than they should" + "".join(f"\n  {line.split('  ')[0]}" for line in told))


if __name__ == "__main__":
    main()
