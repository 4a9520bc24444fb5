"""The trees of a model, grown from data or of given shape, and the ordinary model that they make  (Section 5).

    m.y = Tree(m.x, ...)    rows of x and y -> a shape -> leaf_y = where(...); y ~ Categorical(p_y[leaf_y])

Known inputs and a known target make a tree a term of its own in the evidence (Corollary 6.1.1), so each is grown alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from platewright.algebra.evaluate import Environment, evaluate
from platewright.data.dataset import Dataset
from platewright.errors import MissingColumn, MissingValue, ModelError, NotLearned, ParameterError, PlateError
from platewright.language.model import Model
from platewright.language.split import Attribute, Split, is_open, leaves_of, named_levels, settled, shares_of
from platewright.language.tree import Tree, attribute, attributes_of, with_shapes
from platewright.trees.leaves import ClassLeaf, Floats, Leaf, NumberLeaf
from platewright.trees.notes import notes_on
from platewright.trees.option_tree import OptionTree, grow_options
from platewright.trees.picture import tree_svg
from platewright.trees.rows import MOST_CUTS, Rows, coded_table, read_input, shape_evidence
from platewright.trees.search import Search


@dataclass(frozen=True, eq=False)
class Columns:
    """What data say about one tree: its inputs and its target, row by row."""

    attributes: Mapping[str, Attribute]
    values: Mapping[str, NDArray[Any]]
    target: NDArray[Any]
    leaf: Leaf

    def rows(self, most_cuts: int) -> Rows:
        """As codes, to grow a tree on."""
        inputs = tuple(read_input(self.attributes[name], found, most_cuts) for name, found in self.values.items())
        return Rows(inputs, self.target, self.leaf)


def open_trees(model: Model) -> tuple[str, ...]:
    """The trees that data must grow, or whose number of branches only data tell."""
    found = model._trees.items()
    return tuple(name for name, tree in found if not tree.is_fixed or is_open(tree.shape, attributes_of(model, tree)))


def check_grown(model: Model) -> None:
    """Refuse to derive what hangs on a tree that is not there yet."""
    for name in open_trees(model):
        raise ModelError(
            f"the tree of `{name}` is not grown yet",
            expected="m.learn(data), or m.grow(data).model, which has it",
            hint="a given shape=pw.Split(...) needs no data",
        )


def columns_of_tree(model: Model, name: str, dataset: Dataset) -> Columns:
    """The rows of one tree."""
    tree = model._trees[name]
    plates = tuple(axis.plate for axis in model.variables[name].plates)
    for column in (name, *tree.inputs):
        if column in dataset.missing:
            raise MissingValue(
                f"`{column}` has missing cells, and the tree of `{name}` is grown from complete rows",
                hint="leave those rows out, fill them, or give the tree its shape=",
            )
    if name not in dataset.columns:
        raise MissingColumn(f"the data have no `{name}`, whose tree is to be grown", expected=f"a column `{name}`")
    attributes = bound_attributes(model, tree, dataset)
    values = {one: _spread(model, one, plates, dataset) for one in tree.inputs}
    target = np.asarray(dataset.columns[name]).reshape(-1)
    return Columns(attributes, values, target, leaf_of(tree, target, dataset))


def _spread(model: Model, name: str, plates: tuple[str, ...], dataset: Dataset) -> NDArray[Any]:
    """An input for each row of the target."""
    variable = model.variables[name]
    if variable.definition is not None:
        axes = tuple(model.plates[plate].index for plate in plates)
        return np.asarray(
            evaluate(variable.definition, Environment(dict(dataset.columns), dataset.sizes), axes)
        ).reshape(-1)
    if name not in dataset.columns:
        raise MissingColumn(f"the data have no `{name}`, an input of a tree", expected=f"a column `{name}`")
    if tuple(axis.plate for axis in variable.axes) != plates:
        raise PlateError(
            f"`{name}` lives on other plates than the tree it is an input of",
            expected=f"plates {', '.join(plates) or '(none)'}",
            hint="give the tree a shape=, or the input a value for each row",
        )
    return np.asarray(dataset.columns[name]).reshape(-1)


def leaf_of(tree: Tree, target: NDArray[Any], dataset: Dataset) -> Leaf:
    """The prior of a leaf in numbers."""
    given = {}
    for word, value in tree.prior.given.items():
        try:
            given[word] = np.asarray(value, dtype=float)
        except TypeError:
            raise ModelError(
                f"{word} of the leaves of a tree is {value}", expected="numbers, where data grow the tree"
            ) from None
    if tree.prior.family.name == "Gamma":
        if "scale" in given:
            given["rate"] = 1 / given.pop("scale")
        middle = float(np.mean(target)) if len(target) else 0.0
        return NumberLeaf(float(given["shape"]), float(given["rate"]), tree.mean, tree.worth, middle)
    if tree.prior.family.name == "Beta":
        return ClassLeaf(np.array([float(given["b"]), float(given["a"])]), tree.shared)
    assert tree.prior.over is not None
    plate = tree.prior.over.name
    levels = dataset.sizes.get(plate) or tree.prior.over.size or int(np.max(target)) + 1
    alpha = np.broadcast_to(given["concentration"], (levels,)).astype(float)
    return ClassLeaf(alpha, tree.shared, dataset.labels.get(plate, ()))


def bound_attributes(model: Model, tree: Tree, dataset: Dataset) -> dict[str, Attribute]:
    """The inputs of a tree with the levels that the data have."""
    found = {}
    for one in tree.inputs:
        variable = model.variables[one]
        levels = str(variable.domain.levels)
        known = attribute(variable, model.plates, dataset.labels.get(levels, ()))
        found[one] = known if known.levels != 0 else Attribute(one, dataset.sizes[levels], known.labels)
    return found


@dataclass(frozen=True, eq=False)
class GrownTree:
    """One tree of a model and what it is worth."""

    shape: Split | None
    """With levels as numbers, in the order of the levels."""
    columns: Columns
    shared: bool
    options: OptionTree | None = None
    """All that the search has kept; nothing where the shape was given."""

    @property
    def log_evidence(self) -> float:
        """`log p(target | inputs, tree)`."""
        shares = tuple(shares_of(self.shape)) if self.shared else (1.0,) * leaves_of(self.shape)
        return shape_evidence(self.columns.leaf, self.shape, self.columns.values, self.columns.target, shares)

    @property
    def averaged_log_evidence(self) -> float:
        """`log sum p(tree) p(target | inputs, tree)` over the trees that the search has kept."""
        return self._kept.log_evidence

    @property
    def named(self) -> Split | None:
        """The shape with levels by their names."""
        return named_levels(self.shape, self.columns.attributes)

    def several(self, top: int = 10) -> list[tuple[float, Split | None]]:
        """The most probable trees that were kept, with their probabilities among all of these."""
        if isinstance(top, bool) or not isinstance(top, int) or top < 1:
            raise ParameterError(f"{top!r} trees", expected="a whole number from 1")
        return [(share, named_levels(shape, self.columns.attributes)) for share, shape in self._kept.several(top)]

    def probabilities(self, new: Mapping[str, Sequence[Any]], averaged: bool = True) -> Floats:
        """For new rows the probability of each class: by the average over all trees that were kept, or by the best.

        With one question a node the average is over all prunings of one tree: it smooths the best.
        """
        if isinstance(self.columns.leaf, NumberLeaf):
            raise NotLearned("the leaves of this tree hold numbers", expected="a tree whose leaves hold classes")
        return self._said(new, averaged)

    def mean(self, new: Mapping[str, Sequence[Any]], averaged: bool = True) -> Floats:
        """For new rows the mean of a number."""
        if isinstance(self.columns.leaf, ClassLeaf):
            raise NotLearned("the leaves of this tree hold classes", expected="a tree whose leaves hold numbers")
        return self._said(new, averaged)[:, 0]

    def _said(self, new: Mapping[str, Sequence[Any]], averaged: bool) -> Floats:
        kept = self._kept
        return kept.say(coded_table(kept.rows.inputs, new), kept.averaged if averaged else kept.chosen)

    @property
    def _kept(self) -> OptionTree:
        if self.options is None:
            raise NotLearned("the shape of this tree was given, so there is one tree", hint="leave out shape=")
        return self.options

    @cached_property
    def notes(self) -> tuple[str, ...]:
        """What is remarkable about the rows: inputs that never vary, classes seen once or never."""
        return notes_on(self.columns.values, self.columns.leaf, self.columns.target)

    def svg(self, title: str = "") -> str:
        """The tree as SVG text, with how many rows fall into each leaf."""
        return tree_svg(
            self.shape, self.columns.attributes, self.columns.leaf, self.columns.values, self.columns.target, title
        )

    def _repr_svg_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        shown = "leaf" if self.shape is None else repr(self.named)
        lines = [shown, f"log evidence {self.log_evidence:.4f}, {leaves_of(self.shape)} leaves"]
        if self.options is not None:
            lines[1] += f"; {self.averaged_log_evidence:.4f} on average over the trees that were kept"
        return "\n".join((*lines, *self.notes))


@dataclass(frozen=True, eq=False)
class Grown:
    """A model whose trees have their shapes; `fit` is what learning the ordinary model gives."""

    trees: Mapping[str, GrownTree]
    written: Callable[[Mapping[str, Split | None]], Any]
    """The ordinary model with trees of given shapes, levels by their names."""
    learn: Callable[[Any], Any]

    @cached_property
    def model(self) -> Any:
        """The ordinary model that the best trees make."""
        return self.written({name: tree.named for name, tree in self.trees.items()})

    @cached_property
    def fit(self) -> Any:
        """What learning that model from the same data gives: posteriors, predictions, source and steps."""
        return self.learn(self.model)

    def several(self, top: int = 10) -> list[tuple[float, Any]]:
        """The most probable models, with the probabilities of their trees among all that were kept."""
        open_ones = [name for name, tree in self.trees.items() if tree.options is not None]
        given = {name: tree.named for name, tree in self.trees.items()}
        ways = product(*(self.trees[name].several(top) for name in open_ones))
        weighed = sorted(
            ((prod(share for share, _ in way), [shape for _, shape in way]) for way in ways),
            key=lambda found: -found[0],
        )
        return [
            (share, self.written({**given, **dict(zip(open_ones, shapes, strict=True))}))
            for share, shapes in weighed[:top]
        ]

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {tree!r}" for name, tree in self.trees.items())


def grow(
    model: Model, empty: Callable[[], Any], dataset: Dataset, learn: Callable[[Any], Any], search: Search
) -> Grown:
    """Every tree of a model with its shape, and the ordinary models that they make, each written into an empty one."""
    trees = {}
    for name, tree in model._trees.items():
        columns = columns_of_tree(model, name, dataset)
        if tree.is_fixed:
            trees[name] = GrownTree(settled(tree.shape, columns.attributes), columns, tree.shared)
            continue
        kept = grow_options(columns.rows(MOST_CUTS), tree.splits, search)
        trees[name] = GrownTree(kept.best, columns, tree.shared, kept)

    def written(shapes: Mapping[str, Split | None]) -> Any:
        return with_shapes(empty(), model, shapes, dataset.sizes, dataset.labels)

    return Grown(trees, written, learn)
