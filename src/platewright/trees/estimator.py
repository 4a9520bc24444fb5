"""Trees alone, as an estimator: rows of inputs and a target in, probabilities of classes or numbers out.

    pw.TreeClassifier().fit(X, y).predict_proba(new)        pw.TreeRegressor().fit(X, y).predict(new)

The names are those that estimators have elsewhere: `fit`, `predict`, `score`, `get_params`. What is grown is an option
tree, and predictions are averages over the trees that it holds; `averaged=False` takes the best tree alone.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from platewright.errors import DataError, MissingValue, MixedTypes, NotLearned, ParameterError, ShapeError, UnknownName
from platewright.language.split import Attribute, Split, leaves_of, named_levels
from platewright.language.tree_prior import TreePrior
from platewright.structure.columns import Column, is_missing, read_columns, read_rows
from platewright.trees.leaves import ClassLeaf, Floats, Leaf, NumberLeaf
from platewright.trees.notes import notes_on
from platewright.trees.option_tree import OptionTree, grow_options
from platewright.trees.picture import tree_svg
from platewright.trees.rows import MOST_CUTS, Input, Rows, read_input
from platewright.trees.search import Search


class TreeEstimator:
    """What estimators of classes and of numbers share."""

    averaged: bool
    splits: TreePrior | None
    kinds: Mapping[str, str] | None
    _kept: OptionTree | None = None
    _columns: tuple[Column, ...] = ()

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The options by name."""
        return {name: getattr(self, name) for name in inspect.signature(type(self)).parameters}

    def set_params(self, **options: Any) -> Self:
        """Change options; what was learned before stays until the next `fit`."""
        known = inspect.signature(type(self)).parameters
        for name, value in options.items():
            if name not in known:
                raise UnknownName(name, known, where=type(self).__name__)
            setattr(self, name, value)
        return self

    def _search(self) -> Search:
        words = ("look_ahead", "options", "width", "window", "patience", "depth", "least")
        return Search(**{word: getattr(self, word) for word in words})

    def _read(self, inputs: object) -> tuple[Input, ...]:
        table = as_table(inputs)
        self._columns = read_columns(table, self.kinds or {})
        rows = read_rows(self._columns, table)
        _check_complete(self._columns, rows.missing)
        found = []
        for number, column in enumerate(self._columns):
            if column.kind == "category":
                attribute = Attribute(column.name, len(column.levels), column.levels)
                found.append(read_input(attribute, rows.codes[number]))
            else:
                found.append(read_input(Attribute(column.name), rows.values[number], MOST_CUTS))
        return tuple(found)

    def _grow(self, inputs: tuple[Input, ...], target: NDArray[Any], leaf: Leaf) -> OptionTree:
        if len(target) != len(inputs[0].codes):
            raise ShapeError(f"{len(target)} targets for {len(inputs[0].codes)} rows", expected="equal numbers")
        splits = self.splits or TreePrior()
        if not isinstance(splits, TreePrior):
            raise ParameterError(f"splits is {splits!r}", expected="pw.branching(probability, decay=...)")
        return grow_options(Rows(inputs, target, leaf), splits, self._search())

    @property
    def kept(self) -> OptionTree:
        """All trees that the search has kept."""
        if self._kept is None:
            raise NotLearned(f"this {type(self).__name__} has learned nothing yet", hint="call fit(X, y) first")
        return self._kept

    @property
    def tree(self) -> Split | None:
        """The best tree, pruned by its evidence; None is a single leaf."""
        return named_levels(self.kept.best, self.kept.rows.attributes)

    @property
    def log_evidence(self) -> float:
        """`log sum p(tree) p(targets | inputs, tree)` over the trees that were kept."""
        return self.kept.log_evidence

    @property
    def notes(self) -> tuple[str, ...]:
        """What is remarkable about the rows."""
        rows = self.kept.rows
        return notes_on({one.name: one.codes for one in rows.inputs}, rows.leaf, rows.target)

    def several(self, top: int = 10) -> list[tuple[float, Split | None]]:
        """The most probable trees, with their probabilities among all that were kept."""
        found = self.kept.several(top)
        return [(share, named_levels(shape, self.kept.rows.attributes)) for share, shape in found]

    def svg(self, title: str = "") -> str:
        """The best tree as SVG text."""
        rows, shape = self.kept.rows, self.kept.best
        values = {one.name: one.representatives for one in rows.inputs}
        return tree_svg(shape, rows.attributes, rows.leaf, values, rows.target, title)

    def _table(self, inputs: object) -> NDArray[np.uint8]:
        kept = self.kept
        rows = read_rows(self._columns, as_table(inputs))
        _check_complete(self._columns, rows.missing)
        found = [
            one.coded(rows.codes[number] if one.is_category else rows.values[number])
            for number, one in enumerate(kept.rows.inputs)
        ]
        return np.ascontiguousarray(np.stack(found, axis=1))

    @property
    def _weights(self) -> tuple[Floats, Floats]:
        return self.kept.averaged if self.averaged else self.kept.chosen

    def __repr__(self) -> str:
        told = [
            f"{name}={value!r}" for name, value in self.get_params().items() if value != _defaults(type(self))[name]
        ]
        lines = [f"{type(self).__name__}({', '.join(told)})"]
        if self._kept is not None:
            lines.append(f"  the best tree has {leaves_of(self._kept.best)} leaves: {self.tree!r}")
            lines += [f"  {note}" for note in self.notes]
        return "\n".join(lines)


