"""Is any seed wrong in silence, and do intervals hold what they promise? Many models, each with many seeds.

PYTHONPATH=src:tests python -m calibration.seeds [--case NAME] [--sets 4] [--seeds 10]

    unknowns from the prior, data from the unknowns, draws from the posterior with one seed after another
    coverage         how often the 90 % interval holds what was drawn first
    silent errors    quantities of a seed whose mean is off from that of all seeds by more than 5 Monte Carlo errors
                     and 0.15 sd, where no warning said so

Functions of the unknowns are those of `posteriors.py`, which do not change when classes are numbered otherwise.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np
from scipy import stats

from calibration.models import CLOSED_FORMS
from calibration.posteriors import functions, plain, truth
from platewright.errors import ConvergenceWarning, PlatewrightError
from platewright.run.samplers.effective_size import effective_size
from platewright.run.samplers.monitored import drawn_of
from schemas.coded import CODED
from schemas.coupled import COUPLED
from schemas.hierarchies import HIERARCHIES
from schemas.mixtures import MIXTURES
from schemas.nested_classes import NESTED
from schemas.sequences import CHAINS
from schemas.small_instance import Case, Instance, instance
from schemas.tied_classes import TIED
from schemas.turned_models import TURNED

CASES = {
    case.name: case
    for case in plain((*TURNED, *MIXTURES, *CHAINS, *HIERARCHIES, *TIED, *COUPLED, *CODED, *NESTED, *CLOSED_FORMS))
}
SETS, SEEDS = 4, 10
INTERVAL = 0.9
ERRORS, SHARE = 5.0, 0.15
LEVEL = 1e-4
"""How unlikely a coverage must be, given that it is right, to count as wrong."""


@dataclass(frozen=True)
class Told:
    """What one fit says of each quantity."""

    means: dict[str, float]
    errors: dict[str, float]
    spreads: dict[str, float]
    inside: dict[str, bool]
    warned: bool


@dataclass(frozen=True)
class Verdict:
    """All seeds of one case."""

    case: str
    fits: int
    warned: int
    held: tuple[int, int]
    """Intervals of the first seeds that hold the truth, and how many there are: other seeds see the same data."""
    silent: tuple[str, ...]
    why: str = ""

    def __str__(self) -> str:
        if self.why:
            return f"{self.case:24} not run: {self.why[:100]}"
        held, count = self.held
        shown = f"coverage {held}/{count}, {self.warned} of {self.fits} fits warned, {len(self.silent)} silent errors"
        return "\n".join([f"{self.case:24} {shown}", *(f"    {line}" for line in self.silent)])


def told(case: Case, small: Instance, seed: int) -> Told:
    """One fit."""
    data = {name: values for name, values in small.columns.items() if "@" not in name}
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        fit = case.build().learn(data, by="gibbs", seed=seed, backend="c")
    drawn = drawn_of(fit)
    true = truth(small, list(drawn.chains))
    found = {name: values.reshape(drawn.shape) for name, values in functions(drawn).items() if np.ptp(values) > 0}
    tails = (1 - INTERVAL) / 2
    ends = {name: np.quantile(values, (tails, 1 - tails)) for name, values in found.items()}
    return Told(
        {name: float(values.mean()) for name, values in found.items()},
        {name: float(values.std() / np.sqrt(effective_size(values))) for name, values in found.items()},
        {name: float(values.std()) for name, values in found.items()},
        {name: bool(low <= true[name][0] <= high) for name, (low, high) in ends.items()},
        any(issubclass(each.category, ConvergenceWarning) for each in heard),
    )


def silent(fits: Sequence[Told], where: str) -> Iterator[str]:
    """Seeds that are far from the others, without a word."""
    for name in fits[0].means:
        with_it = [fit for fit in fits if name in fit.means]
        middle = float(np.median([fit.means[name] for fit in with_it]))
        spread = float(np.median([fit.spreads[name] for fit in with_it]))
        for seed, fit in enumerate(with_it):
            off = abs(fit.means[name] - middle)
            if off > ERRORS * fit.errors[name] and off > SHARE * spread and not fit.warned:
                among = f"of all seeds {middle:.4g} +- {spread:.2g}"
                yield f"{where}, seed {seed}: {name} is {fit.means[name]:.4g}, {among}"


def check(name: str, sets: int = SETS, seeds: int = SEEDS) -> Verdict:
    """All fits of one case."""
    fits: list[Told] = []
    wrong: list[str] = []
    held = count = 0
    try:
        for number in range(sets):
            small = instance(CASES[name], number)
            mine = [told(CASES[name], small, seed) for seed in range(seeds)]
            wrong += silent(mine, f"data {number}")
            held += sum(mine[0].inside.values())
            count += len(mine[0].inside)
            fits += mine
    except PlatewrightError as error:
        return Verdict(name, 0, 0, (0, 0), (), str(error).splitlines()[0])
    return Verdict(name, len(fits), sum(fit.warned for fit in fits), (held, count), tuple(wrong))


def main(argv: Sequence[str] | None = None) -> int:
    """Print a line for each case and the sums; the exit status says whether any seed was wrong in silence."""
    parser = argparse.ArgumentParser(prog="seeds")
    parser.add_argument("--case", action="append", choices=tuple(CASES))
    parser.add_argument("--sets", type=int, default=SETS)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--workers", type=int, default=1)
    asked = parser.parse_args(argv)
    names = asked.case or list(CASES)
    verdicts = []
    with ProcessPoolExecutor(asked.workers) as pool:
        for verdict in pool.map(check, names, [asked.sets] * len(names), [asked.seeds] * len(names)):
            print(verdict, flush=True)
            verdicts.append(verdict)
    held, count = (sum(each.held[at] for each in verdicts) for at in (0, 1))
    wrong, fits = sum(len(each.silent) for each in verdicts), sum(each.fits for each in verdicts)
    chance = float(stats.binomtest(held, count, INTERVAL).pvalue) if count else 1.0
    print(f"{len(verdicts)} models, {fits} fits, {sum(each.warned for each in verdicts)} warned")
    print(f"coverage of 90 % intervals: {held / max(count, 1):.3f} of {count}; silent errors: {wrong}")
    return int(wrong > 0 or chance < LEVEL)


if __name__ == "__main__":
    sys.exit(main())
