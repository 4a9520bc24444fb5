"""Rewrite the golden files of the gallery: steps, program and emitted algorithm of every example, and their list.

    python examples/regenerate.py            all of them
    python examples/regenerate.py coin dice  some of them

A change of these files is a change of what users see: read the difference before committing it.
"""

from __future__ import annotations

import ast
import contextlib
import io
import runpy
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
INTRODUCTION = """\
# Gallery

Each folder holds a model (`model.py`) and what Platewright makes of it: the derivation (`steps.txt`), of a closed form
the program in no language yet (`program.txt`), and the algorithm of the emitted source (`algorithm.txt`; the program
that stands alone, with its tools and the reading of a table, is what `platewright emit` writes). Tests compare these
files with what is derived now; `examples/regenerate.py` writes them anew, and this page.

```sh
platewright learn examples/coin/model.py examples/coin/data.csv
platewright report examples/crossed_effects/model.py examples/crossed_effects/data.csv -o crossed.html
platewright show steps examples/latent/topics/model.py
```
"""


def gallery() -> list[Path]:
    """The folders of all examples with a closed form, in the order of the alphabet."""
    return sorted(path.parent for path in HERE.glob("*/model.py"))


def latent_gallery() -> list[Path]:
    """The folders of all examples with hidden variables."""
    return sorted(path.parent for path in HERE.glob("latent/*/model.py"))


def structure_gallery() -> list[Path]:
    """The folders of all examples of families of models."""
    return sorted(path.parent for path in HERE.glob("structure/*/family.py"))


def drawn_gallery(shelf: str) -> list[Path]:
    """The folders of all examples of trees, or of decisions: what they print and draw stands beside them."""
    return sorted(path.parent for path in HERE.glob(f"{shelf}/*/example.py"))


def found_by(folder: Path, file: str = "family.py") -> dict[str, str]:
    """What such an example prints and draws, by the file that holds it."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        space = runpy.run_path(str(folder / file))
    return {"found.txt": printed.getvalue(), **space.get("pictures", {})}


def plan_of(folder: Path) -> Any:
    """The plan of an example, derived from its `m` and `known`, and its `goal` and `by` where it has them."""
    space = runpy.run_path(str(folder / "model.py"))
    by = space.get("by", "auto" if "goal" in space else "exact")
    return space["m"].derive(known=space["known"], goal=space.get("goal", "posterior"), by=by)


def goldens(folder: Path) -> dict[str, str]:
    """The text of every golden file of an example."""
    plan = plan_of(folder)
    found = {
        "steps.txt": plan.explain().rstrip() + "\n",
        "algorithm.txt": plan.source("numpy", brief=True).rstrip() + "\n",
    }
    if plan.schema == "exact":
        found["program.txt"] = str(plan.program).rstrip() + "\n"
    return found


def index() -> str:
    """The page that lists all examples, each with the first sentence of its model."""
    parts = [INTRODUCTION]
    for heading, folders in (("In closed form", gallery()), ("With hidden variables", latent_gallery())):
        rows = [
            f"| [{folder.name}]({folder.relative_to(HERE).as_posix()}/model.py) | {told(folder)} |"
            for folder in folders
        ]
        parts.append("\n".join([f"## {heading}", "", "| model | what it is |", "|---|---|", *rows, ""]))
    rows = [
        f"| [{folder.name}]({folder.relative_to(HERE).as_posix()}/family.py) | {told(folder, 'family.py')} |"
        for folder in structure_gallery()
    ]
    heading = "## Families of models\n\nWhat each prints is in `found.txt`.\n"
    parts.append("\n".join([heading, "| family | what it is |", "|---|---|", *rows, ""]))
    for shelf, heading in (("trees", "## Trees"), ("decisions", "## Decisions")):
        rows = [
            f"| [{folder.name}]({folder.relative_to(HERE).as_posix()}/example.py) | {told(folder, 'example.py')} |"
            for folder in drawn_gallery(shelf)
        ]
        heading = f"{heading}\n\nWhat each prints is in `found.txt`, and its pictures lie beside it.\n"
        parts.append("\n".join([heading, "| example | what it is |", "|---|---|", *rows, ""]))
    return "\n".join(parts)


def told(folder: Path, file: str = "model.py") -> str:
    """The first line of what a model says of itself, without its last full stop."""
    words = ast.get_docstring(ast.parse((folder / file).read_text(encoding="utf-8"))) or ""
    return words.splitlines()[0].rstrip(".")


def main(names: list[str]) -> None:
    """Write them."""
    for folder in (*gallery(), *latent_gallery()):
        if names and folder.name not in names:
            continue
        for name, text in goldens(folder).items():
            (folder / name).write_text(text, encoding="utf-8")
        print(folder.name)
    printed = [(folder, "family.py") for folder in structure_gallery()]
    printed += [(folder, "example.py") for shelf in ("trees", "decisions") for folder in drawn_gallery(shelf)]
    for folder, file in printed:
        if not names or folder.name in names:
            for name, text in found_by(folder, file).items():
                (folder / name).write_text(text, encoding="utf-8")
            print(folder.name)
    (HERE / "README.md").write_text(index(), encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
