"""Models of Stan texts, written in our language, against summaries of long Stan runs.

A mean passes at 0.05 standard deviations plus three Monte Carlo errors of the reference and of ours, a standard
deviation at five percent plus three of our own Monte Carlo errors.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from outside.corpus import CORPUS
from outside.learning import errors, learn
from outside.outcome import Outcome
from outside.posteriordb_models import MODELS, Written
from platewright.run.samplers.monitoring import Drawn

KIND = "posteriordb"
QUICK = ("earnings-logearn_height",)
RENAMED = {"lambda": "rate", "theta1": "move", "theta2": "move"}


def run(name: str, seconds: float) -> Outcome:
    """Learn the model as the planner chooses and compare every parameter."""
    start = perf_counter()
    folder = CORPUS / KIND / name
    reference = json.loads((folder / "reference.json").read_text())
    written = MODELS[name.split("-", 1)[1]](json.loads((folder / "data.json").read_text()))
    wanted = {item["name"]: item for item in reference["quantities"]}
    places = {item: _place(item, written) for item in wanted}

    def monitor(drawn: Drawn) -> Mapping[str, np.ndarray]:
        return _sorted(drawn, written).cells(places)

    learned = learn(written.model, written.data, monitor, seconds, start)
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


def _place(name: str, written: Written) -> tuple[str, tuple[int, ...]]:
    """Where a Stan quantity such as `theta[2]` lives in our model."""
    match = re.fullmatch(r"(\w+)(?:\[([\d,]+)\])?", name)
    assert match is not None, name
    base, inside = match.groups()
    at = tuple(int(part) - 1 for part in inside.split(",")) if inside else ()
    node = RENAMED.get(base, base) if base not in written.model.variables else base
    if node == "move":
        at = (int(base[-1]) - 1, *at)
    axes = len(written.model.variables[node].axes)
    # a probability stands for the first element of a vector of two
    return node, (at + (0,)) if len(at) < axes else at


def _sorted(drawn: Drawn, written: Written) -> Drawn:
    """Components in the order of one of their parameters, draw by draw; or the chains that keep an order."""
    if written.ordered:
        kept = np.logical_and.reduce(
            [(np.diff(drawn.chains[name], axis=-1) > 0).all(axis=(1, 2)) for name in written.ordered]
        )
        if not kept.any():
            return drawn
        return replace(drawn, chains={name: values[kept] for name, values in drawn.chains.items()})
    if written.sort_by is None:
        return drawn
    order = np.argsort(drawn.chains[written.sort_by], axis=-1)
    chains: dict[str, Any] = {}
    for name, values in drawn.chains.items():
        shaped = values.shape == order.shape
        chains[name] = np.take_along_axis(values, order, axis=-1) if shaped else values
    return replace(drawn, chains=chains)


def error_of(values: np.ndarray, wanted: Mapping[str, Any]) -> float:
    """The larger error of mean and standard deviation, in units of its tolerance."""
    mean, sd, mean_error, sd_error = errors(values)
    allowed = 0.05 * wanted["sd"] + 3 * wanted["mcse_mean"] + 3 * mean_error
    spread = 0.05 * wanted["sd"] + 3 * sd_error
    return max(abs(mean - wanted["mean"]) / allowed, abs(sd - wanted["sd"]) / spread)
