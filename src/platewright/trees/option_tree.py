"""An option tree: at each node a leaf and questions, with log probabilities of all the trees that it holds.

    value(node) = log [ (1 - s) p(rows | leaf) + sum over questions of s q exp(sum over answers of value(child)) ]

It is grown in C. With one question a node it is a tree with all its prunings: the best of them is the pruned tree,
the average over them smooths its leaves towards the nodes above.
"""

from __future__ import annotations

import ctypes
import heapq
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from platewright.algebra.lazy import special
from platewright.errors import SizeError
from platewright.language.split import Split
from platewright.language.tree_prior import TreePrior
from platewright.structure.native_library import interruptible
from platewright.trees.leaves import ClassLeaf, Floats, NumberLeaf
from platewright.trees.native_library import tree_library
from platewright.trees.rows import Rows
from platewright.trees.search import MOST_NODES, Search

_WHOLE = ("rows", "inputs", "size", "kind", "shared")
_PLACES = ("table", "codes", "is_category", "starts", "classes", "numbers", "alpha")
_NUMBERS = ("shape", "rate", "away", "worth", "probability", "decay")
_LIMITS = ("deepest", "least", "ahead", "options", "patience", "exhaustive", "most")
NODE = np.dtype(
    [(name, np.int64) for name in ("first", "options", "depth", "chosen")]
    + [(name, np.float64) for name in ("share", "stop", "leaf", "sum", "best")]
)
OPTION = np.dtype(
    [(name, np.int64) for name in ("input", "kind", "code", "first", "answers")]
    + [(name, np.float64) for name in ("prior", "sum", "best")]
)
BELOW, LEVEL, EVERY = 0, 1, 2


class _Data(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_int64) for name in _WHOLE),
        *((name, ctypes.c_void_p) for name in _PLACES),
        *((name, ctypes.c_double) for name in _NUMBERS),
        *((name, ctypes.c_int64) for name in _LIMITS),
        *((name, ctypes.c_double) for name in ("width", "window")),
    ]


class _Follower(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_int64) for name in ("inputs", "width")),
        *((name, ctypes.c_void_p) for name in ("table", "node", "option", "of_leaf", "of_option", "values", "numbers")),
    ]


@dataclass(frozen=True, eq=False)
class OptionTree:
    """Nodes and questions as tables; the rows that they were grown on give inputs and leaves their meaning."""

    rows: Rows
    node: NDArray[Any]
    option: NDArray[Any]
    statistics: Floats
    interrupted: bool = False

    @property
    def log_evidence(self) -> float:
        """`log sum over its trees of p(tree) p(targets | inputs, tree)`."""
        return float(self.node["sum"][0])

    @property
    def best_log_joint(self) -> float:
        """`log p(tree) p(targets | inputs, tree)` of its best tree."""
        return float(self.node["best"][0])

    @property
    def best(self) -> Split | None:
        """Its most probable tree, levels as numbers."""
        return self._best_below(0)

    def _best_below(self, at: int) -> Split | None:
        node = self.node[at]
        if node["chosen"] < 0:
            return None
        option = self.option[node["first"] + node["chosen"]]
        return self.split(option, [self._best_below(int(option["first"]) + k) for k in range(int(option["answers"]))])

    def split(self, option: Any, branches: Sequence[Split | None]) -> Split:
        """One question as a split."""
        asked = self.rows.inputs[option["input"]]
        if option["kind"] == BELOW:
            return Split(asked.name, *branches, below=float(asked.cuts[option["code"]]))
        return Split(asked.name, *branches, level=int(option["code"]) if option["kind"] == LEVEL else None)

    def several(self, top: int) -> list[tuple[float, Split | None]]:
        """Its most probable trees with their probabilities among all that it holds."""
        found = self._best_few(0, top)
        return [(float(np.exp(score - self.log_evidence)), shape) for score, shape in found]

    def _best_few(self, at: int, top: int) -> list[tuple[float, Split | None]]:
        """The best trees below a node, by log joint: those of a question are combinations of those of its branches."""
        node = self.node[at]
        found: list[tuple[float, Split | None]] = [(float(node["stop"] + node["leaf"]), None)]
        for option in self.option[node["first"] : node["first"] + node["options"]]:
            below = [self._best_few(int(option["first"]) + k, top) for k in range(int(option["answers"]))]
            for score, branches in _combined(below, top):
                found.append((score + float(option["prior"]), self.split(option, branches)))
        return sorted(found, key=lambda pair: -pair[0])[:top]

    # -- weights ---

    @cached_property
    def averaged(self) -> tuple[Floats, Floats]:
        """The posterior probability of each leaf and each question, given that its node is there."""
        of_leaf = np.exp(self.node["stop"] + self.node["leaf"] - self.node["sum"])
        above = np.repeat(self.node["sum"], self.node["options"])[np.argsort(self._places, kind="stable")]
        return of_leaf, np.exp(self.option["sum"] - above)

    @cached_property
    def _places(self) -> NDArray[np.int64]:
        """Where the questions of all nodes stand, node by node."""
        counts = self.node["options"]
        ends = np.cumsum(counts)
        return np.repeat(self.node["first"] - (ends - counts), counts) + np.arange(int(ends[-1]))

    @cached_property
    def chosen(self) -> tuple[Floats, Floats]:
        """The best tree as weights."""
        of_leaf = (self.node["chosen"] < 0).astype(float)
        of_option = np.zeros(len(self.option))
        inner = self.node["chosen"] >= 0
        of_option[(self.node["first"] + self.node["chosen"])[inner]] = 1.0
        return of_leaf, of_option

    # -- new rows ---

    @cached_property
    def leaf_values(self) -> Floats:
        """What each node would say as a leaf: probabilities of classes, or mean and mean square of a number."""
        leaf = self.rows.leaf
        if isinstance(leaf, ClassLeaf):
            return np.ascontiguousarray(leaf.probabilities(self.statistics, self.node["share"]))
        degrees, centre, scale = leaf.student(self.statistics)
        spread = np.where(degrees > 2, scale**2 * degrees / np.maximum(degrees - 2, 1e-300), np.inf)
        return np.ascontiguousarray(np.stack((centre, centre**2 + spread), axis=-1))

    def say(self, table: NDArray[np.uint8], weights: tuple[Floats, Floats]) -> Floats:
        """For new rows as codes, what the trees say on average."""
        return self._follow(table, weights, self.leaf_values, None)

    def density(self, table: NDArray[np.uint8], weights: tuple[Floats, Floats], numbers: Floats) -> Floats:
        """The predictive density of numbers."""
        leaf = self.rows.leaf
        assert isinstance(leaf, NumberLeaf)
        degrees, centre, scale = leaf.student(self.statistics)
        log_z = special.betaln(0.5, 0.5 * degrees) + 0.5 * np.log(degrees) + np.log(scale)
        values = np.ascontiguousarray(np.stack((degrees, centre, scale, log_z), axis=-1))
        return self._follow(table, weights, values, np.ascontiguousarray(numbers, dtype=float))[:, 0]

    def _follow(
        self, table: NDArray[np.uint8], weights: tuple[Floats, Floats], values: Floats, numbers: Floats | None
    ) -> Floats:
        table = np.ascontiguousarray(table)
        of_leaf, of_option = (np.ascontiguousarray(found) for found in weights)
        found = np.empty((len(table), values.shape[1] if numbers is None else 1))
        follower = _Follower(
            inputs=table.shape[1],
            width=values.shape[1],
            table=table.ctypes.data,
            node=self.node.ctypes.data,
            option=self.option.ctypes.data,
            of_leaf=of_leaf.ctypes.data,
            of_option=of_option.ctypes.data,
            values=values.ctypes.data,
            numbers=None if numbers is None else numbers.ctypes.data,
        )
        tree_library().follow_rows(ctypes.addressof(follower), len(table), found.ctypes.data)
        return found


