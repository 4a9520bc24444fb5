"""Stan's own compiler accepts every text that we write, where it is installed: on the path, or inside httpstan."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

import pytest

import platewright as pw
from example_models import examples
from platewright.errors import BugsError, ModelError, PlatewrightError
from platewright.language.stan.page import RESERVED
from stan.models import Known, outside_models, stan_models
from stan.test_write_stan import functions, scalars


def compiler() -> str | None:
    """Stan's compiler, or nothing."""
    if on_path := shutil.which("stanc"):
        return on_path
    package = find_spec("httpstan")
    for folder in package.submodule_search_locations or () if package is not None else ():
        if (program := Path(folder) / "stanc").is_file():
            return str(program)
    return None


STANC = compiler()
pytestmark = pytest.mark.skipif(STANC is None, reason="no stanc on the path and no httpstan (pip install httpstan)")


def complaint(text: str, folder: Path) -> str:
    """What Stan's compiler has against a text; empty when it accepts it."""
    program = folder / "program.stan"
    program.write_text(text)
    assert STANC is not None
    made = subprocess.run(
        [STANC, f"--o={folder / 'program.hpp'}", str(program)], capture_output=True, text=True, timeout=60, check=False
    )
    return "" if made.returncode == 0 else f"{made.stderr}\n{text}"


def check(make: Callable[[], Known], folder: Path) -> None:
    try:
        model, known = make()
    except BugsError as error:
        pytest.skip(f"the case is not read: {error}")
    try:
        text = pw.write_stan(model, known)
    except ModelError as error:
        assert "Stan" in str(error)
        return
    assert complaint(text, folder) == ""


@pytest.mark.parametrize("name", examples(rows=5))
def test_every_example_is_accepted(name: str, tmp_path: Path) -> None:
    model, data = examples(rows=5)[name][:2]
    known = [column for column in data if column in model.variables and model.variables[column].kind != "input"]
    assert complaint(pw.write_stan(model, known), tmp_path) == ""


@pytest.mark.parametrize("name", stan_models())
def test_every_model_is_accepted(name: str, tmp_path: Path) -> None:
    check(stan_models()[name], tmp_path)


@pytest.mark.parametrize("name", outside_models())
def test_every_outside_model_is_accepted(name: str, tmp_path: Path) -> None:
    check(outside_models()[name], tmp_path)


def test_every_family_and_function_is_accepted(tmp_path: Path) -> None:
    known = ["sum", "target", "model_", "r", "s"]
    assert complaint(pw.write_stan(scalars(), known), tmp_path) == ""
    assert complaint(pw.write_stan(functions(), ["y", "seen"]), tmp_path) == ""


def test_no_name_of_ours_is_in_the_way_of_a_word_of_stan(tmp_path: Path) -> None:
    m = pw.Model("words")
    row = m.plate("row")
    for word in (*sorted(RESERVED), "n_row", "i_row", "sum_1", "table_1", "chosen_1"):
        try:
            setattr(m, word, pw.Gamma(2.0, rate=1.0))
        except PlatewrightError:
            continue  # a word of Python, which is no name here either
    m.y = pw.Normal(pw.exp(m.square) + pw.array([1.0, 2.0], over=m.plate("k", 2))[0], sd=m.abs, plates=row)
    assert complaint(pw.write_stan(m, ["y"]), tmp_path) == ""


def test_a_wrong_text_is_noticed(tmp_path: Path) -> None:
    text = pw.write_stan(functions(), ["y", "seen"])
    assert "Semantic error" in complaint(text.replace("i_row", "i_rows", 1), tmp_path)
