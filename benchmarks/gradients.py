"""Models without closed conditionals beside NumPyro: effective samples a second, and seconds to the first thousand.

    again       the worst effective size of a watched unknown over the seconds of a whole run (warm-up, draws), compiled
    to 1000     seconds from a model and data to a thousand effective samples: deriving, compiling, warm-up, draws
    apart       the largest difference of a posterior mean, and of the log of an sd, in Monte Carlo standard errors

    python benchmarks/gradients.py [--only NAME ...] [--repeats 2] [--alone]

Seconds are those of processors, of all threads and of the compiler. Both sides have 4 chains of 1000 draws after their
own usual warm-up (500 and 1000 sweeps), and take turns. NumPyro is not among our dependencies (`pip install numpyro`
brings JAX, some 300 MB); without it, or with `--alone`, its columns are left out.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import warnings
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from gradient_models import CASES, Case
from gradient_peers import Peer, missing

from platewright.run.samplers.diagnosing import array_stats

CHAINS, DRAWS = 4, 1000
Draws = Mapping[str, np.ndarray]


def joined(draws: Draws, watched: Sequence[str]) -> np.ndarray:
    """Chain, draw and element of all watched unknowns."""
    found = [np.asarray(draws[name], dtype=float) for name in watched]
    return np.concatenate([values.reshape(*values.shape[:2], -1) for values in found], axis=2)


def worst(draws: np.ndarray) -> float:
    return float(np.min(array_stats().ess(draws, chain_axis=0, draw_axis=1)))


def apart(one: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """The largest gaps of means and of logs of sds, in their standard errors."""
    gaps, errors = [], []
    for draws in (one, other):
        centred = draws - draws.mean(axis=(0, 1))
        sd = np.sqrt((centred**2).mean(axis=(0, 1)))
        mean_error = sd / np.sqrt(array_stats().ess(draws, chain_axis=0, draw_axis=1))
        squares = centred**2
        sd_error = squares.std(axis=(0, 1)) / np.sqrt(array_stats().ess(squares, chain_axis=0, draw_axis=1)) / sd**2 / 2
        gaps.append((draws.mean(axis=(0, 1)), np.log(sd)))
        errors.append((mean_error, sd_error))
    found = [np.max(np.abs(gaps[0][k] - gaps[1][k]) / np.hypot(errors[0][k], errors[1][k])) for k in (0, 1)]
    return float(found[0]), float(found[1])


def processor_seconds() -> float:
    """Of this process and of those that it has waited for."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def timed(action: Callable[[int], Draws], seed: int) -> tuple[Draws, float]:
    start = processor_seconds()
    return action(seed), processor_seconds() - start


def line(name: str, case: Case, repeats: int, with_peer: bool) -> str:
    """One row of the table."""

    def ours(seed: int) -> Draws:
        return case.model.learn(case.data, by="gibbs", seed=seed, chains=CHAINS, draws=DRAWS).chains

    sides: list[Callable[[int], Draws]] = [ours]
    if with_peer:
        sides.append(Peer(name, case.data, CHAINS, DRAWS, 1000).run)
    first: list[float] = []
    rates: list[list[float]] = [[] for _ in sides]
    kept: list[np.ndarray] = []
    for turn in range(repeats + 1):
        for side, action in enumerate(sides):
            draws, took = timed(action, turn)
            whole = joined(draws, case.watched)
            if turn:
                rates[side].append(worst(whole) / took)
            else:
                kept.append(whole)
                first.append(took * max(1.0, 1000 / worst(whole)))
    best = [max(rate) for rate in rates]
    shown = f"{name:22s} {best[0]:10.0f} {first[0]:8.2f}"
    if with_peer:
        mean, sd = apart(kept[0], kept[1])
        shown += f" {best[1]:10.0f} {first[1]:8.2f} {best[0] / best[1]:8.2f} {first[1] / first[0]:8.2f}"
        shown += f" {mean:6.1f} {sd:5.1f}"
    return shown


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", default=[build.__name__ for build in CASES])
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--alone", action="store_true")
    asked = parser.parse_args()
    reason = "asked to run alone" if asked.alone else missing()
    print(f"python benchmarks/gradients.py {' '.join(sys.argv[1:])}".rstrip())
    if reason:
        print(reason)
    head = f"{'model':22s} {'again':>10s} {'to 1000':>8s}"
    if not reason:
        head += f" {'NumPyro':>10s} {'to 1000':>8s} {'again x':>8s} {'1000 x':>8s} {'apart':>6s} {'sd':>5s}"
    print(head)
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as cache:
        warnings.simplefilter("ignore")
        os.environ["PLATEWRIGHT_CACHE"] = cache  # nothing was compiled before
        for build in CASES:
            if build.__name__ in asked.only:
                print(line(build.__name__, build(), asked.repeats, not reason), flush=True)


if __name__ == "__main__":
    main()