def _combined(
    below: Sequence[list[tuple[float, Split | None]]], top: int
) -> Iterator[tuple[float, list[Split | None]]]:
    """The best combinations of one tree for each branch, best first."""
    start = (0,) * len(below)
    waiting = [(-sum(found[0][0] for found in below), start)]
    seen = {start}
    for _ in range(top):
        if not waiting:
            return
        score, places = heapq.heappop(waiting)
        yield -score, [found[place][1] for found, place in zip(below, places, strict=True)]
        for k, place in enumerate(places):
            further = (*places[:k], place + 1, *places[k + 1 :])
            if place + 1 < len(below[k]) and further not in seen:
                seen.add(further)
                heapq.heappush(waiting, (score + below[k][place][0] - below[k][place + 1][0], further))


def grow_options(rows: Rows, prior: TreePrior, search: Search) -> OptionTree:
    """The option tree of some rows; Ctrl-C ends the search with what it has."""
    library, leaf = tree_library(), rows.leaf
    sizes = np.array([one.size for one in rows.inputs], dtype=np.int64)
    classes = isinstance(leaf, ClassLeaf)
    arrays: dict[str, NDArray[Any]] = {
        "table": rows.table,
        "codes": sizes,
        "is_category": np.array([one.is_category for one in rows.inputs], dtype=np.int64),
        "starts": np.concatenate(([0], np.cumsum(sizes))),
        "classes": rows.target.astype(np.int32) if classes else np.zeros(0, dtype=np.int32),
        "numbers": np.zeros(0) if isinstance(leaf, ClassLeaf) else np.asarray(rows.target - leaf.centre, dtype=float),
        "alpha": np.asarray(leaf.alpha, dtype=float) if isinstance(leaf, ClassLeaf) else np.zeros(0),
    }
    if isinstance(leaf, NumberLeaf):
        of_leaf = {"shape": leaf.shape, "rate": leaf.rate, "away": leaf.mean - leaf.centre, "worth": leaf.worth}
    else:
        of_leaf = {}
    data = _Data(
        rows=rows.count,
        inputs=len(rows.inputs),
        size=leaf.size,
        kind=leaf.kind,
        shared=leaf.shared,
        **{name: found.ctypes.data for name, found in arrays.items()},
        **of_leaf,
        probability=prior.probability,
        decay=prior.decay,
        deepest=search.depth,
        least=search.least,
        ahead=search.look_ahead,
        options=search.options,
        patience=search.patience,
        exhaustive=search.everything,
        most=MOST_NODES,
        width=search.width,
        window=search.window,
    )
    grower, interrupted = interruptible(lambda stop: library.grow(ctypes.addressof(data), stop))
    try:
        if not grower or library.grown_sizes(grower, 2):
            raise SizeError(
                f"more than {MOST_NODES} nodes, or memory, would be needed",
                where="a search for trees",
                hint="a lower depth=, a smaller width=, or no everything=True",
            )
        node = np.empty(library.grown_sizes(grower, 0), dtype=NODE)
        option = np.empty(library.grown_sizes(grower, 1), dtype=OPTION)
        statistics = np.empty((len(node), leaf.size))
        library.grown(grower, node.ctypes.data, option.ctypes.data, statistics.ctypes.data)
    finally:
        if grower:
            library.close_grower(grower)
    return OptionTree(rows, node, option, statistics, interrupted)
