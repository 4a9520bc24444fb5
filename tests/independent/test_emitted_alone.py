"""The emitted file, run on a CSV file of its own, gives the evidence that learning gives: every model of one table."""

from __future__ import annotations

import csv
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import platewright as pw
from independent.test_against_hand import PROBLEMS
from independent.test_against_hand import SOLVED as BY_HAND
from independent.test_second_reading import MODELS, SOLVED, read
from platewright.run.execute import arguments


def every() -> dict[str, tuple[pw.Model, dict[str, Any]]]:
    found = {name: read(MODELS[name]) for name in SOLVED}
    for name in BY_HAND:
        problem = PROBLEMS[name]()
        found[name] = (problem.model, dict(problem.data))
    return {name: pair for name, pair in found.items() if is_one_table(*pair)}


def is_one_table(model: pw.Model, data: dict[str, Any]) -> bool:
    arrays = [np.asarray(value) for value in data.values()]
    if not all(array.ndim == 1 for array in arrays) or len({len(array) for array in arrays}) != 1:
        return False
    rows = {model.variables[name].axes[0].plate for name in data if name in model.variables}
    return len(rows) == 1 and len(arrays[0]) > 0


EVERY = every()


def written(data: dict[str, Any], path: Path) -> Path:
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(data)
        writer.writerows(zip(*data.values(), strict=True))
    return path


@pytest.mark.parametrize("name", EVERY)
def test_an_emitted_file_reads_its_own_table(name: str, tmp_path: Path) -> None:
    model, data = EVERY[name]
    fit = model.learn(data, by="exact")
    (tmp_path / "alone.py").write_text(fit.source(), encoding="utf-8")
    space = runpy.run_path(str(tmp_path / "alone.py"))
    table = written(data, tmp_path / "table.csv")
    with np.errstate(divide="ignore"):
        found = space["learn"](*space["read"](table))
    np.testing.assert_allclose(float(found["log_evidence"]), fit.log_evidence, rtol=1e-10, atol=1e-10)
    for key, value in space["means"](found, *space["read"](table)).items() if "means" in space else ():
        expected = fit[key.removesuffix(".mean")].mean
        np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-10, err_msg=key)
    from_file = model.learn(table, by="exact")
    np.testing.assert_allclose(from_file.log_evidence, fit.log_evidence, rtol=1e-10, atol=1e-10)


def test_a_sequence_in_pieces_is_refused_by_the_emitted_file_too(tmp_path: Path) -> None:
    model, data = EVERY["plates: autoregression_of_known_series"]
    (tmp_path / "alone.py").write_text(model.learn(data).source(), encoding="utf-8")
    space = runpy.run_path(str(tmp_path / "alone.py"))
    mixed = {**data, "series": np.asarray(data["series"])[::-1].repeat(1) % 2}
    with pytest.raises(ValueError, match="rows of a sequence are not together"):
        space["read"](written(mixed, tmp_path / "table.csv"))


def test_data_of_several_tables_are_refused_in_words(tmp_path: Path) -> None:
    problem = PROBLEMS["counts: a_coin_seen_from_both_sides"]()
    (tmp_path / "alone.py").write_text(problem.model.learn(dict(problem.data)).source(), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-I", str(tmp_path / "alone.py")], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1 and "do not fit one table" in done.stderr


@pytest.mark.parametrize("name", [name for name in BY_HAND if name.startswith(("plates", "gaussians"))])
def test_the_emitted_means_are_those_of_the_posterior(name: str) -> None:
    """Also where the data do not fit one table: matrices, crossed and nested plates, several outputs."""
    problem = PROBLEMS[name]()
    fit = problem.model.learn(dict(problem.data), by="exact")
    space: dict[str, Any] = {}
    exec(fit.source(), space)
    if "means" not in space:
        return
    data, size = arguments(fit.plan.program, fit.module, fit.columns, fit.sizes)
    found = space["means"](fit.computed, data, size)
    assert found
    for key, value in found.items():
        expected = fit[key.removesuffix(".mean")].mean
        np.testing.assert_allclose(value, expected, rtol=1e-9, atol=1e-9, err_msg=key)
