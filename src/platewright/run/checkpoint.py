"""Store the state of a long run, so that it can go on after an interruption and end at the same bits.

The file is written beside its place, forced to disk and then renamed: whatever happens, there is an old state or a new
one, never half of one. It holds numbers and text only; nothing in it is executed when it is read.
"""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

from platewright.errors import SourceError
from platewright.family import Array

SECONDS = 5.0
"""At most so often is a state written, but for the ends of stages."""
WRITING = 20.0
"""Between two states there are so many times the seconds that writing one takes, however many draws there are."""


@dataclass(frozen=True, eq=False)
class State:
    """What a run needs to go on: plain facts, and arrays by name."""

    facts: Mapping[str, Any]
    arrays: Mapping[str, Array] = field(default_factory=dict)


def run_key(text: str, columns: Mapping[str, Array], options: Mapping[str, object]) -> str:
    """What a state belongs to: the derivation, the data and the options, as one number."""
    found = hashlib.sha256(text.encode())
    found.update(json.dumps({name: str(value) for name, value in sorted(options.items())}).encode())
    for name in sorted(columns):
        values = np.ascontiguousarray(columns[name])
        found.update(f"{name} {values.shape} {values.dtype}".encode())
        found.update(values.data if values.size else b"")
    return found.hexdigest()


@dataclass(eq=False)
class Checkpoint:
    """A file for states of one run; without a path it does nothing."""

    path: Path | None = None
    key: str = ""
    last: float = field(default_factory=monotonic)
    took: float = 0.0
    """How long the last writing took."""

    def load(self) -> State | None:
        """The state that was stored, if there is one; a state of another run is an error."""
        if self.path is None or not self.path.exists():
            return None
        try:
            with np.load(self.path, allow_pickle=False) as file:
                facts = json.loads(str(file["facts"]))
                arrays = {name.removeprefix("array:"): file[name] for name in file.files if name != "facts"}
        except (OSError, ValueError, KeyError, zipfile.BadZipFile) as problem:
            raise SourceError(
                f"the checkpoint cannot be read: {problem}", where=str(self.path), hint="remove the file to start anew"
            ) from problem
        if facts.get("key") != self.key:
            raise SourceError(
                "the checkpoint is of another run: the model, the data or the options differ",
                where=str(self.path),
                hint="give another path, or remove the file to start anew",
            )
        return State(facts, arrays)

    def save_if_due(self, state: Callable[[], State]) -> None:
        """Store a state that is made only where one is wanted."""
        if self.path is not None and monotonic() - self.last >= max(SECONDS, WRITING * self.took):
            self.save(state(), force=True)

    def save(self, state: State, force: bool = False) -> None:
        """Store a state, unless the last one is fresh."""
        if self.path is None or (not force and monotonic() - self.last < SECONDS):
            return
        begin = monotonic()
        beside = self.path.with_name(self.path.name + ".part")
        with beside.open("wb") as file:
            held: dict[str, Any] = {f"array:{name}": values for name, values in state.arrays.items()}
            np.savez(file, facts=json.dumps({**state.facts, "key": self.key}), **held)
            file.flush()
            os.fsync(file.fileno())
        beside.replace(self.path)
        self.last = monotonic()
        self.took = self.last - begin
