"""New steps of sequences: they follow the last ones that were learned from, each drawn given those before it.

    past rows     a1 a2 a3 | b1 b2            new rows   b  a  b
    sequences     a1 a2 a3 a4 | b1 b2 b3 b4              b3 a4 b4

A step looks one row back, and functions of steps may look further; so a window of few rows is enough to draw the next.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import ZERO, Expression, Lag, Reference, Scan, walk
from platewright.algebra.put_in import put_in
from platewright.errors import DataError, MissingColumn, PlatewrightError
from platewright.family import Array
from platewright.graph.graph import Graph, topological
from platewright.language.plate import beginning, membership
from platewright.language.variable import Variable
from platewright.operation import Declined
from platewright.run.exact.posterior import lift
from platewright.run.forward import DRAW, draw_node

BEFORE = "@before"


@dataclass(frozen=True, eq=False)
class Steps:
    """Where new rows stand: `past` and `new` are row numbers by sequence and step, short sequences filled up."""

    plate: str
    past: Array
    new: Array
    sequence: Array
    """For each new row its sequence."""
    place: Array
    """For each new row its step, from 0 on."""

    @property
    def depth(self) -> int:
        """How many past rows are kept of each sequence."""
        return int(self.past.shape[1])

    @property
    def length(self) -> int:
        """The steps of the longest continuation."""
        return int(self.new.shape[1])


def looks_back(node: Variable) -> bool:
    """Whether a node depends on the step before."""
    return steps_looked_back(node) > 0


def steps_looked_back(node: Variable) -> int:
    """How many steps before its own a node depends on."""
    parts = [node.log_density, *([node.definition] if node.definition is not None else [])]
    return max((_lags(part) for whole in parts for part in walk(whole)), default=0)


def _lags(position: Expression) -> int:
    return 1 + _lags(position.index) if isinstance(position, Lag) else 0


def _without_lags(position: Expression) -> Expression:
    return _without_lags(position.index) if isinstance(position, Lag) else position


def steps_after(
    graph: Graph, plate: str, past: Mapping[str, Array], sizes: Mapping[str, int], new: Mapping[str, Array], count: int
) -> Steps | Declined:
    """Where `count` new rows of an ordered plate stand after the past rows."""
    if not sizes[plate]:
        return Declined("continue", f"no rows of `{plate}` were learned from")
    outer = graph.plates[plate].within
    old_codes, codes = np.zeros(sizes[plate], dtype=int), np.zeros(count, dtype=int)
    if outer is not None:
        name = membership(plate, outer)
        if name not in past:
            return Declined("continue", "the past rows were not kept: they were read from a file, or the fit was")
        if name not in new:
            return Declined("continue", f"the new rows do not say which `{outer}` they go on with")
        old_codes, codes = np.asarray(past[name]), np.asarray(new[name])
    groups = list(dict.fromkeys(codes.tolist()))
    if scans := [name for name, node in graph.nodes.items() if isinstance(node.definition, Scan)]:
        return Declined("continue", f"`{scans[0]}` follows from all steps before; give the new rows as missing cells")
    depth = max(sum(map(steps_looked_back, graph.nodes.values())), 1)
    sequence, place = np.zeros(count, dtype=int), np.zeros(count, dtype=int)
    windows, rows = [], []
    for number, group in enumerate(groups):
        own, mine = np.flatnonzero(old_codes == group), np.flatnonzero(codes == group)
        if not own.size:
            return Declined("continue", f"sequence {group} of `{plate}` has no past rows")
        last = own[-depth:]
        windows.append(np.concatenate([np.full(depth - len(last), last[0]), last]))
        sequence[mine], place[mine] = number, np.arange(len(mine))
        rows.append(mine)
    length = max((len(mine) for mine in rows), default=0)
    filled = [np.concatenate([mine, np.full(length - len(mine), mine[-1])]) for mine in rows]
    shape = (len(groups), length)
    return Steps(
        plate, np.array(windows, int).reshape(-1, depth), np.array(filled, int).reshape(shape), sequence, place
    )


def one_step_nodes(
    nodes: Mapping[str, Variable], steps: Steps, past: Mapping[str, Array]
) -> tuple[dict[str, Variable], dict[str, Array]]:
    """Nodes in which the step before is a known column, and these columns, for sequences that go on by one step."""
    columns: dict[str, Array] = {}
    found = dict(nodes)
    for name, node in nodes.items():
        put: dict[Expression, Expression] = {}
        for part in walk(node.log_density):
            if isinstance(part, Reference) and part.name in past and any(isinstance(at, Lag) for at in part.indices):
                back = max(_lags(at) for at in part.indices)
                at = tuple(_without_lags(step) for step in part.indices)
                put[part] = Reference(part.name + BEFORE * back, at)
                columns[part.name + BEFORE * back] = np.asarray(past[part.name])[steps.past[steps.sequence, -back]]
        if put:
            first = beginning(steps.plate)
            put |= {part: ZERO for part in walk(node.log_density) if isinstance(part, Reference) and part.name == first}
            parameters = tuple((key, put_in(value, put)) for key, value in node.parameters)
            found[name] = replace(node, log_density=put_in(node.log_density, put), parameters=parameters)
    return found, columns


@dataclass(frozen=True, eq=False)
class Continued:
    """Draws of all that is open on new steps, step by step."""

    graph: Graph
    steps: Steps
    past: Mapping[str, Array]
    """Columns of the past rows."""
    new: Mapping[str, Array]
    """What is given of the new rows."""
    known: Mapping[str, Array]
    """Everything that does not lie on the rows."""
    sizes: Mapping[str, int]
    parameters: Mapping[str, Array]
    """Draws of the parameters, and of past rows' unknowns; the first axis numbers the draws."""
    open: Collection[str]
    count: int

    def draws(self, generator: np.random.Generator) -> dict[str, Array]:
        """Values of the open variables at the new rows."""
        steps = self.steps
        state = {name: self._begun(name) for name in self.open}
        for number in range(steps.length):
            self._draw(number, state, generator)
        at = steps.sequence, steps.depth + steps.place
        return {name: values[:, at[0], at[1]] for name, values in state.items()}

    def _draw(self, number: int, state: dict[str, Array], generator: np.random.Generator) -> None:
        """One step of all sequences, parents first."""
        rows = len(self.steps.past) * (self.steps.depth + 1)
        sizes = {**self.sizes, self.steps.plate: rows, DRAW.plate: self.count}
        window = slice(number, number + self.steps.depth + 1)
        found = dict(self._elsewhere)
        given = {name: _flat(values[:, window], 0) for name, values in self._given.items()}
        for name in topological(self.graph):
            node = self.graph.nodes[name]
            if name in found or name in given or any(axis.plate not in sizes for axis in node.axes):
                continue
            seen = {other: _flat(values[:, :, window], 1) for other, values in state.items()}
            environment = Environment({**self.known, **given, **seen, **found}, sizes)
            drawn = frozenset({*found, *seen})
            if node.definition is not None:
                found[name] = np.array(evaluate(lift(node.definition, drawn, DRAW), environment, (DRAW, *node.axes)))
            elif name in state:
                values = draw_node(_alone(node), environment, drawn, generator, (DRAW,))
                shaped = values.reshape(self.count, len(self.steps.past), self.steps.depth + 1, *values.shape[2:])
                state[name][:, :, window.stop - 1] = shaped[:, :, -1]

    @cached_property
    def _given(self) -> dict[str, Array]:
        """Known columns by sequence and step: the last past rows, then the new ones."""
        steps = self.steps
        found = {}
        for name, values in self.past.items():
            if name in self.new and name not in self.open:
                behind = np.asarray(self.new[name])[steps.new]
                found[name] = np.concatenate([np.asarray(values)[steps.past], behind], axis=1)
        first = beginning(steps.plate)
        if first in self.past:
            found[first] = np.concatenate([self.past[first][steps.past], np.zeros(steps.new.shape, int)], axis=1)
        return found

    @cached_property
    def _elsewhere(self) -> dict[str, Array]:
        """Draws of what does not lie on the rows."""
        return {name: values for name, values in self.parameters.items() if name not in self.open}

    def _begun(self, name: str) -> Array:
        """An open variable by draw, sequence and step: known or drawn at past rows, still empty at the new ones."""
        steps = self.steps
        if name in self.parameters:
            behind = np.asarray(self.parameters[name])[:, steps.past]
        else:
            seen = np.asarray(self.past[name])[steps.past]
            behind = np.broadcast_to(seen, (self.count, *seen.shape))
        # The last past row stands in for steps that are not drawn yet: it is a possible value.
        ahead = np.repeat(behind[:, :, -1:], steps.length, axis=2)
        return np.concatenate([behind, ahead], axis=2)


