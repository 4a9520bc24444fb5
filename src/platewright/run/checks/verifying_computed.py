"""The law of computed probabilities, on small simulated data: each row of a table adds up to one."""

from __future__ import annotations

import numpy as np

from platewright.graph.graph import Graph
from platewright.run.checks.computed import computed_probabilities, is_off, sums_of
from platewright.run.checks.simulating import small_data
from platewright.run.checks.verifying import Law
from platewright.run.samplers.starting import near_centres


def verify_computed(graph: Graph, seed: int = 0) -> list[Law]:
    """One law for each vector of probabilities that the model computes."""
    every = computed_probabilities(graph)
    if not every:
        return []
    values, sizes = small_data(graph, seed)
    laws = []
    for computed in every:
        sums = sums_of(computed, graph, {}, sizes, values)
        if sums is None:
            continue
        wrong = is_off(sums)
        if wrong.any():  # draws of vague priors may be far from all that data allow
            known = {name: value for name, value in values.items() if graph.is_known(name)}
            near = sums_of(computed, graph, known, sizes, near_centres(graph, known, sizes))
            wrong = wrong if near is None else wrong & is_off(near)
        error = float(np.max(np.abs(sums - 1), where=wrong, initial=0.0))
        laws.append(Law(f"probabilities of {computed.node} add up to one", error, not wrong.any()))
    return laws
