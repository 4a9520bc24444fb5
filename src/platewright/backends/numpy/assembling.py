"""Put an emitted program together, in the order in which it is read: what the model led to, then what that needs.

docstring        the model, how to run the program, what the table holds
the algorithm    derived from the model
tools            functions that programs share, those that this one uses
the table        reading, the command line
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import ModuleType

from platewright.algebra.expression import Index
from platewright.backends.carried import carried, defined, head, needed_by
from platewright.backends.naming import Names
from platewright.backends.numpy import reading_support
from platewright.backends.numpy.about import docstring
from platewright.backends.numpy.main import OPTIONS_OF, Reading, main_text
from platewright.graph.graph import Graph

WIDTH = 120


@dataclass(frozen=True)
class Frame:
    """What surrounds the functions of a program: its model and algorithm in words, and the data that it reads."""

    graph: Graph
    algorithm: str
    summary: str
    needed: Mapping[str, tuple[Index, ...]]
    learned: str = f"learn(data, size, {OPTIONS_OF})"
    """What `main` prints."""
    with_means: bool = False

    def around(
        self,
        parts: Iterable[str],
        tools: Sequence[str],
        names: Names,
        modules: Sequence[ModuleType] = (),
        without: Sequence[str] = (),
    ) -> str:
        """The whole program: its own parts, the tools that are there already, and those carried from modules."""
        own = [part.strip("\n") for part in parts if part]
        learn = next(part for part in own if "def learn(" in part)
        reading = Reading(self.graph, self.needed, names)
        main = main_text(reading, "\n".join(own), self.learned, self.with_means)
        text = "\n\n\n".join([*own, *([self.learned] if reading.rows else [])])
        every = defined("\n\n\n".join([*tools, *carried("\n\n\n".join([text, *tools]), modules, without=without)]))
        kept = needed_by(text, every)
        below = [*carried(main, [reading_support], without=("learn",)), main]
        sections = [
            (_banner("the algorithm, as derived from the model"), own),
            (_banner("tools that it uses"), kept),
            (_banner("the table and the command line"), below),
        ]
        whole = [part for banner, found in sections if found for part in (banner, *found)]
        first = docstring(self.graph, self.algorithm, self.summary, reading.columns, reading.rows or "", learn)
        return f"{first}\n\n" + "\n\n\n".join([head("\n\n\n".join(whole)), *whole]) + "\n"


def _banner(text: str) -> str:
    return f"# -- {text} ".ljust(WIDTH, "-")
