"""The gallery of hidden variables: every golden file regenerates as it stands, and every plan proves itself."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import pytest

from platewright.schemas.em import EMPlan

ROOT = Path(__file__).parents[2]
REGENERATE = runpy.run_path(str(ROOT / "examples" / "regenerate.py"))
GALLERY: list[Path] = REGENERATE["latent_gallery"]()
EACH = pytest.mark.parametrize("folder", GALLERY, ids=lambda folder: folder.name)


def test_the_gallery_is_a_gallery() -> None:
    assert len(GALLERY) >= 21
    schemas = {REGENERATE["plan_of"](folder).schema for folder in GALLERY}
    assert schemas == {"em", "gibbs", "collapsed-gibbs"}


@EACH
def test_golden_files_regenerate_as_they_stand(folder: Path) -> None:
    for name, text in REGENERATE["goldens"](folder).items():
        assert (folder / name).read_text(encoding="utf-8") == text, f"run examples/regenerate.py {folder.name}"


@EACH
def test_the_emitted_source_is_python(folder: Path) -> None:
    ast.parse((folder / "algorithm.txt").read_text(encoding="utf-8"))


@EACH
def test_every_plan_proves_itself(folder: Path) -> None:
    plan = REGENERATE["plan_of"](folder)
    found = plan.verify()
    assert found.laws
    assert found.passed, str(found)


def test_no_hidden_variable_is_taken_for_a_parameter() -> None:
    for folder in GALLERY:
        plan = REGENERATE["plan_of"](folder).plan
        if isinstance(plan, EMPlan):
            solved = {name for block in plan.blocks for c in block.conditionals for name in c.variables}
            rows = {axis.plate for axes in plan.latent.elements for axis in axes}
            on_rows = {name for name in solved if rows & {axis.plate for axis in plan.graph.nodes[name].axes}}
            assert not on_rows, f"{folder.name}: {on_rows}"
