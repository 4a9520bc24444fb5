"""The emitted C: it compiles alone without a warning, says why each block is there, and user text stays in comments."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import numpy as np
import pytest

from example_models import MAKERS, bound_program
from platewright.algebra.expression import Constant, Index, Indicator, Reference
from platewright.backends.c.compile import find_compiler
from platewright.backends.c.program import c_program, c_source
from platewright.program.program import Program
from platewright.program.statements import Cell, Feature, Pool, Statistic
from platewright.run.exact.native import native_statistics
from platewright.run.execute import arguments, loaded

HOSTILE = [
    "if",
    "int",
    "x; system()",
    '*/ system("true"); /*',
    "*\\ system(1);",
    "??/",
    "line\nend",
    "linux",
    "é",
    "LANES",
    "row",
]

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")


def compiled(source: str, folder: Path, *flags: str) -> subprocess.CompletedProcess[str]:
    compiler = find_compiler()
    assert compiler is not None
    file = folder / "alone.c"
    file.write_text(source, encoding="utf-8")
    command = [*compiler.command, "-O1", "-std=c99", "-Wall", "-Wextra", *flags, "-shared", "-fPIC"]
    return subprocess.run([*command, str(file), "-o", str(folder / "alone.so"), "-lm"], capture_output=True, text=True)


def without_comments(source: str) -> str:
    return re.sub(r"/\*.*?\*/", "", source, flags=re.S)


@needs_compiler
@pytest.mark.parametrize("name", MAKERS)
def test_every_example_compiles_alone_without_a_warning(name: str, tmp_path: Path) -> None:
    program, _ = bound_program(*MAKERS[name](np.random.default_rng(0), 20))
    done = compiled(c_source(program), tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@needs_compiler
def test_the_scalar_fallback_compiles_too(tmp_path: Path) -> None:
    program, _ = bound_program(*MAKERS["regression"](np.random.default_rng(0), 20))
    done = compiled(c_source(program), tmp_path, "-DPLATEWRIGHT_PLAIN")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("name", MAKERS)
def test_two_prints_are_the_same(name: str) -> None:
    program, _ = bound_program(*MAKERS[name](np.random.default_rng(0), 20))
    assert c_source(program) == c_source(program)


def test_each_block_says_why_it_is_there() -> None:
    program, _ = bound_program(*MAKERS["groups"](np.random.default_rng(0), 20))
    source = c_source(program)
    for statement in program.passes:
        assert statement.because and f"({statement.because})" in source


def test_all_statistics_of_one_plate_share_one_loop() -> None:
    program, _ = bound_program(*MAKERS["autoregression"](np.random.default_rng(0), 20))
    assert len(program.passes) > 3
    assert c_source(program).count("at += BLOCK") == 1
    two, _ = bound_program(*MAKERS["two_row_plates"](np.random.default_rng(0), 20))
    assert [one.function for one in c_program(two).passes] == ["pass_n", "pass_s"]


@needs_compiler
@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_stay_in_comments(name: str, tmp_path: Path) -> None:
    n, k = Index(name, name), Index(name + "!", name + "!")
    x, z = Reference(name, (n,)), Reference(name + "?", (n,))
    passes = (
        Statistic(name, (k,), (n,), Indicator(z, k), because=name),
        Pool(name + "~", (n,), (Cell(k, z),), (Feature(x),), Constant(1.0), because=name),
    )
    program = Program(name, {name: (n,), name + "?": (n,)}, passes, (), codes={name + "?": name + "!"})
    source = c_source(program)
    assert not re.search(r"\bsystem\b", without_comments(source))
    done = compiled(source, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")


@needs_compiler
def test_a_keyword_for_a_name_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLATEWRIGHT_CACHE", str(tmp_path))
    n = Index("if", "if")
    program = Program("int", {"int": (n,)}, (Statistic("double", (), (n,), Reference("int", (n,))),), ())
    given = arguments(program, loaded(program), {"int": np.arange(5)}, {"if": 5})
    assert list(native_statistics(program)(*given).values()) == [10]


def test_rows_of_like_names_have_functions_of_their_own() -> None:
    a, b, both = Index("a", "a"), Index("b", "b"), Index("a_b", "a_b")
    passes = (
        Statistic("s", (), (a, b), Reference("x", (a, b))),
        Statistic("t", (), (both,), Reference("y", (both,))),
    )
    found = c_program(Program("like", {"x": (a, b), "y": (both,)}, passes, ()))
    assert len({one.function for one in found.passes}) == 2
