"""Factor analysis beside scikit-learn: whole fits by maximum likelihood, from one start each, to the same tolerance.

Both stop when an iteration adds less than 1e-10 of the log likelihood; ours is charged for its derivation as well.
scikit-learn's runs are made with both of its decompositions, and the faster counts. The fits take turns, the best of
several counts, and the note says how far the log likelihoods are apart.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable

import numpy as np
from side_by_side import Line

import platewright as pw

TOLERANCE = 1e-10
SIZES = ((1_000, 8, 2), (10_000, 8, 2), (100_000, 8, 2), (100_000, 30, 5))
METHODS = ("lapack", "randomized")


def model(columns: int, factors: int) -> pw.Model:
    m = pw.Model("factor analysis")
    n, d, k = m.plate("n"), m.plate("d", columns), m.plate("k", factors)
    m.mu = pw.Flat(plates=d)
    m.w = pw.Flat(plates=(d, k))
    m.psi = pw.Flat(lower=0, plates=d)
    m.z = pw.Normal(0, sd=1, plates=(n, k))
    m.x = pw.Normal(m.mu + pw.dot(m.w, m.z, over=k), variance=m.psi, plates=(n, d))
    return m


def drawn(rows: int, columns: int, factors: int) -> np.ndarray:
    generator = np.random.default_rng(0)
    loadings = generator.normal(size=(columns, factors))
    noise = generator.uniform(0.5, 1.5, columns) * generator.normal(size=(rows, columns))
    return generator.normal(size=(rows, factors)) @ loadings.T + noise + generator.normal(size=columns)


def timed(run: Callable[[], float]) -> tuple[float, float]:
    """Seconds of the processor, and what was found."""
    begun = time.thread_time()
    found = run()
    return time.thread_time() - begun, found


def factors(quick: bool, repeats: int) -> list[Line]:
    """How many of our fits fit into one of theirs."""
    return [line(*size, repeats) for size in (SIZES[:2] if quick else SIZES)]


def line(rows: int, columns: int, count: int, repeats: int) -> Line:
    from sklearn.decomposition import FactorAnalysis

    x = drawn(rows, columns, count)

    def ours() -> float:
        fit = model(columns, count).learn({"x": x}, goal="map", restarts=1, tolerance=TOLERANCE)
        return fit.log_likelihood / rows

    level = abs(ours() * rows)

    def theirs(method: str) -> float:
        how = {"tol": TOLERANCE * level, "max_iter": 1000, "svd_method": method, "random_state": 0}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return float(FactorAnalysis(count, **how).fit(x).loglike_[-1]) / rows

    best = {"ours": (np.inf, 0.0), **{method: (np.inf, 0.0) for method in METHODS}}
    for _ in range(max(1, repeats // 2)):
        best["ours"] = min(best["ours"], timed(ours))
        for method in METHODS:
            best[method] = min(best[method], timed(lambda method=method: theirs(method)))
    faster = min(METHODS, key=lambda method: best[method])
    apart = best["ours"][1] - best[faster][1]
    note = f"ours {1e3 * best['ours'][0]:.0f} ms, scikit-learn {1e3 * best[faster][0]:.0f} ms ({faster}) a fit"
    note += f", log likelihood of a row {apart:+.0e} of theirs"
    what = f"factor analysis, N={rows:.0e}, D={columns}, K={count}"
    return Line(what, best[faster][0] / best["ours"][0], 1, "x", at_least=True, note=note)
