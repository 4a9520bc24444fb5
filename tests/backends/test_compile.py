"""Compiling: the cache is private and atomic, and without a compiler NumPy runs the program after one warning."""

from __future__ import annotations

import os
import stat
import warnings
from pathlib import Path

import numpy as np
import pytest

import platewright as pw
from example_models import MAKERS, bound_program
from platewright.backends.c.compile import FLAGS, Compiler, find_compiler, library
from platewright.backends.c.kept import cache_folder
from platewright.errors import BackendError, NoCompilerWarning
from platewright.run.exact import native
from platewright.run.exact.native import choose_backend, native_statistics
from platewright.run.execute import loaded

needs_compiler = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")
SOURCE = "int answer(void)\n{\n    return 42;\n}\n"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PLATEWRIGHT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def no_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    native._warn_once.cache_clear()


def test_floating_point_of_the_process_is_left_alone() -> None:
    assert not {"-ffast-math", "-Ofast", "-ffinite-math-only", "-funsafe-math-optimizations"} & set(FLAGS)


def test_without_a_compiler_numpy_runs_after_one_warning(no_compiler: None) -> None:
    assert find_compiler() is None
    program, given = bound_program(*MAKERS["coin"](np.random.default_rng(0), 40))
    with pytest.warns(NoCompilerWarning, match="no C compiler"):
        found = native_statistics(program)(*given)
    assert found == loaded(program).statistics(*given)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        native_statistics(program)(*given)
    assert choose_backend(program, 10**7) == ("numpy", "no C compiler was found")


@pytest.mark.skipif(os.name != "posix", reason="needs a shell")
def test_a_compiler_that_fails_is_no_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "broken-cc"
    broken.write_text('#!/bin/sh\n[ "$1" = --version ] && echo broken 1.0 && exit 0\necho out of order >&2\nexit 1\n')
    broken.chmod(0o700)
    monkeypatch.setenv("CC", str(broken))
    native._warn_once.cache_clear()
    program, given = bound_program(*MAKERS["coin"](np.random.default_rng(0), 40))
    with pytest.warns(NoCompilerWarning, match="out of order"):
        assert native_statistics(program)(*given) == loaded(program).statistics(*given)


def mixture() -> tuple[pw.Model, dict[str, np.ndarray]]:
    m = pw.Model("mixture")
    n, k = m.plate("n"), m.plate("k", 2)
    m.p = pw.Dirichlet(2, over=k)
    m.mu = pw.Normal(0, sd=3, plates=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.y = pw.Normal(m.mu[m.z], sd=1, plates=n)
    return m, {"y": np.random.default_rng(0).normal([-3, 3], size=(50, 2)).ravel()}


def test_em_says_once_that_there_is_no_compiler(no_compiler: None) -> None:
    m, data = mixture()
    with pytest.warns(NoCompilerWarning, match="no C compiler.*NumPy runs EM"):
        fit = m.learn(data, goal="map", backend="c")
    assert "(numpy)" in fit.how
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        m.learn(data, goal="map", backend="c")


@needs_compiler
def test_few_rows_stay_with_numpy_and_many_go_to_c() -> None:
    program, _ = bound_program(*MAKERS["coin"](np.random.default_rng(0), 40))
    assert choose_backend(program, 10**6)[0] == "numpy"
    assert choose_backend(program, 10**7)[0] == "c"
    pools, _ = bound_program(*MAKERS["regression"](np.random.default_rng(0), 40))
    assert choose_backend(pools, 1000)[0] == "numpy"
    assert choose_backend(pools, 10**6)[0] == "c"


@needs_compiler
def test_a_source_is_compiled_once(own_cache: Path) -> None:
    compiler = find_compiler()
    assert compiler is not None
    first = library(SOURCE, compiler)
    made = first.path.stat().st_ino
    assert library(SOURCE, compiler) == first and first.path.stat().st_ino == made
    assert sorted(file.suffix for file in own_cache.iterdir()) == [".entry", first.path.suffix]
    library(SOURCE, compiler, (*FLAGS, "-g"))
    library(SOURCE, Compiler(compiler.command, "another version"))
    assert len(list(own_cache.glob("*.entry"))) == 3


@needs_compiler
def test_a_source_that_does_not_compile_leaves_nothing(own_cache: Path) -> None:
    compiler = find_compiler()
    assert compiler is not None
    with pytest.raises(BackendError, match="refused"):
        library("int answer(void) { return", compiler)
    assert list(own_cache.iterdir()) == []


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs owners")
def test_the_cache_is_for_its_owner_only(own_cache: Path) -> None:
    folder = cache_folder(os.environ)
    assert folder == own_cache
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs owners")
def test_a_folder_that_others_can_write_is_not_used(own_cache: Path) -> None:
    own_cache.mkdir()
    own_cache.chmod(0o777)
    assert cache_folder(os.environ) != own_cache


@needs_compiler
@pytest.mark.skipif(not hasattr(os, "getuid"), reason="needs owners")
def test_a_library_that_others_can_write_is_made_again(own_cache: Path) -> None:
    compiler = find_compiler()
    assert compiler is not None
    made = library(SOURCE, compiler).path
    made.chmod(0o666)
    assert not library(SOURCE, compiler).path.stat().st_mode & 0o022
