"""The judge of exact inference: every state of a small network, one after another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discrete_models import joint_table, random_graph, random_nodes
from platewright.graph.graph import Graph
from platewright.inference.finite import finite
from platewright.inference.infer import Inference, infer_on


@dataclass(frozen=True)
class Enumerated:
    """A joint table over all variables, and the positions of those that are known."""

    order: tuple[str, ...]
    joint: np.ndarray
    known: Mapping[str, int]

    @property
    def clamped(self) -> np.ndarray:
        """The joint with the evidence put in; axes of known variables stay, with one level."""
        at = tuple(slice(self.known[n], self.known[n] + 1) if n in self.known else slice(None) for n in self.order)
        return self.joint[at]

    @property
    def log_evidence(self) -> float:
        return float(np.log(self.clamped.sum()))

    def joint_of(self, names: Sequence[str]) -> np.ndarray:
        """The joint probabilities of unknown variables, axes as named."""
        others = tuple(axis for axis, name in enumerate(self.order) if name not in names)
        summed = self.clamped.sum(axis=others)
        kept = [name for name in self.order if name in names]
        return np.transpose(summed, [kept.index(name) for name in names]) / summed.sum()

    @property
    def best(self) -> float:
        """The log probability of the most probable state given the evidence."""
        return float(np.log(self.clamped.max() / self.clamped.sum()))


def random_case(seed: int) -> tuple[Graph, Enumerated, Inference]:
    """A random chain graph with evidence for what it marks as known."""
    graph = random_graph(seed)
    order = tuple(random_nodes(graph))
    joint = np.exp(joint_table(graph, order))
    generator = np.random.default_rng(seed + 1)
    known = {name: int(generator.integers(finite(graph, name).size)) for name in order if name in graph.known}
    evidence = {name: finite(graph, name).labels[at] for name, at in known.items()}
    return graph, Enumerated(order, joint, known), infer_on(graph, evidence)
