"""Rows that enter by counts, means and scatter alone: a few rows with the same moments stand for all of them.

    sum_n f(x[n], z[n])  =  sum_s weight[s] f(x[s], z[s])      for f of degree two in x and z, and E z affine in x

A hidden Gaussian whose precision is the same for all rows has a mean that is affine in the known values of its row, so
expected statistics, and the log density of a row, are of degree two in these values. Rows that agree in all columns
that enter in another way (a pattern of missing cells, a group, a level that selects parameters) are therefore replaced
by as many rows as such a function can tell apart: one pass over the data, and N is gone from the iterations.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Generic

from platewright.algebra.degree import degree
from platewright.algebra.expression import (
    Expression,
    Index,
    Lag,
    Literal,
    Reference,
    Sum,
    all_indices,
    bound,
    bound_inside,
    children,
    free_indices,
    names,
    walk,
)
from platewright.graph.graph import Factor, Graph
from platewright.language.plate import root_of
from platewright.operation import Declined
from platewright.program.program import Program, expressions_of
from platewright.program.rows_kept import indices_kept, looks_at_rows
from platewright.program.statements import Pool, Statistic
from platewright.schemas.em import EMPlan
from platewright.schemas.gaussian_hidden import gradient_name
from platewright.schemas.mean_field import MeanFieldPlan
from platewright.schemas.weigh_rows import HiddenPlan, Weigher

NAME = "gather rows"
AnyPlan = EMPlan | MeanFieldPlan


@dataclass(frozen=True)
class RowColumn:
    """A column with the axis that runs over the rows."""

    name: str
    axis: int


@dataclass(frozen=True)
class FewRows(Generic[HiddenPlan]):
    """How rows are gathered, and the plan on the few rows that stand for them."""

    plan: HiddenPlan
    whole: HiddenPlan
    """The plan on all rows."""
    weigher: Weigher
    squared: tuple[RowColumn, ...]
    """Columns of which moments are enough."""
    kept: tuple[RowColumn, ...]
    """Columns in which rows must agree to be gathered."""

    @property
    def row(self) -> str:
        """The plate of the rows."""
        return self.weigher.row

    @cached_property
    def elsewhere(self) -> Program:
        """The log factors without hidden variables."""
        return self.weigher.log_factors(self.plan)

    @property
    def because(self) -> str:
        """One line: what is kept of the rows."""
        shown = ", ".join(column.name for column in self.squared)
        among = ", ".join(column.name for column in self.kept)
        apart = f" for each value of {among}" if among else ""
        return f"rows of {self.row} enter by count, mean and scatter of {shown}{apart}, gathered in one pass"


@dataclass(frozen=True)
class Form:
    """An expression, and the degree that it may have in the values of a row."""

    expression: Expression
    limit: int
    hidden: frozenset[str] = frozenset()
    """Values of hidden Gaussians of a row in it."""
    owner: str = ""


def find_few_rows(plan: HiddenPlan) -> FewRows[HiddenPlan] | Declined:
    """The rows of the innermost plate that can be gathered, or why there are none."""
    reasons = []
    for row in _row_plates(plan.graph):
        found = _gathered(plan, row)
        if isinstance(found, FewRows):
            return found
        reasons.append(found.reason)
    return Declined(NAME, "; ".join(reasons) or "no plate of rows is known by data alone")


def _row_plates(graph: Graph) -> list[str]:
    """Plates whose size the data tell and on which columns lie, those inside others first."""
    known = [axis.plate for name, node in graph.nodes.items() if name in graph.known for axis in node.axes]
    found = [plate for plate in dict.fromkeys(known) if graph.plates[plate].size is None]
    return sorted(found, key=lambda plate: -_depth(graph, plate))


def _depth(graph: Graph, plate: str) -> int:
    outer = graph.plates[plate].within
    return 0 if outer is None else 1 + _depth(graph, outer)


def _gathered(plan: HiddenPlan, row: str) -> FewRows[HiddenPlan] | Declined:
    if reason := next(_apart(plan, row), ""):
        return Declined(NAME, reason)
    columns: list[RowColumn] = []
    for name in _read(plan):
        plates = [axis.plate for axis in plan.graph.nodes[name].axes]
        if plates.count(row) > 1:
            return Declined(NAME, f"`{name}` is about pairs of elements of `{row}`")
        columns += [RowColumn(name, plates.index(row))] if row in plates else []
    forms = _forms(plan, row)
    squared: list[RowColumn] = []
    # What the model explains comes first, so that a cause is kept rather than its effect.
    for column in sorted(columns, key=lambda column: plan.graph.nodes[column.name].kind != "random"):
        node = plan.graph.nodes[column.name]
        if node.domain.is_discrete or "@" in column.name:
            continue
        among = frozenset(one.name for one in (*squared, column))
        if _why_not(forms, row, among) is None:
            squared.append(column)
    if refused := _why_not(forms, row, frozenset(one.name for one in squared)):
        return Declined(NAME, refused)
    if not squared:
        beyond = _why_not(forms, row, frozenset(one.name for one in columns)) or f"`{row}` has no column of reals"
        return Declined(NAME, beyond)
    kept = tuple(column for column in columns if column not in squared)
    weigher = Weigher(row)
    return FewRows(weigher.plan(plan), plan, weigher, tuple(squared), kept)


def _read(plan: AnyPlan) -> list[str]:
    """Known columns that some step reads."""
    used = {name for expression in _every(plan) for name in names(expression)}
    return [name for name in plan.graph.nodes if plan.graph.is_known(name) and name in used]


def _every(plan: AnyPlan) -> Iterator[Expression]:
    for program in _programs(plan):
        for statement in (*program.passes, *program.body):
            yield from expressions_of(statement)
    yield from (factor.expression for factor in _rest(plan))


def _rest(plan: AnyPlan) -> tuple[Factor, ...]:
    """Log factors that are part of an objective by themselves; a bound has them in its evidence."""
    return plan.rest if isinstance(plan, EMPlan) else ()


def _programs(plan: AnyPlan) -> list[Program]:
    own = [program for group in plan.latent.gaussian for program in (group.curvature, group.value)]
    return [*plan.latent.programs, *own]


# -- what rows may not do ---


def _apart(plan: AnyPlan, row: str) -> Iterator[str]:
    """Why elements of a plate are more than rows that add something each."""
    graph = plan.graph
    if plan.latent.hidden:
        shown = ", ".join(item.name for item in plan.latent.hidden)
        yield f"the probabilities of {shown} are other ones in every iteration"
    if group := next((group for group in plan.latent.gaussian if group.step is not None), None):
        yield f"{group.name} is a chain: its neighbours depend on each other"
    if any(name != row and root_of(graph.plates, name) == root_of(graph.plates, row) for name in graph.plates):
        yield f"another plate is the same set as `{row}`"
    if any(node.domain.levels == row for node in graph.nodes.values()):
        yield f"other variables refer to elements of `{row}`"
    for name in plan.learned:
        if row in {axis.plate for axis in graph.nodes[name].axes}:
            yield f"`{name}` is a parameter of each element of `{row}`"
    for group in plan.latent.gaussian:
        if any(axis.plate == row for member in group.members for axis in member.inner):
            yield f"{group.name} is one Gaussian of all elements of `{row}`"
    for ascent in plan.ascents if isinstance(plan, EMPlan) else ():
        if any(index.plate == row for factor in ascent.factors for index in all_indices(factor.summed)):
            yield f"the slopes of {', '.join(ascent.variables)} need every row at each look"
    for expression in _every(plan):
        yield from _position(expression, row)
    for program in plan.latent.programs:
        yield from _left_behind(program, row)


def _position(expression: Expression, row: str) -> Iterator[str]:
    """A row is known by its values, not by its place among the others."""
    for part in walk(expression):
        inside = [at for at in children(part) if isinstance(at, Index) and at.plate == row]
        if inside and not isinstance(part, Reference):
            yield (
                f"{part} needs the place of an element of `{row}`" if not isinstance(part, Lag) else "rows are a chain"
            )
        if isinstance(part, Literal) and row in part.plates:
            yield f"the model holds a table over `{row}`"
        if not isinstance(part, Sum) and any(index.plate == row for index in bound(part)):
            yield f"{part} is more than a sum over `{row}`"


def _left_behind(program: Program, row: str) -> Iterator[str]:
    """After the passes nobody may look at rows again."""
    for statement in program.passes:
        over = [index for index in statement.over if index.plate == row]
        if len(over) > 1:
            yield f"{statement.name} is about pairs of elements of `{row}`"
        if over and isinstance(statement, Statistic) and statement.kind != "sum":
            yield f"{statement.name} is a {statement.kind} over `{row}`"
        if any(index.plate == row for index in indices_kept(statement)):
            yield f"{statement.name} keeps something for each element of `{row}`"
    yield from looks_at_rows(program, row)


# -- degrees ---


def _forms(plan: AnyPlan, row: str) -> list[Form]:
    """All that is computed of rows, with the degree in the values of a row up to which moments are enough."""
    found = [Form(factor.expression, 2, owner=factor.owner) for factor in _rest(plan)]
    points: frozenset[str] = frozenset()
    for group in plan.latent.gaussian:
        if row not in {axis.plate for axis in group.batch}:
            # A Gaussian of a group of rows: they enter in sums, in which it counts as given.
            parts = [*group.value.assignments, *group.curvature.assignments]
            found += [Form(one.expression, 2, owner=group.name) for one in parts]
            continue
        at = frozenset(member.at for member in group.members)
        points |= {member.point for member in group.members}
        found += [Form(one.expression, 2, at, group.name) for one in group.value.assignments]
        slopes = {gradient_name(group.name, member.name) for member in group.members}
        for one in group.curvature.assignments:
            found.append(Form(one.expression, 1 if one.name in slopes else 0, at, group.name))
    for program in plan.latent.programs:
        for statement in program.passes:
            found += _statement_forms(statement, points)
    return found


def _statement_forms(statement: Statistic | Pool, points: frozenset[str]) -> list[Form]:
    if isinstance(statement, Statistic):
        return [Form(statement.summand, 2, points, statement.name)]
    others = [statement.weight, *(cell.code for cell in statement.cells)]
    return [
        *(Form(feature.expression, 1, points, statement.name) for feature in statement.features),
        *(Form(part, 0, points, statement.name) for part in others),
    ]


def _why_not(forms: Iterable[Form], row: str, columns: frozenset[str]) -> str | None:
    """The first form that needs more of the rows than moments of some columns."""
    for form in forms:
        for part, limit in _of_rows(form, row):
            inside = [index for index in bound_inside(part) if index.plate == row]
            if inside:
                return f"{form.owner} is about pairs of elements of `{row}`"
            if degree(part, columns | form.hidden) > limit:
                shown = ", ".join(sorted((columns | form.hidden) & names(part)))
                return f"{form.owner} is not of degree {limit} in {shown}: moments of rows do not tell its sum"
    return None


def _of_rows(form: Form, row: str) -> Sequence[tuple[Expression, int]]:
    """The parts that are summed over rows: all of it, or the sums inside, of which anything may be made."""
    if any(index.plate == row for index in free_indices(form.expression)):
        return [(form.expression, form.limit)]
    sums = [part for part in walk(form.expression) if isinstance(part, Sum) and part.index.plate == row]
    return [(part.body, 2) for part in sums]
