"""Recognise the conditional of one unknown by the functions of it that occur  (Definition 4.1, Lemma 4.1).

    log p(theta | rest) = sum_i weight_i(rest) t_i(theta) + constant

The set of t_i names the family; the weights are its natural parameters. Near misses are declined with the function that
no family has, or with what ties the unknown to the rest.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from platewright.algebra.build import add, multiply, substitute, totals
from platewright.algebra.domain import POSITIVE, Domain
from platewright.algebra.expand import Inseparable, expand
from platewright.algebra.expression import ONE, ZERO, Constant, Expression, Index, Reference
from platewright.algebra.facts import Facts
from platewright.errors import ModelError
from platewright.families import FAMILIES
from platewright.family import Argument, Family, filled
from platewright.graph.graph import Factor
from platewright.language.variable import Variable
from platewright.operation import Declined
from platewright.recognition.canonical import Bound, Collected, Coupled, collect
from platewright.recognition.powers import part_with_too_many_powers
from platewright.recognition.transform import IDENTITY, Transform, candidates


@dataclass(frozen=True)
class Recognised:
    """The conditional of a target given all else: a family, its parameters over the target's plates, its normaliser."""

    target: Variable
    family: Family
    transform: Transform
    parameters: dict[str, Expression]
    weights: tuple[tuple[Expression, Expression], ...]
    log_normaliser: Expression
    """Over the target's plates: what is left in the joint when the target is integrated out."""
    rest: Expression
    """Terms of the touched factors that do not hold the target."""

    @property
    def events(self) -> tuple[Index, ...]:
        """The event axes of the family's values."""
        return self.target.events


def recognise(factors: Sequence[Factor], target: Variable, facts: Facts) -> Recognised | Declined:
    """The family of the target's conditional under the given log factors, or why there is none."""
    word = f"recognise {target.name}"
    whole = add(*(factor.summed for factor in factors))
    if (part := part_with_too_many_powers(whole, target.name)) is not None:
        return Declined(word, f"`{target.name}` enters through {part}, which holds more powers of it than any family")
    try:
        collected = collect(expand(whole, {target.name}, facts), target)
    except Inseparable as tied:
        return Declined(word, f"`{target.name}` enters through {tied.part}, which {tied.reason} (Theorem 4.1)")
    except Coupled as coupled:
        return Declined(word, f"different elements of `{target.name}` meet in {coupled.part}")
    reasons = []
    for transform in candidates(list(collected.weights), target.symbol, target.domain):
        changed = _changed(collected, target, transform, facts)
        if isinstance(changed, Declined):
            reasons.append(changed.reason)
            continue
        domain = target.domain if transform is IDENTITY else transform.domain
        for family in FAMILIES:
            found = _match(family, changed, target, transform, domain)
            if isinstance(found, Recognised):
                return found
            if found.reason:
                reasons.append(found.reason)
    functions = ", ".join(str(atom) for atom in collected.weights) or "no function"
    limits = "".join(f", bounded {_side(bound)} {bound.value}" for bound in collected.bounds)
    return Declined(
        word,
        f"`{target.name}` ({target.domain}{limits}) enters through {functions}; "
        "no family with that support has just these",
    )


def _side(bound: Bound) -> str:
    return "below by" if bound.side == "lower" else "above by"


def _changed(collected: Collected, target: Variable, transform: Transform, facts: Facts) -> Collected | Declined:
    """The collected weights in terms of the transformed variable, its Jacobian added."""
    if transform is IDENTITY:
        return collected
    if collected.bounds:
        return Declined("transform", "bounds are not carried through a change of variable")
    y = Reference("y")
    known = Facts({**facts.axes, "y": ()}, {**facts.domains, "y": transform.domain})
    weights: dict[Expression, Expression] = {}
    rest = [collected.rest]
    pairs = [(substitute(atom, {target.symbol: transform.backward}), w) for atom, w in collected.weights.items()]
    pairs.append((transform.log_jacobian, ONE))
    for atom, weight in pairs:
        try:
            terms = expand(atom, {"y"}, known)
        except Inseparable as tied:
            return Declined("transform", f"{tied.part} does not simplify under {transform.name}")
        for term in terms:
            part = multiply(weight, term.weight)
            if not term.atoms:
                rest.append(totals(part, target.plates))
                continue
            key = multiply(*term.atoms)
            weights[key] = add(weights[key], part) if key in weights else part
    back = {substitute(atom, {y: target.symbol}): weight for atom, weight in weights.items() if weight != ZERO}
    return Collected(back, add(*rest), ())


