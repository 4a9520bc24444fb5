"""Stan programs, read from their own text, against summaries of long Stan runs.

A mean passes at 0.05 standard deviations plus three Monte Carlo errors of the reference and of ours, a standard
deviation at five percent plus three of our own Monte Carlo errors.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from time import perf_counter
from typing import Any

import numpy as np

import platewright as pw
from outside.corpus import CORPUS
from outside.learning import errors, learn
from outside.outcome import Outcome
from platewright.run.samplers.monitoring import Drawn

KIND = "posteriordb"
QUICK = ("earnings-logearn_height",)


def run(name: str, seconds: float, seed: int = 1) -> Outcome:
    """Read the text with its data, learn as the planner chooses, and compare every parameter."""
    start = perf_counter()
    folder = CORPUS / KIND / name
    reference = json.loads((folder / "reference.json").read_text())
    model = pw.read_stan(folder / "model.stan", folder / "data.json")
    wanted = {item["name"]: item for item in reference["quantities"]}
    places = {item: model.read_from.cell(item) for item in wanted}

    def monitor(drawn: Drawn) -> Mapping[str, np.ndarray]:
        return drawn.cells(places)

    learned = learn(model, model.read_from.data(), monitor, seconds, start, seed)
    worst, at, missed = 0.0, "", 0
    for item, values in learned.quantities.items():
        error = error_of(values, wanted[item])
        missed += error > 1
        if error > worst:
            worst, at = error, item
    verdict = "pass" if worst <= 1 and learned.mixed else "fail"
    words = [f"worst {at} of {len(wanted)}"] + ([f"{missed} miss"] if missed else [])
    words += [] if learned.mixed else ["not mixed"]
    words += [learned.remark] if learned.remark else []
    return Outcome(KIND, name, verdict, learned.how, learned.why, learned.first, learned.total, worst, "; ".join(words))


def error_of(values: np.ndarray, wanted: Mapping[str, Any]) -> float:
    """The larger error of mean and standard deviation, in units of its tolerance."""
    mean, sd, mean_error, sd_error = errors(values)
    allowed = 0.05 * wanted["sd"] + 3 * wanted["mcse_mean"] + 3 * mean_error
    spread = 0.05 * wanted["sd"] + 3 * sd_error
    return max(abs(mean - wanted["mean"]) / allowed, abs(sd - wanted["sd"]) / spread)
