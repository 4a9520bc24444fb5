"""The families of the gallery print what stands beside them."""

from __future__ import annotations

import contextlib
import io
import runpy
from pathlib import Path

import pytest

FOLDERS = sorted(path.parent for path in (Path(__file__).parents[2] / "examples" / "structure").glob("*/family.py"))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_it_prints_what_was_found(folder: Path) -> None:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        runpy.run_path(str(folder / "family.py"))
    assert printed.getvalue() == (folder / "found.txt").read_text(encoding="utf-8")
    assert len(FOLDERS) >= 3
