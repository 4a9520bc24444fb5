"""What a family of distributions is: its form, stated once; all else is derived.

    p(x) = exp( sum_i natural_i(parameters) statistic_i(x) + base(x) ) / Z,      log Z = log_normaliser(parameters)

A template is written over the placeholders below: `X` is the value, parameters are references by their own names, and
`EVENT`, `EVENT_TOO` are the axes inside one draw (the simplex index of a Dirichlet, the two axes of a Wishart matrix).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from platewright.algebra.build import add, multiply, substitute, totals
from platewright.algebra.domain import MATRIX, POSITIVE, REAL, SIMPLEX, Domain
from platewright.algebra.expression import ZERO, Expression, Index, Reference, Size, rebuild, walk

Array = np.ndarray
Values = Mapping[str, Array]

EVENT = Index("event", "event")
EVENT_TOO = Index("event'", "event")
X = Reference("x")
X_VECTOR = Reference("x", (EVENT,))
X_MATRIX = Reference("x", (EVENT, EVENT_TOO))


def weight(position: int, rank: int = 0) -> Reference:
    """The placeholder for the collected weight of the statistic at `position`, used by `from_natural`."""
    return Reference(f"weight{position}", (EVENT, EVENT_TOO)[:rank])


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter in its canonical form: where it lives, and how many event axes it has."""

    name: str
    domain: Domain = REAL
    rank: int = 0
    may_be_zero: bool = False
    """Whether zero, at the edge of a positive domain, still gives a distribution: all mass on one point."""

    @property
    def symbol(self) -> Reference:
        """The placeholder of this parameter inside a template."""
        return Reference(self.name, (EVENT, EVENT_TOO)[: self.rank])


@dataclass(frozen=True)
class Family:
    """A family as a value. Only what cannot be derived from the form is stated."""

    name: str
    parameters: tuple[Parameter, ...]
    domain: Domain
    statistics: tuple[Expression, ...]
    natural: tuple[Expression, ...]
    log_normaliser: Expression
    base: Expression = ZERO
    rank: int = 0
    """How many event axes a value has."""
    spelled: Mapping[str, Mapping[str, Expression]] = field(default_factory=dict)
    """Canonical parameter -> the keywords a user may give instead, each with the canonical value it stands for."""
    defaults: Mapping[str, float] = field(default_factory=dict)
    stable_log_density: Expression | None = None
    """The log density in a form that does not cancel; must equal the exponential form (a law)."""
    lower: Expression | None = None
    upper: Expression | None = None
    """Bounds of the support that depend on parameters."""
    from_natural: Mapping[str, Expression] | None = None
    """Canonical parameters from the collected weights of the statistics; None: not recognised as a conditional."""
    draw: Callable[[np.random.Generator, Values, tuple[int, ...]], Array] | None = None
    mean: Callable[[Values], Array] | None = None
    variance: Callable[[Values], Array] | None = None
    mode: Callable[[Values], Array] | None = None
    quantile: Callable[[Array, Values], Array] | None = None
    tail: Callable[[Array, Values], Array] | None = None
    """The point beyond which a share of the mass lies whose logarithm is given: exact however small the share is."""
    proper: bool = True
    cumulative: Expression | None = None
    """The probability of a value up to `x`, as a template over the placeholders."""
    within: Family | None = None
    """The family that this one is a part of, cut off at bounds."""

    @cached_property
    def log_density(self) -> Expression:
        """The log density as a template over the placeholders."""
        if self.stable_log_density is not None:
            return self.stable_log_density
        return add(self.exponent, multiply(-1.0, self.log_normaliser))

    @cached_property
    def exponent(self) -> Expression:
        """The log density without its normaliser: `sum_i natural_i statistic_i + base`."""
        parts = []
        for nature, statistic in zip(self.natural, self.statistics, strict=True):
            product = multiply(nature, statistic)
            # A statistic may have more axes than a value: x_j x_k of a vector has two.
            parts.append(totals(product, [axis for axis in (EVENT, EVENT_TOO) if _depends(product, axis)]))
        return add(*parts, self.base)

    def parameter(self, name: str) -> Parameter:
        """A canonical parameter by name."""
        return next(parameter for parameter in self.parameters if parameter.name == name)

    def argument(self, word: str) -> Parameter:
        """A parameter as users spell it: a canonical one, or one that stands for it."""
        canonical = next((parameter for parameter in self.parameters if parameter.name == word), None)
        if canonical is not None:
            return canonical
        template = next(ways[word] for ways in self.spelled.values() if word in ways)
        rank = max(len(part.indices) for part in walk(template) if isinstance(part, Reference) and part.name == word)
        domain = MATRIX if rank == 2 else _SPELLED.get(word, REAL)
        return Parameter(word, domain, rank)


