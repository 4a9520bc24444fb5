"""Messages on a junction tree: collect towards the last variable, distribute back, and walk back for states.

    collect       message(clique) = sum over its variable of its tables x its children's messages
    distribute    belief(clique)  = its tables x children's messages x message from its parent
    walk back     p(variable | later ones), last variable first: draws, or the best state after a collect by MAX

Cliques' tables are made when needed and dropped; only messages are kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from platewright.family import Array
from platewright.inference.blocks import SMALL, spread_blocks, summed_blocks
from platewright.inference.junction_tree import JunctionTree
from platewright.inference.semiring import Axes, Named, Semiring, product_of, sum_down

LEAST_BELIEF = 1e-200
"""A clique whose belief sums to less is done again in logs."""
BELOW_ONE = 1 - 2.0**-50
"""Keeps a uniform number below one after rounding."""


class ZeroProbability(Exception):
    """All states have weight zero."""


@dataclass(frozen=True)
class Collected:
    """The tables of a tree in a semiring, the messages towards the end, and the log of what was divided out."""

    tree: JunctionTree
    semiring: Semiring
    tables: tuple[Named, ...]
    messages: tuple[Named, ...]
    log_scale: float
    kept: Named

    @property
    def log_total(self) -> float:
        """The log of the sum (or the largest) of the product of all tables, when nothing is kept."""
        return self.log_scale + float(self.semiring.logs(self.kept.values))

    def operands(self, at: int) -> list[Named]:
        """What is multiplied in a clique on the way to the end."""
        clique = self.tree.cliques[at]
        return [self.tables[table] for table in clique.tables] + [self.messages[child] for child in clique.children]


def entered(
    tree: JunctionTree, scopes: Sequence[Sequence[str]], logs: Sequence[Array], semiring: Semiring
) -> tuple[tuple[Named, ...], float]:
    """Log tables with their axes in the order of elimination, and the log of what they were divided by."""
    number = tree.number()
    result = []
    log_scale = 0.0
    for scope, values in zip(scopes, logs, strict=True):
        places = [number[name] for name in scope]
        turned = np.argsort(places)
        ready, scale = semiring.enter(np.asarray(np.transpose(values, turned), order="C"))
        log_scale += scale
        result.append(Named(tuple(sorted(places)), ready))
    return tuple(result), log_scale


def collect(
    tree: JunctionTree, scopes: Sequence[Sequence[str]], logs: Sequence[Array], semiring: Semiring
) -> Collected:
    """Eliminate every variable that is not kept."""
    tables, log_scale = entered(tree, scopes, logs, semiring)
    messages: list[Named] = []
    ends: list[Named] = []
    for clique in tree.cliques:
        operands = [tables[table] for table in clique.tables] + [messages[child] for child in clique.children]
        values, scale = semiring.rescale(_message(operands, clique.axes, tree, semiring))
        if scale == -np.inf:
            raise ZeroProbability
        log_scale += scale
        messages.append(Named(clique.separator, values))
        if clique.parent is None:
            ends.append(messages[-1])
    last = [*ends, *(tables[table] for table in tree.loose)]
    kept = Named(tree.kept, product_of(last, tree.kept, tree.sizes, semiring))
    if kept.values.max(initial=semiring.zero) == semiring.zero:
        raise ZeroProbability
    return Collected(tree, semiring, tables, tuple(messages), log_scale, kept)


def distribute(collected: Collected) -> dict[str, Array]:
    """The marginal of every variable, as probabilities.

    Entries of a belief that underflow are states with a probability of less than 1e-100, since all operands are at most
    one and the belief as a whole is not small: to drop them changes no marginal. Of a small belief that is not so.
    """
    tree, semiring = collected.tree, collected.semiring
    downward: dict[int, Named] = {}
    marginals: dict[str, Array] = {}
    for at in range(len(tree.cliques) - 1, -1, -1):
        clique = tree.cliques[at]
        operands = collected.operands(at)
        if at in downward:
            operands.append(downward.pop(at))
        messages = [collected.messages[child] for child in clique.children]
        wanted = [clique.axes[:1], *(message.axes for message in messages)]
        own, *beliefs = _beliefs(operands, clique.axes, wanted, tree, semiring)
        if semiring.scaled and own.sum() < LEAST_BELIEF:
            raise FloatingPointError("underflow")
        marginals[tree.names[at]] = probabilities(own, semiring)
        for child, message, belief in zip(clique.children, messages, beliefs, strict=True):
            downward[child] = Named(message.axes, semiring.rescale(semiring.over(belief, message.values))[0])
    return marginals


def _message(operands: Sequence[Named], axes: Axes, tree: JunctionTree, semiring: Semiring) -> Array:
    """The product summed over the first of `axes`; a large one is never made whole."""
    if tree.entries(axes) > SMALL:
        return summed_blocks(operands, axes, tree.sizes, semiring)
    return semiring.total(product_of(operands, axes, tree.sizes, semiring))


def _beliefs(
    operands: Sequence[Named], axes: Axes, wanted: Sequence[Axes], tree: JunctionTree, semiring: Semiring
) -> list[Array]:
    """The product summed over all but each of the `wanted` axes."""
    if tree.entries(axes) > SMALL:
        return spread_blocks(operands, axes, tree.sizes, wanted, semiring)
    belief = Named(axes, product_of(operands, axes, tree.sizes, semiring))
    return [sum_down(belief, found, semiring) for found in wanted]


def probabilities(values: Array, semiring: Semiring) -> Array:
    """Weights made to sum to one."""
    if not semiring.scaled:
        values = np.exp(values - values.max())
    return np.asarray(values / values.sum())


def walk_back(collected: Collected, uniform: Array | None) -> Array:
    """States, one row a draw and one column a variable of the tree; the best state where `uniform` is None.

    `uniform` has a number in [0, 1) for each draw and variable.
    """
    tree = collected.tree
    count = 1 if uniform is None else len(uniform)
    states = np.zeros((count, len(tree.names)), dtype=np.intp)
    for at in range(len(tree.cliques) - 1, -1, -1):
        logs = np.zeros((tree.sizes[at], count))
        for operand in collected.operands(at):
            positions: list[Any] = [states[:, axis] for axis in operand.axes[1:]]
            chosen = operand.values[(slice(None), *positions)]
            logs += collected.semiring.logs(chosen.reshape(tree.sizes[at], -1))
        if uniform is None:
            states[:, at] = logs.argmax(axis=0)
            continue
        cumulative = np.cumsum(np.exp(logs - logs.max(axis=0)), axis=0)
        # A level of weight zero has the cumulative sum of the one before it, and is never chosen.
        states[:, at] = (uniform[:, at] * BELOW_ONE * cumulative[-1] >= cumulative).sum(axis=0)
    return states
