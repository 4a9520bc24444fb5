"""BUGS and JAGS texts with the posterior means of other programs.

Trust A decides at 0.15 standard deviations plus three of our own Monte Carlo errors, and its standard deviation must
agree; B has 0.25; C is never asked.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np

import platewright as pw
from outside.corpus import CORPUS
from outside.learning import Learned, errors, learn
from outside.outcome import Outcome
from platewright.errors import PlatewrightError
from platewright.language.bugs.data import read_data
from platewright.run.samplers.deviance import deviance
from platewright.run.samplers.monitoring import Drawn

KIND = "bugs"
MEAN = {"A": 0.15, "B": 0.25}
RATIO = (0.85, 1.18)
QUICK = ("Surgical", "Asia", "Line")


def run(name: str, seconds: float) -> Outcome:
    """Read the text with its data, learn, and compare every quantity that is trusted."""
    start = perf_counter()
    folder = CORPUS / KIND / name
    reference = json.loads((folder / "reference.json").read_text())
    text = next(folder.glob("model*.bug")).read_text()
    model = pw.read_bugs(text, read_data(folder / "data.json"))
    asked = {item["name"]: item for item in reference["quantities"] if item["trust"] in MEAN}
    wanted, remarks = _places(model, asked)

    def monitor(drawn: Drawn) -> Mapping[str, np.ndarray]:
        shifts = {label: place.shift for label, place in model.read_from.draft.sources.items()}
        found = {item: values + shifts.get(wanted[item][0], 0) for item, values in drawn.cells(wanted).items()}
        if "deviance" in asked:
            found["deviance"] = _as_counted(drawn, deviance(drawn), asked["deviance"])
        return found

    learned = learn(model, model.read_from.data(), monitor, seconds, start)
    return judged(name, reference["scope"], asked, learned, remarks)


def _as_counted(drawn: Drawn, found: np.ndarray, wanted: Mapping[str, Any]) -> np.ndarray:
    """The deviance by the reference's own count: older JAGS leaves log(2 pi) out of multivariate normals."""
    known = [node for name, node in drawn.graph.nodes.items() if name in drawn.graph.known and node.family is not None]
    vectors = [node for node in known if node.family.name == "MultivariateNormal"]
    sizes = [np.prod([drawn.sizes[axis.plate] for axis in node.axes], dtype=float) for node in vectors]
    left_out = found - sum(sizes) * np.log(2 * np.pi)
    return min((found, left_out), key=lambda values: abs(values.mean() - wanted["mean"]))


def _places(model: Any, asked: Mapping[str, Any]) -> tuple[dict[str, tuple[str, tuple[int, ...]]], list[str]]:
    """Where the quantities live in the model, and those that are nowhere."""
    wanted: dict[str, tuple[str, tuple[int, ...]]] = {}
    nowhere: list[str] = []
    for name in asked:
        if name == "deviance":
            continue
        try:
            wanted[name] = model.read_from.cell(name)
        except PlatewrightError as error:
            # a reference may monitor what only a commented line of its text defines
            nowhere.append(f"{name} left out: {str(error).splitlines()[0]}")
    return wanted, nowhere


def judged(
    name: str,
    scope: str,
    asked: Mapping[str, Any],
    learned: Learned,
    remarks: list[str],
) -> Outcome:
    """The worst error over all quantities, in units of the tolerance."""
    worst, at, misses = 0.0, "", []
    for item, wanted in asked.items():
        if item not in learned.quantities:
            continue
        error = error_of(learned.quantities[item], wanted)
        if error > worst:
            worst, at = error, item
        if error > 1:
            misses.append((error, item))
    passed = worst <= 1 and learned.mixed
    if misses:
        shown = ", ".join(f"{item} ({error:.2g})" for error, item in sorted(misses, reverse=True)[:4])
        remarks = [*remarks, f"{len(misses)} of {len(asked)} quantities miss: {shown}"]
    elif at:
        remarks = [*remarks, f"worst {at} of {len(asked)}"]
    if not learned.mixed:
        remarks = [*remarks, "not mixed"]
    if scope != "core":
        remarks = [scope, *remarks]
    words = "; ".join([*remarks, learned.remark] if learned.remark else remarks)
    verdict = "pass" if passed else "fail"
    return Outcome(KIND, name, verdict, learned.how, learned.why, learned.first, learned.total, worst, words)


def error_of(values: np.ndarray, wanted: Mapping[str, Any]) -> float:
    """The error of the mean, and for trust A of the standard deviation, each in units of its tolerance."""
    if not np.isfinite(values).all():
        return float("inf")
    mean, sd, mean_error, sd_error = errors(values)
    allowed = MEAN[wanted["trust"]] * wanted["sd"] + 3 * mean_error
    gap = abs(mean - wanted["mean"])
    found = gap / allowed if allowed > 0 else (0.0 if gap <= 1e-9 * max(1, abs(mean)) else float("inf"))
    if wanted["trust"] != "A" or not wanted["sd"]:
        return found
    edge = RATIO[1] if sd > wanted["sd"] else RATIO[0]
    spread = abs(edge - 1) * wanted["sd"] + 3 * sd_error
    return max(found, abs(sd - wanted["sd"]) / spread)
