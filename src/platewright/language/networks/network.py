"""A discrete network as read from a file, and the model it is."""

from __future__ import annotations

import keyword
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from platewright.algebra.build import log
from platewright.errors import CycleError, ModelError
from platewright.language.constructors import Categorical, Dirichlet
from platewright.language.distribution import Undirected, array
from platewright.language.model import Model
from platewright.language.plate import Plate

M = TypeVar("M", bound=Model)


@dataclass(frozen=True, eq=False)
class Conditional:
    """`p(name | parents)`: an axis for each parent, then one for the variable."""

    name: str
    parents: tuple[str, ...]
    values: np.ndarray


@dataclass(frozen=True, eq=False)
class Weights:
    """A factor on some variables of an undirected network: an axis each, weights of at least 0."""

    name: str
    members: tuple[str, ...]
    values: np.ndarray


def legal_names(names: Iterable[str], model: type) -> dict[str, str]:
    """Names that a model accepts: other characters become _, and what is taken gets a number."""
    result: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        safe = re.sub(r"\W", "_", name).lstrip("_") or "x"
        if not safe.isidentifier() or keyword.iskeyword(safe) or hasattr(model, safe):
            safe = f"x_{safe}"
        plain, number = safe, 2
        while safe in taken:
            safe, number = f"{plain}_{number}", number + 1
        taken |= {safe}
        result[name] = safe
    return result


def directed_model(
    make: Callable[[str], M], title: str, labels: Mapping[str, Sequence[object]], conditionals: Iterable[Conditional]
) -> M:
    """A model with one category a variable, written parents first."""
    model = make(title)
    safe = legal_names(labels, type(model))
    plates = _plates(model, safe, labels)
    for found in parents_first({conditional.name: conditional for conditional in conditionals}):
        plate = plates[found.name]
        table = array(found.values, over=[*(plates[parent] for parent in found.parents), plate])
        if found.parents:
            table = table[tuple(getattr(model, safe[parent]) for parent in found.parents)]
        setattr(model, safe[found.name], Categorical(table, over=plate))
    return model


def learnable_model(
    make: Callable[[str], M],
    title: str,
    labels: Mapping[str, Sequence[object]],
    conditionals: Iterable[Conditional],
    sample_size: float,
    around_tables: bool,
) -> M:
    """The same network over rows of data, its tables unknown: every row of one is Dirichlet.

    The prior is worth `sample_size` rows of data for each table, spread evenly over its cells (the evidence is then the
    BDeu score), or as the given table has them under parents that are all alike.
    """
    if not (isinstance(sample_size, (int, float)) and 0 < sample_size < math.inf):
        raise ModelError(f"a prior worth {sample_size!r} rows", where="sample_size", expected="a positive number")
    model = make(title)
    safe = legal_names([*labels, *(f"{name}_table" for name in labels), "row"], type(model))
    plates = _plates(model, safe, labels)
    row = model.plate(safe["row"])
    for found in parents_first({conditional.name: conditional for conditional in conditionals}):
        plate, over = plates[found.name], [plates[parent] for parent in found.parents]
        shares = found.values if around_tables else np.full(found.values.shape, 1 / found.values.shape[-1])
        prior = array(shares * (sample_size / np.prod(found.values.shape[:-1])), over=[*over, plate])
        if (shares == 0).any():
            cause = f"the table of `{found.name}` has zeros, which no data could change"
            raise ModelError(cause, where="around_tables=True", expected="probabilities above 0")
        setattr(model, safe[f"{found.name}_table"], Dirichlet(prior, over=plate, plates=tuple(over)))
        table = getattr(model, safe[f"{found.name}_table"])
        if found.parents:
            table = table[tuple(getattr(model, safe[parent]) for parent in found.parents)]
        setattr(model, safe[found.name], Categorical(table, over=plate, plates=row))
    return model


def undirected_model(
    make: Callable[[str], M], title: str, labels: Mapping[str, Sequence[object]], factors: Iterable[Weights]
) -> M:
    """A model with one undirected category a variable and one potential a factor."""
    model = make(title)
    safe = legal_names(labels, type(model))
    plates = _plates(model, safe, labels)
    for name in labels:
        setattr(model, safe[name], Undirected(levels=plates[name]))
    for factor in factors:
        if not factor.members:
            model.potential(factor.name, log(float(factor.values)))
            continue
        table = array(factor.values, over=[plates[name] for name in factor.members])
        model.potential(factor.name, log(table[tuple(getattr(model, safe[name]) for name in factor.members)]))
    return model


def _plates(model: Model, safe: Mapping[str, str], labels: Mapping[str, Sequence[object]]) -> dict[str, Plate]:
    taken = set(safe.values())
    result = {}
    for name, own in labels.items():
        plate = f"{safe[name]}_levels"
        while plate in taken:
            plate += "_"
        taken.add(plate)
        result[name] = model.plate(plate, labels=tuple(own))
    return result


def parents_first(conditionals: Mapping[str, Conditional]) -> list[Conditional]:
    """In the order of the file where arcs allow."""
    order: list[Conditional] = []
    state: dict[str, int] = {}
    for start in conditionals:
        stack = [(start, iter(conditionals[start].parents))] if start not in state else []
        state.setdefault(start, 1)
        while stack:
            name, waiting = stack[-1]
            parent = next(waiting, None)
            if parent is None:
                state[name] = 2
                order.append(conditionals[name])
                stack.pop()
            elif state.get(parent) == 1:
                circle = [step for step, _ in stack]
                circle = [*circle[circle.index(parent) :], parent]
                raise CycleError("the arcs run in a circle: " + " <- ".join(circle), expected="no directed cycle")
            elif parent not in state:
                state[parent] = 1
                stack.append((parent, iter(conditionals[parent].parents)))
    return order
