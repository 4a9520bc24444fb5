"""The log joint of a translated model at given values: by the graph and the plain evaluator, nothing else."""

from __future__ import annotations

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.graph.graph import read_graph, topological
from platewright.language.bugs.reader import BugsModel
from platewright.language.plate import membership


def sizes_of(read: BugsModel) -> dict[str, int]:
    """The sizes of all plates; those of a `like` plate come from its root."""
    found = {}
    for name, plate in read.model.plates.items():
        found[name] = plate.size
    return {name: int(size) for name, size in found.items() if size is not None}


def first_steps(read: BugsModel, name: str) -> np.ndarray:
    """One at the first element of each sequence along an ordered plate."""
    plate = read.model.plates[name]
    whose = read.draft.columns[membership(name, plate.within)] if plate.within else np.zeros(plate.size)
    return np.r_[True, np.diff(whose) != 0].astype(float)


def environment_of(read: BugsModel, arrays: dict[str, np.ndarray]) -> Environment:
    """Values of every variable: given ones gathered, deterministic ones computed with parents first."""
    graph = read_graph(read.model)
    environment = Environment(read.values(arrays), sizes_of(read))
    for name in topological(graph):
        node = graph.nodes[name]
        if node.kind == "deterministic":
            with np.errstate(all="ignore"):
                value = evaluate(node.definition, environment, node.axes)
            environment = environment.with_values({name: value})
        elif name.startswith("first@") and name not in environment.values:
            environment = environment.with_values({name: first_steps(read, node.axes[0].plate)})
    return environment


def log_joint(read: BugsModel, arrays: dict[str, np.ndarray]) -> float:
    """The log joint density."""
    environment = environment_of(read, arrays)
    with np.errstate(all="ignore"):
        return float(evaluate(read_graph(read.model).log_joint, environment))
