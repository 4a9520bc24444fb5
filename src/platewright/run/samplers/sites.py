"""Discrete unknowns site by site  (Equation 25): each drawn from the potentials that touch it, given its neighbours.

    p(x_i | rest)  proportional to  exp( sum of the log factors in which x_i occurs )

Sites that share a row of a factor are tied. The ties are coloured greedily; sites of one colour have no tie, are
independent given all others, and are drawn at once. A grid gets the two colours of a checkerboard.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Expression, Index, Reference, free_indices, names, walk
from platewright.algebra.tape import Slot, Tape
from platewright.errors import SizeError
from platewright.family import Array
from platewright.graph.graph import Factor, Graph
from platewright.schemas.blocks import SiteBlock
from platewright.schemas.slopes import apart

MOST_TIES = 50_000_000
IMPOSSIBLE = -1e200
"""Stands for minus infinity, so that a state with fewer violations is preferred as long as none is possible."""


class SiteMover:
    """The sites of one variable of one chain, with their colours."""

    def __init__(self, graph: Graph, block: SiteBlock, columns: Mapping[str, Array], sizes: Mapping[str, int]) -> None:
        (self.name,) = block.variables
        node = graph.nodes[self.name]
        self.shape = tuple(sizes[axis.plate] for axis in node.axes)
        self.sizes = sizes
        domain = node.domain
        self.lowest = 0 if domain.kind == "levels" else int(domain.lower)
        self.levels = sizes[str(domain.levels)] if domain.kind == "levels" else int(domain.upper - domain.lower) + 1
        every = [Factor(f.owner, f.axes, apart(f.expression, frozenset(f.axes))) for f in block.factors]
        self.factors = [factor for factor in every if not _is_local(factor, self.name)]
        self.alone = [factor for factor in every if _is_local(factor, self.name)]
        """Factors whose rows look at one site each: their weights do not depend on the other sites."""
        self.tape, self.slots = self._taped(self.factors)
        self.alone_tape, self.alone_slots = self._taped(self.alone)
        self.weights = np.zeros((0, 0))
        placed = {n for f in every for p in _places(f, self.name) for at in p.indices for n in names(at)}
        self.moves = not placed <= set(columns)
        """Whether the places of the sites depend on other unknowns, so that ties change from sweep to sweep."""
        self.classes: list[list[tuple[int, Array]]] | None = None
        self.members: list[Array] = []

    def _taped(self, factors: Sequence[Factor]) -> tuple[Tape, list[Slot]]:
        tape = Tape(self.sizes, (self.name,))
        return tape, [tape.broadcast(tape.add(factor.expression), factor.axes) for factor in factors]

    def begin_warm_up(self, sweeps: int) -> None:
        """Nothing is learned."""

    def end_warm_up(self) -> None:
        """Nothing was learned."""

    def move(self, values: Mapping[str, Array], generator: np.random.Generator) -> dict[str, Array]:
        """Every site once, colour after colour."""
        with np.errstate(all="ignore"):
            self.prepare(values)
            assert self.classes is not None
            flat = np.array(values[self.name], dtype=np.int64).ravel()
            for sites, rows in zip(self.members, self.classes, strict=True):
                scores = self._scores(flat, sites, rows)
                noise = generator.gumbel(size=scores.shape)
                flat[sites] = self.lowest + np.argmax(scores + noise, axis=1)
        return {self.name: flat.reshape(self.shape)}

    def prepare(self, values: Mapping[str, Array]) -> None:
        """Colours, where they are not known yet, and the weights that each site has by itself."""
        if self.classes is None or self.moves:
            self._colour(values)
        self.tape.fix(values)
        self.alone_tape.fix(values)
        count = int(np.prod(self.shape, dtype=int))
        self.weights = np.zeros((count, self.levels))
        owners = [self._touched(factor, values)[:, 0] for factor in self.alone]
        for level in range(self.levels):
            self.alone_tape.careful = True
            self.alone_tape.run({self.name: np.full(self.shape, self.lowest + level)})
            for slot, owner in zip(self.alone_slots, owners, strict=True):
                terms = _possible(np.ravel(self.alone_tape[slot]))
                self.weights[:, level] += np.bincount(owner, weights=terms, minlength=count)

    def _scores(self, flat: Array, sites: Array, rows: Sequence[tuple[int, Array]]) -> Array:
        """For each site of a colour the log weight of each level: all are set to it, and their rows told apart."""
        scores = self.weights[sites]
        tried = flat.copy()
        for level in range(self.levels):
            tried[sites] = self.lowest + level
            self.tape.careful = True
            self.tape.run({self.name: tried.reshape(self.shape)})
            for number, owner in rows:
                touched = owner >= 0
                terms = _possible(np.ravel(self.tape[self.slots[number]]))[touched]
                scores[:, level] += np.bincount(owner[touched], weights=terms, minlength=len(sites))
        return scores

    # -- colours ---

    def _colour(self, values: Mapping[str, Array]) -> None:
        """Colours for the sites, and for each colour which of its sites each row of each factor touches."""
        touched = [self._touched(factor, values) for factor in self.factors]
        colours = greedy_colours(int(np.prod(self.shape, dtype=int)), touched)
        self.members = [np.flatnonzero(colours == colour) for colour in range(int(colours.max(initial=-1)) + 1)]
        self.classes = []
        for sites in self.members:
            position = np.full(len(colours) + 1, -1)
            position[sites] = np.arange(len(sites))
            self.classes.append([(number, position[table].max(axis=1)) for number, table in enumerate(touched)])

    def _touched(self, factor: Factor, values: Mapping[str, Array]) -> Array:
        """For each row of a factor the numbers of all sites it looks at."""
        columns = [self._codes(place, factor.axes, values) for place in _places(factor, self.name)]
        rows = int(np.prod([self.sizes[axis.plate] for axis in factor.axes], dtype=int))
        width = sum(column.shape[1] for column in columns)
        if rows * width > MOST_TIES:
            raise SizeError(
                f"`{factor.owner}` ties {width} sites of `{self.name}` in {rows} rows",
                expected=f"at most {MOST_TIES:,} in all",
            )
        return np.concatenate(columns, axis=1)

    def _codes(self, place: Reference, axes: tuple[Index, ...], values: Mapping[str, Array]) -> Array:
        inner = tuple(sorted(free_indices(place) - set(axes), key=lambda index: index.name))
        environment = Environment(values, self.sizes)
        scope = (*axes, *inner)
        rows = int(np.prod([self.sizes[axis.plate] for axis in axes], dtype=int))
        count = int(np.prod(self.shape, dtype=int))
        if any(self.name in names(at) for at in place.indices):
            return np.tile(np.arange(count), (rows, 1))  # a site that decides which site is looked at: all may be
        found = [np.asarray(evaluate(at, environment, scope)).astype(np.intp) for at in place.indices]
        if not found:
            return np.zeros((rows, 1), dtype=np.intp)
        return np.ravel_multi_index(found, self.shape).reshape(rows, -1)


def _is_local(factor: Factor, name: str) -> bool:
    """Whether each row of a factor looks at one site, at a place that the axes of the factor alone decide."""
    places = _places(factor, name)
    inside = all(free_indices(at) <= set(factor.axes) for at in places[0].indices)
    return len(places) == 1 and inside and not any(name in names(at) for at in places[0].indices)


def _possible(terms: Array) -> Array:
    return np.maximum(np.where(np.isnan(terms), -np.inf, terms), IMPOSSIBLE)


def _places(factor: Factor, name: str) -> list[Reference]:
    found: list[Expression] = list(dict.fromkeys(walk(factor.expression)))
    return [part for part in found if isinstance(part, Reference) and part.name == name]


def greedy_colours(count: int, touched: Sequence[Array]) -> Array:
    """The least colour that no tied site before has, site after site."""
    ties: list[set[int]] = [set() for _ in range(count)]
    for table in touched:
        for row in np.unique(np.sort(table, axis=1), axis=0):
            together = np.unique(row).tolist()
            for site in together:
                ties[site].update(together)
    colours = np.full(count, -1)
    for site in range(count):
        taken = {int(colours[other]) for other in ties[site] if other < site}
        colours[site] = next(colour for colour in range(count + 1) if colour not in taken)
    return colours
