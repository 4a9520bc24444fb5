"""Texts in the manner of textbooks: read with plates, the log joint of the text, and true on simulations."""

from __future__ import annotations

import zlib
from collections.abc import Callable

import numpy as np
import pytest

import platewright as pw
from bugs.test_translation_laws import check
from bugs.textbook import TEXTBOOK
from platewright.language.bugs.data import read_data
from platewright.run.samplers.monitored import drawn_of

UNROLLED = {"ordered answers", "ring recoveries"}
"""Cut points and cells of recoveries lean each on the one before, to the left of it."""
WITHOUT_LAW = {"lines of many groups", "ordered answers", "repeated counts", "counts along a gradient"}
"""Random values of their nodes have no density: indefinite precisions, falling cut points, too high counts."""


def last_site_seen(y: np.ndarray) -> np.ndarray:
    """States of animals that stay at the site where they were last seen; 3 in `y` is not seen."""
    states = np.where(y == 3, np.nan, y)
    for t in range(1, y.shape[1]):
        states[:, t] = np.where(np.isnan(states[:, t]), states[:, t - 1], states[:, t])
    return states


STARTS: dict[str, Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]]] = {
    "several sites": lambda data: {"z": last_site_seen(data["y"])},
    "censored lifetimes": lambda data: {"t": np.where(np.isnan(data["t"]), data["end"] + 0.4, np.nan)},
}
"""Values that the observations allow, where values drawn forward from the parameters are often impossible."""


def simulated(name: str) -> tuple[str, dict[str, object], dict[str, float]]:
    text, simulate = TEXTBOOK[name]
    return text, *simulate(np.random.default_rng(zlib.crc32(name.encode())))


@pytest.mark.parametrize("name", TEXTBOOK)
def test_a_textbook_text_is_read_with_plates(name: str) -> None:
    text, data, truth = simulated(name)
    read = pw.read_bugs(text, data).read_from
    assert read.report.is_plated or name in UNROLLED, read.report.unrolled
    assert all(read.cell(node) for node in truth)


@pytest.mark.parametrize("name", sorted(set(TEXTBOOK) - WITHOUT_LAW))
def test_a_textbook_text_has_its_log_joint(name: str) -> None:
    text, data, _ = simulated(name)
    known = read_data(data)
    check(text, known, 1, STARTS.get(name, lambda _: {})(known))


@pytest.mark.slow
@pytest.mark.parametrize("name", TEXTBOOK)
def test_what_was_simulated_is_found_again(name: str) -> None:
    text, data, truth = simulated(name)
    model = pw.read_bugs(text, data)
    known = model.read_from.data()
    random = [one for one, node in model.variables.items() if node.kind == "random" and one in known]
    options = {} if model.derive(random).plan.schema == "exact" else {"chains": 2, "draws": 500, "warm_up": 300}
    drawn = drawn_of(model.learn(known, seed=1, **options))
    for node, values in drawn.cells({node: model.read_from.cell(node) for node in truth}).items():
        true = truth[node]
        if (values > 0).all():
            values, true = np.log(values), np.log(true)  # posteriors of scales and rates are long on the right
        assert abs(values.mean() - true) < 4 * values.std(), (node, values.mean(), values.std())
