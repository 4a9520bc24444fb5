"""Maximum likelihood with missing cells.

Tables with hidden or merged cells are written as known tables that blur a hidden cell; normal vectors with holes are
handed over as they are.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np

from outside import mixtures
from outside.corpus import read_case
from outside.outcome import Outcome
from outside.running import refusal
from platewright.errors import PlatewrightError

KIND = "missing"
QUICK = ("crimes_2x2", "rao_linkage_em")


def run(name: str, seconds: float) -> Outcome:
    """One case by its sort."""
    sorts = {"rao_linkage_em": linkage, "crimes_2x2": crimes}
    return sorts.get(name, normal)(name)


def linkage(name: str) -> Outcome:
    """Cell 1 has chance 1/2 + t/4: a hidden coin of chance t chooses between two known tables."""
    start = perf_counter()
    data, reference = read_case(KIND, name)
    m = mixtures.coarsened(2, [[0.75, 0.0, 0.0, 0.25], [0.5, 0.25, 0.25, 0.0]])
    y = np.repeat(np.arange(4), data["counts"])
    fit = m.learn({"y": y}, goal="map", tolerance=1e-16, iterations=5000)
    return _outcome(name, abs(fit["p"].value[0] - reference["mle"]) / 1e-8, start, fit.how)


def crimes(name: str) -> Outcome:
    """Each cell of the table is seen whole, by row, by column or not at all, whatever it is."""
    start = perf_counter()
    data, reference = read_case(KIND, name)
    cells = [(a, b) for a in (1, 2) for b in (1, 2)]
    table = [[0.25 * all(s in (None, c) for s, c in zip(seen, cell)) for seen in data["rows"]] for cell in cells]
    y = np.repeat(np.arange(len(data["rows"])), data["counts"])
    fit = mixtures.coarsened(4, table).learn({"y": y}, goal="map", tolerance=1e-16, iterations=5000)
    gap = np.abs(fit["p"].value.reshape(2, 2) - np.array(reference["cell_probabilities"])).max()
    return _outcome(name, float(gap) / 1e-6, start, fit.how)


def normal(name: str) -> Outcome:
    """A multivariate normal with holes in its rows."""
    start = perf_counter()
    data, reference = read_case(KIND, name)
    rows = np.array(data["rows"], dtype=float)
    m = mixtures.gaussian_vector(rows.shape[1])
    try:
        fit = m.learn({"y": rows}, goal="map", tolerance=1e-14, iterations=20_000)
    except PlatewrightError as error:
        return Outcome(KIND, name, "not in class", why=refusal(error), total=perf_counter() - start)
    sigma = np.array(reference["sigma"])
    spread = np.sqrt(np.diag(sigma))
    mean = float((np.abs(fit["mu"].value - np.array(reference["mu"])) / spread).max())
    found = np.linalg.inv(np.asarray(fit["S"].value))
    gap = float((np.abs(found - sigma) / np.outer(spread, spread)).max())
    return _outcome(name, max(mean / 1e-4, gap / 1e-3), start, fit.how)


def _outcome(name: str, error: float, start: float, how: str) -> Outcome:
    took = perf_counter() - start
    return Outcome(KIND, name, "pass" if error <= 1 else "fail", how, "", took, took, error)
