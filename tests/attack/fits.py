"""Saved fits with something wrong in them: refused in words, or as good as any."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import platewright as pw
from attack.mutating import damaged_archive
from result_kinds import Y, crowd, funnel
from run.test_long_samplers import COINS, COUNTS, REALS, mixture, separate, sliced
from shown_models import MAKERS, NAMES, made

FEW: dict[str, Any] = {"chains": 2, "draws": 20, "warm_up": 20, "by": "gibbs", "backend": "numpy"}


def exact(number: int) -> Callable[[], Any]:
    """A fit in closed form of one of the models that are shown."""

    def fitted() -> Any:
        model, data = made(MAKERS[number])
        return model.learn(data)

    return fitted


FITS: dict[str, Callable[[], Any]] = {
    **{name: exact(number) for number, name in enumerate(NAMES)},
    "em": lambda: mixture().learn(COUNTS, goal="map", restarts=2),
    "mean field": lambda: mixture().learn(COUNTS, by="mean-field", restarts=2),
    "mean field in blocks": lambda: separate().learn(REALS, by="mean-field", restarts=2, iterations=40),
    "plain means": lambda: separate().learn(REALS, by="mean-field", update="plain", iterations=40),
    "gibbs": lambda: mixture().learn(COUNTS, **FEW),
    "slices": lambda: sliced().learn(COINS, **FEW),
    "collapsed": lambda: mixture().learn(COUNTS, **{**FEW, "by": "collapsed-gibbs"}),
    "laplace": lambda: sliced().learn(COINS, by="laplace"),
    "points": lambda: funnel().learn({"y": Y}, by="quadrature"),
    "points of programs": lambda: crowd().learn({"y": np.arange(25) % 4}, by="quadrature"),
}


def prepare(folder: Path) -> None:
    """The whole files."""
    for number, fit in enumerate(FITS.values()):
        path = folder / f"fit{number}.fit"
        if not path.exists():
            fit().save(path)


def used(fit: Any) -> None:
    """All that a user would ask of a fit; none of it may be a surprise."""
    str(fit.summary())
    fit.how, repr(fit), fit.explain()
    names = [name for name, node in fit.derivation.graph.nodes.items() if node.kind == "random"]
    for name in names:
        try:
            found = fit[name]
        except pw.errors.PlatewrightError:
            continue
        np.asarray(found.mean)
    for name in names:
        try:
            fit.expected(name)
        except (pw.errors.PlatewrightError, AttributeError):
            continue
    if hasattr(fit, "draws"):
        fit.draws(3)


def attempt(number: int, folder: Path) -> str:
    """Damage one fit, load it and use it."""
    rng = random.Random(number)
    source = folder / f"fit{number % len(FITS)}.fit"
    path = folder / "damaged.fit"
    damaged_archive(source, path, rng, text="fit.json")
    fit = pw.load(path)
    used(fit)
    return "fine"
