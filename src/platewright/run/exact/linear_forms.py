"""Mean and spread of a linear form of Gaussian unknowns, exact through any chain of blocks.

    u = R^-1 (right - cross v + noise / sqrt(phi))

A form `g'u` passes its weights on: noise gets R^-T g, and v gets -(R^-1 cross)' g. Adding up |R^-T g|^2 over the blocks
gives the variance for phi = 1.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from platewright.algebra.build import equal, multiply, totals
from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Expression, Index, Reference
from platewright.elimination.state import GaussianConditional
from platewright.errors import SizeError
from platewright.family import Array
from platewright.recognition.linear import Linear

if TYPE_CHECKING:
    from platewright.run.exact.posterior import Posterior

MOST_ELEMENTS = 50_000_000
MOST_FORMS = 1000
"""The most elements whose variances are followed through the blocks one by one."""


def form_weights(
    form: Linear, posterior: Posterior, environment: Environment, axes: tuple[Index, ...]
) -> dict[str, Array]:
    """For each unknown of the form its coefficients, over `axes` and then the axes of the unknown."""
    found: dict[str, Array] = {}
    for name in dict.fromkeys(part.variable for part in form.parts):
        node = posterior.plan.graph.nodes[name]
        own = tuple(Index(f"{axis.name}*", axis.plate) for axis in node.axes)
        count = int(np.prod([environment.sizes[axis.plate] for axis in (*axes, *own)], dtype=np.int64))
        if count > MOST_ELEMENTS:
            raise SizeError(f"a table of {count} coefficients for `{name}`", hint="predict fewer rows at a time")
        terms = []
        for part in form.parts:
            if part.variable == name:
                chosen = [equal(at, index) for at, index in zip(part.at, own, strict=True)]
                terms.append(totals(multiply(part.coefficient, *chosen), part.inner))
        whole: Expression = terms[0]
        for term in terms[1:]:
            whole = whole + term
        found[name] = np.array(evaluate(whole, environment, (*axes, *own)))
    return found


def form_variance(weights: Mapping[str, Array], posterior: Posterior, leading: int) -> Array:
    """The variance of the form for phi = 1; the first `leading` axes of the weights number the forms."""
    waiting = dict(weights)
    shape = next(iter(weights.values())).shape[:leading]
    total = np.zeros(shape)
    for conditional in posterior.plan.conditionals:
        mine = [name for name in conditional.variables if name in waiting]
        if not isinstance(conditional, GaussianConditional) or not mine:
            continue
        block = posterior.block(conditional)
        nodes = posterior.plan.graph.nodes
        full = {}
        for name in conditional.variables:
            size = tuple(posterior.sizes[axis.plate] for axis in nodes[name].axes)
            full[name] = waiting.pop(name, np.zeros((*shape, *size))).reshape(-1, *size)
        if not len(full[mine[0]]):
            return total  # no forms at all
        rows = np.stack(
            [block.stacked_array({n: a[k] for n, a in full.items()})[..., 0] for k in range(len(full[mine[0]]))]
        )
        noise = block.noise_weights(rows)
        total = total + (noise**2).sum(axis=tuple(range(1, noise.ndim))).reshape(shape)
        _pass_on(waiting, block, noise, posterior, shape)
    return total


def element_variances(name: str, posterior: Posterior) -> Array | None:
    """The variance of each element of an unknown for phi = 1; None where there are too many to follow one by one."""
    shape = tuple(posterior.sizes[axis.plate] for axis in posterior.plan.graph.nodes[name].axes)
    count = int(np.prod(shape, dtype=int))
    if count > MOST_FORMS:
        return None
    weights = np.eye(count).reshape(count, *shape)
    return form_variance({name: weights}, posterior, 1).reshape(shape)


def _pass_on(
    waiting: dict[str, Array], block: object, noise: Array, posterior: Posterior, shape: tuple[int, ...]
) -> None:
    """Weights on the outer columns: minus cross' R^-T g, added to what these unknowns carry already."""
    from platewright.run.exact.gaussian import Block

    assert isinstance(block, Block)
    cross = block.cross()
    if cross is None:
        return
    moved = -np.einsum("...d,...do->...o", noise, cross)
    start = 0
    nodes = posterior.plan.graph.nodes
    for column in block.conditional.statement.outer:
        size = int(np.prod([posterior.sizes[index.plate] for index in column.dense], dtype=int))
        part = moved[..., start : start + size]
        start += size
        shape_own = tuple(posterior.sizes[axis.plate] for axis in nodes[column.variable].axes)
        numbers = np.arange(int(np.prod(shape_own, dtype=int))).reshape(shape_own)
        at = block.looked_up(column, numbers, {**posterior.data, **posterior.values}).astype(int)
        flat = np.zeros((len(noise), numbers.size))
        for k in range(len(noise)):
            np.add.at(flat[k], at.ravel(), part[k].ravel())
        gathered = flat.reshape(*shape, *shape_own)
        waiting[column.variable] = waiting.get(column.variable, 0.0) + gathered


def form_mean(form: Linear, means: Mapping[str, Array], environment: Environment, axes: tuple[Index, ...]) -> Array:
    """The form at the means of its unknowns."""
    terms = [form.rest]
    for part in form.parts:
        terms.append(totals(multiply(part.coefficient, Reference(part.variable, part.at)), part.inner))
    whole = terms[0]
    for term in terms[1:]:
        whole = whole + term
    return np.array(evaluate(whole, environment.with_values(means), axes))