def _match(
    family: Family, collected: Collected, target: Variable, transform: Transform, domain: Domain
) -> Recognised | Declined:
    """Try one family: its support, then each function of the target against its statistics."""
    if family.from_natural is None or family.rank != target.rank:
        return Declined(family.name, "")
    has_lower = family.lower is not None
    if not _same_support(family.domain, domain, has_lower, collected.bounds):
        return Declined(family.name, "")
    axes = target.events
    x = Argument(target.symbol, axes)
    statistics = [filled(statistic, {"x": x}, axes) for statistic in family.statistics]
    weights = dict(collected.weights)
    if family.base != ZERO:
        base = filled(family.base, {"x": x}, axes)
        number, atom = _as_weighted(base)
        if weights.pop(atom, None) != number:
            return Declined(family.name, f"the base measure {base} of {family.name} is missing")
    found = [weights.pop(statistic, ZERO) for statistic in statistics]
    if weights:
        return Declined(family.name, f"{next(iter(weights))} is not among the statistics of {family.name}")
    if all(weight == ZERO for weight in found) and not domain.has_volume:
        return Declined(family.name, "")  # a constant on endless space is no distribution
    arguments = {f"weight{k}": Argument(weight, axes) for k, weight in enumerate(found)}
    try:
        parameters = {name: filled(form, arguments, axes) for name, form in family.from_natural.items()}
    except ModelError:  # a precision of exactly zero has no variance
        return Declined(family.name, f"a parameter of {family.name} would not be finite")
    if has_lower:
        parameters.update(_lower(family, collected.bounds, domain))
    improper = _improper(family, parameters)
    if improper:
        return Declined(family.name, f"{improper} of {family.name} would not be positive")
    normal = filled(
        family.log_normaliser, {n: Argument(e, axes[: family.parameter(n).rank]) for n, e in parameters.items()}, axes
    )
    return Recognised(
        target, family, transform, parameters, tuple(zip(statistics, found, strict=True)), normal, collected.rest
    )


def _as_weighted(base: Expression) -> tuple[Expression, Expression]:
    from platewright.algebra.expression import Multiply

    if isinstance(base, Multiply) and isinstance(base.factors[0], Constant):
        return base.factors[0], multiply(*base.factors[1:])
    return ONE, base


def _same_support(wanted: Domain, domain: Domain, has_lower: bool, bounds: tuple[Bound, ...]) -> bool:
    if has_lower:
        positive = domain.kind == "real" and domain.lower >= 0 and domain.upper == POSITIVE.upper
        return positive and all(bound.side == "lower" for bound in bounds) and (bool(bounds) or domain.lower > 0)
    if bounds:
        return False
    return (wanted.kind, wanted.lower, wanted.upper) == (domain.kind, domain.lower, domain.upper)


def _lower(family: Family, bounds: tuple[Bound, ...], domain: Domain) -> dict[str, Expression]:
    """The parameter that bounds the support from below: the largest of all bounds."""
    from platewright.algebra.build import call
    from platewright.algebra.expression import Maximum

    assert isinstance(family.lower, Reference)
    value: Expression | None = Constant(domain.lower) if domain.lower > 0 else None
    for bound in bounds:
        largest: Expression = bound.value
        for index in bound.indices:
            largest = Maximum(index, largest)
        value = largest if value is None else call("maximum", value, largest)
    assert value is not None
    return {family.lower.name: value}


def _improper(family: Family, parameters: dict[str, Expression]) -> str:
    for parameter in family.parameters:
        value = parameters[parameter.name]
        if parameter.domain == POSITIVE and isinstance(value, Constant) and value.value <= 0:
            return parameter.name
    return ""
