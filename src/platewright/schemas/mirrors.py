"""Unknowns whose signs can be turned over together, and nothing but their own priors would change.

    y ~ Normal(a b, 1)              a, b  ->  -a, -b
    y ~ Normal(mu ** 2, 1)          mu    ->  -mu
    y ~ Normal(w[k] . z[n, k], 1)   w[k], z[., k]  ->  -w[k], -z[., k],     for each k by itself

Each mode comes again on the other side, and no step of local size goes there. A Metropolis step does, by the ratio of
the whole density, so it keeps the posterior whatever the form says; the form only tells where such a step is of use.
An expression is even or odd in the signs: products of two that are odd at the same place are even, and sums keep what
all their terms are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import Literal as OneOf

from platewright.algebra.domain import REAL
from platewright.algebra.expression import (
    Add,
    Call,
    Constant,
    Expression,
    Multiply,
    Power,
    Reference,
    Sum,
    Where,
    children,
    names,
    walk,
)
from platewright.graph.graph import Factor, Graph

MOST_TOGETHER = 4
"""Unknowns that are turned over together."""
MOST_APART = 16
"""Elements of their common plates that are turned over one by one; of more, all at once."""
ODD = frozenset(("sin", "tanh", "arctan", "erf"))
EVEN = frozenset(("absolute", "cos"))

Place = tuple[Expression, ...]
"""Where on the common plates something is odd."""
Parity = Place | OneOf["even", "neither"]


@dataclass(frozen=True)
class Mirror:
    """The unknowns whose signs turn, and the plates over whose elements they turn one by one."""

    variables: tuple[str, ...]
    plates: tuple[str, ...]
    shared: tuple[tuple[int, ...], ...]
    """Of each unknown the axes that are these plates."""


def mirrors(graph: Graph, factors: Sequence[Factor]) -> list[Mirror]:
    """All sets of unknowns whose signs turn together, the smallest that hold each unknown."""
    real = [name for name in graph.unknown if graph.nodes[name].domain == REAL]
    found: dict[frozenset[str], Mirror] = {}
    for name in real:
        for together in _grown(factors, frozenset(real), frozenset([name])):
            if together not in found:
                found[together] = _apart(graph, factors, [other for other in real if other in together])
            break
    return list(found.values())


def _grown(factors: Sequence[Factor], real: frozenset[str], held: frozenset[str]) -> Iterator[frozenset[str]]:
    """The sets around some unknowns that leave all factors as they are, but for their own priors."""
    others = [factor for factor in factors if factor.names & held and not is_own_prior(factor, held)]
    broken = next((factor for factor in others if parity(factor.expression, _whole(held)) != "even"), None)
    if broken is None:
        if others:
            yield held
        return
    partners: dict[frozenset[str], None] = {}
    for part in walk(broken.expression):
        if isinstance(part, Multiply) and names(part) & held:
            beside = [factor for factor in part.factors if isinstance(factor, Reference | Add)]
            partners |= dict.fromkeys(names(factor) & real - held for factor in beside)
    for partner in partners:
        if partner and len(held | partner) <= MOST_TOGETHER:
            yield from _grown(factors, real, held | partner)


def _apart(graph: Graph, factors: Sequence[Factor], together: Sequence[str]) -> Mirror:
    """Element by element over the plates that all of them have, where that leaves the factors as they are too."""
    axes = {name: [axis.plate for axis in graph.nodes[name].axes] for name in together}
    common = [plate for plate in axes[together[0]] if all(plates.count(plate) == 1 for plates in axes.values())]
    sizes = [graph.plates[plate].size for plate in common]
    if common and all(sizes) and prod(size or 0 for size in sizes) <= MOST_APART:
        shared = {name: tuple(plates.index(plate) for plate in common) for name, plates in axes.items()}
        held = frozenset(together)
        others = [factor for factor in factors if factor.names & held and not is_own_prior(factor, held)]
        if all(parity(factor.expression, shared) == "even" for factor in others):
            return Mirror(tuple(together), tuple(common), tuple(shared[name] for name in together))
    return Mirror(tuple(together), (), ((),) * len(together))


def is_own_prior(factor: Factor, held: frozenset[str]) -> bool:
    """Whether a factor is the prior of one of the unknowns, which meets no other of them and no other element of it."""
    if factor.owner not in held or factor.names & held != {factor.owner}:
        return False
    axes = [node.indices for node in walk(factor.expression) if isinstance(node, Reference) and node.name in held]
    return all(indices == tuple(factor.axes) for indices in axes)


def _whole(held: frozenset[str]) -> dict[str, tuple[int, ...]]:
    return dict.fromkeys(held, ())


def parity(expression: Expression, turned: dict[str, tuple[int, ...]]) -> Parity:
    """Whether an expression is even or odd (and where) in the signs of unknowns, given by name with common axes."""
    if not names(expression) & set(turned):
        return "even"
    match expression:
        case Reference(name, indices) if name in turned and not any(names(at) & set(turned) for at in indices):
            return tuple(indices[axis] for axis in turned[name])
        case Add(terms):
            found = {parity(term, turned) for term in terms}
            return found.pop() if len(found) == 1 else "neither"
        case Multiply(factors):
            odd = [each for each in (parity(factor, turned) for factor in factors) if each != "even"]
            if "neither" in odd or len(set(odd)) > 1:
                return "neither"
            return odd[0] if len(odd) % 2 else "even"
        case Power(base, Constant(exponent)):
            below = parity(base, turned)
            if below in ("even", "neither") or exponent != int(exponent):
                return below if below == "even" else "neither"
            return below if int(exponent) % 2 else "even"
        case Call(function, (argument,)):
            below = parity(argument, turned)
            if below in ("even", "neither"):
                return below
            return "even" if function in EVEN else below if function in ODD else "neither"
        case Sum(index, body):
            below = parity(body, turned)
            return "neither" if below not in ("even", "neither") and index in below else below
        case Where(condition, then, otherwise) if parity(condition, turned) == "even":
            both = {parity(then, turned), parity(otherwise, turned)}
            return both.pop() if len(both) == 1 else "neither"
    return "even" if all(parity(child, turned) == "even" for child in children(expression)) else "neither"
