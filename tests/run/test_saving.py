"""A saved fit comes back as it was; anything else is refused in words."""

from __future__ import annotations

import datetime
import json
import pickle
import zipfile
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from platewright.errors import FormatError
from platewright.run.results.saving import load
from platewright.run.results.writing import save
from shown_models import MAKERS, NAMES, coin, crossed, made, regression


@pytest.mark.parametrize("maker", MAKERS, ids=NAMES)
def test_a_loaded_fit_gives_the_same_answers(maker: object, tmp_path: Path) -> None:
    model, data = made(maker)  # type: ignore[arg-type]
    fit = model.learn(data)
    save(fit, tmp_path / "a.fit")
    again = load(tmp_path / "a.fit")
    assert again.log_evidence == fit.log_evidence
    assert (again.how, again.explain(), again.source()) == (fit.how, fit.explain(), fit.source())
    assert again.labels == fit.labels
    first, second = fit.draws(5, seed=3), again.draws(5, seed=3)
    assert first.keys() == second.keys()
    for name in first:
        assert np.array_equal(first[name], second[name])
    for name in fit.posterior.unknown:
        assert np.array_equal(fit[name].mean, again[name].mean)
        assert str(fit.summary()) == str(again.summary())


def test_saving_what_was_loaded_writes_the_same_bytes(tmp_path: Path) -> None:
    model, data = made(regression)
    save(model.learn(data), tmp_path / "a.fit")
    save(load(tmp_path / "a.fit"), tmp_path / "b.fit")
    with zipfile.ZipFile(tmp_path / "a.fit") as one, zipfile.ZipFile(tmp_path / "b.fit") as two:
        assert {n: one.read(n) for n in one.namelist()} == {n: two.read(n) for n in two.namelist()}


def test_rows_that_nobody_needs_are_not_saved(tmp_path: Path) -> None:
    model, _ = made(coin)
    save(model.learn({"heads": np.ones(100_000, dtype=int)}), tmp_path / "a.fit")
    assert (tmp_path / "a.fit").stat().st_size < 5_000
    assert load(tmp_path / "a.fit").update({"heads": [1]})["theta"].mean == pytest.approx(100_002.5 / 100_004)


def test_a_fit_that_needs_its_rows_can_still_be_changed(tmp_path: Path) -> None:
    model, data = made(regression)
    fit = model.learn(data)
    save(fit, tmp_path / "a.fit")
    again = load(tmp_path / "a.fit")
    assert again.update(data).log_evidence == fit.update(data).log_evidence
    assert again.forget([0, 1]).log_evidence == fit.forget([0, 1]).log_evidence
    assert again.log_joint == fit.log_joint


def test_labels_that_are_dates_and_numbers_come_back(tmp_path: Path) -> None:
    from platewright.language.serial import label_from_json, label_json

    for label in ("a", 3, 2.5, True, datetime.date(2020, 1, 2), datetime.datetime(2020, 1, 2, 3, 4), np.int64(4)):
        back = label_from_json(json.loads(json.dumps(label_json(label))))
        assert back == label and not isinstance(back, np.generic)
    with pytest.raises(FormatError, match="complex"):
        label_json(1j)


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    model, data = made(coin)
    save(model.learn(data), tmp_path / "a.fit")
    return tmp_path / "a.fit"


def changed(path: Path, **entries: object) -> Path:
    """The file with keys of its JSON replaced."""
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    files["fit.json"] = json.dumps({**json.loads(files["fit.json"]), **entries}).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"format": "something else"}, "another kind"),
        ({"version": 2}, "version 2"),
        ({"program": "program coin"}, "not the one that was saved"),
        ({"goal": "world peace"}, "no goal"),
        ({"sizes": []}, "no object"),
        ({"statistics": [["sum_heads", None], ["more", None], ["and more", None]]}, "lacks"),
        ({"columns": ["heads"]}, "lacks"),
        ({"surprise": 1}, "surprise"),
        ({"statistics": [["sum_heads", None], ["sum_tails", None]]}, "statistics sum_heads, sum_tails"),
        ({"sizes": {}}, "the size of plate `toss` is missing"),
        ({"sizes": {"toss": "many"}}, "no size"),
        ({"sizes": {"toss": 2**60}}, "at most"),
        ({"labels": {"toss": ["a", "b"]}}, "2 labels"),
        ({"seconds": {"run": [1]}}, "no number"),
    ],
)
def test_a_file_that_was_changed_is_refused(saved: Path, entries: dict[str, object], message: str) -> None:
    with pytest.raises(FormatError, match=message):
        load(changed(saved, **entries))


def test_a_file_of_another_kind_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FormatError, match="no such file"):
        load(tmp_path / "nothing.fit")
    (tmp_path / "text.fit").write_text("hello")
    with pytest.raises(FormatError, match="no saved fit"):
        load(tmp_path / "text.fit")
    with zipfile.ZipFile(tmp_path / "other.fit", "w") as archive:
        archive.writestr("hello.txt", "hello")
    with pytest.raises(FormatError, match=r"without fit\.json"):
        load(tmp_path / "other.fit")


def test_every_flipped_byte_is_noticed_or_harmless(saved: Path) -> None:
    whole = saved.read_bytes()
    wanted = load(saved).log_evidence
    for place in range(0, len(whole), 7):
        damaged = bytearray(whole)
        damaged[place] ^= 0xFF
        saved.write_bytes(damaged)
        with suppress(FormatError):
            assert load(saved).log_evidence == wanted


def test_an_array_that_claims_to_be_huge_is_refused_before_memory_is_taken(saved: Path) -> None:
    with zipfile.ZipFile(saved) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    name = "statistics/0.npy"
    files[name] = files[name].replace(b"'shape': ()", b"'shape': (9999999999999,)")
    with zipfile.ZipFile(saved, "w") as archive:
        for entry, content in files.items():
            archive.writestr(entry, content)
    with pytest.raises(FormatError, match="damaged"):
        load(saved)


def test_arrays_of_objects_are_refused(tmp_path: Path) -> None:
    from platewright.run.results.array_file import write_array

    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive, pytest.raises(FormatError, match="object"):
        write_array(archive, "x.npy", np.array([{}], dtype=object))


def test_the_order_of_elimination_comes_back_with_the_sizes_it_was_chosen_for(tmp_path: Path) -> None:
    """Here it turns on the sizes of the data, so a loaded and a pickled fit must know them."""
    model, data = made(crossed)
    fit = model.learn(data)
    assert fit.derivation.graph.about
    save(pickle.loads(pickle.dumps(fit)), tmp_path / "a.fit")
    assert load(tmp_path / "a.fit").derivation.graph.about == fit.derivation.graph.about
    for about in ({"nobody": 4}, {"user": -1}, [4]):
        with pytest.raises(FormatError):
            load(changed(tmp_path / "a.fit", about=about))
