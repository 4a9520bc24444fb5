"""Tables of one prior network: as many rows seen before as `sample_size` says, spread as that network says  (BDe).

    alpha[level, state of the parents] = sample_size p(level, state | prior network)       (Heckerman et al., 1995)

The network's joint is written out; its states are rows that weigh nothing among the data and their share in the prior.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from platewright.errors import ModelError, ParameterError, SizeError
from platewright.graph.graph import read_graph
from platewright.inference.answers import Probabilities
from platewright.inference.finite import finite
from platewright.inference.infer import infer_on
from platewright.language.model import Model
from platewright.structure.columns import Column

MOST_STATES = 2**20


@dataclass(frozen=True, eq=False)
class PriorNetwork:
    """The probability of every combination of levels, with an axis for each column."""

    joint: NDArray[np.float64]

    @property
    def codes(self) -> NDArray[np.uint16]:
        """Every combination, by column."""
        return np.indices(self.joint.shape, dtype=np.uint16).reshape(self.joint.ndim, -1)

    def of(self, nodes: Sequence[int]) -> NDArray[np.float64]:
        """The probabilities of some columns, in their order."""
        ordered = sorted(nodes)
        summed = self.joint.sum(axis=tuple(set(range(self.joint.ndim)) - set(nodes)))
        return np.asarray(np.transpose(summed, [ordered.index(node) for node in nodes]))


def read_prior_network(model: object, columns: Sequence[Column]) -> PriorNetwork:
    """A network without unknown numbers over the same columns, each with the same levels."""
    where = "prior_network="
    if not isinstance(model, Model):
        raise ParameterError(f"{where}{model!r}", expected="a model of the columns, such as pw.read_bif(path)")
    if any(column.kind != "category" or column.hidden for column in columns):
        raise ModelError("a prior network is one of tables", where=where, expected="columns that are all categories")
    states = float(np.prod([len(column.levels) for column in columns], dtype=float))
    if states > MOST_STATES:
        raise SizeError(
            f"the columns have {states:.3g} states together", where=where, expected=f"at most {MOST_STATES}"
        )
    graph = read_graph(model)
    for column in columns:
        if column.name not in graph.nodes:
            raise ModelError(f"the prior network has no `{column.name}`", where=where, expected=", ".join(graph.nodes))
        if (size := finite(graph, column.name).size) != len(column.levels):
            raise ModelError(
                f"`{column.name}` has {len(column.levels)} levels in the table and {size} in the prior network",
                where=where,
                hint="declare the categories of the column",
            )
    found = infer_on(graph).joint([column.name for column in columns])
    assert isinstance(found, Probabilities)
    joint = np.asarray(found.probabilities, dtype=float)
    places = [[finite(graph, column.name).position(level) for level in column.levels] for column in columns]
    joint = joint[np.ix_(*places)]
    if not (joint > 0).all():
        raise ModelError(
            "the prior network rules out some rows",
            where=where,
            expected="probabilities above 0: a prior count of nought cannot be learned from",
        )
    return PriorNetwork(joint)
