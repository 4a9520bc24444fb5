"""A family of networks over the columns of a table: search it, sample it, sum over all of it  (Section 8.3)."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from platewright.errors import MissingValue, ModelError, NameTaken, ParameterError
from platewright.language.model import Model
from platewright.run.heard import told_to_stop
from platewright.structure.best import Best, named
from platewright.structure.chains import run_chains
from platewright.structure.classes import search_classes
from platewright.structure.columns import Column, Rows, hidden_columns, read_columns, read_rows
from platewright.structure.evidence_prior import EvidencePrior
from platewright.structure.graph_sums import GraphSums
from platewright.structure.incomplete import incomplete_best
from platewright.structure.missing_cells import first_filling, refilled
from platewright.structure.moves import State
from platewright.structure.network import Arc, Network
from platewright.structure.one_group import counts
from platewright.structure.posterior import Enumerated, Sampled
from platewright.structure.prior_network import read_prior_network
from platewright.structure.rules import ArcPrior, Rules, members, read_rules, uniform_dags
from platewright.structure.scorer import Scorer
from platewright.structure.searching import search_orders, search_steps

WAYS = ("auto", "orders", "greedy", "tabu", "classes", "exact")

RESTARTS = 10
FEW_NODES = 10
"""Over so many nodes the best network is found with proof in less time than by searching."""


class Structures:
    """All directed networks over the columns of a table, every arc optional.

    The table is read for names, types and levels only. Text, declared categories, truth values and whole numbers are
    categories with a table for each state of their parents; other numbers have a regression on theirs; `kinds` says
    otherwise, by name: "category", "number", "count", or a model of the rows of one group: a variable on one plate, and
    the numbers that it hangs on with a conjugate prior. Each state of the parents then has such numbers of its own.

    `forbid` and `require` list arcs (parent, child); `tiers` lists groups of names, from which no arc leads into an
    earlier group; `max_parents` bounds the parents of each node; `prior` is `pw.uniform_dags()` or `pw.arcs(0.1)`.
    `hidden` names nodes that no row shows, with how many levels each has.

    `tables` is the prior of tables: "bdeu" with `sample_size`, "k2" or "jeffreys"; with `prior_network`, a model of the
    same columns without unknown numbers, `sample_size` rows are spread as it says. `numbers` that of regressions:
    "bge" with `sample_size` (iss.mu) and `degrees` (iss.w), or "nig" with `shape` and `rate`.

    >>> data = {"a": [0, 1, 0, 1, 1, 0] * 9, "b": [0, 1, 0, 1, 1, 0] * 9, "c": [0, 0, 1, 1, 0, 1] * 9}
    >>> best = pw.Structures(data, require=[("a", "b")]).search(data)
    >>> print(best.graph)
    [a][b|a][c]
    """

    def __init__(
        self,
        data: object,
        *,
        forbid: Iterable[Arc] = (),
        require: Iterable[Arc] = (),
        tiers: Sequence[Iterable[str]] = (),
        max_parents: int | None = None,
        prior: ArcPrior | None = None,
        sample_size: float = 1.0,
        tables: str = "bdeu",
        numbers: str = "bge",
        degrees: float | None = None,
        shape: float = 1.0,
        rate: float = 1.0,
        kinds: Mapping[str, str | Model] | None = None,
        hidden: Mapping[str, int] | None = None,
        prior_network: Model | None = None,
    ) -> None:
        found = read_columns(data, kinds or {})
        unseen = hidden_columns(hidden or {})
        for column in unseen:
            if any(column.name == other.name for other in found):
                raise NameTaken(f"hidden node `{column.name}` has the name of a column", hint="choose another name")
        if prior is not None and not isinstance(prior, ArcPrior):
            raise ParameterError(f"prior is {prior!r}", expected="pw.uniform_dags() or pw.arcs(probability)")
        network = None if prior_network is None else read_prior_network(prior_network, [*found, *unseen])
        self.evidence = EvidencePrior(tables, numbers, sample_size, degrees, shape, rate, network)
        counted = (replace(column, group=counts(shape, rate)) if column.kind == "count" else column for column in found)
        self.columns: tuple[Column, ...] = (*counted, *unseen)
        self.rules: Rules = read_rules(self.columns, forbid, require, tiers, max_parents)
        self.prior = prior or uniform_dags()
        self.evidence.degrees_of(sum(column.kind == "number" for column in self.columns))

    @property
    def names(self) -> tuple[str, ...]:
        """The nodes, in the order of the columns."""
        return tuple(column.name for column in self.columns)

    # -- the three verbs ---------------------------------------------------------------------------------------------

    def search(
        self, data: object, seed: int = 0, by: str = "auto", restarts: int | None = None, workers: int = 1
    ) -> Best:
        """The best network that is found; Ctrl-C keeps the best so far.

        `by` is "orders" (from where the other ways lead, the best order of the nodes by grow-shrink trees, polished by
        arcs), "greedy" (arcs added, removed and reversed), "tabu" (the same, going on downhill for a while), "classes"
        (arcs inserted and deleted between Markov equivalence classes) or "exact" (up to 22 nodes, with proof). "auto"
        is exact up to 10 nodes, and orders beyond.

        "orders", "greedy" and "tabu" climb `restarts` times, from kicks of the best network: by default 10 times, but
        "auto" kicks only where a climb from the best class and one from nothing end apart. Where cells are missing or
        nodes are hidden, structural EM draws them from their predictive between searches. `workers` restarts are
        climbed at a time, each in a thread.
        """
        if by not in WAYS:
            raise ParameterError(f"search by {by!r}", expected=", ".join(WAYS))
        check_counts(restarts=RESTARTS if restarts is None else restarts, workers=workers)
        with told_to_stop():
            return self._searched(read_rows(self.columns, data), seed, by, restarts, workers)

    def _searched(self, rows: Rows, seed: int, by: str, restarts: int | None, workers: int) -> Best:
        if not rows.is_complete and by != "exact":
            scorer = self._first(rows, seed)
            return incomplete_best(self.names, rows, scorer, self.make_model, seed, min(restarts or RESTARTS, 4))
        scorer = self._complete(rows)
        if by == "exact" or (by == "auto" and len(self.columns) <= FEW_NODES):
            return Best(named(self.names, GraphSums(scorer.tables()).best[1]), scorer, self.make_model, proven=True)
        generator = np.random.default_rng(seed)
        may_end, restarts = by == "auto" and restarts is None, restarts or RESTARTS
        if by == "classes":
            self._check_classes()
            found = search_classes(scorer)
        elif by in ("auto", "orders"):
            starts = [search_classes(scorer).parents] if self._has_classes else []
            found = search_orders(scorer, generator, restarts, starts, workers, may_end)
        else:
            found = search_steps(scorer, generator, restarts, by == "tabu", workers)
        return Best(named(self.names, found.parents), scorer, self.make_model, False, found.trace, found.interrupted)

    def sample(
        self,
        data: object,
        draws: int = 20_000,
        seed: int = 0,
        chains: int = 4,
        warm_up: int | None = None,
        thin: int | None = None,
        workers: int | None = None,
    ) -> Sampled:
        """Networks drawn from their posterior by several Markov chains, `draws` in all.

        Over complete rows the chains are dealt out to `workers` threads, by default as many as there are cores.
        """
        check_counts(draws=draws, chains=chains)
        workers = min(chains, os.cpu_count() or 1) if workers is None else workers
        check_counts(workers=workers)
        rows = read_rows(self.columns, data)
        warm_up = max(100, draws // chains // 10) if warm_up is None else warm_up
        thin = thin or min(10 * len(self.columns), 60)
        if rows.is_complete:
            scorer = self._scored(rows)
            found = run_chains(scorer, draws, chains, warm_up, thin, seed, workers=workers)
            return Sampled(self.names, scorer, self.make_model, found)
        scorer = self._first(rows, seed)
        missing = rows.missing

        def refill(current: Scorer, state: State, generator: np.random.Generator) -> Scorer:
            parents = [frozenset(members(above)) for above in state]
            filled = refilled(current.rows, missing, parents, self.evidence, current.centres, generator)
            return replace(current, rows=filled, held={})

        found = run_chains(scorer, draws, chains, warm_up, thin, seed, refill)
        return Sampled(self.names, replace(scorer, rows=rows, held={"unopened": True}), self.make_model, found)

    def enumerate(self, data: object) -> Enumerated:
        """The posterior over all networks, exactly; up to 22 nodes."""
        scorer = self._scorer(data)
        return Enumerated(self.names, scorer, self.make_model, GraphSums(scorer.tables()))

    def score(self, data: object, graph: Network | Iterable[Arc]) -> Best:
        """One given network of the family, as a result like those of a search."""
        network = (
            graph
            if isinstance(graph, Network)
            else Network(self.names, frozenset((parent, child) for parent, child in graph))
        )
        if set(network.nodes) != set(self.names):
            raise ModelError("the network has other nodes than the family", expected=", ".join(self.names))
        network = replace(network, nodes=self.names)
        return Best(network, self._scorer(data), self.make_model)

    def make_model(self, title: str) -> Any:
        """An empty model, for the fit of a network."""
        raise NotImplementedError

    @property
    def _is_equivalent(self) -> bool:
        return len({column.kind for column in self.columns}) == 1 and self.evidence.is_equivalent

    @property
    def _has_classes(self) -> bool:
        return self._is_equivalent and replace(self.rules, most=len(self.columns)).is_free

    def _check_classes(self) -> None:
        if not self._is_equivalent:
            raise ModelError(
                "equivalent networks of this family score differently",
                expected="columns of one kind, with tables='bdeu' or numbers='bge'",
                hint='search by "orders"',
            )
        if not self._has_classes:
            raise ModelError(
                "forbidden and required arcs tell the networks of one equivalence class apart",
                expected="a family without forbid=, require= and tiers=",
                hint='search by "orders"',
            )

    def _scorer(self, data: object) -> Scorer:
        return self._complete(read_rows(self.columns, data))

    def _complete(self, rows: Rows) -> Scorer:
        if not rows.is_complete:
            raise MissingValue(
                "a sum over all networks, and the score of one, need complete rows",
                where=first_hole(rows),
                hint="sample() and search() draw missing cells and hidden nodes",
            )
        return self._scored(rows)

    def _first(self, rows: Rows, seed: int) -> Scorer:
        """Scores of a first filling of rows with missing cells."""
        if self.evidence.network is not None:
            raise MissingValue(
                "tables with a prior network are learned from complete rows",
                where=first_hole(rows),
                hint="leave out prior_network=",
            )
        return self._scored(first_filling(rows, np.random.default_rng(seed)), observed_means(rows))

    def _scored(self, rows: Rows, centres: NDArray[np.float64] | None = None) -> Scorer:
        return Scorer(rows, self.rules, self.prior, self.evidence, centres)

    def __repr__(self) -> str:
        kinds = ", ".join(f"{column.name} ({_told(column)})" for column in self.columns)
        return f"networks over {kinds}; {self.prior}"


def check_counts(**counts: object) -> None:
    """Whole numbers from 1, by name."""
    for name, value in counts.items():
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise ParameterError(f"{name} is {value!r}", expected="a whole number from 1")


def first_hole(rows: Rows) -> str:
    """Where the first missing cell is."""
    node, row = (int(place) for place in np.argwhere(rows.missing)[0])
    return f"row {row}, column {rows.columns[node].name}"


def observed_means(rows: Rows) -> NDArray[np.float64]:
    """The mean of each column of numbers over the cells that are there."""
    return np.array(
        [float(np.nanmean(values)) if not column.levels else 0.0 for column, values in zip(rows.columns, rows.values)]
    )


def _told(column: Column) -> str:
    sort = f"{len(column.levels)} levels" if column.levels else column.kind
    return f"hidden, {sort}" if column.hidden else sort