class TreeClassifier(TreeEstimator):
    """Class probability trees, averaged: `pw.TreeClassifier().fit(X, y).predict_proba(new)`.

    `X` is a data frame, a mapping of names to columns or an array of rows. Text, truth values and whole numbers are
    categories, other numbers are ordered; `kinds={"age": "number"}` says otherwise. The prior of each leaf is a
    Dirichlet whose pseudo-counts are `pseudocounts` in all, of several the one with the largest evidence; with
    `shared` they are those of the whole tree. `splits` is the prior of the trees, `pw.branching(...)`. The other
    options are those of the search (`m.grow`); with `options=1` one tree is grown, and averages are over its prunings.

    >>> rows = {"x": [0.1, 0.4, 0.6, 0.9] * 9, "c": ["a", "b", "a", "b"] * 9}
    >>> found = pw.TreeClassifier().fit(rows, ["no", "no", "yes", "yes"] * 9)
    >>> found.tree
    x < 0.5
    """

    def __init__(
        self,
        *,
        pseudocounts: float | Sequence[float] = 1.0,
        shared: bool = False,
        splits: TreePrior | None = None,
        averaged: bool = True,
        kinds: Mapping[str, str] | None = None,
        look_ahead: int = 1,
        options: int = 3,
        width: int = 64,
        window: float = 100.0,
        patience: int = 2,
        depth: int = 100,
        least: int = 2,
    ) -> None:
        self.pseudocounts, self.shared, self.splits, self.averaged, self.kinds = (
            pseudocounts,
            shared,
            splits,
            averaged,
            kinds,
        )
        self.look_ahead, self.options, self.width, self.window = look_ahead, options, width, window
        self.patience, self.depth, self.least = patience, depth, least

    def fit(self, X: object, y: object) -> Self:
        """Grow the trees."""
        inputs = self._read(X)
        cells = np.asarray(y)
        if cells.ndim != 1 or len(cells) != len(inputs[0].codes):
            raise ShapeError(f"targets of shape {cells.shape}", expected=f"{len(inputs[0].codes)} classes")
        gone = next((row for row, value in enumerate(cells.tolist()) if is_missing(value)), None)
        if gone is not None:
            raise MissingValue("a target is missing", where=f"row {gone}", hint="leave the row out")
        try:
            classes, codes = np.unique(cells, return_inverse=True)
        except TypeError:
            raise MixedTypes("the targets mix numbers and text", expected="classes of one type") from None
        if 2 * len(classes) > len(codes) and len(classes) > 20:
            raise DataError(
                f"{len(classes)} classes in {len(codes)} rows",
                expected="classes that repeat",
                hint="pw.TreeRegressor takes numbers",
            )
        if len(classes) < 2:
            raise DataError(f"every row has the class {classes.tolist()[0]!r}", expected="at least two classes")
        grown = [
            self._grow(inputs, codes, ClassLeaf(np.full(len(classes), count / len(classes)), bool(self.shared), labels))
            for labels in [tuple(classes.tolist())]
            for count in _counts(self.pseudocounts)
        ]
        self._kept = max(grown, key=lambda found: found.log_evidence)
        self.classes_ = classes
        return self

    def predict_proba(self, X: object) -> Floats:
        """The probability of each class, in the order of `classes_`."""
        return self.kept.say(self._table(X), self._weights)

    def predict(self, X: object) -> NDArray[Any]:
        """The most probable class of each row."""
        found = self.predict_proba(X)
        return np.asarray(self.classes_[found.argmax(axis=1)])

    def log_predictive(self, X: object, y: object) -> Floats:
        """For each row the log probability of its class; of a class that was never seen, minus infinity."""
        found, asked = self.predict_proba(X), np.asarray(y)
        places = np.minimum(np.searchsorted(self.classes_, asked), len(self.classes_) - 1)
        with np.errstate(divide="ignore"):
            said = np.log(found[np.arange(len(found)), places])
        return np.where(self.classes_[places] == asked, said, -np.inf)

    def score(self, X: object, y: object) -> float:
        """The share of rows whose class is predicted."""
        return float(np.mean(self.predict(X) == np.asarray(y)))

    def __sklearn_tags__(self) -> Any:
        """What kind of estimator it is, for those who ask in scikit-learn's way."""
        return _tags("classifier")


