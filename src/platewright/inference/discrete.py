"""Questions to a product of tables: total, marginals, joints, draws and the most probable state.

Levels that cannot occur are dropped, a junction tree is planned and its size checked; then the numbers run in scaled
probabilities, and again in logs if anything underflows.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from platewright.family import Array
from platewright.inference.factor import Table
from platewright.inference.junction_tree import MOST_BYTES, JunctionTree, build_tree, check_size, connected
from platewright.inference.possible import narrowed_tables, possible_levels
from platewright.inference.propagation import (
    Collected,
    collect,
    distribute,
    probabilities,
    walk_back,
)
from platewright.inference.semiring import LOG_SUM, MAX, SUM, Semiring


@dataclass(frozen=True, eq=False)
class Product:
    """A product of tables over finite variables; `sizes` names every variable, in the order of writing."""

    tables: tuple[Table, ...]
    sizes: Mapping[str, int]
    most_bytes: int = MOST_BYTES
    what: str = "exact inference"

    @cached_property
    def levels(self) -> Mapping[str, Array]:
        """The levels of each variable that can occur."""
        return possible_levels(self.tables, self.sizes)

    @cached_property
    def narrowed(self) -> tuple[Table, ...]:
        """The tables at those levels."""
        return narrowed_tables(self.tables, self.levels)

    @property
    def open(self) -> dict[str, int]:
        """Variables with more than one possible level, and how many."""
        return {name: len(kept) for name, kept in self.levels.items() if len(kept) > 1}

    @cached_property
    def tree(self) -> JunctionTree:
        """The junction tree, checked to fit in memory."""
        return self._planned((), self.narrowed, self.open)

    def _planned(self, keep: Sequence[str], tables: Sequence[Table], sizes: Mapping[str, int]) -> JunctionTree:
        return check_size(build_tree([table.names for table in tables], sizes, keep), self.most_bytes, self.what)

    @cached_property
    def collected(self) -> Collected:
        """Messages towards the last variable."""
        return summed(self.tree, self.narrowed)

    @property
    def log_total(self) -> float:
        """The log of the sum over all states."""
        return self.collected.log_total

    @cached_property
    def marginals(self) -> dict[str, Array]:
        """The probabilities of every level of every variable."""
        try:
            with np.errstate(under="ignore"):
                found = distribute(self.collected)
        except FloatingPointError:
            # Logs from here on; the messages that underflowed are dropped first, so that both never lie in memory.
            del self.__dict__["collected"]
            self.__dict__["collected"] = _collected(self.tree, self.narrowed, LOG_SUM)
            found = distribute(self.collected)
        return {name: self._whole((name,), found.get(name, np.ones(1))) for name in self.sizes}

    def joint(self, names: Sequence[str]) -> Array:
        """The joint probabilities of some variables, one axis each."""
        log_values = self.restricted_to(names).log_over(names)
        return probabilities(log_values, LOG_SUM)

    def restricted_to(self, names: Iterable[str]) -> Product:
        """Only what is tied to some variables: the rest is a constant."""
        open_names = [name for name in names if len(self.levels[name]) > 1]
        tied = connected((table.names for table in self.narrowed), open_names)
        chosen = tuple(
            old
            for old, new in zip(self.tables, self.narrowed, strict=True)
            if tied.intersection(new.names) or not new.names
        )
        held = {name for table in chosen for name in table.names}
        sizes = {name: size for name, size in self.sizes.items() if name in held or name in set(names)}
        result = Product(chosen, sizes, self.most_bytes, self.what)
        # Levels were ruled out by all tables, of which some may be left out here.
        result.__dict__["levels"] = {name: self.levels[name] for name in sizes}
        return result

    def log_over(self, names: Sequence[str]) -> Array:
        """The log of the sum over all other variables, as a table with the axes of `names` in that order."""
        keep = tuple(name for name in names if len(self.levels[name]) > 1)
        tree = self._planned(keep, self.narrowed, self.open)
        found = summed(tree, self.narrowed)
        logs = found.semiring.logs(found.kept.values) + found.log_scale
        return self._whole(names, logs, -np.inf)

    def _whole(self, names: Sequence[str], values: Array, empty: float = 0.0) -> Array:
        """Values at possible levels put into a table with all levels."""
        result = np.full([self.sizes[name] for name in names], empty)
        result[np.ix_(*(self.levels[name] for name in names))] = values.reshape(
            [len(self.levels[name]) for name in names]
        )
        return result

    def draws(self, count: int, generator: np.random.Generator) -> dict[str, Array]:
        """Joint states, drawn independently: positions for each variable."""
        tree = self.tree
        states = walk_back(self.collected, generator.random((count, len(tree.names))))
        return self._positions(states, count)

    def best(self) -> tuple[dict[str, int], float]:
        """The most probable state and the log of its weight."""
        found = _collected(self.tree, self.narrowed, MAX)
        positions = self._positions(walk_back(found, None), 1)
        return {name: int(where[0]) for name, where in positions.items()}, found.log_total

    def _positions(self, states: Array, count: int) -> dict[str, Array]:
        column = self.tree.number()
        result = {}
        for name, kept in self.levels.items():
            result[name] = kept[states[:, column[name]]] if name in column else np.full(count, kept[0])
        return result


def _collected(tree: JunctionTree, tables: Sequence[Table], semiring: Semiring) -> Collected:
    return collect(tree, [t.names for t in tables], [t.log_values for t in tables], semiring)


def summed(tree: JunctionTree, tables: Sequence[Table]) -> Collected:
    """Messages in scaled probabilities; in logs when something underflows."""
    try:
        with np.errstate(under="raise"):
            return _collected(tree, tables, SUM)
    except FloatingPointError:
        return _collected(tree, tables, LOG_SUM)
