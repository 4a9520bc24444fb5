"""The density of a new row, by form: its parameter is integrated out under the posterior, in one more elimination.

    log p(y | data) = log integral of p(y | theta) p(theta | data)

Each new row has a copy of theta with the posterior as its prior; the copy is recognised and eliminated like any unknown
(Lemma 4.1). A Gamma rate makes counts negative binomial and waits Lomax; nothing here knows that.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from platewright.algebra.build import add, substitute
from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Expression, Lag, Reference, names, rebuild, walk
from platewright.algebra.facts import Facts
from platewright.elimination.state import FamilyConditional
from platewright.errors import PlatewrightError
from platewright.family import Argument, Array, filled
from platewright.graph.graph import Factor
from platewright.language.variable import Variable
from platewright.operation import Declined
from platewright.recognition.recognise import recognise
from platewright.recognition.transform import IDENTITY
from platewright.recognition.transform import Y as TRANSFORMED
from platewright.run.exact.posterior import Posterior

Density = Callable[[object], Array]
COPY = "copy@"


def row_density(node: Variable, posterior: Posterior, environment: Environment) -> Density | None:
    """The log predictive density of each row as a function of its value; None where it has no closed form here."""
    if any(isinstance(part, Lag) for part in walk(node.log_density)):
        return None
    unknown = names(node.log_density) & posterior.unknown
    if not unknown:
        return _Evaluated(node, node.log_density, environment)
    if len(unknown) > 1:
        return None
    name = next(iter(unknown))
    owner = posterior.conditional(name)
    marginal = posterior.marginal(name)
    if not isinstance(owner, FamilyConditional) or marginal is None or marginal.family.lower is not None:
        return None
    target = posterior.plan.graph.nodes[name]
    places = {
        part.indices[: len(target.plates)]
        for part in walk(node.log_density)
        if isinstance(part, Reference) and part.name == name
    }
    if len(places) != 1:
        return None
    whole = _integrated(node, owner, target, places.pop(), posterior)
    if whole is None:
        return None
    values = {f"{key}@copy": value for key, value in marginal.parameters.items()}
    return _Evaluated(node, whole, environment.with_values(values))


def _integrated(
    node: Variable, owner: FamilyConditional, target: Variable, place: tuple[Expression, ...], posterior: Posterior
) -> Expression | None:
    """The log density of a row with the copy of its parameter integrated out."""
    found = owner.recognised
    family, events = found.family, target.events
    copy = Reference(COPY, events)
    arguments = {"x": Argument(copy, events)}
    known = posterior.plan.graph.facts
    axes = {**known.axes, COPY: tuple(index.plate for index in events)}
    domain = target.domain if found.transform is IDENTITY else found.transform.domain
    domains = {**known.domains, COPY: domain}
    for parameter in family.parameters:
        inside = events[: parameter.rank]
        label = f"{parameter.name}@copy"
        arguments[parameter.name] = Argument(Reference(label, (*place, *inside)), inside)
        axes[label] = tuple(index.plate for index in target.axes[: len(target.plates) + parameter.rank])
        domains[label] = parameter.domain
    prior = filled(family.log_density, arguments, events)
    likelihood = _with_copy(node.log_density, target, found.transform.backward)
    alone = Variable(COPY, "random", events, domain, rank=target.rank)
    factors = [Factor("copy", (), prior), Factor(node.name, (), likelihood)]
    solved = recognise(factors, alone, Facts(axes, domains))
    return None if isinstance(solved, Declined) else add(solved.log_normaliser, solved.rest)


def _with_copy(part: Expression, target: Variable, backward: Expression) -> Expression:
    """The copy in the place of the parameter, also under sums over the axes inside one value."""
    if isinstance(part, Reference) and part.name == target.name:
        return substitute(backward, {TRANSFORMED: Reference(COPY, part.indices[len(target.plates) :])})
    return rebuild(part, lambda inner: _with_copy(inner, target, backward))


@dataclass(frozen=True, eq=False)
class _Evaluated:
    """An expression as a function of the value of a node."""

    node: Variable
    whole: Expression
    environment: Environment

    def __call__(self, value: object) -> Array:
        node, environment = self.node, self.environment
        given = _shaped(node, value, tuple(environment.sizes[axis.plate] for axis in node.axes))
        with np.errstate(divide="ignore", invalid="ignore"):
            found = np.array(evaluate(self.whole, environment.with_values({node.name: given}), node.plates))
        return np.where(_inside(node, given), found, -np.inf)


def _shaped(node: Variable, value: object, shape: tuple[int, ...]) -> Array:
    """One value for all elements of a variable, or one for each."""
    try:
        given = np.asarray(value)
        if given.dtype.kind in "biuf":
            return np.broadcast_to(given, shape)
    except ValueError:  # ragged, or of another shape
        pass
    expected = f"numbers of shape {shape}, the shape of `{node.name}`"
    raise PlatewrightError(f"the density at {value!r}"[:80], expected=expected)


def _inside(node: Variable, given: Array) -> Array:
    """Whether values lie in the support; outside the density is zero."""
    domain = node.domain
    if domain.kind not in ("real", "integer"):
        return np.ones((), dtype=bool)
    good = (given >= domain.lower) & (given <= domain.upper)
    if domain.kind == "integer":
        good &= given == np.floor(given)
    return np.all(good, axis=tuple(range(given.ndim - node.rank, given.ndim)))
