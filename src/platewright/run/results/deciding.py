"""Decisions on what was learned: every combination of what is finite is a new row, and is weighed by its predictive.

    p(row, evidence | actions, data) u(row, actions)                          exact, where the predictive is
    mean over draws s of  p(row, evidence | actions, theta_s) u(row, actions, theta_s)

The second where utilities look at what was learned itself, or at numbers that are still open: these are drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Index
from platewright.data.bind import bind
from platewright.errors import MissingColumn, ModelError, NotSolvable, UnknownName
from platewright.family import Array
from platewright.graph.graph import Graph, topological
from platewright.inference.finite import Finite
from platewright.operation import Step
from platewright.operations.remove_deterministic import remove_deterministic
from platewright.operations.split_partly_known import as_written
from platewright.run.exact.posterior import lift
from platewright.run.execute import columns_of
from platewright.run.forward import DRAW, draw_node
from platewright.run.results.decision import Decision, Weighed, check_states
from platewright.run.results.influence import Influence, influence_of
from platewright.run.results.outcome import Outcome
from platewright.run.results.signature_of import signature_of
from platewright.run.samplers.sampling import SampledFit


def decide(fit: Outcome, evidence: Mapping[str, object] | None, seed: int | None) -> Decision:
    """The decision for one new case of which some things are given."""
    given = dict(evidence or {})
    graph = as_written(fit.derivation.graph, fit.derivation.steps)
    cases = cases_of(graph)
    for name in given:
        if name not in cases and (name not in graph.nodes or graph.nodes[name].kind != "input"):
            able = [*cases, *(n for n, node in graph.nodes.items() if node.kind == "input" and "@" not in n)]
            raise UnknownName(name, able, where="decide(...)")
    found = influence_of(graph, cases, frozenset(given))
    open_inputs = [n for n, node in graph.nodes.items() if node.kind == "input" and not node.role and "@" not in n]
    needed = found.touched | {p for n in (*found.axes, *found.numbers, *cases & given.keys()) for p in graph.parents[n]}
    for name in open_inputs:
        if name not in given and name in needed:
            raise MissingColumn(
                f"the input `{name}` has no value", where="decide(...)", expected=f"a value of `{name}`"
            )
    return Decision(found, cases, Learned(fit, graph, given, fit.seed if seed is None else seed))


def cases_of(graph: Graph) -> frozenset[str]:
    """What every case has a value of: what was known of the rows, and what is hidden in each of them."""
    rows = {axes for node in graph.nodes.values() if node.role == "action" and (axes := node.axes)}
    return frozenset(
        name
        for name, node in graph.nodes.items()
        if node.kind == "random" and (name in graph.known or node.axes in rows)
    )


@dataclass(frozen=True, eq=False)
class Learned:
    """Weighs what a decision is about by what was learned."""

    fit: Outcome
    graph: Graph
    given: Mapping[str, object]
    seed: int

    def __call__(self, influence: Influence) -> Weighed:
        """All combinations, as new rows."""
        axes = influence.axes
        drawn = bool(influence.numbers) or bool(influence.touched & set(self.fit.learned))
        names = axes if drawn else (*axes, *self._barren(influence))
        drawn = drawn or any(not self.graph.nodes[name].domain.is_finite for name in names)
        drawn = drawn or not cases_of(self.graph) <= self.graph.known or isinstance(self.fit, SampledFit)
        names = axes if drawn else names
        levels = tuple(self._levels(name) for name in names)
        count = check_states(levels)
        places = np.indices([one.size for one in levels]).reshape(len(levels), count)
        new = {
            name: [one.labels[place] for place in at] for name, one, at in zip(names, levels, places, strict=True)
        } | {name: [value] * count for name, value in self.given.items()}
        plates = {axis.plate for name in new for axis in self.graph.nodes[name].axes}
        shape = tuple(one.size for one in levels)
        if len(plates) > 1:
            raise NotSolvable(f"what is decided about lies on several plates: {', '.join(sorted(plates))}")
        if not plates:
            return self._without_rows(influence, levels, places)
        row = plates.pop()
        dataset = bind(signature_of(self.graph), new, labels=self.fit.labels)
        columns, sizes = columns_of(self.graph, dataset), {**self.fit.sizes, **dataset.sizes}
        if drawn:
            return self._by_draws(influence, levels, columns, sizes, row)
        cells = {name: values for name, values in new.items() if name in self._scored}
        weights = np.exp(self.fit.log_predictive(cells)) if self._scored & cells.keys() else np.ones(count)
        utility = self._utility(influence, Environment(columns, sizes), {}, row).reshape(-1)
        extra = tuple(range(len(axes), len(names)))
        worth = (weights * utility).reshape(shape).sum(axis=extra)
        return Weighed(levels[: len(axes)], weights.reshape(shape).sum(axis=extra), worth)

    @property
    def _scored(self) -> frozenset[str]:
        """Variables of a row that have a density, and what it depends on."""
        found = {n for n in self.graph.known if self.graph.nodes[n].kind == "random"}
        waiting = list(found)
        while waiting:
            for parent in self.graph.parents[waiting.pop()] - found:
                found.add(parent)
                waiting.append(parent)
        return frozenset(found)

    def _barren(self, influence: Influence) -> tuple[str, ...]:
        """Variables of the row that nothing here depends on: a complete row has them too."""
        cases = [n for n in self.graph.known if self.graph.nodes[n].kind == "random"]
        return tuple(sorted(n for n in cases if n not in influence.axes and n not in self.given))

    def _levels(self, name: str) -> Finite:
        domain = self.graph.nodes[name].domain
        if domain.kind != "levels":
            if not domain.is_finite:
                return Finite(name, 0, ())
            return Finite(name, int(domain.lower), tuple(range(int(domain.lower), int(domain.upper) + 1)))
        plate = str(domain.levels)
        labels = self.fit.labels.get(plate) or self.graph.plates[plate].labels
        size = self.graph.plates[plate].size or self.fit.sizes[plate]
        return Finite(name, 0, tuple(labels) if labels else tuple(range(size)))

    def _utility(
        self, influence: Influence, environment: Environment, drawn: Mapping[str, Array], row: str | None
    ) -> Array:
        """The sum of the utilities: draw (where there are any), then row."""
        values, lifted = dict(environment.values), set(drawn)
        leading = (DRAW,) if drawn else ()
        for name in influence.functions:
            node = self.graph.nodes[name]
            assert node.definition is not None
            mentioned = frozenset(lifted)
            form = lift(node.definition, mentioned, DRAW) if drawn else node.definition
            values[name] = np.array(evaluate(form, Environment(values, environment.sizes), (*leading, *node.axes)))
            if drawn:
                lifted.add(name)
        total: Array = np.zeros(())
        for name in influence.utilities:
            plates = [axis.plate for axis in self.graph.nodes[name].axes]
            if plates not in ([], [row]):
                raise ModelError(
                    f"the utility `{name}` is on {', '.join(plates)}",
                    expected=f"one for each {row}" if row else "no plate, as its actions",
                )
            total = total + (values[name] if plates or row is None else values[name][..., None])
        return total

    # -- draws ---

    def _parameters(self) -> dict[str, Array]:
        return {name: values for name, values in self.fit.parameters().items() if name in self.graph.nodes}

    def _by_draws(
        self,
        influence: Influence,
        levels: tuple[Finite, ...],
        columns: Mapping[str, Array],
        sizes: Mapping[str, int],
        row: str,
    ) -> Weighed:
        nodes, every = self.graph.nodes, self._parameters()
        drawn = {n: v for n, v in every.items() if row not in {axis.plate for axis in nodes[n].axes}}
        count = len(next(iter(drawn.values())))
        step = remove_deterministic(self.graph)
        plain = step.after if isinstance(step, Step) else self.graph
        environment = Environment({**columns, **drawn}, {**sizes, DRAW.plate: count})
        axis = next(a for n in (*influence.axes, *self.given) for a in self.graph.nodes[n].axes)
        logs = np.zeros((count, sizes[row]))
        weighed = [n for n in (*influence.axes, *self.given) if plain.nodes[n].kind == "random"]
        for name in weighed:
            logs = logs + self._evaluated(plain, name, frozenset(drawn), environment, axis)
        generator = np.random.default_rng(self.seed)
        for name in (n for n in topological(plain) if n in influence.numbers):
            node = plain.nodes[name]
            drawn[name] = draw_node(node, environment, frozenset(drawn), generator, (DRAW,))
            environment = Environment({**environment.values, name: drawn[name]}, environment.sizes)
        utility = np.broadcast_to(self._utility(influence, environment, drawn, row), logs.shape)
        chances = np.exp(logs - logs.max())
        shape = tuple(one.size for one in levels)
        chances = chances.reshape(count, *shape)
        worth = chances * utility.reshape(count, *shape)
        return Weighed(levels, chances.mean(axis=0), worth.mean(axis=0), _error(influence, worth, chances))

    def _evaluated(self, plain: Graph, name: str, drawn: frozenset[str], environment: Environment, row: Index) -> Array:
        form = lift(plain.nodes[name].log_density, drawn, DRAW)
        with np.errstate(divide="ignore"):
            return np.asarray(evaluate(form, environment, (DRAW, row)), dtype=float)

    def _without_rows(self, influence: Influence, levels: tuple[Finite, ...], places: Array) -> Weighed:
        """Actions that are no row's, with utilities of what was learned."""
        if extra := [*influence.hidden, *influence.numbers, *(n for group in influence.seen for n in group)]:
            raise NotSolvable(f"`{extra[0]}` is on no plate of rows", hint="m.decide, for a network without plates")
        drawn = self._parameters()
        count = len(next(iter(drawn.values()))) if drawn else 1
        found = np.empty((count, places.shape[1]))
        for number, at in enumerate(places.T):
            actions = {name: np.asarray(int(place)) for name, place in zip(influence.axes, at, strict=True)}
            values = {**self.fit.columns, **self._given_numbers(), **drawn, **actions}
            environment = Environment(values, {**self.fit.sizes, DRAW.plate: count})
            found[:, number] = self._utility(influence, environment, drawn, None)
        shape = tuple(one.size for one in levels)
        found = found.reshape(count, *shape)
        return Weighed(levels, np.ones(shape), found.mean(axis=0), _error(influence, found, np.ones_like(found)))

    def _given_numbers(self) -> dict[str, Array]:
        found = {}
        for name, value in self.given.items():
            is_level = self.graph.nodes[name].domain.kind == "levels"
            found[name] = np.asarray(self._levels(name).position(value) if is_level else value)
        return found


def _error(influence: Influence, worth: Array, chances: Array) -> float:
    """The largest standard error of the expected utility of some actions: a ratio of two means over draws."""
    if len(worth) < 2:
        return 0.0
    random = tuple(1 + place for place, name in enumerate(influence.axes) if name not in influence.actions)
    above, below = worth.sum(axis=random), chances.sum(axis=random)
    mass = below.mean(axis=0)
    off = (above - below * (above.mean(axis=0) / mass)) / mass
    return float(off.std(axis=0, ddof=1).max() / np.sqrt(len(worth)))
