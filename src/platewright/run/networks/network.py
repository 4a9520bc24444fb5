"""Questions to one network, one set of evidence or a table of them: what they share is made once.

m.infer({"xray": "yes"})["lung"]          one set
m.infer(frame)["lung"]                    a row for each row of the frame; a missing cell is unknown
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np

from platewright.errors import DataError, NotSolvable, SupportError, UnknownName
from platewright.family import Array
from platewright.graph.graph import Graph
from platewright.inference.answers import ProbabilitiesByRow
from platewright.inference.finite import Finite, finite, read_evidence
from platewright.inference.infer import Answered, Inference, infer_on
from platewright.inference.junction_tree import memory_limit
from platewright.inference.problem import Problem, check_no_plates
from platewright.operation import Declined
from platewright.run.networks.compiled import CompiledNetwork, compile_network

ROWS_AT_ONCE = 10_000


@dataclass(frozen=True, eq=False)
class InferenceByRow:
    """The answers to a table of evidence: the marginals of each row, and its log evidence."""

    levels: Mapping[str, Finite]
    marginals: Mapping[str, Array]
    log_evidence: Array

    def __getitem__(self, name: str) -> ProbabilitiesByRow:
        if name not in self.levels:
            raise UnknownName(name, self.levels, where="variables with finitely many values")
        return ProbabilitiesByRow(self.levels[name], self.marginals[name])

    def __len__(self) -> int:
        return len(self.log_evidence)

    def __repr__(self) -> str:
        return f"<Inference on {len(self)} rows of evidence>"


@dataclass(frozen=True, eq=False)
class Network:
    """A graph without plates that is asked again and again."""

    graph: Graph

    @cached_property
    def compiled(self) -> CompiledNetwork | Declined:
        """Its junction tree with messages in C."""
        return compile_network(check_no_plates(self.graph))

    def infer(self, evidence: Any, about: Iterable[str] | None, most_bytes: int | None) -> Inference | InferenceByRow:
        """Answers given some values, or given each row of a table of them."""
        if is_table(evidence):
            return self._by_row(evidence)
        if about is None and most_bytes is None and (found := self._at_once(evidence or {})) is not None:
            return found
        return infer_on(self.graph, evidence, about, most_bytes)

    def _at_once(self, evidence: Mapping[str, object]) -> Inference | None:
        """All marginals by messages in C; None where that does not go or the evidence is not as it should be."""
        network = self.compiled
        if isinstance(network, Declined):
            return None
        given = np.full((1, len(network.tree.names)), -1, dtype=np.int64)
        for name, value in evidence.items():
            place = network.levels[name].place(value) if name in network.column else None
            if place is None:
                return None
            given[0, network.column[name]] = place
        done = network.marginals(given)
        if done is None or not done.found[0]:
            return None
        starts, values = network.starts, np.asarray(done.values[0])
        probabilities = {name: values[starts[at] : starts[at + 1]] for name, at in network.column.items()}
        unknown = tuple(name for name in self.graph.unknown if name not in evidence)
        answered = Answered(unknown, network.levels, probabilities, float(done.log_evidence[0]), network.tree)
        return Inference(evidence, partial(self._problem, evidence), answered)

    def _problem(self, evidence: Mapping[str, object]) -> Problem:
        """For questions about several variables at once."""
        graph = replace(self.graph, known=frozenset(evidence))
        return Problem(graph, read_evidence(graph, evidence), frozenset(graph.nodes), memory_limit())

    def _by_row(self, evidence: Any) -> InferenceByRow:
        columns = _columns(evidence)
        for name in columns:
            if name not in self.graph.nodes or self.graph.nodes[name].kind != "random":
                raise UnknownName(name, self.graph.unknown, where="columns of evidence")
        for name in self.graph.unknown:
            if not self.graph.nodes[name].domain.is_finite:
                raise NotSolvable(
                    f"a table of evidence where `{name}` is real", hint="m.infer(...) of each row by itself"
                )
        levels = {name: finite(self.graph, name) for name in self.graph.unknown}
        places = {name: _places(levels[name], cells) for name, cells in columns.items()}
        rows = len(next(iter(places.values())))
        marginals = {name: np.empty((rows, one.size)) for name, one in levels.items()}
        logs = np.empty(rows)
        for start in range(0, rows, ROWS_AT_ONCE):
            part = slice(start, min(start + ROWS_AT_ONCE, rows))
            self._fill({name: at[part] for name, at in places.items()}, part, levels, marginals, logs)
        return InferenceByRow(levels, marginals, logs)

    def _fill(
        self,
        places: Mapping[str, Array],
        part: slice,
        levels: Mapping[str, Finite],
        marginals: Mapping[str, Array],
        logs: Array,
    ) -> None:
        """The answers to some rows; those that messages in C leave are asked one by one."""
        network, count = self.compiled, part.stop - part.start
        left: Sequence[int] = range(count)
        if not isinstance(network, Declined):
            given = np.full((count, len(network.tree.names)), -1, dtype=np.int64)
            for name, at in places.items():
                given[:, network.column[name]] = at
            done = network.marginals(given)
            if done is not None:
                logs[part] = done.log_evidence
                for name, column in network.column.items():
                    marginals[name][part] = done.values[:, network.starts[column] : network.starts[column + 1]]
                left = np.flatnonzero(~done.found).tolist()
        for row in left:
            told = {name: levels[name].labels[int(at[row])] for name, at in places.items() if at[row] >= 0}
            try:
                found = infer_on(self.graph, told)
                logs[part.start + row] = found.log_evidence
            except SupportError as wrong:
                raise SupportError(
                    f"row {part.start + row}: {wrong.found}", where=wrong.where, expected=wrong.expected
                ) from None
            for name in levels:
                marginals[name][part.start + row] = found.marginal(name).probabilities  # type: ignore[union-attr]


def is_table(evidence: object) -> bool:
    """Whether evidence is a table: a frame, or columns by name."""
    if isinstance(evidence, Mapping):
        return any(hasattr(value, "__len__") and not isinstance(value, str) for value in evidence.values())
    return evidence is not None


def _columns(evidence: Any) -> dict[str, list[object]]:
    """The cells of each column."""
    if isinstance(evidence, Mapping):
        columns = {name: np.asarray(cells, dtype=object).tolist() for name, cells in evidence.items()}
    else:
        import narwhals.stable.v2 as nw  # heavy

        frame = nw.from_native(evidence, eager_only=True)
        columns = {name: frame[name].to_list() for name in frame.columns}
    lengths = {len(cells) for cells in columns.values()}
    if len(lengths) != 1:
        raise DataError(
            f"a table of evidence with {', '.join(map(str, sorted(lengths))) or 'no'} rows",
            where="evidence",
            expected="columns of one length",
        )
    return columns


def _places(levels: Finite, cells: Sequence[object]) -> Array:
    """The level of each cell, -1 where it is missing."""
    known: dict[object, int] = {}
    found = np.empty(len(cells), dtype=np.int64)
    for row, cell in enumerate(cells):
        if cell not in known:
            known[cell] = -1 if cell is None or cell != cell else levels.position(cell)
        found[row] = known[cell]
    return found
