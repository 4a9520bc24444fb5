"""A class probability tree as a conditional: what stands at its leaves, and the tree as ordinary nodes  (Section 5).

    m.y = Tree(m.x, m.c, prior=Dirichlet(1, over=level), plates=row)

    leaf_y = where(less(x, 2.5), where(equal(c, 1), 0, 1), 2)        which leaf a row falls into
    p_y[leaf] ~ Dirichlet;    y ~ Categorical(p_y[leaf_y])           a distribution at each leaf

With a given shape this is an ordinary model. Until data have grown a tree, one that asks every input once stands in its
place: it has the arcs that the tree may have.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from platewright.algebra.build import equal, where
from platewright.algebra.expression import Expression, Reference
from platewright.errors import ModelError, ParameterError
from platewright.language.constructors import Bernoulli, Categorical, Normal
from platewright.language.distribution import Distribution, array, as_plates
from platewright.language.functions import less
from platewright.language.plate import Plate
from platewright.language.split import Attribute, Split, is_open, leaves_of, settled, shares_of
from platewright.language.tree_prior import TreePrior
from platewright.language.variable import Variable

PRIORS = ("Dirichlet", "Beta", "Gamma")


@dataclass(frozen=True, init=False)
class Tree:
    """A conditional by a tree over inputs: `m.y = pw.Tree(m.x1, m.x2, prior=pw.Dirichlet(1, over=level), plates=row)`.

    `prior` is that of each leaf: a Dirichlet makes `y` a category of its `over=`, a Beta a Bernoulli variable, and a
    Gamma is the prior of a normal variable's precision; its mean is then `mean`, known as well as from `worth` rows.
    With `shared` the pseudo-counts are those of the whole tree, and branches share them evenly. `splits` is the prior
    of the tree itself, `pw.branching(...)`. With a `shape`, nested `pw.Split`, the tree is fixed; without, it is grown
    from data by `m.learn(data)` or `m.grow(data)`.
    """

    inputs: tuple[str, ...]
    prior: Distribution
    plates: tuple[Plate, ...]
    shape: Split | None
    is_fixed: bool
    splits: TreePrior
    shared: bool
    mean: float
    worth: float

    def __init__(
        self,
        *inputs: object,
        prior: Distribution | None = None,
        plates: Plate | Sequence[Plate] = (),
        shape: Split | str | None = "grown",
        splits: TreePrior | None = None,
        shared: bool = False,
        mean: float = 0.0,
        worth: float = 1.0,
    ) -> None:
        names = tuple(_input(value) for value in inputs)
        if not names:
            raise ParameterError("a tree without inputs", expected="pw.Tree(m.x1, m.x2, prior=..., plates=row)")
        if len(set(names)) < len(names):
            raise ParameterError("an input of a tree is listed twice", expected="each input once")
        if not isinstance(prior, Distribution) or prior.family.name not in PRIORS or prior.plates:
            raise ParameterError(
                f"the prior of a tree's leaves is {prior!r}",
                where="pw.Tree(..., prior=)",
                expected="pw.Dirichlet(1, over=level) for classes, pw.Beta(1, 1) for 0 and 1, "
                "pw.Gamma(1, rate=1) for the precision of numbers",
            )
        if shape != "grown" and shape is not None and not isinstance(shape, Split):
            raise ParameterError(
                f"the shape of a tree is {shape!r}", expected="pw.Split(...), or None for a single leaf"
            )
        if splits is not None and not isinstance(splits, TreePrior):
            raise ParameterError(f"splits is {splits!r}", expected="pw.branching(probability, decay=...)")
        if shared and prior.family.name == "Gamma":
            raise ParameterError("shared= has a meaning for pseudo-counts only", expected="a Dirichlet or Beta prior")
        for word, value, least in (("mean", mean, -np.inf), ("worth", worth, 0.0)):
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not least < value < np.inf:
                raise ParameterError(
                    f"{word} is {value!r}", expected="a number" + (" above 0" if word == "worth" else "")
                )
        for word, found in (
            ("inputs", names),
            ("prior", prior),
            ("plates", as_plates(plates)),
            ("shape", shape if isinstance(shape, Split) else None),
            ("is_fixed", shape != "grown"),
            ("splits", splits or TreePrior()),
            ("shared", bool(shared)),
            ("mean", float(mean)),
            ("worth", float(worth)),
        ):
            object.__setattr__(self, word, found)

    def __repr__(self) -> str:
        return f"pw.Tree({', '.join(self.inputs)})"


def _input(value: object) -> str:
    if not isinstance(value, Reference):
        raise ParameterError(
            f"an input of a tree is {value!r}", expected="a variable of the model: pw.Tree(m.x1, m.x2, ...)"
        )
    return value.name


def pieces(name: str) -> tuple[str, ...]:
    """The names of the nodes that stand beside a tree: which leaf, and what is unknown at each leaf."""
    return f"leaf_{name}", f"p_{name}", f"precision_{name}", f"mean_{name}"


def attribute(variable: Variable, plates: Mapping[str, Plate], labels: tuple[object, ...] = ()) -> Attribute:
    """What a variable is as an input of a tree."""
    domain = variable.domain
    if domain.kind == "levels":
        found = plates[str(domain.levels)]
        return Attribute(variable.name, found.size or 0, labels or found.labels or ())
    if variable.family is not None and domain.is_finite and domain.lower == 0 and domain.upper == 1:
        return Attribute(variable.name, 2)
    return Attribute(variable.name)


def attributes_of(model: Any, tree: Tree) -> dict[str, Attribute]:
    """The inputs of a tree as the model has them."""
    return {name: attribute(model.variables[name], model.plates) for name in tree.inputs}


def write_tree(model: Any, name: str, tree: Tree, shape: Split | str | None) -> None:
    """Write a tree of this shape into a model as ordinary nodes; of shape "grown" one that asks every input once."""
    found = attributes_of(model, tree)
    if not isinstance(shape, str) and is_open(shape, found):
        shape = "grown"
    fixed = _of_every_input(list(found.values())) if isinstance(shape, str) else settled(shape, found)
    leaf, chance, precision, mean = pieces(name)
    leaves = model.plate(f"leaf_of_{name}", leaves_of(fixed))
    at: Any = 0
    if fixed is not None:
        setattr(model, leaf, _leaf_of(model, fixed, 0)[0])
        at = getattr(model, leaf)
    if tree.prior.family.name == "Gamma":
        setattr(model, precision, replace(tree.prior, plates=(leaves,)))
        weight = tree.worth * getattr(model, precision)
        setattr(model, mean, Normal(tree.mean, precision=weight, plates=leaves))
        of_leaf = Normal(getattr(model, mean)[at], precision=getattr(model, precision)[at], plates=tree.plates)
        setattr(model, name, of_leaf)
        return
    given = tree.prior.given
    if tree.shared:
        shares = array(list(shares_of(fixed)), over=leaves)
        given = {word: _shared(model, tree, word, value, shares) for word, value in given.items()}
    setattr(model, chance, replace(tree.prior, plates=(leaves,), given=given))
    chosen = getattr(model, chance)[at]
    made = Bernoulli if tree.prior.family.name == "Beta" else Categorical
    setattr(model, name, made(chosen, plates=tree.plates))


def _shared(model: Any, tree: Tree, word: str, value: Any, shares: Expression) -> Expression:
    """Pseudo-counts of the whole tree as those of each leaf."""
    if isinstance(value, (list, tuple, np.ndarray)):
        assert tree.prior.over is not None
        value = array(value, over=model.plates[tree.prior.over.name])
    if not isinstance(value, (int, float, Expression)):
        raise ModelError(f"{word} of the leaves is {value!r}", expected="a number or a table")
    return value * shares


def _of_every_input(found: Sequence[Attribute]) -> Split:
    """A tree that asks every input once, a number whether it is below nought, a category whether it is its first."""
    shape: Split | None = None
    for one in reversed(found):
        level = None if one.levels is None else 0
        shape = Split(one.name, None, shape, below=0.0 if level is None else None, level=level)
    assert shape is not None
    return shape


def _leaf_of(model: Any, shape: Split | None, first: int) -> tuple[Any, int]:
    """The number of the leaf as a function of the inputs, and the number after the last."""
    if shape is None:
        return first, first + 1
    asked = getattr(model, shape.on)
    numbers: list[Any] = []
    for branch in shape.branches:
        number, first = _leaf_of(model, branch, first)
        numbers.append(number)
    if shape.is_binary:
        condition = less(asked, shape.below) if shape.below is not None else equal(asked, int(shape.level))  # type: ignore[call-overload]
        return where(condition, *numbers), first
    written = numbers[-1]
    for level in range(len(numbers) - 2, -1, -1):
        written = where(equal(asked, level), numbers[level], written)
    return written, first


def with_shapes(
    empty: Any,
    model: Any,
    shapes: Mapping[str, Split | None],
    sizes: Mapping[str, int],
    labels: Mapping[str, tuple[object, ...]],
) -> Any:
    """The model with its trees of these shapes, written into an empty one; sizes and labels are those of the data."""
    beside = {piece for name in model._trees for piece in pieces(name)}
    own = {f"leaf_of_{name}" for name in model._trees}
    for name, plate in model.plates.items():
        if name in own:
            continue
        asked = any(
            str(model.variables[one].domain.levels) == name for tree in model._trees.values() for one in tree.inputs
        )
        size = sizes.get(name) if asked and plate.size is None else plate.size
        empty._plates[name] = replace(plate, size=size, labels=plate.labels or (labels.get(name) if asked else None))
    for name, variable in model.variables.items():
        if name in model._trees:
            write_tree(empty, name, model._trees[name], shapes[name])
        elif name not in beside:
            empty._variables[name] = variable
    empty._potentials.update(model.potentials)
    empty._around.update(model._around)
    return empty