def _flat(values: Array, leading: int) -> Array:
    """Sequences and steps as rows one after the other."""
    shape = values.shape
    return values.reshape(*shape[:leading], shape[leading] * shape[leading + 1], *shape[leading + 2 :])


def _alone(node: Variable) -> Variable:
    """The node for one step: its own past is a column like others."""
    return replace(node, log_density=ZERO)


def joined_rows(
    graph: Graph,
    steps: Steps,
    axes: Mapping[str, tuple[str, ...]],
    past: Mapping[str, Array],
    new: Mapping[str, Array],
    count: int,
) -> dict[str, Array]:
    """The columns that have `axes`, of the past rows and of the first `count` new ones, each behind its sequence."""
    outer = graph.plates[steps.plate].within
    size = len(past[beginning(steps.plate)])
    order = np.arange(size + count)
    if outer is not None:
        codes = np.concatenate([past[membership(steps.plate, outer)], new[membership(steps.plate, outer)][:count]])
        ranks = {code: rank for rank, code in enumerate(dict.fromkeys(codes.tolist()))}
        order = np.argsort([ranks[code] for code in codes.tolist()], kind="stable")
    found = {}
    for name in (name for name in axes if name in past):
        values = past[name]
        if steps.plate not in axes[name][:1]:
            found[name] = values
            continue
        if name == beginning(steps.plate):
            more = np.zeros(count, dtype=np.asarray(values).dtype)
        elif name in new:
            more = np.asarray(new[name])[:count]
        else:
            shown = name.split("@")[0]
            raise MissingColumn(f"the new rows have no `{shown}`", expected=f"a column `{shown}` for each new step")
        found[name] = np.concatenate([np.asarray(values), more])[order]
    return found


def checked(found: Steps | Declined, name: str) -> Steps:
    """The steps, or an error that says why a sequence cannot go on."""
    if isinstance(found, Declined):
        raise PlatewrightError(f"`{name}` depends on its own past, and cannot go on: {found.reason}")
    return found


def check_kept(past: Mapping[str, Array], plate: str) -> None:
    """The past rows must be there."""
    if beginning(plate) not in past:
        raise DataError(
            "the past rows were not kept: they were read from a file, or the fit was",
            hint="learn from data in memory to go on with its sequences",
        )
