"""Random columns and random trees over them, and the evidence of a tree by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import gammaln

import platewright as pw

LEVELS = {"c": 3, "d": 2}
NUMBERS = ("x", "z")


def columns(generator: np.random.Generator, rows: int = 60, classes: int = 3) -> dict[str, np.ndarray]:
    data: dict[str, np.ndarray] = {name: generator.integers(0, size, rows) for name, size in LEVELS.items()}
    data |= {name: generator.normal(size=rows) for name in NUMBERS}
    lift = 1 * (data["c"] == 1) + (data["x"] < 0.2)
    data["y"] = np.minimum(generator.integers(0, 2, rows) * lift, classes - 1)
    return data


def random_shape(generator: np.random.Generator, depth: int = 3) -> pw.Split | None:
    if depth == 0 or generator.random() < 0.2:
        return None
    name = str(generator.choice([*LEVELS, *NUMBERS]))
    kind = generator.integers(2)
    if name in NUMBERS:
        options: dict[str, Any] = {"below": float(generator.normal())}
    else:
        options = {"level": int(generator.integers(LEVELS[name]))} if kind else {}
    answers = LEVELS[name] if not options else 2
    return pw.Split(name, *(random_shape(generator, depth - 1) for _ in range(answers)), **options)


def model(prior: Any = 1.0, classes: int = 3, **options: Any) -> pw.Model:
    """The inputs and a tree over them; a prior that is no distribution is that of each class."""
    m = pw.Model("tree")
    row, level = m.plate("row"), m.plate("level", classes)
    for name, size in LEVELS.items():
        setattr(m, name, pw.Input(plates=row, levels=size))
    for name in NUMBERS:
        setattr(m, name, pw.Input(plates=row))
    prior = prior if not isinstance(prior, (float, list)) else pw.Dirichlet(prior, over=level)
    m.y = pw.Tree(*(getattr(m, name) for name in (*LEVELS, *NUMBERS)), prior=prior, plates=row, **options)
    return m


def groups(shape: pw.Split | None, data: dict[str, np.ndarray], rows: np.ndarray, share: float = 1.0) -> list[Any]:
    """The rows of each leaf, and the share of the prior that reaches it."""
    if shape is None:
        return [(rows, share)]
    values = data[shape.on][rows]
    if shape.below is not None:
        answers = [values < shape.below, values >= shape.below]
    elif shape.level is not None:
        answers = [values == shape.level, values != shape.level]
    else:
        answers = [values == level for level in range(LEVELS[shape.on])]
    branches = shape.branches or (shape.every,) * len(answers)
    parts = (groups(b, data, rows[a], share / len(answers)) for b, a in zip(branches, answers, strict=True))
    return [found for part in parts for found in part]


def class_evidence(y: np.ndarray, alpha: np.ndarray) -> float:
    counts = np.bincount(y, minlength=len(alpha))
    inside = gammaln(alpha + counts).sum() - gammaln(alpha).sum()
    return float(inside + gammaln(alpha.sum()) - gammaln(alpha.sum() + len(y)))


def number_evidence(y: np.ndarray, shape: float, rate: float, mean: float, worth: float) -> float:
    """Row by row, by Student predictives."""
    from scipy.stats import t

    total = 0.0
    for value in y:
        scale = np.sqrt(rate / shape * (1 + 1 / worth))
        total += float(t.logpdf(value, 2 * shape, mean, scale))
        rate += 0.5 * worth / (worth + 1) * (value - mean) ** 2
        mean, shape, worth = (worth * mean + value) / (worth + 1), shape + 0.5, worth + 1
    return total


def by_hand(shape: pw.Split | None, data: dict[str, np.ndarray], alpha: np.ndarray, shared: bool = False) -> float:
    found = groups(shape, data, np.arange(len(data["y"])))
    return sum(class_evidence(data["y"][rows], alpha * (share if shared else 1.0)) for rows, share in found)
