"""Store the state of a long run, so that it can go on after an interruption and end at the same bits.

    place tried before the run -> written beside it, forced to disk, renamed -> checked at the door when it is read

Whatever happens there is an old state or a new one, never half of one. A disk that fills up ends nothing: the run warns
once, goes on in memory, and tries again. The file names model, data, options and program by hash, holds numbers and
text only, and nothing in it is executed when it is read.
"""

from __future__ import annotations

import hashlib
import json
import os
import struct
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from platewright.errors import CheckpointWarning, FormatError, SourceError
from platewright.family import Array
from platewright.run.results.array_file import read_array, write_array

SECONDS = 5.0
"""At most so often is a state written, but for the ends of stages."""
WRITING = 20.0
"""Between two states there are so many times the seconds that writing one takes, however many draws there are."""
FORMAT = "platewright checkpoint"
VERSION = 2
FACTS = "state.json"
MOST_FACTS = 2**26
ANEW = "remove the file to start anew"
DAMAGE = (OSError, zipfile.BadZipFile, EOFError, RuntimeError, ValueError, struct.error, zlib.error)
"""What Python's readers of zip and JSON raise on files that are damaged or of another kind."""


@dataclass(frozen=True, eq=False)
class State:
    """What a run needs to go on: plain facts, and arrays by name."""

    facts: Mapping[str, Any]
    arrays: Mapping[str, Array] = field(default_factory=dict)


@dataclass(frozen=True)
class RunName:
    """What a state belongs to, each part by its hash."""

    model: str = ""
    data: str = ""
    options: str = ""

    def with_rows(self, columns: Mapping[str, Array]) -> RunName:
        """The same run with more data."""
        found = hashlib.sha256(self.data.encode())
        for name in sorted(columns):
            values = np.ascontiguousarray(columns[name])
            found.update(f"{name} {values.shape} {values.dtype}".encode())
            found.update(values.data if values.size else b"")
        return replace(self, data=found.hexdigest())

    def with_option(self, name: str, value: object) -> RunName:
        """The same run with one more choice: the backends have random numbers of their own."""
        return replace(self, options=hashlib.sha256(f"{self.options} {name}={value}".encode()).hexdigest())

    def unlike(self, facts: Mapping[str, Any]) -> list[str]:
        """The parts in which a stored state is another's."""
        mine = {"model": self.model, "data": self.data, "options": self.options}
        found = [word for word, value in mine.items() if facts.get(word) != value]
        return [*found, *([] if facts.get("program") == program_hash() else ["version of Platewright"])]


def run_name(model: str, columns: Mapping[str, Array], options: Mapping[str, object]) -> RunName:
    """The name of a run: of its derivation, its data and its options."""
    said = json.dumps({name: str(value) for name, value in sorted(options.items())})
    name = RunName(hashlib.sha256(model.encode()).hexdigest(), options=hashlib.sha256(said.encode()).hexdigest())
    return name.with_rows(columns)


@lru_cache(maxsize=1)
def program_hash() -> str:
    """The program that runs: a state of another one would not end at the same bits."""
    found = hashlib.sha256(np.__version__.encode())
    for path in sorted(Path(__file__).parents[1].rglob("*.py")):
        found.update(path.name.encode() + path.read_bytes())
    return found.hexdigest()


