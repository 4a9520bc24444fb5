"""A column that is neither category nor number: a model of the rows of one group, derived once.

    rate ~ Gamma(1, rate=1);  x ~ Exponential(rate=rate)      in each state of the parents a rate of its own

The evidence, the posterior and what one row adds to the statistics are expressions of the exact plan (Theorem 4.1).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from platewright.algebra.build import substitute
from platewright.algebra.evaluate import elementwise
from platewright.algebra.expression import Expression, Reference, Size
from platewright.derive.planner import choose_plan
from platewright.elimination.state import FamilyConditional
from platewright.errors import ModelError, SupportError
from platewright.graph.graph import read_graph
from platewright.language.constructors import Gamma, Poisson
from platewright.language.model import Model
from platewright.language.variable import Variable
from platewright.program.statements import Statistic
from platewright.schema import Plan
from platewright.structure.derived import Evidence, inlined

Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class OneGroup:
    """The model of one group of rows, and what was derived of it as functions of its statistics."""

    model: Model
    target: Variable
    summands: tuple[Expression, ...]
    """What one row adds to each statistic."""
    evidence: Evidence
    posteriors: tuple[FamilyConditional, ...]
    """Of the unknowns, in the order of drawing."""

    @property
    def unknowns(self) -> tuple[str, ...]:
        """The unknowns of a group, in the order of drawing."""
        return tuple(found.variable for found in self.posteriors)

    def statistics(self, values: Values) -> Values:
        """What each row adds to each statistic."""
        at = {self.target.name: values}
        rows = [
            np.broadcast_to(elementwise(_of_one_row(part, self.target), at), values.shape) for part in self.summands
        ]
        return np.array(rows, dtype=float).reshape(len(self.summands), len(values))

    def check(self, name: str, values: Values) -> None:
        """Refuse numbers that the model of the column cannot give."""
        domain, there = self.target.domain, ~np.isnan(values)
        bad = there & ((values < domain.lower) | (values > domain.upper))
        if domain.is_discrete:
            bad |= there & (values != np.floor(values))
        bad |= there & ~np.isfinite(self.statistics(np.where(there, values, 1.0))).all(axis=0)
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            raise SupportError(f"`{name}` is {values[row]:g}", where=f"row {row}, column {name}", expected=str(domain))

    def log_density(self, values: Values, parameters: Values) -> Values:
        """Of each row, its parameters in the order of drawing."""
        at = dict(zip(self.unknowns, parameters.T, strict=True)) | {self.target.name: values}
        found = elementwise(_of_one_row(self.target.log_density, self.target), at)
        return np.asarray(np.broadcast_to(found, values.shape), dtype=float)

    def draw(self, parameters: Values, generator: np.random.Generator) -> Values:
        """A value for each row."""
        family, at = self.target.family, dict(zip(self.unknowns, parameters.T, strict=True))
        assert family is not None and family.draw is not None
        given = {word: elementwise(value, at) for word, value in self.target.parameters}
        return np.asarray(family.draw(generator, given, (len(parameters),)), dtype=float)


@dataclass(frozen=True, eq=False)
class GroupPosterior:
    """What complete rows say of the unknowns of one group."""

    group: OneGroup
    sums: Mapping[str, float]

    @property
    def mean(self) -> Values:
        """Each unknown at its mean, or where the mean of what has a family leads to; those it hangs on at theirs."""
        return self._one_by_one(None)

    def draw(self, generator: np.random.Generator) -> Values:
        """All unknowns."""
        return self._one_by_one(generator)

    def _one_by_one(self, generator: np.random.Generator | None) -> Values:
        at: dict[str, NDArray[np.float64]] = {name: np.asarray(value) for name, value in self.sums.items()}
        for found in self.group.posteriors:
            family = found.recognised.family
            given = {word: np.asarray(elementwise(value, at)) for word, value in found.parameters.items()}
            if generator is None:
                assert family.mean is not None
                value = family.mean(given)
            else:
                assert family.draw is not None
                value = family.draw(generator, given, ())
            at[found.variable] = np.asarray(elementwise(found.recognised.transform.backward, {"y": value}), dtype=float)
        return np.array([float(at[name]) for name in self.group.unknowns])


def posterior_of(group: OneGroup, values: Values) -> GroupPosterior:
    """From the rows of a group."""
    totals = group.statistics(values).sum(axis=1).tolist()
    return GroupPosterior(group, dict(zip(group.evidence.arguments, [float(len(values)), *totals], strict=True)))


@lru_cache(maxsize=16)
def counts(shape: float, rate: float) -> OneGroup:
    """Counts: Poisson, the rate of a group gamma."""
    m = Model("counts of one group")
    row = m.plate("row")
    m.rate = Gamma(shape, rate=rate)
    m.count = Poisson(m.rate, plates=row)
    return read_group("counts", m)


def read_group(name: str, model: Model) -> OneGroup:
    """What is derived of a model of one group; refused where the rows do not come down to sums."""
    where = f"kinds=, the model of `{name}`"
    target = _target(model, where)
    plan = choose_plan(read_graph(model, {target.name}), "posterior")
    row = target.axes[0]
    if not isinstance(plan, Plan) or not plan.proper or not all(_is_sum(found) for found in plan.program.passes):
        raise ModelError(
            f"the evidence of `{target.name}` is no function of sums over the rows of a group",
            where=where,
            expected="a conjugate prior, such as a Gamma rate of an Exponential",
            hint="m.derive() says what was found",
        )
    sums = [found for found in plan.program.passes if isinstance(found, Statistic)]
    named: dict[Expression, Expression] = {Reference(found.name): Reference(f"sum{k}") for k, found in enumerate(sums)}
    named[Size(row.plate)] = Reference("rows")
    posteriors = []
    for found in reversed(plan.conditionals):
        if not isinstance(found, FamilyConditional):
            raise ModelError(f"the posterior of {', '.join(found.variables)} is of no family", where=where)
        inner = {word: substitute(inlined(plan.program, value), named) for word, value in found.parameters.items()}
        posteriors.append(FamilyConditional(found.variable, found.recognised, inner))
    arguments = ("rows", *(f"sum{k}" for k in range(len(sums))))
    evidence = Evidence("group", arguments, substitute(inlined(plan.program), named))
    return OneGroup(model, target, tuple(found.summand for found in sums), evidence, tuple(posteriors))


def _target(model: Model, where: str) -> Variable:
    """The one variable that has rows; all others are single numbers, the same for the whole group."""
    kinds = {variable.kind for variable in model.variables.values()}
    repeated = [variable for variable in model.variables.values() if variable.axes]
    if len(repeated) != 1 or kinds != {"random"} or model.potentials or len(repeated[0].axes) != 1 or repeated[0].rank:
        raise ModelError(
            f"{len(repeated)} variables with rows"
            if len(repeated) != 1
            else f"`{repeated[0].name}` and what it hangs on",
            where=where,
            expected="one random variable on one plate, and unknown numbers that it hangs on",
        )
    return repeated[0]


def _is_sum(found: object) -> bool:
    return isinstance(found, Statistic) and found.kind == "sum" and not found.indices and len(found.over) == 1


def _of_one_row(part: Expression, target: Variable) -> Expression:
    """With the row's own value as a number."""
    return substitute(part, {target.symbol: Reference(target.name)})
