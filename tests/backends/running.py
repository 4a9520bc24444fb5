"""How tests run emitted programs: in this process as functions, or alone in a fresh interpreter."""

from __future__ import annotations

import ast
import csv
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

import platewright as pw


def running(source: str) -> dict[str, Any]:
    """The functions of a program."""
    space: dict[str, Any] = {"__name__": "learned"}
    exec(compile(source, "<learned>", "exec", dont_inherit=True), space)
    return space


def flowers() -> tuple[pw.Model, dict[str, list[Any]]]:
    m = pw.Model('flowers """ of \\ two kinds')
    row, kind = m.plate("row"), m.plate("kind", 2)
    colour = m.plate("colour", labels=["red", "white", "blue"])
    m.share = pw.Dirichlet(2.0, over=kind)
    m.expect = pw.Dirichlet(1.5, over=colour, plates=kind)
    m.spread = pw.InverseGamma(3, scale=2, plates=kind)
    m.mu = pw.Normal(0, variance=4 * m.spread, plates=kind)
    m.z = pw.Categorical(m.share, plates=row)
    m.length = pw.Normal(m.mu[m.z], variance=m.spread[m.z], plates=row)
    m.objective = pw.Categorical(m.expect[m.z], plates=row)
    rng = np.random.default_rng(0)
    lengths = np.concatenate([rng.normal(-2, 0.5, 20), rng.normal(2, 0.5, 20)]).tolist()
    return m, {"length": lengths, "objective": ["red"] * 16 + ["white"] * 6 + ["blue"] * 18}


def run_file(source: str, data: dict[str, list[Any]], folder: Path) -> dict[str, Any]:
    """What the program prints on a CSV file, with no Platewright in reach."""
    (folder / "learned.py").write_text(source)
    with open(folder / "data.csv", "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(data)
        writer.writerows(zip(*data.values(), strict=True))
    command = [sys.executable, "-I", "learned.py", "data.csv"]
    found = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert found.returncode == 0, found.stderr
    lines = [line.split(" = ", 1) for line in found.stdout.splitlines()]
    return {name: ast.literal_eval(value) for name, value in lines}
