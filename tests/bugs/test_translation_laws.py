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
from platewright.language.bugs.reader import read_bugs

WITHOUT_THEIR_TABLE = {name for name in cases("bugs") if name in ("Jama", "StVeit")}
"""The public data of these lack the calibration curve; a curve of our own stands in."""


def check(text: str, data: dict[str, np.ndarray], seed: int, start: dict[str, np.ndarray]) -> None:
    read = read_bugs(text, data)
    direct = Direct(read.text, data, seed, start)
    expected = direct.log_joint()
    assert math.isfinite(expected)
    found = log_joint(read, direct.arrays())
    assert found == pytest.approx(expected, rel=1e-11, abs=1e-8), str(read.report)


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
