"""The trees and decisions of the gallery print and draw what stands beside them."""

from __future__ import annotations

import contextlib
import io
import runpy
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
FOLDERS = sorted(path.parent for shelf in ("trees", "decisions") for path in (EXAMPLES / shelf).glob("*/example.py"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_it_prints_and_draws_what_was_found(folder: Path) -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        space = runpy.run_path(str(folder / "example.py"))
    assert printed.getvalue() == (folder / "found.txt").read_text(encoding="utf-8")
    assert space["pictures"]
    for name, text in space["pictures"].items():
        assert text == (folder / name).read_text(encoding="utf-8"), name
    assert len(FOLDERS) >= 4
