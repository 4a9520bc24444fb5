"""Models from and for other programs: BUGS and JAGS texts, BIF and UAI networks."""

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
def write_bugs(model: language.Model) -> str:
    """The model as BUGS text, which JAGS reads too."""
    from platewright.language.bugs.write import write_bugs as write  # as rarely needed as the reader

    return write(model)


def read_bif(source: str | Path) -> Model:
    """The model in a BIF file or text."""
    return bif.read_bif(source, Model)


def read_uai(source: str | Path) -> Model:
    """The model in a UAI file or text."""
    return uai.read_uai(source, Model)
