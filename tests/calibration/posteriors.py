"""Simulation-based calibration of every schema that gives a posterior, with the log likelihood as an extra quantity.

PYTHONPATH=src:tests python -m calibration.posteriors [--schema S] [--case NAME] [--replications R]

    unknowns from the prior, data from the unknowns, draws from the posterior:
    the rank of what was drawn first among the draws is uniform       (Talts et al. 2018; Modrak et al. 2023)

The log likelihood depends on data and unknowns together, so it sees mistakes that every single unknown hides, such as a
posterior that ignores part of the data.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
from scipy import stats

import platewright as pw
from calibration.models import CLOSED_FORMS
from platewright.graph.graph import read_graph
from platewright.run.samplers.deviance import deviance
from platewright.run.samplers.monitored import drawn_of
from platewright.run.samplers.monitoring import Drawn
from schemas.collapsed_models import COLLAPSED
from schemas.hierarchies import HIERARCHIES
from schemas.mixtures import MIXTURES
from schemas.sequences import CHAINS
from schemas.small_instance import Case, Instance, instance

LEVEL = 1e-5
DRAWS, BINS = 31, 8
REPLICATIONS = 200
SAMPLER = {"chains": 1, "draws": DRAWS, "warm_up": 300, "thin": 30}

Functions = Mapping[str, np.ndarray]
Learn = Callable[[Instance, int], Drawn]


def plain(cases: Sequence[Case]) -> tuple[Case, ...]:
    """Cases whose data are columns only, without groups of rows."""
    return tuple(case for case in cases if not case.groups)


SCHEMAS: dict[str, tuple[Case, ...]] = {
    "exact": CLOSED_FORMS,
    "gibbs": plain((*HIERARCHIES, *MIXTURES, *CHAINS)),
    "collapsed-gibbs": plain(COLLAPSED),
}


@dataclass(frozen=True)
class Verdict:
    """The smallest chance of the ranks of a case, over its quantities, and where it was."""

    schema: str
    case: str
    quantities: int
    smallest: float
    at: str
    seconds: float
    why: str = ""

    @property
    def passed(self) -> bool:
        """Nothing more unusual than one in a hundred thousand."""
        return not self.why and self.smallest > LEVEL / max(self.quantities, 1)

    def __str__(self) -> str:
        if self.why:
            return f"{self.schema:16} {self.case:24} declined: {self.why[:110]}"
        word = "pass" if self.passed else "FAIL"
        found = f"{self.quantities:3d} quantities, smallest chance {self.smallest:.2g} ({self.at})"
        return f"{self.schema:16} {self.case:24} {word}  {found}, {self.seconds:.1f} s"


def by_schema(schema: str) -> Learn:
    """Draws of the posterior of an instance by one schema; a model is derived once for all its instances."""
    models: dict[str, pw.Model] = {}

    def learned(small: Instance, seed: int) -> Drawn:
        data = {name: values for name, values in small.columns.items() if "@" not in name}
        model = models.setdefault(small.case.name, small.case.build())
        if schema == "exact":
            return drawn_of(model.learn(data, by="exact", seed=seed), DRAWS)
        # compiled once for all instances of a case; a part that has no C is run by NumPy
        return drawn_of(model.learn(data, by=schema, seed=seed, backend="c", **SAMPLER))

    return learned


def functions(drawn: Drawn) -> Functions:
    """The log likelihood, and functions of each unknown that do not change when classes are numbered otherwise."""
    found = {"log likelihood": -0.5 * deviance(drawn).ravel()}
    for name, values in drawn.chains.items():
        flat = np.asarray(values, dtype=float).reshape(drawn.shape[0] * drawn.shape[1], -1)
        found[f"mean of {name}"] = flat.mean(axis=1)
        if flat.shape[1] > 1:
            found[f"largest {name}"] = flat.max(axis=1)
    return found


def truth(small: Instance, names: Sequence[str]) -> Functions:
    """The same functions of the unknowns that the data came from."""
    graph = read_graph(small.case.build(), small.case.known)
    chains = {name: np.asarray(small.values[name])[None, None] for name in names}
    return functions(Drawn(graph, chains, small.columns, small.sizes))


def ranks(case: Case, learn: Learn, replications: int, seed: int = 0) -> dict[str, np.ndarray]:
    """By quantity: the rank of the truth among the draws, ties broken at random, in each replication."""
    generator = np.random.default_rng(seed)
    found: dict[str, list[int]] = {}
    for number in range(replications):
        small = instance(case, int(generator.integers(2**31)))
        drawn = learn(small, number)
        among, true = functions(drawn), truth(small, list(drawn.chains))
        for name, values in among.items():
            if np.ptp(values) == 0 and values[0] == true[name][0]:
                continue
            below = int((values < true[name][0]).sum())
            ties = int((values == true[name][0]).sum())
            found.setdefault(name, []).append(below + int(generator.integers(0, ties + 1)))
    return {name: np.array(values) for name, values in found.items() if len(values) > replications // 2}


def chance(found: np.ndarray) -> float:
    """How likely ranks are that are so far from uniform: by a chi-square in bins, or by the first two moments."""
    counts = np.bincount(found * BINS // (DRAWS + 1), minlength=BINS)
    square = float(((counts - len(found) / BINS) ** 2).sum() / (len(found) / BINS))
    centred = (found + 0.5) / (DRAWS + 1) - 0.5
    first = abs(centred.mean()) * np.sqrt(12 * len(found))
    second = abs((centred**2).mean() - 1 / 12) * np.sqrt(180 * len(found))
    return min(1.0, 3 * min(stats.chi2.sf(square, BINS - 1), 2 * stats.norm.sf(first), 2 * stats.norm.sf(second)))


def check(schema: str, case: Case, replications: int = REPLICATIONS, learn: Learn | None = None) -> Verdict:
    """Calibrate one schema on one case."""
    start = perf_counter()
    try:
        found = ranks(case, learn or by_schema(schema), replications)
    except pw.errors.NotSolvable as error:
        reasons = [line.strip() for line in str(error).splitlines() if " declined: " in line]
        return Verdict(schema, case.name, 0, 1.0, "", perf_counter() - start, (reasons or [str(error)])[0])
    chances = {name: chance(values) for name, values in found.items()}
    at = min(chances, key=lambda name: chances[name])
    return Verdict(schema, case.name, len(chances), chances[at], at, perf_counter() - start)


def verdicts(given: Any) -> Iterator[Verdict]:
    """All that was asked for."""
    for schema, cases in SCHEMAS.items():
        if given.schema and schema not in given.schema:
            continue
        for case in cases:
            if not given.case or case.name in given.case:
                yield check(schema, case, given.replications)


def main(argv: Sequence[str] | None = None) -> int:
    """Print a line for each schema and case; the exit status says whether any failed."""
    parser = argparse.ArgumentParser(prog="calibrate")
    parser.add_argument("--schema", action="append", choices=tuple(SCHEMAS))
    parser.add_argument("--case", action="append")
    parser.add_argument("--replications", type=int, default=REPLICATIONS)
    failed = 0
    for verdict in verdicts(parser.parse_args(argv)):
        print(verdict, flush=True)
        failed += not verdict.passed and not verdict.why
    print(f"{failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
