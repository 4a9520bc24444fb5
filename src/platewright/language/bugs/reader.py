"""`read_bugs`: a BUGS text and, if there are any, its data become a model that can be learned like any other.

read = read_bugs("growth.bug", "growth-data.txt")
fit = read.model.learn(read.data())
print(read.report)
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from platewright.algebra.kept import kept_for
from platewright.errors import BugsError
from platewright.language.bugs.data import read_data
from platewright.language.bugs.draft import Draft
from platewright.language.bugs.folding import fold
from platewright.language.bugs.parse import parse
from platewright.language.bugs.report import Report
from platewright.language.bugs.syntax import Text
from platewright.language.bugs.translate import translate_text
from platewright.language.model import Model

Array = np.ndarray
_NODE = re.compile(r"\s*([A-Za-z][A-Za-z0-9._]*)\s*(?:\[([0-9,\s]*)\])?\s*")


@dataclass(frozen=True, eq=False)
class BugsModel:
    """A model read from BUGS text, and the way its arrays and ours correspond."""

    model: Model
    report: Report
    text: Text
    draft: Draft
    given: Mapping[str, Array] | None = None
    again: Callable[[object], BugsModel] | None = None
    """For a text that was read without data: it is read with data, which say how many elements plates have."""

    def data(self, more: object = None) -> dict[str, Array]:
        """BUGS data as the model wants them: what is in the data is known; NaN marks missing cells."""
        if more is not None and self.again is not None:
            return self._same_model(self.again(more)).data()
        arrays = self._arrays(more)
        found: dict[str, Array] = {}
        for label, source in self.draft.sources.items():
            variable = self.model.variables.get(label)
            if variable is None or source.array not in arrays:
                continue
            self._check_shape("data", source.array, arrays[source.array])
            values = self._gather(label, arrays[source.array])
            if variable.kind == "input":
                found[label] = np.nan_to_num(values, nan=0.0)
            elif np.isfinite(values).any():
                found[label] = values
        for column, codes in self.draft.columns.items():
            outer, _, inner = column.partition("@")
            found[f"{outer}[{inner}]" if inner else column] = codes
        return found

    def initial(self, values: object) -> dict[str, Array]:
        """Starting values of random variables, by the names of the model; only those given in full."""
        arrays = read_data(values)
        found: dict[str, Array] = {}
        for label, source in self.draft.sources.items():
            if source.array in arrays and self.model.variables[label].kind != "input":
                self._check_shape("starting values", source.array, arrays[source.array])
                picked = self._gather(label, arrays[source.array])
                if np.isfinite(picked).all():
                    found[label] = picked
        return found

    def _check_shape(self, what: str, name: str, values: Array) -> None:
        wanted = self.draft.shapes.get(name, values.shape)
        if values.shape != wanted:
            raise BugsError(
                f"the {what} of `{name}` have {_shape_word(values.shape)}",
                expected=f"{_shape_word(wanted)}, as in the model",
                hint=f"NA where a node has no {'starting value' if what == 'starting values' else 'value'}",
            )

    def _same_model(self, other: BugsModel) -> BugsModel:
        """The text read with data, if these data leave the structure as it was found without any."""
        mine, theirs = (_structure(read.model) for read in (self, other))
        if mine != theirs:
            raise BugsError(
                "with these data the text has another structure than was found without any",
                hint="read the text with its data: read_bugs(text, data) or read_stan(text, data)",
            )
        return other

    def values(self, arrays: Mapping[str, Array]) -> dict[str, Array]:
        """Values of all known and random variables, taken from complete BUGS arrays; for evaluating the model."""
        known = {**self._arrays(None), **{name: np.asarray(found, dtype=float) for name, found in arrays.items()}}
        found = {
            label: self._gather(label, known[source.array])
            for label, source in self.draft.sources.items()
            if source.array in known
        }
        return {**found, **self.draft.columns}

    def cell(self, name: str) -> tuple[str, tuple[int, ...]]:
        """Where a BUGS node such as `alpha[2]` lives: a variable of the model, and the position in it."""
        match = _NODE.fullmatch(name)
        if match is None:
            raise BugsError(f"`{name}` is no node", expected="a name such as alpha or alpha[2,1]")
        array, inside = match.group(1), match.group(2)
        at = tuple(int(part) - 1 for part in inside.split(",")) if inside else ()
        block = self.draft.blocks.get(array)
        if block is None or len(at) != len(block.shape) or any(not 0 <= k < n for k, n in zip(at, block.shape)):
            raise BugsError(f"there is no node `{name}` in the model")
        if int(block.owner[at]) < 0:
            raise BugsError(f"`{name}` has no definition")
        number = block.pieces[int(block.owner[at])].number
        if number in self.draft.dropped:
            raise BugsError(self.draft.dropped[number])
        return self._places(array)[at]

    def cells(self, name: str) -> dict[str, tuple[str, tuple[int, ...]]]:
        """Where the defined elements of a BUGS array live, or the one node that was named in full."""
        word = name.strip()
        block = self.draft.blocks.get(word)
        if block is None or not block.shape:
            return {word: self.cell(name)}
        return {f"{word}[{','.join(str(k + 1) for k in at)}]": found for at, found in self._places(word).items()}

    @kept_for
    def _places(self, array: str) -> dict[tuple[int, ...], tuple[str, tuple[int, ...]]]:
        """By the position in a BUGS array: the variable, and the position in it."""
        from platewright.language.bugs.resolve import positions, variable_axes

        found, block = {}, self.draft.blocks[array]
        for number, piece in enumerate(block.pieces):
            places, label = positions(piece, block), self.draft.labels[piece.number]
            axes = [places[key] for key in variable_axes(self.draft, piece)]
            for at in map(tuple, np.argwhere(block.owner == number).tolist()):
                found[at] = (label, tuple(int(axis[at]) for axis in axes))
        return found

    def spelled(self, wanted: Collection[str]) -> dict[tuple[str, tuple[int, ...]], str]:
        """The BUGS names of all elements of some variables."""
        found: dict[tuple[str, tuple[int, ...]], str] = {}
        for name, block in self.draft.blocks.items():
            if any(self.draft.labels.get(piece.number) in wanted for piece in block.pieces):
                found.update({place: shown for shown, place in self.cells(name).items() if place[0] in wanted})
        return found

    @property
    def shifts(self) -> dict[str, int]:
        """By variable: what to add to its values to get those of BUGS, which counts categories from 1."""
        return {label: int(source.shift) for label, source in self.draft.sources.items()}

    def _arrays(self, more: object) -> dict[str, Array]:
        folded = self.draft.folded
        if more is not None or self.given is None:
            folded = fold(self.text, {**(self.given or {}), **({} if more is None else read_data(more))})
        return {**folded.constants, **folded.observed}

    def _gather(self, label: str, values: Array) -> Array:
        source = self.draft.sources[label]
        picked = values if source.cells is None or not source.cells else values[source.cells]
        return np.asarray(picked, dtype=float) - source.shift


def read_bugs(source: str | Path, data: object = None, model: Model | None = None) -> BugsModel:
    """Read a BUGS or JAGS model, as a path or as text, with its data (path, text or mapping; or several in a list).

    Without data the plates stay open; a model whose structure hangs on the data says so.
    """
    written, title = _text_of(source)
    text = parse(written)
    given: dict[str, Array] | None = None
    if data is not None:
        given = {}
        for part in data if isinstance(data, (list, tuple)) else (data,):
            given.update(read_data(part))
    target = Model(title) if model is None else model
    draft = translate_text(text, given, target)
    again = partial(read_bugs, source) if data is None else None
    return BugsModel(target, draft.report, text, draft, given, again)


def _text_of(source: str | Path) -> tuple[str, str]:
    if isinstance(source, str) and ("{" in source or "\n" in source or not source.strip()):
        return source, "bugs"
    path = Path(source)
    try:
        return path.read_text(encoding="utf-8"), path.stem.split(".")[0] or "bugs"
    except (OSError, UnicodeDecodeError, ValueError) as trouble:
        raise BugsError(f"cannot read {str(source)[:200]}: {trouble}", expected="a path, or BUGS text") from None


def _structure(model: Model) -> dict[str, tuple[str, tuple[str, ...]]]:
    """Each variable with its kind and the plates that it is on."""
    return {
        name: (found.kind, tuple(axis.plate for axis in found.axes))
        for name, found in model.variables.items()
        if found.kind != "deterministic"
    }


def _shape_word(shape: tuple[int, ...]) -> str:
    """`1 value`, `3 values`, `2 x 3 values`."""
    shown = " x ".join(map(str, shape)) or "1"
    return f"{shown} value{'' if shown == '1' else 's'}"
