"""Where a state is stored: the place is tried first, a place that goes bad is told once, and names are checked."""

from __future__ import annotations

import json
import threading
import time
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest

from platewright.errors import (
    CheckpointWarning,
    FormatError,
    ShapeError,
    SizeError,
    SourceError,
    shown_name,
    shown_text,
)
from platewright.run import checkpoint
from platewright.run.checkpoint import Checkpoint, State, checkpoint_at, run_name
from platewright.run.checks import room
from platewright.run.door import Expected, admitted, all_admitted, check_generator
from platewright.run.heard import heard, in_threads
from run.test_long_samplers import COUNTS, learn, mixture

NAME = run_name("model", {"x": np.arange(3.0)}, {"seed": 1})
STATE = State({"count": 2}, {"a": np.arange(6.0).reshape(2, 3), "b": np.array(7)})


def test_a_state_comes_back_as_it_was(tmp_path: Path) -> None:
    store = checkpoint_at(tmp_path / "state", NAME)
    assert store.load() is None
    store.save(STATE, force=True)
    found = Checkpoint(tmp_path / "state", NAME).load()
    assert found is not None and found.facts["count"] == 2
    assert all(np.array_equal(found.arrays[name], STATE.arrays[name]) for name in STATE.arrays)
    assert [path.name for path in tmp_path.iterdir()] == ["state"]


@pytest.mark.parametrize(
    ("other", "word"),
    [
        (run_name("another", {"x": np.arange(3.0)}, {"seed": 1}), "the model differ"),
        (run_name("model", {"x": np.arange(4.0)}, {"seed": 1}), "the data differ"),
        (run_name("model", {"x": np.arange(3.0)}, {"seed": 2}), "the options differ"),
    ],
)
def test_a_state_of_another_run_is_refused_with_what_differs(
    tmp_path: Path, other: checkpoint.RunName, word: str
) -> None:
    checkpoint_at(tmp_path / "state", NAME).save(STATE, force=True)
    with pytest.raises(SourceError, match=word):
        Checkpoint(tmp_path / "state", other).load()


def test_a_state_of_another_version_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint_at(tmp_path / "state", NAME).save(STATE, force=True)
    monkeypatch.setattr(checkpoint, "program_hash", lambda: "newer")
    with pytest.raises(SourceError, match="version of Platewright differ"):
        Checkpoint(tmp_path / "state", NAME).load()


def test_a_place_that_cannot_be_written_is_refused_before_the_run(tmp_path: Path) -> None:
    for path, word in ((tmp_path / "no" / "state", "no folder"), (tmp_path, "folder")):
        with pytest.raises(SourceError, match=word):
            learn("gibbs", checkpoint=path)


