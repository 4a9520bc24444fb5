"""Data that no value of the unknowns could have produced are an error that names their row.

y ~ Poisson(e * lam)        e = 0 and y = 3:   probability zero, whatever lam is
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np

from platewright.algebra.expression import Lag, walk
from platewright.algebra.span import Span, span, span_of_domain
from platewright.errors import ImpossibleWarning, SupportError
from platewright.family import Array
from platewright.graph.graph import Graph
from platewright.operation import Step
from platewright.operations.remove_deterministic import remove_deterministic

HINT = "look for rates, probabilities or widths of exactly zero, and for values outside their bounds"


def refuse_impossible(
    graph: Graph, columns: Mapping[str, Array], sizes: Mapping[str, int], evidence_only: bool = False
) -> None:
    """Say which row cannot be. Where only the evidence was asked for, minus infinity is an answer, and a warning.

    Rows that were read from a file and not kept are refused in any case: who has the file looks again.
    """
    found = f"the data have probability zero: {_guilty(graph, columns, sizes)}"
    if evidence_only and columns:
        warnings.warn(f"{found}; the log evidence is minus infinity", ImpossibleWarning, stacklevel=2)
        return
    raise SupportError(found, expected="data that the model can produce", hint=HINT)


def _guilty(graph: Graph, columns: Mapping[str, Array], sizes: Mapping[str, int]) -> str:
    step = remove_deterministic(graph)
    plain = step.after if isinstance(step, Step) else graph
    spans: dict[str, Span] = {name: span_of_domain(node.domain) for name, node in plain.nodes.items()}
    spans |= {name: (np.asarray(values), np.asarray(values)) for name, values in columns.items()}
    for name, node in plain.nodes.items():
        looks_back = any(isinstance(part, Lag) for part in walk(node.log_density))
        if node.kind != "random" or name not in columns or looks_back:
            continue
        _, most = span(node.log_density, spans, sizes, node.plates)
        wrong = np.broadcast_to(np.isneginf(most), tuple(sizes[axis.plate] for axis in node.plates))
        if wrong.any():
            at = np.unravel_index(int(np.argmax(wrong)), wrong.shape)
            where = ", ".join(f"{axis.plate} {number}" for axis, number in zip(node.plates, at, strict=True))
            value = np.asarray(columns[name])[at]
            shown = f" = {value:g}" if np.ndim(value) == 0 else ""
            place = f" at {where} (elements count from 0; {int(wrong.sum())} such in all)" if where else ""
            return f"`{name}`{shown}{place} cannot be, whatever the unknowns are"
    return "no value of the unknowns could have produced them together"
