"""The coordinates of the unknowns of a model: which kind each domain asks for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from platewright.algebra.domain import Domain
from platewright.backends.kernels import coordinates as kernel
from platewright.backends.kernels.coordinates import Joined, Plain, coordinates_kind
from platewright.language.variable import Variable


def unconstrained(nodes: Sequence[Variable], sizes: Mapping[str, int]) -> Joined:
    """The coordinates of several unknowns, one after another."""
    return Joined([coordinates(n.name, n.domain, tuple(sizes[axis.plate] for axis in n.axes)) for n in nodes])


def coordinates(name: str, domain: Domain, shape: tuple[int, ...]) -> Plain:
    """The coordinates of one unknown."""
    kind, ends = coordinates_kind(domain)
    found: Plain = getattr(kernel, kind)(name, shape, *ends)
    return found
