"""How trees are looked for, node by node: how far a question is looked into, and how many of them are kept.

one question a node                 a tree, pruned by its evidence afterwards
several, while there is room        an option tree: an average over all the trees that it holds  (Buntine 1991b)
every question                      the sum over all trees
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from platewright.errors import ParameterError, UnknownName

MOST_NODES = 20_000_000
DEEPEST = 200


@dataclass(frozen=True)
class Search:
    """What a search is told.

    `look_ahead`: a question is judged by the leaves below it (1), or by the best trees of so many questions that begin
    with it. `options`: how many questions are kept at a node, those within `window` of the best in log probability,
    and `width`: how many leaves a row may fall into. `patience`: how many questions below one another may lose
    before the search gives up; what does not pay is cut off again. `depth` and `least` bound a tree itself: how
    many questions a row may be asked, and how many rows a node needs to ask one. `everything`: all trees are gone over.
    """

    look_ahead: int = 1
    options: int = 1
    width: int = 1
    window: float = 100.0
    patience: int = 2
    depth: int = 100
    least: int = 2
    everything: bool = False

    def __post_init__(self) -> None:
        for word, low, high in (
            ("look_ahead", 1, DEEPEST),
            ("options", 1, 2**31),
            ("width", 1, 2**31),
            ("patience", 0, 2**31),
            ("depth", 0, DEEPEST),
            ("least", 2, 2**31),
        ):
            value = getattr(self, word)
            if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
                upto = f" to {high}" if high == DEEPEST else ""
                raise ParameterError(
                    f"{word} is {value!r}", where="a search for trees", expected=f"a whole number from {low}{upto}"
                )
        if (
            isinstance(self.window, bool)
            or not isinstance(self.window, (int, float))
            or not 0.0 <= self.window <= float("inf")
        ):
            raise ParameterError(
                f"window is {self.window!r}", where="a search for trees", expected="a number from 0: log probabilities"
            )
        if not isinstance(self.everything, bool):
            raise ParameterError(f"everything is {self.everything!r}", expected="True or False")


WORDS = tuple(field.name for field in fields(Search))


def check_search(options: dict[str, object]) -> Search:
    """A search from the words of a call."""
    for word in options:
        if word not in WORDS:
            raise UnknownName(word, WORDS, where="a search for trees")
    return Search(**options)  # type: ignore[arg-type]