class TreeRegressor(TreeEstimator):
    """Trees with numbers at their leaves, averaged: `pw.TreeRegressor().fit(X, y).predict(new)`.

    A leaf is normal; its precision has a Gamma prior of `shape` and `rate`, its mean a normal one around `mean`, known
    as well as from `worth` rows. Without `rate` and `mean` these are `shape` times a tenth of the variance of the
    targets, and their mean. Other options are those of `pw.TreeClassifier`.
    """

    def __init__(
        self,
        *,
        shape: float = 1.5,
        rate: float | None = None,
        mean: float | None = None,
        worth: float = 0.1,
        splits: TreePrior | None = None,
        averaged: bool = True,
        kinds: Mapping[str, str] | None = None,
        look_ahead: int = 1,
        options: int = 3,
        width: int = 64,
        window: float = 100.0,
        patience: int = 2,
        depth: int = 100,
        least: int = 2,
    ) -> None:
        self.shape, self.rate, self.mean, self.worth = shape, rate, mean, worth
        self.splits, self.averaged, self.kinds = splits, averaged, kinds
        self.look_ahead, self.options, self.width, self.window = look_ahead, options, width, window
        self.patience, self.depth, self.least = patience, depth, least

    def fit(self, X: object, y: object) -> Self:
        """Grow the trees."""
        inputs = self._read(X)
        target = _numbers(y)
        for word in ("shape", "rate", "worth"):
            value = getattr(self, word)
            if value is not None and not (isinstance(value, (int, float)) and 0 < value < np.inf):
                raise ParameterError(f"{word} is {value!r}", expected="a number above 0")
        spread = float(np.var(target))
        if spread == 0.0 and self.rate is None:
            raise DataError("every row has the same target", expected="numbers that vary, or rate=")
        middle = float(np.mean(target)) if len(target) else 0.0
        rate = self.shape * spread / 10 if self.rate is None else float(self.rate)
        mean = middle if self.mean is None else float(self.mean)
        self._kept = self._grow(inputs, target, NumberLeaf(self.shape, rate, mean, self.worth, middle))
        return self

    def predict(self, X: object, spread: bool = False) -> Any:
        """The mean of each row's target; with `spread` also its standard deviation."""
        found = self.kept.say(self._table(X), self._weights)
        if not spread:
            return found[:, 0]
        return found[:, 0], np.sqrt(np.maximum(found[:, 1] - found[:, 0] ** 2, 0.0))

    def log_predictive(self, X: object, y: object) -> Floats:
        """For each row the log density of its target."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.kept.density(self._table(X), self._weights, _numbers(y))))

    def score(self, X: object, y: object) -> float:
        """The share of the variance that is explained."""
        target = _numbers(y)
        return float(1.0 - np.mean((target - self.predict(X)) ** 2) / np.var(target))

    def __sklearn_tags__(self) -> Any:
        """What kind of estimator it is, for those who ask in scikit-learn's way."""
        return _tags("regressor")


def as_table(inputs: object) -> object:
    """A table with names: rows of an array get columns `x0`, `x1` and so on."""
    if isinstance(inputs, (np.ndarray, list)):
        array = np.asarray(inputs)
        if array.ndim != 2 or array.shape[1] == 0:
            raise ShapeError(f"inputs of shape {array.shape}", expected="rows and columns")
        return {f"x{number}": array[:, number] for number in range(array.shape[1])}
    return inputs


def _check_complete(columns: Sequence[Column], missing: NDArray[np.bool_]) -> None:
    for column, holes in zip(columns, missing, strict=True):
        if holes.any():
            raise MissingValue(
                f"`{column.name}` is missing",
                where=f"row {int(np.flatnonzero(holes)[0])}",
                hint="fill it, or make it a category with a level for what is missing",
            )


def _counts(given: float | Sequence[float]) -> tuple[float, ...]:
    found = tuple(given) if isinstance(given, (list, tuple)) else (given,)
    for count in found:
        if isinstance(count, bool) or not isinstance(count, (int, float)) or not 0 < count < np.inf:
            raise ParameterError(f"pseudocounts is {given!r}", expected="a number above 0, or several")
    if not found:
        raise ParameterError("pseudocounts is empty", expected="a number above 0, or several")
    return tuple(float(count) for count in found)


def _numbers(y: object) -> Floats:
    try:
        target = np.asarray(y, dtype=float)
    except (TypeError, ValueError):
        raise DataError("the targets are no numbers", expected="numbers; pw.TreeClassifier takes classes") from None
    if target.ndim != 1 or not len(target):
        raise ShapeError(f"targets of shape {target.shape}", expected="one number a row")
    if not np.isfinite(target).all():
        row = int(np.flatnonzero(~np.isfinite(target))[0])
        raise MissingValue(f"the target is {target[row]}", where=f"row {row}", expected="finite numbers")
    return target


def _defaults(kind: type) -> dict[str, Any]:
    return {name: found.default for name, found in inspect.signature(kind).parameters.items()}


def _tags(kind: str) -> Any:
    from sklearn.utils import ClassifierTags, RegressorTags, Tags, TargetTags  # theirs, when they ask

    return Tags(
        estimator_type=kind,
        target_tags=TargetTags(required=True),
        classifier_tags=ClassifierTags() if kind == "classifier" else None,
        regressor_tags=RegressorTags() if kind == "regressor" else None,
    )
