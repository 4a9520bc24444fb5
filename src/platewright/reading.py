"""Models from and for other programs: BUGS, JAGS and Stan texts, BIF and UAI networks."""

from __future__ import annotations

from pathlib import Path

from platewright.algebra.depth import with_room
from platewright.language import model as language
from platewright.language.networks import bif, uai
from platewright.pipeline import Model


@with_room
def read_bugs(path_or_text: str | Path, data: object = None) -> Model:
    """The model in a BUGS or JAGS file or text.

    `data` (a dict, the path of a data file or several paths) gives the constants and index vectors that loops may need.
    `model.read_from` tells what became plates; `model.learn(model.read_from.data())` learns from those data. Raises
    `BugsError` with line and column where the text cannot be read.
    """
    from platewright.language.bugs.reader import read_bugs as read  # lark loads only for those who read BUGS

    model = Model("bugs" if "{" in str(path_or_text) else Path(path_or_text).stem)
    model._set("_read_from", read(path_or_text, data, model))
    return model


@with_room
def read_stan(path_or_text: str | Path, data: object = None) -> Model:
    """The model in a Stan file or text.

    `data` (a dict, the path of a JSON or R dump file or several paths) gives the sizes and conditions that loops may
    need. `model.read_from` tells what became plates; `model.learn(model.read_from.data())` learns from those data.
    Raises `StanError` with line and column where the text cannot be read.
    """
    from platewright.language.stan.reading.reader import read_stan as read  # lark loads only for those who read Stan

    found = read(path_or_text, data, Model)
    model = found.model
    assert isinstance(model, Model)
    model._set("_read_from", found)
    return model


@with_room
def write_bugs(model: language.Model) -> str:
    """The model as BUGS text, which JAGS reads too."""
    from platewright.language.bugs.write import write_bugs as write  # as rarely needed as the reader

    return write(model)


def read_bif(
    source: str | Path, *, learnable: bool = False, sample_size: float = 1.0, around_tables: bool = False
) -> Model:
    """The model in a BIF file or text.

    As it is, it answers questions: `read_bif(path).infer(evidence)`. With `learnable=True` its tables are unknowns, to
    be learned from rows of data: `read_bif(path, learnable=True).learn(frame)`. The prior of each table is worth
    `sample_size` rows, spread evenly over its cells, so that the evidence is the BDeu score of the network; with
    `around_tables=True` the rows of the file's own tables are its means.
    """
    return bif.read_bif(source, Model, learnable, sample_size, around_tables)


def read_uai(source: str | Path) -> Model:
    """The model in a UAI file or text."""
    return uai.read_uai(source, Model)
