"""The posterior by quadrature over the few numbers that exact elimination leaves (`by="quadrature"`).

    p(held | data)            from points on lattices around its modes, each weighed by p(data, held)
    p(others | held, data)    exact at each point, so that marginals are finite mixtures: no Monte Carlo error

Where the others are Gaussian given the numbers, all points are evaluated at once, on statistics computed once
(`schemas/pointwise.py`); else each point runs the exact plan in which the numbers are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from platewright.elimination.gaussian import gaussian_move
from platewright.elimination.stepping import graph_of, state_of, steps_of
from platewright.graph.graph import Factor, Graph
from platewright.operation import Declined, Step
from platewright.program.pointwise import Pointwise
from platewright.program.program import Program
from platewright.recognition.groups import Group
from platewright.schema import Goal, Plan
from platewright.schemas.evidence import EvidencePlan
from platewright.schemas.exact import Prepared, plan_exact, prepare
from platewright.schemas.iterated_steps import by_numbers, held_fixed, steps_at_points
from platewright.schemas.pointwise import plan_pointwise
from platewright.schemas.repeated import plan_at_points

NAME = "quadrature"
MOST_HELD = 20
"""Numbers that are gone over where all points are evaluated at once: few by a lattice, more by points drawn."""
ON_LATTICES = 5
"""Of more numbers points are drawn."""
MOST_TOGETHER = 5
"""Where each has a copy of the model."""
MOST_APART = 3
"""And where each point runs a program of its own."""
MOST_AT_ONCE, MOST_ASKED, MOST_CHOSEN = 60_000, 8_000, 3_000
"""Points in each half of a lattice."""
MOST_COPIED = 20_000
"""The same where each point has a copy of the model."""
TOLERANCE = 1e-4
SHARP, FEW = 1e-9, 2
"""For the evidence, where so few numbers are left that finer lattices cost little."""


@dataclass(frozen=True)
class QuadraturePlan:
    """What is held at points, and how the others are eliminated there."""

    graph: Graph
    goal: Goal
    held: tuple[str, ...]
    factors: tuple[Factor, ...]
    steps: tuple[Step, ...]
    pointwise: Pointwise | None = None
    complete: Plan | None = None
    """The exact plan with the held known, where no program evaluates all points at once."""
    together: Program | None = None
    """Of the same, the program that takes all points at once, each with a copy of the model."""
    barren: tuple[str, ...] = ()
    declined: tuple[Declined, ...] = ()
    schema: str = NAME
    proper: bool = True
    is_chosen: bool = False
    """Whether `by="auto"` chose it: where its error is large, Gibbs sampling takes over."""
    otherwise: EvidencePlan | None = None
    """For the evidence, the exact program run point by point, where lattices do not settle."""

    @property
    def tolerance(self) -> float:
        """Lattices are refined until log evidence, and means and sds in standard deviations, change by less."""
        return SHARP if self.goal == "evidence" and len(self.held) <= FEW else TOLERANCE

    @property
    def most(self) -> int:
        """How many points it may take, unless told: more where all are evaluated at once, or where it was asked for."""
        if self.pointwise is not None:
            return MOST_AT_ONCE
        return MOST_COPIED if self.together is not None else MOST_CHOSEN if self.is_chosen else MOST_ASKED

    @property
    def of_evidence(self) -> EvidencePlan:
        """The exact evidence with the held known, which points run where Gaussian unknowns are not all that is left."""
        complete = self.complete
        if complete is not None and self.together is not None:
            complete = replace(complete, program=self.together)
        rest = (self.schema, self.summary, self.factors, self.held, complete)
        return EvidencePlan(self.graph, "evidence", *rest, barren=self.barren)

    @property
    def summary(self) -> str:
        """One line about what is eliminated and what is gone over."""
        gone = [name for name in self.graph.unknown if name not in (*self.held, *self.barren)]
        where = f"points of {', '.join(self.held)}, which are gone over"
        return f"{', '.join(gone)} eliminated exactly at {where}" if gone else where


def plan_few_numbers(graph: Graph, goal: Goal = "posterior") -> QuadraturePlan | Declined:
    """Hold a few numbers and eliminate all others exactly, or why that cannot be."""
    prepared = prepare(graph)
    now = prepared.graph
    proper = all(node.family is None or node.family.proper for node in now.nodes.values())
    if not now.known:
        return Declined(NAME, "nothing is known")
    found = plan_pointwise(now)
    if isinstance(found, Declined):
        return found if goal == "evidence" else _apart(graph, prepared, found, proper)
    if len(found.held) > MOST_HELD:
        held = ", ".join(found.held)
        return Declined(
            NAME, f"elimination leaves {len(found.held)} numbers ({held}), at most {MOST_HELD} are gone over"
        )
    steps = (*prepared.steps, *_steps(now, found))
    return QuadraturePlan(graph, goal, found.held, now.factors, steps, found, barren=prepared.barren, proper=proper)


def _steps(graph: Graph, found: Pointwise) -> list[Step]:
    """One elimination for each group of Gaussian unknowns given the numbers, and the integral over these."""
    held = ", ".join(found.held)
    way = "on lattices around every mode, each mode weighed by its mass"
    if len(found.held) > ON_LATTICES:
        way = "at points drawn from a mixture that is fitted to what is left, each weighed by its density"
    because = f"few numbers are left: {held} {way}"
    fixed = held_fixed(graph, found.held, f"{held} held at points, all of which are evaluated at once")
    start = state_of(fixed[-1].after)
    now = replace(start, chains=False)
    own = tuple(column.variable for column in found.own)
    dense = tuple(column.variable for column in found.dense)
    for group in (Group(own, tuple(index.plate for index in found.batch)), Group(dense, ())):
        if group.variables:
            moved = gaussian_move(now, [name for name in now.unknown if name in (*own, *dense)], group=group)
            if isinstance(moved, Declined):  # the same in another order: all that is Gaussian at once
                return _at_points(graph, found.held, because)
            now = moved
    return [*fixed, *steps_of(now), by_numbers(graph_of(now), found.held, because, "Section 7.3")]


def _at_points(graph: Graph, held: Sequence[str], because: str) -> list[Step]:
    """The steps of the exact plan at each point."""
    complete = with_known(graph, held)
    return steps_at_points(graph, held, complete, because, "Section 7.3") if isinstance(complete, Plan) else []


def _apart(graph: Graph, prepared: Prepared, before: Declined, proper: bool) -> QuadraturePlan | Declined:
    """The plan in which each point runs an exact plan."""
    now = prepared.graph
    held = least_held(now)
    if isinstance(held, Declined):
        return held
    together = plan_at_points(now, held)
    most = MOST_APART if isinstance(together, Declined) else MOST_TOGETHER
    if len(held) > most:
        return Declined(NAME, f"exact elimination leaves {len(held)} numbers, at most {most} are gone over")
    complete = plan_exact(replace(now, known=now.known | set(held)), "posterior")
    assert isinstance(complete, Plan)
    because = f"{before.reason}: each point of {', '.join(held)} runs the exact plan with them known"
    steps = (*prepared.steps, *steps_at_points(now, held, complete, because, "Section 7.3"))
    return QuadraturePlan(
        graph, "posterior", tuple(held), now.factors, steps, complete=complete, barren=prepared.barren, proper=proper,
        together=None if isinstance(together, Declined) else together,
    )  # fmt: skip


def least_held(graph: Graph) -> list[str] | Declined:
    """The scalars that must be known for an exact plan of the others: all at first, then as few as will do."""
    scalars = [
        name for name in graph.unknown if not graph.nodes[name].axes and not graph.nodes[name].domain.is_discrete
    ]
    if not scalars:
        return Declined(NAME, "no unknown is a single real number")
    complete = with_known(graph, scalars)
    if isinstance(complete, Declined):
        return Declined(NAME, f"with {', '.join(scalars)} known: {complete.reason}")
    return min((_let_go(graph, order) for order in (scalars, scalars[::-1])), key=len)


def with_known(graph: Graph, held: Sequence[str]) -> Plan | Declined:
    """The exact plan for the evidence with some unknowns known."""
    return plan_exact(replace(graph, known=graph.known | set(held)), "evidence")


def _let_go(graph: Graph, order: Sequence[str]) -> list[str]:
    """What must stay held when unknowns are let go one after another, in this order."""
    held = list(order)
    for name in order:
        fewer = [other for other in held if other != name]
        if fewer and isinstance(with_known(graph, fewer), Plan):
            held = fewer
    return [name for name in graph.unknown if name in held]
