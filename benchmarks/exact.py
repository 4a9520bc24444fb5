"""What exact learning costs beside its peers, in one run: each line prints what was measured, the target, pass or miss.

    PYTHONPATH=src python benchmarks/exact.py [--quick] [--only NAME ...] [--backend auto|numpy|c] [--repeats 5]

The time of `m.learn` is always the whole of it: binding and checking the data, deriving, emitting, running, finishing.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from side_by_side import Line, best_of, fresh, peak_beyond

import platewright as pw
from platewright.derive.planner import choose_plan
from platewright.graph.graph import read_graph

COLUMNS = 20


@dataclass(frozen=True)
class Setting:
    """What was asked for on the command line."""

    quick: bool
    backend: str
    repeats: int


def regression_model() -> pw.Model:
    """Bayesian linear regression with unknown noise."""
    m = pw.Model("regression")
    row, column = m.plate("row"), m.plate("column")
    m.tau = pw.Gamma(2, rate=3)
    m.w = pw.Normal(0, precision=m.tau, plates=column)
    m.a = pw.Normal(0, precision=0.1 * m.tau)
    m.x = pw.Input(plates=(row, column))
    m.y = pw.Normal(m.a + pw.dot(m.x, m.w, over=column), precision=m.tau, plates=row)
    return m


def regression_data(rows: int) -> dict[str, np.ndarray]:
    """Rows drawn from a regression, block by block, so that making them needs no more memory than holding them."""
    generator = np.random.default_rng(0)
    weights = generator.standard_normal(COLUMNS)
    x, y = np.empty((rows, COLUMNS)), np.empty(rows)
    for start in range(0, rows, 1_000_000):
        block = x[start : start + 1_000_000]
        generator.standard_normal(out=block)
        y[start : start + len(block)] = block @ weights + generator.standard_normal(len(block))
    return {"x": x, "y": y}


def in_memory(setting: Setting) -> list[Line]:
    """Regression with posterior and evidence beside `X.T @ X` alone."""
    rows = 1_000_000 if setting.quick else 10_000_000
    data = regression_data(rows)
    m = regression_model()

    def ours() -> float:
        fit = m.learn(data, backend=setting.backend)
        return float(fit["w"].mean[0]) + fit.log_evidence

    peak = peak_beyond(ours)  # at the first fit: later ones may find memory that was not given back
    own, other = best_of(setting.repeats, ours, lambda: data["x"].T @ data["x"])
    fit = m.learn(data, backend=setting.backend)
    parts = ", ".join(f"{name} {1e3 * seconds:.0f}" for name, seconds in (fit.seconds or {}).items())
    note = f"ours {1e3 * own:.0f} ms by {fit.backend} ({parts}), X.T @ X {1e3 * other:.0f} ms"
    lines = [Line(f"regression, {rows:.0e} rows x {COLUMNS}, time of X.T @ X alone", own / other, 1.0, "x", note=note)]
    if peak is not None:
        size = sum(array.nbytes for array in data.values()) / 2**20
        lines.append(Line("    peak memory beyond the input", peak, 100, "MiB", note=f"input {size:.0f} MiB"))
    return lines


def beside_scikit_learn(setting: Setting) -> list[Line]:
    """Regression at 1e5 rows beside BayesianRidge."""
    from sklearn.linear_model import BayesianRidge

    data = regression_data(100_000)
    m = regression_model()
    own, other = best_of(
        5 * setting.repeats,  # milliseconds vary: both take more turns
        lambda: m.learn(data, backend=setting.backend)["w"].mean,
        lambda: BayesianRidge(compute_score=True).fit(data["x"], data["y"]),
    )
    note = f"ours {1e3 * own:.1f} ms, BayesianRidge {1e3 * other:.0f} ms"
    return [Line("regression, 1e5 rows, times as fast as scikit-learn", other / own, 20, "x", at_least=True, note=note)]


def classifier_model() -> pw.Model:
    """Classes with a table of levels for each column."""
    m = pw.Model("classifier")
    row, c, f, level = m.plate("row"), m.plate("c", 3), m.plate("f", COLUMNS), m.plate("level", 5)
    m.share = pw.Dirichlet(1.0, over=c)
    m.table = pw.Dirichlet(1.0, over=level, plates=(c, f))
    m.y = pw.Categorical(m.share, plates=row)
    m.x = pw.Categorical(m.table[m.y], plates=(row, f))
    return m


def classifier(setting: Setting) -> list[Line]:
    """A classifier of categories: posterior and evidence beside CategoricalNB, then classes of new rows."""
    from sklearn.naive_bayes import CategoricalNB

    rows = 100_000 if setting.quick else 1_000_000
    generator = np.random.default_rng(0)
    x, y = generator.integers(0, 5, (rows, COLUMNS)), generator.integers(0, 3, rows)
    m, new = classifier_model(), x[:100_000]
    own, other = best_of(
        setting.repeats,
        lambda: m.learn({"x": x, "y": y}, backend=setting.backend).log_evidence,
        lambda: CategoricalNB().fit(x, y),
    )
    fit, peer = m.learn({"x": x, "y": y}, backend=setting.backend), CategoricalNB().fit(x, y)
    asked, answered = best_of(
        setting.repeats,
        lambda: fit.predict({"x": new}).probabilities("y"),
        lambda: peer.predict_proba(new),
    )
    learnt = f"ours {1e3 * own:.0f} ms, CategoricalNB {1e3 * other:.0f} ms"
    told = f"ours {1e3 * asked:.0f} ms, with the tables integrated out; predict_proba {1e3 * answered:.0f} ms"
    return [
        Line(f"classifier, {rows:.0e} x {COLUMNS}, times as fast", other / own, 10, "x", at_least=True, note=learnt),
        Line("classes of 1e5 new rows, times as fast", answered / asked, 0.5, "x", at_least=True, note=told),
    ]


def from_parquet(setting: Setting) -> list[Line]:
    """Regression from a Parquet file beside the same sums in DuckDB."""
    import duckdb
    import pyarrow
    import pyarrow.parquet

    rows = 200_000 if setting.quick else 2_000_000
    data = regression_data(rows)
    names = [f"x_{number}" for number in range(COLUMNS)]
    m = regression_model()
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "rows.parquet")
        columns = {name: data["x"][:, number] for number, name in enumerate(names)}
        pyarrow.parquet.write_table(pyarrow.table({**columns, "y": data["y"]}), path)
        every = [*names, "y"]
        products = [f"sum({a} * {b})" for k, a in enumerate(every) for b in every[k:]]
        sums = ", ".join(["count(*)", *(f"sum({name})" for name in every), *products])
        query = f"select {sums} from read_parquet('{path}')"
        own, other = best_of(
            setting.repeats,
            lambda: m.learn(path, backend=setting.backend).log_evidence,
            lambda: duckdb.sql(query).fetchall(),
        )
    note = f"ours {1e3 * own:.0f} ms, DuckDB {1e3 * other:.0f} ms"
    what = f"regression, Parquet of {rows:.0e} rows, times as fast as SQL"
    return [Line(what, other / own, 2, "x", at_least=True, note=note)]


def coin(setting: Setting) -> list[Line]:
    """A million tosses, after derivation."""
    m = pw.Model("coin")
    toss = m.plate("toss")
    m.theta = pw.Beta(1.5, 1.5)
    m.heads = pw.Bernoulli(m.theta, plates=toss)
    data = {"heads": np.random.default_rng(0).integers(0, 2, 1_000_000)}
    after: list[float] = []

    def ours() -> None:
        fit = m.learn(data, backend=setting.backend)
        after.append(sum(seconds for name, seconds in (fit.seconds or {}).items() if name != "derive"))

    (whole,) = best_of(setting.repeats, ours)
    return [Line("coin, 1e6 tosses, after derivation", 1e3 * min(after), 10, "ms", note=f"whole {1e3 * whole:.1f} ms")]


def gaussian_network() -> tuple[pw.Model, list[str]]:
    """A chain of eight regressions, each with its own slope, intercept and precision: 31 nodes."""
    m = pw.Model("Gaussian network")
    row = m.plate("row")
    for k in range(8):
        setattr(m, f"tau{k}", pw.Gamma(2, rate=1))
        setattr(m, f"a{k}", pw.Normal(0, precision=getattr(m, f"tau{k}")))
        mean = getattr(m, f"a{k}")
        if k:
            setattr(m, f"b{k}", pw.Normal(0, precision=getattr(m, f"tau{k}")))
            mean = mean + getattr(m, f"b{k}") * getattr(m, f"x{k - 1}")
        setattr(m, f"x{k}", pw.Normal(mean, precision=getattr(m, f"tau{k}"), plates=row))
    return m, [f"x{k}" for k in range(8)]


def discrete_network() -> tuple[pw.Model, list[str]]:
    """Fifteen categories with up to two parents and a table each: 30 nodes."""
    m = pw.Model("discrete network")
    row = m.plate("row")
    levels = [m.plate(f"level{k}", 3) for k in range(15)]
    for k in range(15):
        parents = [p for p in (k - 1, k - 3) if p >= 0]
        setattr(m, f"p{k}", pw.Dirichlet(1, over=levels[k], plates=tuple(levels[p] for p in parents)))
        table = getattr(m, f"p{k}")
        if parents:
            table = table[tuple(getattr(m, f"c{p}") for p in parents)]
        setattr(m, f"c{k}", pw.Categorical(table, plates=row))
    return m, [f"c{k}" for k in range(15)]


def derivation(setting: Setting) -> list[Line]:
    """Models of about thirty nodes, derived without data."""
    lines = []
    for make in (gaussian_network, discrete_network):
        m, known = make()
        (seconds,) = best_of(setting.repeats, lambda m=m, known=known: choose_plan(read_graph(m, known), "posterior"))
        what = f"derivation of a {m.title}, {len(m.variables)} nodes"
        lines.append(Line(what, seconds, 0.5, "s"))
    return lines


FIRST = """
import time
start = time.perf_counter()
import platewright as pw
imported = time.perf_counter()
import numpy as np
m = pw.Model("regression")
row, column = m.plate("row"), m.plate("column")
m.tau = pw.Gamma(2, rate=3)
m.w = pw.Normal(0, precision=m.tau, plates=column)
m.x = pw.Input(plates=(row, column))
m.y = pw.Normal(pw.dot(m.x, m.w, over=column), precision=m.tau, plates=row)
written = time.perf_counter()
m.derive(known=["y"])
derived = time.perf_counter()
g = np.random.default_rng(0)
data = {"x": g.standard_normal((100_000, 5)), "y": g.standard_normal(100_000)}
made = time.perf_counter()
m.learn(data, backend="BACKEND").log_evidence
learnt = time.perf_counter()
print(imported - start, derived - written, learnt - made)
"""


def first_result(setting: Setting) -> list[Line]:
    """A fresh interpreter: import, first derivation, first fit with all that must be compiled."""
    imported, derived, learnt = fresh(FIRST.replace("BACKEND", setting.backend), setting.repeats)
    note = f"then derive {1e3 * derived:.0f} ms, first fit of 1e5 rows {1e3 * learnt:.0f} ms (compiled code from cache)"
    return [Line("import in a fresh interpreter", imported, 0.5, "s", note=note)]


CLAIMS: dict[str, Callable[[Setting], list[Line]]] = {
    "memory": in_memory,
    "scikit-learn": beside_scikit_learn,
    "classifier": classifier,
    "parquet": from_parquet,
    "coin": coin,
    "derivation": derivation,
    "import": first_result,
}


def main() -> int:
    """Run the claims asked for; the exit status counts those that were missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--only", nargs="*", choices=tuple(CLAIMS), default=tuple(CLAIMS))
    parser.add_argument("--backend", choices=("auto", "numpy", "c"), default="auto")
    parser.add_argument("--repeats", type=int, default=5)
    asked = parser.parse_args()
    setting = Setting(asked.quick, asked.backend, asked.repeats)
    print(f"$ python {' '.join(sys.argv)}")
    print(f"Python {platform.python_version()}, NumPy {np.__version__}, {os.cpu_count()} cores, {platform.machine()}")
    missed = 0
    for name in asked.only:
        for line in CLAIMS[name](setting):
            print(line, flush=True)
            missed += not line.passes
    return missed


if __name__ == "__main__":
    sys.exit(main())
