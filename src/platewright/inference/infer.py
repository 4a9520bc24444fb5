"""Exact answers about the unknowns of a graph without plates: `m.infer({"xray": "yes"})["lung"]`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TypeVar

import numpy as np

from platewright.errors import NotSolvable, SupportError, UnknownName, shown_name
from platewright.family import Array
from platewright.graph.graph import Graph, read_graph
from platewright.inference.answers import GaussianMixture, MostProbable, Probabilities
from platewright.inference.discrete import Product
from platewright.inference.factor import Table
from platewright.inference.finite import Finite, read_evidence
from platewright.inference.gaussian import connected_rows, solve
from platewright.inference.junction_tree import JunctionTree, memory_limit, shown_bytes
from platewright.inference.problem import Problem, check_inputs, check_no_plates
from platewright.inference.propagation import ZeroProbability
from platewright.inference.relevance import relevant_nodes
from platewright.inference.semiring import SUM
from platewright.language.model import Model

T = TypeVar("T")


def infer(
    model: Model,
    evidence: Mapping[str, object] | None = None,
    about: Iterable[str] | None = None,
    most_bytes: int | None = None,
) -> Inference:
    """Exact inference given some values (labels of categories, numbers of the rest).

    With `about`, only what those variables depend on is kept; without it, every unknown can be asked about.
    """
    return infer_on(read_graph(model), evidence, about, most_bytes)


def infer_on(
    graph: Graph,
    evidence: Mapping[str, object] | None = None,
    about: Iterable[str] | None = None,
    most_bytes: int | None = None,
) -> Inference:
    """Exact inference on a graph; what is known is what the evidence names."""
    given = dict(evidence or {})
    values = read_evidence(graph, given)
    known = frozenset(name for name in given if graph.nodes[name].kind != "input")
    graph = check_no_plates(replace(graph, known=known))
    check_inputs(graph, values)
    asked = tuple(graph.nodes) if about is None else tuple(about)
    for name in asked:
        if name not in graph.nodes:
            raise UnknownName(name, [known for known in graph.nodes if "@" not in known], where="about=")
    wanted = [name for name in asked if graph.nodes[name].kind not in ("input", "deterministic")]
    nodes = relevant_nodes(graph, wanted, values)
    problem = Problem(graph, values, nodes, memory_limit() if most_bytes is None else most_bytes)
    found = Inference(given, partial(_as_it_is, problem))
    found.plan  # noqa: B018  refuse here what is too large or impossible, not at the first question
    return found


def _as_it_is(problem: Problem) -> Problem:
    return problem


@dataclass(frozen=True, eq=False)
class Answered:
    """What is known before any question: all marginals and the log evidence of a network of finite variables."""

    unknown: tuple[str, ...]
    levels: Mapping[str, Finite]
    probabilities: Mapping[str, Array]
    log_evidence: float
    tree: JunctionTree


@dataclass(frozen=True, eq=False)
class Inference:
    """The answers; numbers are computed when first asked for."""

    evidence: Mapping[str, object]
    begin: Callable[[], Problem]
    answered: Answered | None = None

    @cached_property
    def problem(self) -> Problem:
        """The graph and its evidence, taken apart."""
        return self.begin()

    @property
    def graph(self) -> Graph:
        """The graph asked about."""
        return self.problem.graph

    def _possible(self, compute: Callable[[], T]) -> T:
        try:
            return compute()
        except ZeroProbability:
            shown = ", ".join(f"{name} = {value!r}" for name, value in self.evidence.items())
            raise SupportError(
                f"the evidence has probability zero: {shown}" if shown else "every state has weight zero",
                where="evidence",
                expected="values that can occur together",
                hint="remove some of it to see which values contradict each other",
            ) from None

    @cached_property
    def plan(self) -> JunctionTree:
        """The junction tree of the discrete part; planning it costs no memory."""
        if self.answered is not None:
            return self.answered.tree
        return self._possible(lambda: self.problem.product.tree)

    @cached_property
    def _product(self) -> Product:
        self.plan  # noqa: B018
        return self.problem.product

    # -- answers ---

    @cached_property
    def unknown(self) -> tuple[str, ...]:
        """The variables that can be asked about."""
        if self.answered is not None:
            return self.answered.unknown
        return tuple(n for n in self.graph.unknown if n in self.problem.nodes)

    @cached_property
    def log_partition(self) -> float:
        """The log of the product of all factors, summed over the unknowns with the evidence put in."""
        if self.answered is not None:
            return self.answered.log_evidence
        return self._possible(lambda: self._product.log_total)

    @cached_property
    def log_evidence(self) -> float:
        """The log probability (density) of the evidence, undirected components normalised."""
        if self.answered is not None:
            return self.answered.log_evidence
        return self.log_partition - self._possible(lambda: self.problem.log_constant)

    def marginal(self, name: str) -> Probabilities | GaussianMixture:
        """The distribution of one variable given the evidence."""
        if self.answered is not None and name in self.answered.levels:
            return Probabilities((self.answered.levels[name],), self.answered.probabilities[name])
        self._check(name)
        if name in self.problem.reals:
            return self._reals((name,))
        levels = self.problem.tabulator.levels[name]
        if name in self.problem.values:
            found = np.zeros(levels.size)
            found[int(self.problem.values[name]) - levels.lower] = 1.0
            return Probabilities((levels,), found)
        marginals = self._possible(lambda: self._product.marginals)
        return Probabilities((levels,), marginals[name])

    __getitem__ = marginal

    def marginals(self) -> dict[str, Probabilities | GaussianMixture]:
        """The distribution of every unknown."""
        return {name: self.marginal(name) for name in self.unknown}

    def joint(self, names: Sequence[str]) -> Probabilities | GaussianMixture:
        """The joint distribution of several variables, in the order given; they need not share a clique."""
        wanted = tuple(names)
        for name in wanted:
            self._check(name)
        if len(set(wanted)) < len(wanted) or not wanted:
            raise NotSolvable(
                f"the joint of {', '.join(wanted) or 'nothing'}", expected="one or more distinct variables"
            )
        real = [name for name in wanted if name in self.problem.reals]
        if len(real) == len(wanted):
            return self._reals(wanted)
        if real:
            raise NotSolvable(
                f"the joint of `{real[0]}`, which is real, and discrete variables is no single table",
                hint="ask about the real ones with the discrete ones as evidence",
            )
        return Probabilities(tuple(self.problem.tabulator.levels[n] for n in wanted), self._discrete_joint(wanted))

    def most_probable(self) -> MostProbable:
        """The state of all unknowns with the largest probability; with real unknowns, the largest density."""
        self.plan  # noqa: B018
        groups = self.problem.all_groups
        peaks = tuple(Table(g.reals[0], g.levels, np.asarray(g.log_peak)) for g in groups)
        product = self.problem.product_of((*self.problem.tables, *peaks)) if groups else self._product
        positions, log_weight = self._possible(product.best)
        state: dict[str, object] = self._labelled(positions)
        for group in groups:
            at = tuple(positions[name] for name in group.levels)
            state.update(zip(group.reals, group.means[at].tolist(), strict=True))
        in_order = {name: state[name] for name in self.unknown}
        return MostProbable(in_order, log_weight - self.log_partition)

    def draws(self, count: int, seed: int = 0) -> dict[str, Array]:
        """Independent joint draws of all unknowns: labels of categories, numbers of the rest."""
        generator = np.random.default_rng(seed)
        positions = self._possible(lambda: self._product.draws(count, generator))
        result: dict[str, Array] = {}
        for name, places in positions.items():
            result[name] = np.asarray(self.problem.tabulator.levels[name].labels)[places]
        for group in self.problem.all_groups:
            result.update(zip(group.reals, group.draws(positions, count, generator).T, strict=True))
        return {name: result[name] for name in self.unknown}

    # -- how ---

    @property
    def width(self) -> int:
        """The induced width of the junction tree: the variables of its largest clique, less one."""
        return self.plan.width

    @property
    def bytes(self) -> int:
        """The memory that the messages and the largest clique need."""
        return self.plan.bytes

    @property
    def how(self) -> str:
        """One line: the algorithm chosen."""
        parts = []
        if self.answered is not None or self.problem.discrete:
            rule = self.plan.rule or "one variable"
            parts.append(f"junction tree ({rule}): width {self.width}, {shown_bytes(self.bytes)}")
        if self.answered is None and self.problem.reals:
            given = " given each combination of discrete parents" if self.problem.discrete else ""
            parts.append(f"Gaussian elimination by triangular factors{given}")
        return "; ".join(parts) or "nothing is unknown"

    def explain(self) -> str:
        """What was removed, how the rest is eliminated, and in which arithmetic."""
        lines = [f"exact inference on {self.graph.title}: {self.how}"]
        lines.append(f"  known: {', '.join(self.evidence) or 'nothing'}")
        if self.answered is not None:
            told = "one tree for all evidence, which says which levels are looked at; messages in C"
            return "\n".join(
                [*lines, *_shown_tree(self.plan), f"  arithmetic: probabilities, each message scaled; {told}"]
            )
        problem, product = self.problem, self._product
        if barren := [n for n in self.graph.unknown if n not in problem.nodes]:
            lines.append(f"  removed as barren (nothing known or asked about depends on them): {_listed(barren)}")
        settled = [name for name, kept in product.levels.items() if len(kept) == 1]
        if settled:
            lines.append(f"  settled, since other levels have probability zero: {_listed(settled)}")
        if self.plan.cliques:
            lines += _shown_tree(self.plan)
            scaled = product.collected.semiring is SUM
            lines.append("  arithmetic: " + ("probabilities, each message scaled" if scaled else "logs"))
        for group in problem.observed_groups:
            given = f" for each level of {_listed(group.levels)}" if group.levels else ""
            lines.append(f"  the evidence bears on {_listed(group.reals)}: least squares{given}")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return f"<Inference on {shown_name(self.graph.title)}: {self.how}>"

    # -- parts ---

    @cached_property
    def _answerable(self) -> frozenset[str]:
        return frozenset((*self.unknown, *(n for n in self.problem.values if n in self.problem.tabulator.levels)))

    def _check(self, name: str) -> None:
        if name in self._answerable:
            return
        if name in self.graph.nodes and name in self.graph.unknown:
            raise NotSolvable(f"`{name}` was left out by about=", hint=f"add '{name}' to about=")
        raise UnknownName(name, self._answerable, where="unknown variables")

    def _labelled(self, positions: Mapping[str, int]) -> dict[str, object]:
        levels = self.problem.tabulator.levels
        return {name: levels[name].labels[at] for name, at in positions.items()}

    def _discrete_joint(self, names: tuple[str, ...]) -> Array:
        """A table over all levels of some variables, known ones included."""
        values, levels = self.problem.values, self.problem.tabulator.levels
        open_names = tuple(name for name in names if name not in values)
        self.plan  # noqa: B018
        found = np.ones(())
        if open_names:
            found = self._possible(lambda: self.problem.product_about(open_names).joint(open_names))
        result = np.zeros([levels[name].size for name in names])
        at = tuple(slice(None) if n in open_names else int(values[n]) - levels[n].lower for n in names)
        result[at] = found
        return result

    def _reals(self, names: tuple[str, ...]) -> GaussianMixture:
        """Real variables: their own group solved, weighted by the probabilities of the levels it depends on."""
        problem = self.problem
        needed = relevant_nodes(self.graph, names, problem.values)
        rows = connected_rows([row for row in problem.rows if row.owner in needed], names)
        group = solve(problem.tabulator, rows)
        weights = self._discrete_joint(group.levels).ravel() if group.levels else np.ones(1)
        columns = [group.reals.index(name) for name in names]
        means = group.means.reshape(len(weights), -1)[:, columns]
        covariances = group.covariances.reshape(len(weights), len(group.reals), len(group.reals))
        return GaussianMixture(names, weights, means, covariances[:, columns][:, :, columns])


def _shown_tree(tree: JunctionTree) -> list[str]:
    largest = max(tree.cliques, key=lambda clique: tree.entries(clique.axes))
    held = _listed([tree.names[axis] for axis in largest.axes])
    return [
        f"  elimination order: {_listed(tree.names)}",
        f"  largest clique: {held} ({tree.entries(largest.axes)} states)",
    ]


def _listed(names: Sequence[str], most: int = 8) -> str:
    shown = ", ".join(names[:most])
    return shown + (f", ... ({len(names)} in all)" if len(names) > most else "")
