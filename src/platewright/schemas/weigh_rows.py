"""A plan on few rows with weights: every sum over rows counts each of them as often as its weight says.

    sum_n f(x[n])      becomes      sum_n weight[n] f(x[n])        n on a plate of its own, much shorter

The number of elements of the old plate stays what it was, where it is asked for.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from platewright.algebra.build import multiply, total, totals
from platewright.algebra.expression import Expression, Index, Reference, Sum, names, rebuild
from platewright.graph.graph import Factor
from platewright.program.program import Program, expressions_of
from platewright.program.statements import Assign, Cell, Feature, Pool, Statistic
from platewright.schemas.body_program import body_program
from platewright.schemas.em import EMPlan
from platewright.schemas.gaussian_hidden import GaussianGroup, GaussianMember
from platewright.schemas.mean_field import MeanFieldPlan

HiddenPlan = TypeVar("HiddenPlan", bound=EMPlan | MeanFieldPlan)


@dataclass(frozen=True)
class Weigher:
    """Puts few rows in the place of those of a plate."""

    row: str

    @property
    def few(self) -> str:
        """The plate of the rows that stand for all."""
        return f"{self.row}.few"

    @property
    def weight(self) -> str:
        """The column of their weights."""
        return f"{self.row}.weight"

    @property
    def index(self) -> Index:
        """A position among them."""
        return Index(self.row, self.few)

    def plan(self, plan: HiddenPlan) -> HiddenPlan:
        """All steps on few rows."""
        gaussian = tuple(self.group(group) for group in plan.latent.gaussian)
        programs = tuple(self.program(program) for program in plan.latent.programs)
        rest = tuple(self.factor(factor) for factor in plan.rest)
        return replace(plan, latent=replace(plan.latent, gaussian=gaussian, programs=programs), rest=rest)

    def moved(self, index: Index) -> Index:
        """An index of the rows as one of the few."""
        return Index(index.name, self.few) if index.plate == self.row else index

    def axes(self, axes: tuple[Index, ...]) -> tuple[Index, ...]:
        """Axes, those of rows moved."""
        return tuple(self.moved(axis) for axis in axes)

    def weighed(self, expression: Expression) -> Expression:
        """An expression in which sums over rows have weights."""
        if isinstance(expression, Index):
            return self.moved(expression)
        if isinstance(expression, Sum) and expression.index.plate == self.row:
            index = self.moved(expression.index)
            return total(multiply(Reference(self.weight, (index,)), self.weighed(expression.body)), index)
        return rebuild(expression, self.weighed)

    def weight_of(self, over: tuple[Index, ...]) -> Expression:
        """The weight of what is summed over some indices."""
        return multiply(*(Reference(self.weight, (self.moved(i),)) for i in over if i.plate == self.row))

    def factor(self, factor: Factor) -> Factor:
        """A log factor of rows, each counted as often as its weight says."""
        weighed = multiply(self.weight_of(factor.axes), self.weighed(factor.expression))
        return Factor(factor.owner, self.axes(factor.axes), weighed)

    def log_factors(self, plan: EMPlan | MeanFieldPlan) -> Program:
        """The sums of log factors of a weighed plan that hold no hidden variable."""
        body = [
            Assign(f"log_factor.{k}", (), totals(factor.expression, factor.axes), factor.owner)
            for k, factor in enumerate(plan.rest)
        ]
        found = body_program(plan.graph, body, {self.weight: (self.index,)})
        return replace(found, columns={name: self.axes(axes) for name, axes in found.columns.items()})

    def group(self, group: GaussianGroup) -> GaussianGroup:
        """Hidden Gaussians of the few rows; where they are of groups of rows, the sums inside have weights."""
        members = tuple(GaussianMember(m.name, self.axes(m.axes), self.axes(m.inner)) for m in group.members)
        return replace(
            group,
            members=members,
            batch=self.axes(group.batch),
            curvature=self.program(group.curvature),
            value=self.program(group.value),
            weight=self.weight_of(group.batch),
        )

    def program(self, program: Program) -> Program:
        """A program on the few rows."""
        passes = tuple(self.statement(statement) for statement in program.passes)
        body = tuple(self.assigned(later) if isinstance(later, Assign) else later for later in program.body)
        columns: dict[str, tuple[Index, ...]] = {name: self.axes(axes) for name, axes in program.columns.items()}
        used = {name for one in (*passes, *body) for part in expressions_of(one) for name in names(part)}
        more: Mapping[str, tuple[Index, ...]] = {self.weight: (self.index,)} if self.weight in used else {}
        return replace(program, passes=passes, body=body, columns={**columns, **more})

    def assigned(self, statement: Assign) -> Assign:
        """An assignment for each of the few rows, or from weighed sums over them."""
        return replace(statement, indices=self.axes(statement.indices), expression=self.weighed(statement.expression))

    def statement(self, statement: Statistic | Pool) -> Statistic | Pool:
        """A pass over the few rows."""
        weight, over = self.weight_of(statement.over), self.axes(statement.over)
        if isinstance(statement, Statistic):
            return replace(statement, over=over, summand=multiply(weight, self.weighed(statement.summand)))
        return replace(
            statement,
            over=over,
            weight=multiply(weight, self.weighed(statement.weight)),
            cells=tuple(Cell(cell.index, self.weighed(cell.code)) for cell in statement.cells),
            features=tuple(Feature(self.weighed(f.expression), f.inner) for f in statement.features),
        )
