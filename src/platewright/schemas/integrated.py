"""Unknowns that are integrated out before what no family matches is moved, and drawn right after it.

    theta[i] ~ Gamma(alpha, beta),  x[i] ~ Poisson(theta[i] t[i])       theta given alpha, beta and x is a Gamma
    move alpha, beta under  prod_i  int p(theta[i] | alpha, beta) p(x[i] | theta[i]) dtheta[i],   then draw theta[i]

Moving both in turn is one draw of (alpha, beta, theta), so the chain keeps its target and forgets much faster.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from platewright.algebra.build import log, substitute
from platewright.algebra.expression import ZERO, Add, Expression, Reference, Sum, names, walk
from platewright.graph.graph import Factor, Graph
from platewright.language.variable import Variable
from platewright.operation import Declined
from platewright.recognition.recognise import Recognised, recognise
from platewright.recognition.transform import IDENTITY
from platewright.schemas.rough import touching
from platewright.schemas.slopes import slopes_of


@dataclass(frozen=True)
class Integrated:
    """The factors that are left, the unknowns that are gone, and the others that they tie together."""

    factors: tuple[Factor, ...]
    gone: tuple[str, ...] = ()
    tied: tuple[str, ...] = ()


def owner_of(name: str) -> str:
    """Whose the factor is that an unknown leaves when it is integrated out."""
    return f"{name} integrated out"


def integrate(graph: Graph, factors: Sequence[Factor], exact: Sequence[str], rough: Collection[str]) -> Integrated:
    """Integrate out every unknown with a closed form below one without, where what is left has derivatives."""
    found = Integrated(tuple(factors))
    for name in exact:
        after = _without(graph, found, name, rough)
        if isinstance(after, Integrated):
            found = after
    return found


def _without(graph: Graph, before: Integrated, name: str, rough: Collection[str]) -> Integrated | Declined:
    word = f"integrate {name}"
    node = graph.nodes[name]
    around = touching(before.factors, (name,))
    others = [other for other in graph.unknown if other != name and any(other in factor.names for factor in around)]
    own = {other for factor in around if factor.owner == name for other in factor.names}
    if not node.plates or not own & set(rough):
        return Declined(word, f"no parent of `{name}` lacks a closed form")
    if name in before.tied or set(others) & set(before.gone):
        return Declined(word, f"`{name}` meets another unknown that is integrated out")
    for other in others:
        domain = graph.nodes[other].domain
        if domain.kind != "real" or not set(graph.nodes[other].axes) < set(node.axes):
            return Declined(word, f"`{other}` is not a real number above `{name}`")
    found = recognise(around, node, graph.facts)
    if isinstance(found, Declined):
        return Declined(word, found.reason)
    inside = {axis.plate for axis in node.events}
    if any(isinstance(part, Sum) and part.index.plate not in inside for part in walk(found.log_normaliser)):
        # given `name` such sums are statistics, taken once; without it they would be taken at every step
        return Declined(word, f"`{name}` would leave a function of a sum over rows")
    left = _at_the_mean(graph, found, around) or [
        Factor(owner_of(name), node.plates, found.log_normaliser),
        *_terms(name, found.rest, others),
    ]
    slopes = slopes_of(left, others)
    if isinstance(slopes, Declined):
        return slopes
    kept = [factor for factor in before.factors if factor not in around]
    tied = tuple(dict.fromkeys((*before.tied, *others)))
    return Integrated((*kept, *left), (*before.gone, name), tied)


def _at_the_mean(graph: Graph, found: Recognised, around: Sequence[Factor]) -> list[Factor]:
    """What a normal leaves: the factors at its mean, and its width. None of another family has this form.

    Its normaliser is the same in theory, `b^2 / 4a` less the squares of what is seen and expected, each weighted: at a
    scale of 1e-9 such terms are 1e18, and nothing is left of their difference but rounding. For the same reason the
    unknown is counted from where its prior expects it, which is no change of the integral.
    """
    node = found.target
    if found.family.name != "Normal" or found.transform is not IDENTITY:
        return []
    expected = dict(node.parameters).get("mean", ZERO)
    shifted = [_with(factor, node, node.symbol + expected) for factor in around]
    again = recognise(shifted, node, graph.facts)
    if isinstance(again, Declined):
        return []
    mean, precision = again.parameters["mean"], again.parameters["precision"]
    left = [Factor(owner_of(node.name), node.plates, -0.5 * log(precision))]
    return left + [replace(_with(factor, node, mean), owner=owner_of(node.name)) for factor in shifted]


def _with(factor: Factor, node: Variable, value: Expression) -> Factor:
    """A factor with a value, which lives on the plates of an unknown, in its place."""
    there: dict[Expression, Expression] = {}
    for part in walk(factor.expression):
        if isinstance(part, Reference) and part.name == node.name:
            there[part] = substitute(value, dict(zip(node.plates, part.indices, strict=True)))
    return replace(factor, expression=substitute(factor.expression, there))


def _terms(name: str, rest: Expression, others: Sequence[str]) -> list[Factor]:
    """The terms of what is left that still hold unknowns, each summed over its own indices."""
    found = []
    for term in rest.terms if isinstance(rest, Add) else (rest,):
        axes = []
        while isinstance(term, Sum):
            axes.append(term.index)
            term = term.body
        if names(term) & set(others):
            found.append(Factor(owner_of(name), tuple(axes), term))
    return found


def reasons(found: Integrated, rough: Mapping[str, str]) -> dict[str, str]:
    """Why unknowns are moved without a closed form: those of before, and those tied by what was integrated out."""
    shown = ", ".join(f"`{name}`" for name in found.gone)
    return {**rough, **{name: f"{shown} integrated out" for name in found.tied if name not in rough}}
