"""What a plan costs: how often rows are touched, how large its densest block is, and what exact elimination leaves.

    rows of row touched once; densest block: #j + 1 numbers; nothing is left

What is left and how often rows are touched for it decide between schemas; the densest block decides between orders of
elimination (`recognition/groups.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, nan, prod

from platewright.derive.plans import AnyPlan
from platewright.elimination.state import GaussianConditional
from platewright.graph.graph import Graph
from platewright.operation import Declined
from platewright.schema import Plan
from platewright.schemas.blocks import way
from platewright.schemas.collapsed import CollapsedPlan
from platewright.schemas.em import EMPlan
from platewright.schemas.evidence import EvidencePlan
from platewright.schemas.few_numbers import QuadraturePlan
from platewright.schemas.gibbs import GibbsPlan

POINTS = 30
"""About as many points as each number takes that is gone over."""
SWEEPS = 6_000
"""As many sweeps as samplers make unless told."""
LEAST: Mapping[str, float] = {"gibbs": SWEEPS, "chib": SWEEPS, "annealed": SWEEPS}
"""How often schemas touch rows at least, others once: one that could not be cheaper is not looked at."""


def touched(plan: AnyPlan) -> float:
    """About how often the rows are touched; `nan` where sizes of data, or the way, will decide."""
    match plan:
        case Plan():
            return 1
        case QuadraturePlan():
            return 1 if plan.pointwise is not None else POINTS ** len(plan.held)
        case GibbsPlan() | CollapsedPlan():
            return SWEEPS
    return nan


def dearer(plan: AnyPlan, other: AnyPlan) -> Declined | None:
    """The cost that decides against a plan, where another touches rows less often."""
    if not touched(plan) > touched(other):
        return None
    left = cost_of(plan).left
    against = f"rows would be touched about {touched(plan):,} times, by {other.schema} {touched(other):,} times"
    return Declined(plan.schema, f"{left}: {against}")


@dataclass(frozen=True)
class Cost:
    """The cost of a plan in words and, where sizes are known, in numbers."""

    rows: tuple[str, ...]
    """The plates that the largest factors of the known are on."""
    times: str
    """How often they are touched."""
    densest: tuple[tuple[str, ...], ...] = ()
    """The densest block as a sum of products of plates: `((), ("j",))` has 1 + #j numbers."""
    left: str = "nothing is left"
    """What exact elimination leaves, and what becomes of it."""

    def __str__(self) -> str:
        shown = [f"rows of {' x '.join(self.rows)} touched {self.times}" if self.rows else "no rows"]
        if self.densest:
            ones = sum(not plates for plates in self.densest)
            parts = [" ".join(f"#{plate}" for plate in plates) for plates in self.densest if plates]
            total = " + ".join([*parts, *([str(ones)] if ones else [])])
            shown.append(f"densest block: {total} number{'' if total == '1' else 's'}")
        return "; ".join([*shown, self.left])


def cost_of(plan: AnyPlan) -> Cost:
    """What a plan costs."""
    graph = plan.graph
    rows = largest_rows(graph)
    densest = densest_block(graph, tuple(exact_parts(plan)))
    match plan:
        case Plan():
            return Cost(rows, "once", densest)
        case QuadraturePlan() if plan.pointwise is not None:
            dense = tuple(tuple(axis.plate for axis in column.dense) for column in plan.pointwise.dense)
            return Cost(rows, "once", dense, f"{_listed(plan.held)} gone over at points")
        case QuadraturePlan():
            return Cost(rows, "at every point", densest, f"{_listed(plan.held)} gone over at points")
        case GibbsPlan():
            drawn = [f"{', '.join(block.variables)} {way(block)}" for block in plan.blocks]
            return Cost(rows, "in every sweep", densest, f"drawn in turn: {'; '.join(drawn)}")
        case CollapsedPlan():
            return Cost(rows, "in every sweep", densest, f"{_listed(plan.hidden)} drawn element by element")
        case EMPlan():
            raised = [name for name in graph.unknown if name not in (*plan.latent.names, *plan.barren)]
            return Cost(rows, "in every iteration", densest, f"{_listed(raised)} raised in turn")
        case EvidencePlan():
            gone = plan.hidden or plan.unknown
            return Cost(rows, f"at every point of {_listed(gone)}", densest, f"{_listed(gone)} by {plan.schema}")
    held = [name for name in graph.unknown if name not in plan.barren]
    return Cost(rows, "in every iteration", densest, f"{_listed(held)} updated in turn")


def exact_parts(plan: AnyPlan) -> Iterator[Plan]:
    """The plans with a closed form that a plan is made of."""
    match plan:
        case Plan():
            yield plan
        case GibbsPlan():
            found = (getattr(block, "plan", None) for block in plan.blocks)
            yield from (one for one in found if isinstance(one, Plan))
        case EvidencePlan() if plan.gibbs is not None:
            yield from exact_parts(plan.gibbs)
        case CollapsedPlan() | EvidencePlan() | QuadraturePlan():
            yield from [plan.complete] if plan.complete is not None else []
        case _:
            yield from plan.blocks


def largest_rows(graph: Graph) -> tuple[str, ...]:
    """The plates of the factor of the known with most elements, as far as sizes tell, or most plates."""
    found = [tuple(axis.plate for axis in factor.axes) for factor in graph.factors if graph.is_likelihood(factor)]
    return max(found, key=lambda plates: (_count(graph, plates), len(plates)), default=())


def densest_block(graph: Graph, plans: Sequence[Plan]) -> tuple[tuple[str, ...], ...]:
    """The unknowns that are eliminated side by side, for one element of all else, where most are."""
    blocks = [
        tuple(
            tuple(index.plate for index in column.dense)
            for column in found.statement.columns[: found.statement.eliminated]
        )
        for plan in plans
        for found in plan.conditionals
        if isinstance(found, GaussianConditional)
    ]
    return max(blocks, key=lambda block: (sum(_count(graph, plates) for plates in block), len(block)), default=())


def _count(graph: Graph, plates: Sequence[str]) -> float:
    """How many elements plates have together; without end where that is not known."""
    sizes = {name: plate.size for name, plate in graph.plates.items()}
    return prod(inf if (size := sizes.get(plate)) is None else size for plate in plates)


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names) or "nothing"
