"""Print where a search begins: moderate values of unknowns, jittered, as the library begins."""

from __future__ import annotations

from math import isfinite

from platewright.backends.numpy.program import Emitter
from platewright.language.variable import Variable


def started(emitter: Emitter, node: Variable) -> str:
    """A value of the right kind."""
    shape = "(" + "".join(f"{emitter.printer.size(axis.plate)}, " for axis in node.axes).rstrip() + ")"
    domain = node.domain
    match domain.kind:
        case "levels":
            return f"generator.integers(0, {emitter.printer.size(str(domain.levels))}, {shape})"
        case "integer":
            upper = int(domain.upper) if isfinite(domain.upper) else int(domain.lower) + 3
            return f"generator.integers({int(domain.lower)}, {upper + 1}, {shape})"
        case "simplex":
            return f"draw_shares(generator, np.full({shape}, 5.0))"
        case "matrix":
            return f"near_identity(generator, {shape})"
        case "circle":
            return f"generator.uniform(-np.pi, np.pi, {shape})"
    if isfinite(domain.lower) and isfinite(domain.upper):
        return f"{domain.lower!r} + {domain.upper - domain.lower!r} * generator.beta(4.0, 4.0, {shape})"
    if isfinite(domain.lower):
        beyond = f"np.exp(0.3 * generator.standard_normal({shape}))"
        return f"{domain.lower!r} + {beyond}" if domain.lower else beyond
    if isfinite(domain.upper):
        return f"{domain.upper!r} - np.exp(0.3 * generator.standard_normal({shape}))"
    return f"0.5 * generator.standard_normal({shape})"
