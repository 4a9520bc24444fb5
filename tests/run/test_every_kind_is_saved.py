"""A saved result of every kind comes back with the same numbers; a file that was changed is refused."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import platewright as pw
from platewright.errors import FormatError
from platewright.run.results.array_file import write_array
from result_kinds import KINDS, WITH_POSTERIOR, result, same


@pytest.mark.parametrize("kind", KINDS)
def test_a_saved_result_loads_to_the_same_numbers(kind: str, tmp_path: Path) -> None:
    fit = result(kind)
    fit.save(tmp_path / "a.fit")
    again = pw.load(tmp_path / "a.fit")
    if kind == "exact with inputs":  # rows that nobody needs any more are not saved, nor functions of them
        assert [*again, "mean"] == list(fit)
        assert all(np.array_equal(fit[name].mean, again[name].mean) for name in again)
    else:
        assert same(fit, again)
    assert (again.seed, again.backend, again.labels, again.seconds) == (
        fit.seed,
        fit.backend,
        fit.labels,
        dict(fit.seconds or {}),
    )
    if kind not in ("mode", "collapsed-gibbs"):  # which have no evidence
        assert again.evidence == fit.evidence


@pytest.mark.parametrize("kind", WITH_POSTERIOR)
def test_what_was_loaded_predicts_the_same_and_is_saved_to_the_same_bytes(kind: str, tmp_path: Path) -> None:
    fit = result(kind)
    fit.save(tmp_path / "a.fit")
    again = pw.load(tmp_path / "a.fit")
    again.save(tmp_path / "b.fit")
    with zipfile.ZipFile(tmp_path / "a.fit") as one, zipfile.ZipFile(tmp_path / "b.fit") as two:
        assert {name: one.read(name) for name in one.namelist()} == {name: two.read(name) for name in two.namelist()}
    new = {"x": [1.0]} if kind == "exact with inputs" else 2
    if kind in ("chib", "laplace"):
        return  # the evidence predicts nothing
    first, second = fit.predict(new, count=20, seed=1), again.predict(new, count=20, seed=1)
    assert np.array_equal(first.draws["y"], second.draws["y"])


@pytest.fixture
def draws(tmp_path: Path) -> Path:
    result("collapsed-gibbs").save(tmp_path / "a.fit")
    return tmp_path / "a.fit"


def changed(path: Path, array: tuple[str, np.ndarray] | None = None, **entries: object) -> Path:
    """The file with keys of its JSON, or one array, replaced."""
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    files["fit.json"] = json.dumps({**json.loads(files["fit.json"]), **entries}).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            if array is None or name != array[0]:
                archive.writestr(name, content)
        if array is not None:
            write_array(archive, *array)
    return path


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"version": 2}, "version 2"),
        ({"plan": "something else"}, "not the one that was saved"),
        ({"schema": "exact"}, "no such plan|not the one"),
        ({"goal": "map"}, "no goal"),
        ({"surprise": 1}, "surprise"),
        ({"sizes": {}}, "shape"),
        ({"arrays": {"chains": ["nobody"], "columns": []}}, "nobody"),
        ({"arrays": {"chains": []}}, "lacks"),
        ({"detail": 3}, "."),
    ],
)
def test_a_file_of_draws_that_was_changed_is_refused(draws: Path, entries: dict[str, object], message: str) -> None:
    with pytest.raises(FormatError, match=message):
        pw.load(changed(draws, **entries))


@pytest.mark.parametrize("shape", [(2, 150), (2, 150, 3), (0, 150, 2), (150, 2)])
def test_draws_of_another_shape_are_refused(draws: Path, shape: tuple[int, ...]) -> None:
    with pytest.raises(FormatError):
        pw.load(changed(draws, ("chains/0.npy", np.zeros(shape))))


def test_draws_for_a_method_that_makes_none_are_refused(tmp_path: Path) -> None:
    result("enumeration").save(tmp_path / "a.fit")
    with zipfile.ZipFile(tmp_path / "a.fit") as archive:
        written = json.loads(archive.read("fit.json"))
    groups = {**written["arrays"], "chains": ["share"]}
    path = changed(tmp_path / "a.fit", ("chains/0.npy", np.zeros((2, 5, 2))), arrays=groups)
    with pytest.raises(FormatError, match="does not make"):
        pw.load(path)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("u", lambda found: found + 1e6, "another mean"),
        ("u", lambda found: found[:-1], "shape"),
        ("u", lambda found: np.where(found == found[0], np.nan, found), "nan"),
        ("share", lambda found: found * 2, "adds up to 2"),
        ("share", lambda found: -found, "holds"),
        ("cell_mean", lambda found: found + 1e6, "another mean"),
        ("roots", lambda found: 0 * found, "Singular"),
        ("roots", lambda found: found[:, :0], "shape"),
    ],
)
@pytest.mark.parametrize("kind", ["points", "points of programs"])
def test_points_that_were_changed_are_refused(
    kind: str, name: str, change: Callable[[np.ndarray], np.ndarray], message: str, tmp_path: Path
) -> None:
    result(kind).save(tmp_path / "a.fit")
    with zipfile.ZipFile(tmp_path / "a.fit") as archive:
        number = json.loads(archive.read("fit.json"))["arrays"]["points"].index(name)
    found = np.asarray(result(kind).found[name], dtype=float)  # type: ignore[attr-defined]
    with pytest.raises(FormatError, match=message):
        pw.load(changed(tmp_path / "a.fit", (f"points/{number}.npy", change(found))))


@pytest.mark.parametrize("kind", ["exact", "em", "collapsed-gibbs"])
def test_a_file_of_before_the_choice_of_a_mode_is_read(kind: str, tmp_path: Path) -> None:
    result(kind).save(tmp_path / "a.fit")
    with zipfile.ZipFile(tmp_path / "a.fit") as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    written = json.loads(files["fit.json"])
    del written["integrate"]
    with zipfile.ZipFile(tmp_path / "a.fit", "w") as archive:
        for name, content in {**files, "fit.json": json.dumps(written).encode()}.items():
            archive.writestr(name, content)
    assert same(pw.load(tmp_path / "a.fit"), result(kind))
