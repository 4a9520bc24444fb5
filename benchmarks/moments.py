"""Moments of a regression by emitted C against NumPy's `X.T @ X` alone, interleaved in one run.

    python benchmarks/moments.py [--rows 10000000] [--columns 20,5,50] [--repeats 7]

The C pass gives more than the product: means, centred scatter of (X, y), ready to merge. Ratios below 1 are faster.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

import platewright as pw
from platewright.program.program import Program
from platewright.run.exact.native import native_statistics
from platewright.run.exact.native_blocks import thread_count
from platewright.run.execute import arguments, loaded

Statistics = Callable[..., Mapping[str, Any]]


def regression() -> Program:
    """The program of a Bayesian linear regression with unknown noise."""
    m = pw.Model("regression")
    n, c = m.plate("n"), m.plate("c")
    m.tau = pw.Gamma(2, rate=3)
    m.w = pw.Normal(0, precision=m.tau, plates=c)
    m.X = pw.Input(plates=(n, c))
    m.a = pw.Normal(0, precision=0.1 * m.tau)
    m.y = pw.Normal(m.a + pw.dot(m.X, m.w, over=c), precision=m.tau, plates=n)
    return m.derive(known=["y"]).plan.program


def coin() -> Program:
    """The program of a coin."""
    m = pw.Model("coin")
    m.p = pw.Beta(1.5, 1.5)
    m.x = pw.Bernoulli(m.p, plates=m.plate("n"))
    return m.derive(known=["x"]).plan.program


def called(program: Program, columns: Mapping[str, Any], threads: int | None = None) -> Callable[[], object]:
    """A call of the compiled pass on given columns."""
    sizes = dict(program.sizes)
    for name, axes in program.columns.items():
        sizes |= {axis.plate: extent for axis, extent in zip(axes, columns[name].shape)}
    data = arguments(program, loaded(program), columns, sizes)
    run = native_statistics(program, threads)
    return lambda: run(*data)


def limited(threads: int) -> AbstractContextManager[object]:
    """NumPy's BLAS held to so many threads, where threadpoolctl is there to do it."""
    try:
        from threadpoolctl import threadpool_limits  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return nullcontext()
    return threadpool_limits(threads)  # type: ignore[no-any-return,unused-ignore]


def seconds(call: Callable[[], object], threads: int) -> float:
    with limited(threads):
        start = time.perf_counter()
        call()
        return time.perf_counter() - start


def interleaved(calls: Mapping[str, tuple[Callable[[], object], int]], repeats: int) -> dict[str, list[float]]:
    """The seconds of each call, taken in turns so that other work on the machine hits all alike."""
    found: dict[str, list[float]] = {name: [] for name in calls}
    for call, threads in calls.values():
        seconds(call, threads)  # compiles, and touches the pages
    for _ in range(repeats):
        for name, (call, threads) in calls.items():
            found[name].append(seconds(call, threads))
    return found


def compare(rows: int, columns: int, repeats: int) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.random((rows, columns)), rng.random(rows)
    program, threads = regression(), thread_count()
    data = {"X": X, "y": y}
    calls = {}
    for many in sorted({1, threads}):
        calls[f"X.T @ X, {many} thread{'s' if many > 1 else ''}"] = (lambda: X.T @ X, many)
        calls[f"C pass,  {many} thread{'s' if many > 1 else ''}"] = (called(program, data, many), many)
    found = interleaved(calls, repeats)
    print(f"\nN = {rows:,}, M = {columns} ({X.nbytes / 1e9:.2f} GB)")
    for many in sorted({1, threads}):
        numpy, native = (
            times for name, times in found.items() if name.endswith(f"{many} thread{'s' if many > 1 else ''}")
        )
        for word, times in (("X.T @ X", numpy), ("C pass", native)):
            print(f"  {word:8} {many} thread(s)   min {min(times):.4f} s   median {statistics.median(times):.4f} s")
        least, middle = min(native) / min(numpy), statistics.median(native) / statistics.median(numpy)
        print(f"  ratio    {many} thread(s)   min {least:.2f}       median {middle:.2f}")


def toss(rows: int, repeats: int) -> None:
    x = np.random.default_rng(0).integers(0, 2, rows)
    found = interleaved({"coin": (called(coin(), {"x": x}), thread_count())}, repeats)["coin"]
    print(f"\ncoin, N = {rows:,}: min {1e3 * min(found):.2f} ms, median {1e3 * statistics.median(found):.2f} ms")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--columns", default="20,5,50")
    parser.add_argument("--repeats", type=int, default=7)
    chosen = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}; NumPy {np.__version__}")
    for columns in chosen.columns.split(","):
        compare(chosen.rows, int(columns), chosen.repeats)
    toss(1_000_000, 50)


if __name__ == "__main__":
    main()