@dataclass(eq=False)
class Checkpoint:
    """A file for states of one run; without a path it does nothing."""

    path: Path | None = None
    name: RunName = field(default_factory=RunName)
    last: float = field(default_factory=monotonic)
    took: float = 0.0
    """How long the last writing took."""
    warned: bool = False
    """Whether somebody was told that the place has become unfit."""

    def with_option(self, name: str, value: object) -> Checkpoint:
        """The same place for a run with one more choice."""
        return replace(self, name=self.name.with_option(name, value))

    def load(self) -> State | None:
        """The state that was stored, if there is one; a state of another run is an error."""
        if self.path is None or not self.path.exists():
            return None
        with self.looked_at(), zipfile.ZipFile(self.path) as archive:
            facts = _facts(archive)
            if unlike := self.name.unlike(facts):
                raise SourceError(
                    f"the checkpoint is of another run: the {' and the '.join(unlike)} differ",
                    where=str(self.path),
                    hint=f"give another path, or {ANEW}",
                )
            names = [str(name) for name in facts["arrays"]]
            return State(facts, {name: read_array(archive, f"{k}.npy") for k, name in enumerate(names)})

    @contextmanager
    def looked_at(self) -> Iterator[None]:
        """Around everything that reads a state: what is wrong with it is told with its place and what to do."""
        try:
            yield
        except FormatError as problem:
            found = f"the checkpoint cannot be read: {problem.found}"
            raise SourceError(found, where=str(self.path), expected=problem.expected, hint=ANEW) from problem
        except (*DAMAGE, LookupError, TypeError) as problem:
            found = f"the checkpoint cannot be read: {type(problem).__name__}: {problem}"[:160]
            raise SourceError(found, where=str(self.path), hint=ANEW) from problem

    def save_if_due(self, state: Callable[[], State]) -> None:
        """Store a state that is made only where one is wanted."""
        if self.path is not None and monotonic() - self.last >= max(SECONDS, WRITING * self.took):
            self.save(state(), force=True)

    def save(self, state: State, force: bool = False) -> None:
        """Store a state, unless the last one is fresh; a place that has become unfit is told once, and tried again."""
        if self.path is None or (not force and monotonic() - self.last < SECONDS):
            return
        begin = monotonic()
        try:
            self._write(self.path, state)
        except OSError as problem:
            if not self.warned:
                warnings.warn(
                    f"the checkpoint {self.path} cannot be written ({problem.strerror or problem}): "
                    "the run goes on in memory and tries again",
                    CheckpointWarning,
                    stacklevel=2,
                )
            self.warned = True
        self.last = monotonic()
        self.took = self.last - begin

    def _write(self, path: Path, state: State) -> None:
        head = {"format": FORMAT, "version": VERSION, "model": self.name.model, "data": self.name.data}
        head |= {"options": self.name.options, "program": program_hash()}
        text = json.dumps({**state.facts, **head, "arrays": list(state.arrays)})
        with written_whole(path) as beside, zipfile.ZipFile(beside, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr(FACTS, text, zipfile.ZIP_DEFLATED)
            for number, values in enumerate(state.arrays.values()):
                write_array(archive, f"{number}.npy", values)


def checkpoint_at(path: str | Path, name: RunName) -> Checkpoint:
    """A checkpoint at a place that was tried: a run of hours must not end at its first state."""
    target = Path(path).expanduser().absolute()
    if target.is_dir():
        raise SourceError("this is a folder", where=str(path), expected="the path of a file for checkpoint=")
    if not target.parent.is_dir():
        found = f"there is no folder {target.parent}"
        raise SourceError(found, where=str(path), expected="checkpoint= in a folder that is there", hint="make it")
    try:
        beside = beside_of(target)
        try:
            beside.write_bytes(b"tried")
        finally:
            with suppress(OSError):
                beside.unlink(missing_ok=True)
    except OSError as problem:
        raise SourceError(
            f"no checkpoint can be written here: {problem.strerror or problem}",
            where=str(path),
            hint="give checkpoint= another place, or make room",
        ) from problem
    return Checkpoint(target, name)


def beside_of(path: Path) -> Path:
    """Where a file is written before it takes its place; each process has its own."""
    return path.with_name(f"{path.name}.{os.getpid()}.part")


@contextmanager
def written_whole(path: Path) -> Iterator[Path]:
    """A place beside the file, which takes its place when all is on disk; nothing is left of a broken-off one."""
    beside = beside_of(path)
    try:
        yield beside
        with beside.open("rb") as file:
            os.fsync(file.fileno())
        beside.replace(path)
        _sync_folder(path.parent)
    except BaseException:
        with suppress(OSError):
            beside.unlink(missing_ok=True)
        raise


def _sync_folder(folder: Path) -> None:
    """The new name is on disk too; not every system lets a folder be forced."""
    with suppress(OSError):
        held = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(held)
        finally:
            os.close(held)


def _facts(archive: zipfile.ZipFile) -> dict[str, Any]:
    """The JSON part, when it is one of ours."""
    if FACTS not in archive.namelist():
        raise FormatError("a file of another kind", expected=f"a zip file with {FACTS}")
    if archive.getinfo(FACTS).file_size > MOST_FACTS:
        raise FormatError(f"{FACTS} is larger than any that we write")
    try:
        facts = json.loads(archive.read(FACTS))
    except RecursionError as problem:
        raise FormatError(f"{FACTS} is nested too deeply") from problem
    if not isinstance(facts, dict) or facts.get("format") != FORMAT or not isinstance(facts.get("arrays"), list):
        raise FormatError("a file of another kind", expected=f"format {FORMAT!r}")
    return facts