def test_a_place_that_goes_bad_is_told_once_and_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = tmp_path / "place"
    place.mkdir()
    store = checkpoint_at(place / "state", NAME)
    place.rmdir()
    with pytest.warns(CheckpointWarning, match="goes on in memory"):
        store.save(STATE, force=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        store.save(STATE, force=True)
        place.mkdir()
        store.save(STATE, force=True)
    assert Checkpoint(place / "state", NAME).load() is not None


def test_a_write_that_is_broken_off_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stops(*given: object) -> None:
        raise KeyboardInterrupt

    store = checkpoint_at(tmp_path / "state", NAME)
    monkeypatch.setattr(checkpoint, "write_array", stops)
    with pytest.raises(KeyboardInterrupt):
        store.save(STATE, force=True)
    assert not list(tmp_path.iterdir())


def test_a_state_cut_short_never_reaches_c(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The state of one chain, cut to a single number: C would read beyond its end."""
    monkeypatch.setattr(checkpoint, "SECONDS", 0.0)
    path = tmp_path / "state"
    learn("gibbs in C", checkpoint=path)
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    names = json.loads(files[checkpoint.FACTS])["arrays"]
    place = f"{names.index('0:state:z')}.npy"
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            if name != place:
                archive.writestr(name, content)
        with archive.open(place, "w") as stream:
            np.save(stream, np.zeros(1, dtype=np.int64))
    with pytest.raises(SourceError, match=r"`z` has the shape \(1,\)"):
        learn("gibbs in C", checkpoint=path)


@pytest.mark.parametrize(
    ("found", "wanted", "word"),
    [
        (np.zeros(3), Expected((2,)), "shape"),
        (np.zeros((2, 1)), Expected((2,)), "shape"),
        (np.array(["a", "b"]), Expected((2,)), "type"),
        (np.array([1.0, np.nan]), Expected((2,)), "nan at element 1"),
        (np.array([np.inf, 1.0]), Expected((2,)), "inf"),
        (np.array([0, 5]), Expected((2,), "whole", 0, 4), "5 at element 1"),
        (np.array([0.0, 0.5]), Expected((2,), "whole"), "0.5"),
        (np.zeros(4, dtype=np.int64), Expected((4,), "words"), "type"),
    ],
)
def test_the_door_says_what_is_wrong_and_what_was_expected(found: np.ndarray, wanted: Expected, word: str) -> None:
    with pytest.raises(FormatError, match=word) as caught:
        admitted("x", found, wanted)
    assert caught.value.expected == str(wanted)


def test_the_door_lets_what_was_expected_through() -> None:
    assert admitted("x", np.array([1.0, 2.0]), Expected((None,), "whole", 0, 2)).dtype == np.int64
    assert admitted("x", np.array([np.inf]), Expected((1,), finite=False))[0] == np.inf
    with pytest.raises(FormatError, match="missing"):
        all_admitted({}, {"x": Expected(())})
    with pytest.raises(FormatError, match="not expected"):
        all_admitted({"x": np.array(1.0)}, {})


def test_the_state_of_random_numbers_is_one_that_can_be_set() -> None:
    state = json.loads(json.dumps(np.random.default_rng(3).bit_generator.state))
    check_generator(state, "PCG64")
    for damaged in ({}, None, {**state, "bit_generator": "MT19937"}, {**state, "state": {"state": -1, "inc": 1}}):
        with pytest.raises(FormatError):
            check_generator(damaged, "PCG64")


def test_draws_that_do_not_fit_are_refused_before_the_first_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "free_bytes", lambda: 2.0**30)
    for by in ("gibbs", "collapsed-gibbs"):
        with pytest.raises(SizeError, match="GiB") as caught:
            mixture().learn({"y": np.tile(COUNTS["y"], 500)}, by=by, draws=20_000)
        assert "draws=" in caught.value.hint


def test_rows_by_classes_that_do_not_fit_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(room, "free_bytes", lambda: 2.0**20)
    monkeypatch.setattr(room, "LITTLE", 2**10)
    for options in ({"goal": "map"}, {"by": "mean-field"}):
        with pytest.raises(SizeError, match="an iteration of"):
            mixture().learn({"y": np.tile(COUNTS["y"], 2_000)}, backend="numpy", **options)  # type: ignore[arg-type]


def test_memory_that_runs_out_is_told_in_our_words() -> None:
    def greedy() -> None:
        raise MemoryError("Unable to allocate 1 TiB")

    with pytest.raises(SizeError, match="1 TiB"):
        room.in_our_words(greedy)()


def test_a_long_call_gives_what_it_returns_and_raises() -> None:
    assert heard(lambda: 3) == 3
    with pytest.raises(ShapeError):
        heard(lambda: (_ for _ in ()).throw(ShapeError("x")))


def test_threads_are_waited_for_when_one_of_them_fails() -> None:
    at_work: set[int] = set()

    def work(k: int) -> int:
        at_work.add(k)
        time.sleep(0.05)
        at_work.discard(k)
        if threading.current_thread() is threading.main_thread():
            raise KeyboardInterrupt
        return 0

    with pytest.raises(KeyboardInterrupt):
        in_threads(40, 4, work)
    assert not at_work
    assert in_threads(5, 3, lambda k: k * k) == [0, 1, 4, 9, 16]


def test_what_a_terminal_would_obey_is_shown() -> None:
    assert shown_text("a\x1b[2J\u202eb\n") == "a\\x1b[2J\\u202eb\n"
    assert shown_name("a\nb") == "a\\nb"
    assert shown_text("Größe 変数 ✓") == "Größe 変数 ✓"
