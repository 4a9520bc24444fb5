"""Local scores of the columns of a table, kept: the log evidence of one column given others, by C or by NumPy.

A score hangs on one node and its parents alone (Corollary 6.1.1), so what was counted once is never counted again.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from platewright.errors import BackendError, SizeError
from platewright.structure.columns import Rows
from platewright.structure.evidence_prior import EvidencePrior
from platewright.structure.native_library import at_once, interruptible, score_library, sum_library
from platewright.structure.one_group import OneGroup
from platewright.structure.rules import ArcPrior, Rules, bits, members

Parents = tuple[frozenset[int], ...]
_KIND = {"number": 0, "category": 1, "count": 2, "model": 2}
MOST_ENUMERATED = 22
MOST_COUNTS = 2**29


class _Data(ctypes.Structure):
    """What the C of scores reads; the order is that of its declaration."""

    _fields_ = [
        *((name, ctypes.c_int64) for name in ("nodes", "rows", "all", "few", "reals")),
        *(
            (name, ctypes.c_void_p)
            for name in ("kinds", "levels", "codes", "each", "values", "weights", "mass", "factor")
        ),
        ("total", ctypes.c_double),
        ("share", ctypes.c_double),
        ("spread", ctypes.c_int64),
        *((n, ctypes.c_double) for n in ("strength", "degrees", "gain", "scale", "centre", "slope")),
        *((name, ctypes.c_void_p) for name in ("forms", "first", "statistics", "log_odds", "allowed", "required")),
        ("most", ctypes.c_int64),
        ("equivalent", ctypes.c_int64),
    ]


@dataclass(frozen=True, eq=False)
class Scorer:
    """Scores of complete rows under a prior, for networks that keep to the rules."""

    rows: Rows
    rules: Rules
    prior: ArcPrior
    evidence: EvidencePrior
    given_centres: NDArray[np.float64] | None = None
    """The prior means of the columns of numbers; those of the sample where none are given."""
    share: float = 1.0
    """What one row counts for."""
    held: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.held.get("unopened"):  # rows with missing cells: there is nothing to count
            return
        widest = max((len(column.levels) for column in self.rows.columns), default=1)
        if widest * self.rows.count > MOST_COUNTS:
            raise SizeError(
                f"a column of {widest} levels in {self.rows.count} rows would need too many counts beside another",
                expected=f"at most {MOST_COUNTS} rows times levels",
                hint="join rare levels, or drop the column",
            )
        library = score_library(self.words, [group.evidence for group in self._groups])
        if library is None:
            raise BackendError(
                "no C compiler was found, and scores are counted by C",
                hint="install one (cc, gcc, clang), or `pip install ziglang`",
            )
        arrays = {name: found.ctypes.data for name, found in self._arrays(library).items()}
        rows, few = self.held["sizes"]
        data = _Data(**self._numbers(), rows=rows, all=self.rows.count, few=few, **arrays)
        self.held.update(data=data, library=library, scorer=library.open_scorer(ctypes.addressof(data)))

    def __del__(self) -> None:
        if self.held.get("scorer"):
            self.held["library"].close_scorer(self.held.pop("scorer"))

    @property
    def words(self) -> int:
        """64-bit words of a set of nodes."""
        return (len(self.rows.columns) + 63) // 64

    @cached_property
    def centres(self) -> NDArray[np.float64]:
        """The prior mean of each column."""
        return self.rows.values.mean(axis=1) if self.given_centres is None else self.given_centres

    @property
    def nodes(self) -> int:
        """How many columns there are."""
        return len(self.rows.columns)

    @cached_property
    def _groups(self) -> tuple[OneGroup, ...]:
        """The models of columns that have one of their own, each once."""
        return tuple(dict.fromkeys(column.group for column in self.rows.columns if column.group is not None))

    def _statistics(self) -> dict[str, NDArray[Any]]:
        """Of columns with models of their own, what each row adds to each statistic."""
        of_node = [
            np.zeros((0, self.rows.count)) if column.group is None else column.group.statistics(values)
            for column, values in zip(self.rows.columns, self.rows.values, strict=True)
        ]
        forms = [self._groups.index(column.group) if column.group else -1 for column in self.rows.columns]
        return {
            "forms": np.array(forms, dtype=np.int64),
            "first": np.cumsum([0, *(len(found) for found in of_node)], dtype=np.int64),
            "statistics": np.concatenate([*of_node, np.zeros((1, self.rows.count))]),
        }

    def _numbers(self) -> dict[str, float]:
        reals = sum(column.kind == "number" for column in self.rows.columns)
        return {
            "nodes": self.nodes,
            "reals": reals,
            "most": self.rules.most,
            "equivalent": int(self.rows.tables and self.evidence.is_equivalent and self.evidence.network is None),
            "total": self.rows.count * self.share,
            "share": self.share,
            **self.evidence.numbers(reals),
        }

    def _arrays(self, library: Any) -> dict[str, NDArray[Any]]:
        """Every array in one piece of memory, kept as long as the scorer."""
        columns = self.rows.columns
        codes, values, weights = distinct_rows(self.rows, self.centres, library)
        allowed, required = self.rules.masks
        mass: dict[str, NDArray[Any]] = {}
        if (network := self.evidence.network) is not None:
            before = np.zeros(codes.shape[1])
            codes = np.ascontiguousarray(np.concatenate([codes, network.codes], axis=1))
            mass["mass"] = np.concatenate([before, self.evidence.sample_size * network.joint.ravel()])
            weights = np.concatenate([weights, np.zeros(network.joint.size, dtype=np.int32)])
        few = factor_rows(self.rows, self.centres)
        self.held["sizes"] = (codes.shape[1], few.shape[1])
        arrays: dict[str, NDArray[Any]] = {
            "kinds": np.array([_KIND[column.kind] for column in columns], dtype=np.int64),
            "levels": np.array([max(1, len(column.levels)) for column in columns], dtype=np.int64),
            "codes": codes,
            "each": self.rows.codes.astype(np.uint16),
            "values": values,
            "weights": weights,
            "factor": few,
            **mass,
            **self._statistics(),
            "log_odds": np.full((self.nodes, self.nodes), self.prior.log_odds),
            "allowed": self._sets(allowed),
            "required": self._sets(required),
        }
        self.held.update(arrays)
        return arrays

    def _sets(self, masks: Sequence[int]) -> NDArray[np.uint64]:
        width = self.words
        found = [[(mask >> 64 * word) & (2**64 - 1) for word in range(width)] for mask in masks]
        return np.array(found, dtype=np.uint64)

    # -- scores ------------------------------------------------------------------------------------------------------

    def local(self, child: int, parents: int) -> float:
        """The log evidence of a column given others, by the bits of their numbers, with the prior of these arcs."""
        found = self.held["library"].local_score(self.held["scorer"], child, self._sets([parents]).ctypes.data)
        return self.checked(found)

    def log_evidence(self, parents: Parents) -> float:
        """The log evidence of a network, without the prior over networks."""
        return sum(self.local_evidence(child, above) for child, above in enumerate(parents))

    def local_evidence(self, child: int, parents: frozenset[int]) -> float:
        """One term of it."""
        return self.local(child, bits(parents)) - len(parents) * self.prior.log_odds

    def checked(self, found: float) -> float:
        """A score, unless memory ran out while counting."""
        if self.held["library"].scorer_counts(self.held["scorer"], 2):
            raise SizeError("the counts of a parent set did not fit into memory", hint="set max_parents=")
        return float(found)

    @property
    def counted(self) -> int:
        """How many scores were computed, each once."""
        return int(self.held["library"].scorer_counts(self.held["scorer"], 1))

    # -- searches in C -----------------------------------------------------------------------------------------------

    def climb(
        self, start: Parents, memory: int = 0, patience: int = 0, stop: int | None = None
    ) -> tuple[Parents, float, bool]:
        """The network that greedy steps lead to, its score, and whether Ctrl-C came."""
        sets = self.sets_of(start)
        library, scorer = self.held["library"], self.held["scorer"]

        def work(word: int) -> float:
            return float(library.climb(scorer, sets.ctypes.data, memory, patience, word))

        score, interrupted = interruptible(work) if stop is None else (work(stop), False)
        return self._read(sets), self.checked(score), interrupted

    def shaken(self, start: Parents, changes: int, seed: int) -> Parents:
        """Some random legal changes away."""
        sets = self._sets([bits(above) for above in start])
        self.held["library"].shake(self.held["scorer"], sets.ctypes.data, changes, seed)
        return self._read(sets)

    def best_order(self, forest: int, order: NDArray[np.int64], stop: int | None = None) -> tuple[Parents, float, bool]:
        """The network of the best order that single moves lead to; the order is changed in place."""
        sets = self._sets([0] * self.nodes)
        library, scorer = self.held["library"], self.held["scorer"]

        def work(word: int) -> float:
            return float(library.best_order(scorer, forest, order.ctypes.data, sets.ctypes.data, word))

        score, interrupted = interruptible(work) if stop is None else (work(stop), False)
        return self._read(sets), self.checked(score), interrupted

    def open_forest(self) -> int:
        """The grow-shrink trees of all nodes, to be given back."""
        return int(self.held["library"].open_forest(self.held["scorer"]))

    def close_forest(self, forest: int) -> None:
        """Give them back."""
        self.held["library"].close_forest(forest)

    def outcomes(
        self,
        state: Sequence[int],
        kind: int,
        chosen: NDArray[np.int64],
        made: NDArray[np.uint64],
        probability: NDArray[np.float64],
    ) -> int:
        """How many networks a proposal leads to; they and their probabilities are written into the last two."""
        sets = self._sets(state)
        where = (found.ctypes.data for found in (chosen, made, probability))
        return int(self.held["library"].outcomes(self.held["scorer"], sets.ctypes.data, kind, *where))

    def walk(
        self,
        words: NDArray[np.uint64],
        thin: int,
        random: NDArray[np.uint64],
        kept: NDArray[np.uint64],
        scores: NDArray[np.float64],
        stop: int | None = None,
    ) -> tuple[int, bool]:
        """Go on with a chain, in place; how many moves moved, and whether Ctrl-C came.

        `stop` is the address of a word that ends it, where another thread looks after Ctrl-C.
        """
        from platewright.structure.moves import SHARES

        shares = np.array(list(SHARES.values()))
        where = tuple(found.ctypes.data for found in (shares, random, kept, scores))
        library, scorer = self.held["library"], self.held["scorer"]

        def work(word: int) -> int:
            return int(library.walk(scorer, words.ctypes.data, len(kept), thin, *where, word))

        if stop is None:
            moved, interrupted = (interruptible if len(kept) > 1 else at_once)(work)
        else:
            moved, interrupted = work(stop), False
        self.checked(0.0)
        return int(moved), interrupted

    def tables(self) -> NDArray[np.float64]:
        """Scores of all nodes with all allowed parents: [node, bits of the parents without the node's own]."""
        if self.nodes > MOST_ENUMERATED:
            raise SizeError(
                f"{self.nodes} nodes have {self.nodes} x 2^{self.nodes - 1} local scores",
                expected=f"at most {MOST_ENUMERATED} nodes",
                hint="use search() or sample(), which visit few of them",
            )
        found = np.empty((self.nodes, 1 << (self.nodes - 1)))
        library, scorer = self.held["library"], self.held["scorer"]
        equivalent = int(self.evidence.is_equivalent and len({c.kind for c in self.rows.columns}) == 1)
        bad, interrupted = interruptible(lambda stop: library.fill_scores(scorer, found.ctypes.data, equivalent, stop))
        if interrupted:
            raise KeyboardInterrupt
        if bad:
            raise SizeError("the scores of all parent sets did not fit into memory", hint="set max_parents=")
        return found

    def sets_of(self, parents: Parents) -> NDArray[np.uint64]:
        """Parents of each node as they lie in memory."""
        return self._sets([bits(above) for above in parents])

    def _read(self, sets: NDArray[np.uint64]) -> Parents:
        masks = [sum(int(word) << 64 * place for place, word in enumerate(row)) for row in sets]
        return tuple(frozenset(members(mask)) for mask in masks)


def distinct_rows(
    rows: Rows, centres: NDArray[np.float64], library: Any
) -> tuple[NDArray[np.uint16], NDArray[np.float64], NDArray[np.int32]]:
    """Codes, centred numbers and weights; where all columns are categories, rows that are alike stand once."""
    codes = rows.codes.astype(np.uint16)
    if not rows.tables:
        values = rows.values.copy()
        for number, column in enumerate(rows.columns):
            if column.kind == "number":
                values[number] -= centres[number]
        return codes, values, np.ones(rows.count, dtype=np.int32)
    levels = np.array([len(column.levels) for column in rows.columns], dtype=np.int64)
    kept, weights = np.empty(codes.size, dtype=np.uint16), np.empty(rows.count, dtype=np.int32)
    where = (found.ctypes.data for found in (levels, codes, kept, weights))
    count = library.distinct_rows(*codes.shape, *where)
    if count < 0:
        raise SizeError("the rows did not fit into memory a second time", hint="take fewer rows")
    return kept[: len(codes) * count].reshape(len(codes), count), np.zeros((1, 1)), weights[:count]


def factor_rows(rows: Rows, centres: NDArray[np.float64]) -> NDArray[np.float64]:
    """A few rows with the moments of all: the triangular factor of the centred numbers and a column of ones, last."""
    columns = rows.columns
    numbers = [number for number, column in enumerate(columns) if column.kind == "number"]
    if not numbers:
        return np.zeros((len(columns) + 1, 1))
    centred = rows.values[numbers] - centres[numbers, None]
    whole = np.vstack([np.ones((1, rows.count)), centred])
    root = np.asarray(np.linalg.qr(whole.T, mode="r"))
    found = np.zeros((len(columns) + 1, root.shape[0]))
    found[-1] = root[:, 0]
    found[numbers] = root[:, 1:].T
    return found


def sums() -> Any:
    """The library of sums over all networks."""
    library = sum_library()
    if library is None:
        raise BackendError("no C compiler was found", hint="install one (cc, gcc, clang), or `pip install ziglang`")
    return library
