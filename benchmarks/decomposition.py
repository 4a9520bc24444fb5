"""Time the finest decomposition on growing graphs and print how it grows  (Theorem 6.1 promises O(|X|^2)).

    PYTHONPATH=src python benchmarks/decomposition.py

Half of the nodes are parameters, half are data: a random Bayesian network on the data, a mean and a scale each, every
tenth node hidden so that some pieces grow.
"""

from __future__ import annotations

import math
import time

import numpy as np

from platewright.families.gamma import GAMMA
from platewright.families.normal import NORMAL
from platewright.graph.graph import Graph, read_graph
from platewright.language.distribution import Constructor
from platewright.language.model import Model
from platewright.operation import Declined
from platewright.operations.decompose import decompose

Normal, Gamma = Constructor(NORMAL), Constructor(GAMMA)
NODES = (250, 500, 1000, 2000)


def network(nodes: int) -> Graph:
    """A Gaussian network of `nodes` nodes: a slope and an observed variable each, up to three parents."""
    generator = np.random.default_rng(nodes)
    m = Model(f"network{nodes}")
    row = m.plate("row")
    known = []
    for at in range(nodes // 2):
        setattr(m, f"w{at}", Normal(0, sd=1))
        mean = getattr(m, f"w{at}")
        for parent in generator.choice(at, size=min(at, 3), replace=False) if at else ():
            mean = mean + getattr(m, f"w{at}") * getattr(m, f"x{parent}")
        setattr(m, f"x{at}", Normal(mean, sd=1, plates=row))
        if at % 10:
            known.append(f"x{at}")
    return read_graph(m, known)


def seconds(nodes: int) -> float:
    """The shortest of three decompositions, each of a graph that has not been asked anything yet."""
    best = math.inf
    for _ in range(3):
        graph = network(nodes)
        graph = Graph(graph.title, graph.plates, graph.nodes, graph.potentials, graph.known)
        start = time.perf_counter()
        result = decompose(graph)
        best = min(best, time.perf_counter() - start)
        assert not isinstance(result, Declined)
    return best


def main() -> None:
    """Print one line a size and the exponent of growth from the first to the last."""
    times = {}
    for nodes in NODES:
        times[nodes] = seconds(nodes)
        print(f"{nodes:6d} nodes   {1e3 * times[nodes]:9.1f} ms")
    growth = math.log(times[NODES[-1]] / times[NODES[0]]) / math.log(NODES[-1] / NODES[0])
    print(f"growth exponent {growth:.2f} (the theorem allows 2)")


if __name__ == "__main__":
    main()
