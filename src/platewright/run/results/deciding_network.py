"""Decisions on a network without plates: exact inference weighs what is finite, action by action."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Index, names
from platewright.errors import MissingColumn, NotSolvable
from platewright.family import Array
from platewright.graph.graph import Graph, topological
from platewright.inference.answers import Probabilities
from platewright.inference.finite import finite, read_evidence
from platewright.inference.infer import infer_on
from platewright.run.exact.posterior import lift
from platewright.run.results.decision import Decision, Weighed, check_states
from platewright.run.results.influence import Influence, influence_of

STATE = Index("state@", "state@")


def decide_network(graph: Graph, evidence: Mapping[str, object] | None) -> Decision:
    """The decision for a graph whose numbers are all known."""
    given = dict(evidence or {})
    read_evidence(graph, given)
    random = frozenset(name for name, node in graph.nodes.items() if node.kind in ("random", "undirected"))
    for name, node in graph.nodes.items():
        if node.axes and node.kind != "deterministic" and "@" not in name:
            raise NotSolvable(
                f"`{name}` is on plate {', '.join(axis.plate for axis in node.axes)}",
                expected="an influence diagram without plates",
                hint="m.learn(data).decide(evidence), for a new case of what was learned",
            )
    found = influence_of(graph, random, frozenset(given))
    if found.numbers:
        raise NotSolvable(f"`{found.numbers[0]}` has infinitely many values", expected="utilities of finite variables")
    for name, node in graph.nodes.items():
        if node.kind == "input" and not node.role and name not in given and "@" not in name:
            raise MissingColumn(f"the input `{name}` has no value", expected=f"evidence for {name}")
    return Decision(found, random, Known(graph, given))


@dataclass(frozen=True, eq=False)
class Known:
    """Weighs what a decision is about by exact inference."""

    graph: Graph
    given: Mapping[str, object]

    @cached_property
    def _plain(self) -> Graph:
        """Without utilities, and without functions that are there for them alone."""
        graph = self.graph
        for name in reversed(topological(graph)):
            node = graph.nodes[name]
            children = [one for one, other in graph.nodes.items() if name in other.parents]
            used = any(name in names(potential.expression) for potential in graph.potentials.values())
            if node.kind == "deterministic" and not children and not used:
                graph = graph.without([name])
        return graph

    def __call__(self, influence: Influence) -> Weighed:
        """Tables over all that the problem hangs on."""
        axes = influence.axes
        levels = tuple(finite(self.graph, name) for name in axes)
        check_states(levels)
        shape = tuple(one.size for one in levels)
        random = tuple(name for name in axes if name not in influence.actions)
        weights = np.empty(shape)
        for at in np.ndindex(*(levels[axes.index(name)].size for name in influence.actions)):
            chosen = {n: levels[axes.index(n)].labels[place] for n, place in zip(influence.actions, at, strict=True)}
            where = tuple(
                at[influence.actions.index(name)] if name in influence.actions else slice(None) for name in axes
            )
            found = infer_on(self._plain, {**self.given, **chosen}, about=random)
            joint = found.joint(random) if random else None
            # What is given does not hang on actions that are not taken yet.
            weights[where] = joint.probabilities if isinstance(joint, Probabilities) else 1.0
        utility = self._utility(influence, levels).reshape(shape)
        return Weighed(levels, weights, weights * utility)

    def _utility(self, influence: Influence, levels: tuple[object, ...]) -> Array:
        """The sum of utilities at every combination."""
        sizes = [finite(self.graph, name).size for name in influence.axes]
        count = int(np.prod(sizes, dtype=np.int64))
        places = np.indices(sizes).reshape(len(sizes), count)
        lower = [finite(self.graph, name).lower for name in influence.axes]
        values: dict[str, Array] = {name: at + low for name, at, low in zip(influence.axes, places, lower, strict=True)}
        lifted = set(values)
        values |= {name: np.asarray(value) for name, value in read_evidence(self.graph, dict(self.given)).items()}
        plates = {name: plate.size for name, plate in self.graph.plates.items() if plate.size is not None}
        for name in influence.functions:
            definition = self.graph.nodes[name].definition
            assert definition is not None
            form = lift(definition, frozenset(lifted), STATE)
            environment = Environment(values, {**plates, STATE.plate: count})
            values[name] = np.broadcast_to(
                np.asarray(evaluate(form, environment, (STATE, *self.graph.nodes[name].axes))),
                (count, *(plates[axis.plate] for axis in self.graph.nodes[name].axes)),
            )
            lifted.add(name)
        total: Array = np.zeros(count)
        for name in influence.utilities:
            total = total + values[name]
        return total
