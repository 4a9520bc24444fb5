"""Families of networks and of decomposable graphs, whose members are learned as ordinary models."""

from __future__ import annotations

from platewright.pipeline import Model
from platewright.structure import decomposable, families


class Structures(families.Structures):
    __doc__ = families.Structures.__doc__

    def make_model(self, title: str) -> Model:
        """An empty model, for the fit of a network."""
        return Model(title)


class Decomposable(decomposable.Decomposable):
    __doc__ = decomposable.Decomposable.__doc__

    def make_model(self, title: str) -> Model:
        """An empty model, for the fit of a graph."""
        return Model(title)
