"""Plant a defect: a function runs with one piece of its source changed, for everybody who imported it."""

from __future__ import annotations
import __future__

import inspect
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Mutant:
    """A change in the source of one function, and the law that has to notice."""

    what: str
    function: Callable[..., Any]
    old: str
    new: str
    law: Callable[[], None]

    def __str__(self) -> str:
        return self.what


@contextmanager
def planted(mutant: Mutant) -> Iterator[None]:
    """The defect is there inside, and gone after."""
    function: Any = mutant.function
    source = textwrap.dedent(inspect.getsource(function))
    assert mutant.old in source, f"the source of {function.__qualname__} has changed: plant `{mutant.what}` anew"
    changed = source.replace(mutant.old, mutant.new, 1)
    space: dict[str, Any] = {}
    flags = __future__.annotations.compiler_flag
    exec(compile(changed, f"<{mutant.what}>", "exec", flags=flags), function.__globals__, space)
    before = function.__code__
    function.__code__ = space[function.__name__].__code__
    try:
        yield
    finally:
        function.__code__ = before
