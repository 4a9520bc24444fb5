"""Models to be written as Stan text: the gallery, models that nobody listed, and the outside cases where they are here.

Each is a function that gives a model and what is known in it; discrete unknowns count as known, as Stan has none.
"""

from __future__ import annotations

import runpy
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import Any

import platewright as pw
from language import unlisted_gaussian, unlisted_others
from outside.corpus import CORPUS, cases
from platewright.language.bugs.data import read_data

ROOT = Path(__file__).parents[2]
Known = tuple[pw.Model, list[str]]


def stan_models() -> dict[str, Callable[[], Known]]:
    """Models of this project."""
    gallery = sorted((*ROOT.glob("examples/*/model.py"), *ROOT.glob("examples/latent/*/model.py")))
    found: dict[str, Callable[[], Known]] = {path.parent.name: partial(_example, path) for path in gallery}
    for problem in (*unlisted_gaussian.PROBLEMS, *unlisted_others.PROBLEMS):
        found[problem.__name__] = partial(_problem, problem)
    return found


def outside_models() -> dict[str, Callable[[], Known]]:
    """Models of the outside cases."""
    found: dict[str, Callable[[], Known]] = {name: partial(_read, name) for name in cases("bugs")}
    return found | {name: partial(_stan, name) for name in cases("posteriordb")}


def _known(model: pw.Model, data: Iterable[str]) -> Known:
    given = set(data)
    chosen = [
        name
        for name, variable in model.variables.items()
        if variable.kind == "random" and (name in given or variable.domain.is_discrete)
    ]
    return model, chosen


def _example(path: Path) -> Known:
    space = runpy.run_path(str(path))
    return _known(space["m"], space["known"])


def _problem(problem: Callable[[], Any]) -> Known:
    model, data, *_ = problem()
    return _known(model, data)


def _stan(name: str) -> Known:
    folder = CORPUS / "posteriordb" / name
    model = pw.read_stan(folder / "model.stan", folder / "data.json")
    return _known(model, model.read_from.data())


def _read(name: str) -> Known:
    folder = CORPUS / "bugs" / name
    data = [read_data(path) for path in sorted(folder.glob("data*.json"))]
    model = pw.read_bugs(next(folder.glob("model*.bug")).read_text(), data)
    return _known(model, model.read_from.data())
