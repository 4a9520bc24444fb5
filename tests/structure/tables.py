"""Small tables for the laws of structure: categories, numbers, counts, and both."""

from __future__ import annotations

from typing import Any

import numpy as np

Table = dict[str, Any]


def categories(rows: int = 60, nodes: int = 4, seed: int = 0) -> Table:
    """Categories of two and three levels, each leaning on the one before."""
    rng = np.random.default_rng(seed)
    table: Table = {}
    before = np.zeros(rows, dtype=np.int64)
    for number in range(nodes):
        levels = 2 + number % 2
        free = rng.integers(0, levels, rows)
        before = np.where(rng.random(rows) < 0.5, before % levels, free)
        table["abcdefghij"[number]] = before
    return table


def numbers(rows: int = 50, nodes: int = 4, seed: int = 0) -> Table:
    """Normal columns, each a slope on the one before, far from zero and in odd units."""
    rng = np.random.default_rng(seed)
    table: Table = {}
    before = rng.normal(size=rows)
    for number in range(nodes):
        before = 0.8 * before + rng.normal(size=rows)
        table["wxyz"[number]] = 100.0 + 3.0 * before
    return table


def mixed(rows: int = 80, seed: int = 0) -> Table:
    """Categories, numbers that hang on them, and a count."""
    rng = np.random.default_rng(seed)
    table = {**categories(rows, 2, seed), **numbers(rows, 2, seed)}
    table["w"] = table["w"] + 4.0 * table["a"]
    table["k"] = rng.poisson(1.0 + 2.0 * table["a"])
    return table
