"""Take a model out of a Python file: the file is run, so it must be one that its user trusts."""

from __future__ import annotations

import runpy
from pathlib import Path
from traceback import walk_tb
from typing import TypeVar

from platewright.errors import ModelError, PlatewrightError, SourceError, UnknownName
from platewright.language.model import Model

SomeModel = TypeVar("SomeModel", bound=Model)


TABLES = (".csv", ".parquet", ".json", ".txt", ".tsv")
"""What names of data files end in, as those of models never do."""


def model_in_file(path: str, kind: type[SomeModel], name: str | None = None) -> SomeModel:
    """The one model that the file defines, or the one called `name`, by its variable or its title."""
    if Path(path).is_dir():
        raise SourceError("this is a folder", where=path, expected="a Python file that defines a pw.Model")
    if not Path(path).is_file():
        raise SourceError("there is no such file", where=path, expected="a Python file that defines a pw.Model")
    if Path(path).suffix.lower() in TABLES:
        raise SourceError(
            "this file holds data, no model",
            where=path,
            expected="a Python file that defines a pw.Model, or a BUGS text (.bug, .bugs, .jags)",
            hint="the model comes before the data: platewright learn MODEL DATA",
        )
    found = {word: value for word, value in _space(path).items() if isinstance(value, kind)}
    if name is not None:
        by_name = {**{model.title: model for model in found.values()}, **found}
        if name not in by_name:
            raise UnknownName(name, by_name, where=f"models of {path}")
        return by_name[name]
    distinct = {id(model): model for model in found.values()}
    if len(distinct) == 1:
        return next(iter(distinct.values()))
    if not distinct:
        raise ModelError("the file defines no model", where=path, expected="m = pw.Model(...) at the top level")
    raise ModelError(
        f"the file defines {len(distinct)} models: {', '.join(sorted(found))}", where=path, hint="choose one by --name"
    )


def _space(path: str) -> dict[str, object]:
    """The names that the file defines; it is not run as a main program."""
    try:
        return runpy.run_path(path)
    except PlatewrightError as error:
        error.add_place(f"{path}{_line(error, path)}")
        raise
    except (Exception, SystemExit) as error:
        where = f"{path}{_line(error, path)}"
        raise ModelError(f"the file stops with {type(error).__name__}: {error}", where=where) from error


def _line(error: BaseException, path: str) -> str:
    """The line of the file at which it stopped; nothing where it stopped elsewhere."""
    if isinstance(error, SyntaxError):
        return f", line {error.lineno}"
    lines = [number for frame, number in walk_tb(error.__traceback__) if frame.f_code.co_filename == path]
    return f", line {lines[-1]}" if lines else ""
