"""Parquet files with something wrong in their bytes: refused with file, row group and column, or read as they are."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np

import platewright as pw
from attack.mutating import damaged_bytes

ROWS = 3_000


def model() -> Any:
    """Numbers, whole numbers and text."""
    m = pw.Model("columns of all kinds")
    row, level = m.plate("row"), m.plate("level")
    m.share = pw.Dirichlet(1.0, over=level)
    m.c = pw.Categorical(m.share, plates=row)
    m.rate = pw.Gamma(1, rate=1, plates=level)
    m.k = pw.Poisson(m.rate[m.c], plates=row)
    m.mu = pw.Normal(0, sd=10, plates=level)
    m.x = pw.Normal(m.mu[m.c], sd=1, plates=row)
    return m


def prepare(folder: Path) -> None:
    """Whole files: plain, compressed, with and without dictionaries."""
    import pyarrow
    from pyarrow import parquet

    rng = np.random.default_rng(0)
    table = pyarrow.table(
        {"x": rng.normal(size=ROWS), "k": rng.poisson(3, ROWS), "c": rng.choice(["low", "mid", "high"], ROWS)}
    )
    ways: list[dict[str, Any]] = [
        {"compression": "none", "use_dictionary": False},
        {"compression": "snappy"},
        {"compression": "zstd", "data_page_version": "2.0"},
        {"compression": "gzip", "row_group_size": 500},
    ]
    for number, way in enumerate(ways):
        parquet.write_table(table, folder / f"whole{number}.parquet", **{"row_group_size": 1000, **way})


def attempt(number: int, folder: Path) -> str:
    """Damage one file and learn from it."""
    rng = random.Random(number)
    path = folder / "damaged.parquet"
    path.write_bytes(damaged_bytes((folder / f"whole{number % 4}.parquet").read_bytes(), rng))
    model().learn(path)
    return "fine"
