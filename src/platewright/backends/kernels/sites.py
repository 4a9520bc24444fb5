"""Discrete unknowns site by site  (Equation 25): each drawn from the potentials that touch it, given its neighbours.

    p(x_i | rest)  proportional to  exp( sum of the log factors in which x_i occurs )

Sites that share a row of a factor are tied. The ties are coloured greedily; sites of one colour have no tie, are
independent given all others, and are drawn at once. A grid gets the two colours of a checkerboard.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from platewright.family import Array

IMPOSSIBLE = -1e200
"""Stands for minus infinity, so that a state with fewer violations is preferred as long as none is possible."""

Values = Mapping[str, Array]
Rows = Callable[[Values], list[Array]]


class SiteMover:
    """The sites of one variable of one chain, with their colours.

    `together` gives the terms of each factor that ties sites, row by row, and `touched` the sites that each row looks
    at; `alone` and `owners` do the same for factors whose rows look at one site each. All are functions of all values.
    """

    def __init__(
        self,
        name: str,
        shape: tuple[int, ...],
        lowest: int,
        levels: int,
        together: Rows,
        touched: Rows,
        alone: Rows,
        owners: Rows,
        moves: bool = False,
    ) -> None:
        self.name, self.shape, self.lowest, self.levels = name, shape, lowest, levels
        self.together, self.touched, self.alone, self.owners = together, touched, alone, owners
        self.moves = moves
        """Whether the places of the sites depend on other unknowns, so that ties change from sweep to sweep."""
        self.weights = np.zeros((0, 0))
        self.classes: list[list[tuple[int, Array]]] = []
        self.members: list[Array] = []

    def begin_warm_up(self, sweeps: int) -> None:
        """Nothing is learned."""

    def end_warm_up(self) -> None:
        """Nothing was learned."""

    def move(self, values: Values, generator: np.random.Generator) -> dict[str, Array]:
        """Every site once, colour after colour."""
        with np.errstate(all="ignore"):
            self.prepare(values)
            flat = np.array(values[self.name], dtype=np.int64).ravel()
            for sites, rows in zip(self.members, self.classes, strict=True):
                scores = self.scores(values, flat, sites, rows)
                noise = generator.gumbel(size=scores.shape)
                flat[sites] = self.lowest + np.argmax(scores + noise, axis=1)
        return {self.name: flat.reshape(self.shape)}

    def prepare(self, values: Values) -> None:
        """Colours, where they are not known yet, and the weights that each site has by itself."""
        if not self.members or self.moves:
            self.colour(values)
        count = int(np.prod(self.shape, dtype=int))
        self.weights = np.zeros((count, self.levels))
        owners = self.owners(values)
        for level in range(self.levels):
            terms = self.alone({**values, self.name: np.full(self.shape, self.lowest + level)})
            for term, owner in zip(terms, owners, strict=True):
                self.weights[:, level] += np.bincount(owner[:, 0], weights=possible(term), minlength=count)

    def scores(self, values: Values, flat: Array, sites: Array, rows: Sequence[tuple[int, Array]]) -> Array:
        """For each site of a colour the log weight of each level: all are set to it, and their rows told apart."""
        scores = self.weights[sites]
        tried = flat.copy()
        for level in range(self.levels):
            tried[sites] = self.lowest + level
            terms = self.together({**values, self.name: tried.reshape(self.shape)})
            for number, owner in rows:
                here = owner >= 0
                scores[:, level] += np.bincount(owner[here], possible(terms[number])[here], minlength=len(sites))
        return scores

    def colour(self, values: Values) -> None:
        """Colours for the sites, and for each colour which of its sites each row of each factor touches."""
        touched = self.touched(values)
        colours = greedy_colours(int(np.prod(self.shape, dtype=int)), touched)
        self.members = [np.flatnonzero(colours == colour) for colour in range(int(colours.max(initial=-1)) + 1)]
        self.classes = []
        for sites in self.members:
            position = np.full(len(colours) + 1, -1)
            position[sites] = np.arange(len(sites))
            self.classes.append([(number, position[table].max(axis=1)) for number, table in enumerate(touched)])


def site_numbers(codes: Sequence[Array], shape: tuple[int, ...], rows: int) -> Array:
    """For each row the numbers of the sites at given places, one column for each."""
    if not codes:
        return np.zeros((rows, 1), dtype=np.intp)
    return np.ravel_multi_index([np.asarray(code).astype(np.intp) for code in codes], shape).reshape(rows, -1)


def possible(terms: Array) -> Array:
    """Log weights as numbers: what is impossible is only very unlikely."""
    flat = np.ravel(terms)
    return np.maximum(np.where(np.isnan(flat), -np.inf, flat), IMPOSSIBLE)


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