_SPELLED = {**dict.fromkeys(("sd", "variance", "scale"), POSITIVE), "probabilities": SIMPLEX}
"""Where parameters live that are not canonical."""


def _depends(expression: Expression, index: Index) -> bool:
    from platewright.algebra.expression import free_indices

    return index in free_indices(expression)


@dataclass(frozen=True, slots=True)
class Argument:
    """What is put in for a placeholder: an expression and the indices that play its event axes."""

    expression: Expression
    axes: tuple[Index, ...] = ()


def instantiate(template: Expression, arguments: Mapping[str, Argument], event_plate: str | None = None) -> Expression:
    """A template with its placeholders filled in; event sizes become sizes of the event plate."""
    if isinstance(template, Reference) and template.name in arguments:
        argument = arguments[template.name]
        at = tuple(instantiate(part, arguments, event_plate) for part in template.indices)
        return substitute(argument.expression, dict(zip(argument.axes[: len(at)], at, strict=True)))
    if isinstance(template, Size) and template.plate == "event" and event_plate is not None:
        return Size(event_plate)
    return rebuild(template, lambda part: instantiate(part, arguments, event_plate))


def filled(template: Expression, arguments: Mapping[str, Argument], axes: tuple[Index, ...]) -> Expression:
    """A template whose event indices are renamed to `axes`, then filled in."""
    renamed = template
    if axes:
        renamed = _with_event_axes(template, dict(zip((EVENT, EVENT_TOO), _pair(axes), strict=False)))
    return instantiate(renamed, arguments, axes[0].plate if axes else None)


def _pair(axes: tuple[Index, ...]) -> tuple[Index, Index]:
    """Two distinct indices over the event plate, made from the one or two given."""
    if len(axes) == 2:
        return axes[0], axes[1]
    return axes[0], Index(axes[0].name + "'", axes[0].plate)


def _with_event_axes(template: Expression, changes: dict[Index, Index]) -> Expression:
    """Rename the event indices, bound or free."""
    from platewright.algebra import expression as nodes

    def renamed(index: Index) -> Index:
        return changes.get(index, index)

    def inner(part: Expression) -> Expression:
        return _with_event_axes(part, changes)

    match template:
        case Index():
            return renamed(template)
        case nodes.Sum(index, body):
            return nodes.Sum(renamed(index), inner(body))
        case nodes.LogSumExp(index, body):
            return nodes.LogSumExp(renamed(index), inner(body))
        case nodes.Maximum(index, body):
            return nodes.Maximum(renamed(index), inner(body))
        case nodes.Quadratic(residual, matrix, row, column):
            return nodes.Quadratic(inner(residual), inner(matrix), renamed(row), renamed(column))
        case nodes.LogDeterminant(matrix, row, column):
            return nodes.LogDeterminant(inner(matrix), renamed(row), renamed(column))
        case nodes.Inverse(matrix, row, column, at_row, at_column):
            return nodes.Inverse(inner(matrix), renamed(row), renamed(column), inner(at_row), inner(at_column))
        case nodes.Root(matrix, row, column, at_row, at_column):
            return nodes.Root(inner(matrix), renamed(row), renamed(column), inner(at_row), inner(at_column))
    return rebuild(template, inner)
