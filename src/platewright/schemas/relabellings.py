"""Plates whose elements could change places, but for some factors: those alone decide a step that exchanges them.

    rate[k] ~ Gamma(a[k], 1),  z[n] ~ Categorical(p),  y[n] ~ Poisson(rate[z[n]])

The rows cannot tell one class from another, the priors can: each way to number the classes is a mode, and a chain that
starts in a poor one stays there. What exchanges two elements, in all arrays over the plate and in all labels, is a
jump by the ratio of the factors that show it. Where no factor does, draws are relabelled afterwards
(`run/samplers/labels.py`), unless no label is drawn, as for the columns of loadings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from platewright.graph.graph import Factor, Graph
from platewright.recognition.exchangeable import Symmetry, along_plates, plate_groups, shows

MOST_ELEMENTS = 64
"""Elements of a plate that are exchanged."""


@dataclass(frozen=True)
class Relabelling:
    """What moves when elements of a plate, and of those like it, change places."""

    symmetry: Symmetry
    """That of all factors but these."""
    broken: tuple[Factor, ...]
    """The factors that an exchange changes."""

    @property
    def plates(self) -> tuple[str, ...]:
        """The plate, and those like it."""
        return self.symmetry.plates

    @property
    def size(self) -> int:
        """How many elements there are."""
        return self.symmetry.size

    @property
    def parts(self) -> dict[str, tuple[tuple[int, ...], bool]]:
        """By unknown its axes over the plate, and whether its values are labels of it."""
        along, labels = self.symmetry.along, self.symmetry.levelled
        return {name: (along.get(name, ()), name in labels) for name in dict.fromkeys((*along, *labels))}


def relabellings(graph: Graph, factors: Sequence[Factor]) -> list[Relabelling]:
    """All plates whose elements the data cannot tell apart."""
    found = (_of_plates(graph, factors, plates) for plates in plate_groups(graph))
    return [one for one in found if one is not None]


def _of_plates(graph: Graph, factors: Sequence[Factor], plates: tuple[str, ...]) -> Relabelling | None:
    size = graph.plates[plates[0]].size
    nested = any(plate.within is not None and {name, plate.within} & {*plates} for name, plate in graph.plates.items())
    if size is None or not 2 <= size <= MOST_ELEMENTS or nested:
        return None
    along = along_plates(graph, plates)
    labels = tuple(name for name in graph.unknown if graph.nodes[name].domain.levels in plates)
    whole = Symmetry(plates, (tuple(range(size)),), size, labels, along)
    met = [factor for factor in factors if factor.names & {*along, *labels}]
    broken = [factor for factor in met if shows(graph, factor, plates, size)]
    told = any(factor.names & graph.known for factor in met if factor not in broken)
    if not told or (labels and not broken):
        return None
    return Relabelling(whole, tuple(broken))
