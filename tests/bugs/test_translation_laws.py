"""The translated model has the log joint of the text, at random values: our own snippets and every public case."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest

from bugs.direct import Direct
from bugs.evaluated import log_joint
from bugs.snippets import SNIPPETS, STARTS
from outside.corpus import CORPUS, cases, needs_corpus
from platewright.language.bugs.data import read_data
from platewright.language.bugs.reader import BugsModel, read_bugs

WITHOUT_THEIR_TABLE = {name for name in cases("bugs") if name in ("Jama", "StVeit")}
"""The public data of these lack the calibration curve; a curve of our own stands in."""


def check(text: str, data: dict[str, np.ndarray], seed: int, start: dict[str, np.ndarray]) -> None:
    read = read_bugs(text, data)
    direct = Direct(read.text, data, seed, start)
    expected = direct.log_joint()
    assert math.isfinite(expected)
    found = log_joint(read, direct.arrays())
    circle = in_a_circle(read)
    if circle:
        check_circle(read, data, direct, circle)
        return
    assert found == pytest.approx(expected, rel=1e-11, abs=1e-8), str(read.report)


def in_a_circle(read: BugsModel) -> set[tuple[str, tuple[int, ...]]]:
    """The cells whose lines lean on one another."""
    labels = {name for name, node in read.model.variables.items() if node.kind == "undirected"}
    found = set()
    for array in read.draft.blocks:
        for at, (label, _) in read._places(array).items():
            if label in labels:
                found.add((array, tuple(k + 1 for k in at)))
    return found


def check_circle(
    read: BugsModel, data: dict[str, np.ndarray], direct: Direct, circle: set[tuple[str, tuple[int, ...]]]
) -> None:
    """Each node of a circle has the distribution of its own line, given all others, times the lines outside."""
    arrays = direct.arrays()
    before, seen = direct.terms(), 0
    for array, at in sorted(circle):
        place = tuple(k - 1 for k in at)
        value = arrays[array][place]
        for change in (1e-3, -2e-3):
            moved = {name: np.array(values) for name, values in arrays.items()}
            moved[array][place] = value + change * (1 + abs(value))
            after = Direct(read.text, data, 0, moved).terms()
            own = [
                (one[2], two[2])
                for one, two in zip(before, after, strict=True)
                if (array, at) in {(one[0], cell) for cell in one[1]}
                or not {(one[0], cell) for cell in one[1]} & circle
            ]
            expected = sum(two - one for one, two in own)
            found = log_joint(read, moved) - log_joint(read, arrays)
            if expected == -math.inf:  # beyond a bound, of its own line or of a line outside
                assert found == -math.inf, (array, at)
                continue
            scale = 1 + max(abs(part) for pair in own for part in pair)
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-10 * scale), (array, at)
            seen += 1
    assert seen


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("name", SNIPPETS)
def test_a_snippet_keeps_its_log_joint(name: str, seed: int) -> None:
    text, data = SNIPPETS[name]
    check(text, read_data(data), seed, read_data(STARTS.get(name, {})))


@needs_corpus
@pytest.mark.parametrize("name", cases("bugs"))
def test_a_public_case_keeps_its_log_joint(name: str) -> None:
    folder = CORPUS / "bugs" / name
    data = read_data(folder / "data.json")
    if name in WITHOUT_THEIR_TABLE:
        at = np.arange(0.0, 12001.0, 1000.0)
        data |= {"calBP": at, "C14BP": 0.9 * at + 50 * np.sin(at / 700)}
    start: dict[str, np.ndarray] = {}
    if (folder / "inits.json").exists():
        inits = json.loads((folder / "inits.json").read_text())
        first = (inits[0] if inits else {}) if isinstance(inits, list) else inits
        start = read_data({key: value for key, value in first.items() if not key.startswith(".")})
    check(next(folder.glob("model*.bug")).read_text(), data, 1, start)


@needs_corpus
@pytest.mark.parametrize("name", cases("bugs"))
def test_a_text_data_file_reads_as_its_json_does(name: str) -> None:
    folder = CORPUS / "bugs" / name
    expected = read_data(folder / "data.json")
    found: dict[str, np.ndarray] = {}
    files = sorted(folder.glob("data*.txt"))
    for file in files:
        found |= read_data(file)
    for key, values in expected.items() if files else ():
        np.testing.assert_array_equal(found[key], values)
