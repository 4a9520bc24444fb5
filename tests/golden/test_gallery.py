"""The gallery under `examples/`: every golden file regenerates as it stands, and every example is verified.

After a change of emitted text: `python examples/regenerate.py`, then read the difference.
"""

from __future__ import annotations

import ast
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from laws.identity import check_identity

ROOT = Path(__file__).parents[2]
REGENERATE = runpy.run_path(str(ROOT / "examples" / "regenerate.py"))
GALLERY: list[Path] = REGENERATE["gallery"]()
EACH = pytest.mark.parametrize("folder", GALLERY, ids=lambda folder: folder.name)
LABELLED = ("ab_test", "analysis_of_variance")
"""Their plates have labels in an order of their own; an emitted file counts labels in sorted order."""
ALONE = [folder.name for folder in GALLERY if folder.name not in LABELLED]


def table(folder: Path) -> Any:
    """The data of an example, in memory."""
    pandas = pytest.importorskip("pandas", reason="holds the rows in memory; a path would be read in batches")
    return pandas.read_csv(folder / "data.csv")


def learned(folder: Path) -> Any:
    model = runpy.run_path(str(folder / "model.py"))["m"]
    return model.learn(table(folder), by="exact", backend="numpy")


def test_the_gallery_is_a_gallery() -> None:
    assert len(GALLERY) >= 25
    for folder in GALLERY:
        assert ast.get_docstring(ast.parse((folder / "model.py").read_text())), f"{folder.name} tells no story"


@EACH
def test_goldens_regenerate_as_they_stand(folder: Path) -> None:
    for name, text in REGENERATE["goldens"](folder).items():
        assert (folder / name).read_text(encoding="utf-8") == text, f"run: python examples/regenerate.py {folder.name}"


@EACH
def test_the_posterior_is_right_at_any_point(folder: Path) -> None:
    check_identity(learned(folder))


@EACH
def test_the_model_says_what_is_known(folder: Path) -> None:
    space = runpy.run_path(str(folder / "model.py"))
    header = (folder / "data.csv").read_text().splitlines()[0]
    assert all(name in header for name in space["known"])


@pytest.mark.parametrize("name", ALONE)
def test_the_emitted_file_runs_alone(name: str, tmp_path: Path) -> None:
    """`python learned.py data.csv` needs no Platewright and gives the same numbers."""
    folder = ROOT / "examples" / name
    alone = tmp_path / "learned.py"
    alone.write_text(REGENERATE["plan_of"](folder).source(), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-I", str(alone), str(folder / "data.csv")], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    printed = {}
    for line in done.stdout.splitlines():
        key, _, value = line.partition(" = ")
        printed[key] = ast.literal_eval(value)
    fit = learned(folder)
    assert printed
    for key, value in printed.items():
        expected = fit[key.removesuffix(".mean")].mean if key.endswith(".mean") else fit.computed[key]
        np.testing.assert_allclose(value, np.asarray(expected), rtol=1e-10, atol=1e-12)


def test_the_list_of_examples_has_them_all() -> None:
    written = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    assert written == REGENERATE["index"](), "run: python examples/regenerate.py"
