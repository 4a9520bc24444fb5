"""Evidence of models without a closed form: ways to `log p(data)`, each on top of what other schemas derive.

    enumeration   log sum over hidden values of exp(exact log evidence with them known)
    chib          log p(data, point) - log p(point | data), the latter from the conditionals of a Gibbs sampler
    annealed      importance weights along  prior x likelihood^power,  moved by the Gibbs sampler of each power
    laplace       a Gaussian around the mode, after every discrete unknown is summed out
    quadrature    a grid over the few numbers that exact elimination leaves (`schemas/quadrature.py`)

None is written for a model: a Gibbs sampler of a tempered joint is the sampler of a graph whose likelihood factors
carry a power, which is one more known number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from platewright.algebra.build import add, multiply
from platewright.algebra.differentiate import differentiate
from platewright.algebra.domain import UNIT
from platewright.algebra.expression import Index, Reference, sums_within
from platewright.elimination.stepping import graph_of, state_of, steps_of
from platewright.elimination.tables import summed_out
from platewright.errors import ModelError
from platewright.graph.graph import Factor, Graph
from platewright.language.variable import Variable
from platewright.operation import Declined, Step
from platewright.operations.split_partly_known import seen_name
from platewright.program.derivatives import Slope
from platewright.recognition.exchangeable import find_symmetries
from platewright.schema import Goal, Plan
from platewright.schemas.blocks import CoordinateBlock
from platewright.schemas.exact import normalisers, plan_exact, prepare
from platewright.schemas.gibbs import ChainBlock, ExactBlock, GibbsPlan, plan_gibbs
from platewright.schemas.iterated_steps import by_numbers, steps_at_points
from platewright.schemas.slopes import MOST_WITHIN
from platewright.schemas.sweep_steps import sweep_steps

POWER = "power@likelihood"
"""The known number between 0 and 1 that every likelihood factor of a tempered graph is multiplied with."""


@dataclass(frozen=True)
class EvidencePlan:
    """A method, and what it stands on: an exact plan, a sampler, or an objective without discrete unknowns."""

    graph: Graph
    goal: Goal
    schema: str
    summary: str
    factors: tuple[Factor, ...]
    """The log joint with all functions written out."""
    hidden: tuple[str, ...] = ()
    """Unknowns that are summed or integrated over numerically."""
    complete: Plan | None = None
    gibbs: GibbsPlan | None = None
    objective: tuple[Factor, ...] = ()
    slopes: tuple[Slope, ...] = ()
    """The derivative of the objective by each element of an unknown."""
    climbed: GibbsPlan | None = None
    """The unknowns of the objective as one block, whose density is climbed."""
    steps: tuple[Step, ...] = ()
    barren: tuple[str, ...] = ()
    declined: tuple[Declined, ...] = ()
    proper: bool = True

    @property
    def unknown(self) -> tuple[str, ...]:
        """The unknowns that the evidence integrates over, in the order of writing."""
        return tuple(name for name in self.graph.unknown if name not in self.barren)


def plan_enumeration(graph: Graph, goal: Goal) -> EvidencePlan | Declined:
    """Sum exact evidences over all values of the discrete unknowns."""
    name = "enumeration"
    if goal != "evidence":
        return other_goal(name)
    prepared = prepare(graph)
    now = prepared.graph
    hidden = [variable for variable in now.unknown if now.nodes[variable].domain.is_finite]
    if not hidden:
        return Declined(name, "no unknown has finitely many values")
    complete = plan_exact(replace(now, known=now.known | set(hidden)), "evidence")
    if isinstance(complete, Declined):
        return Declined(name, f"with {', '.join(hidden)} known: {complete.reason}")
    named = ", ".join(hidden)
    because = f"the exact evidence at each value of {named}, added up"
    shown = (f"log p(data) = log sum over {named} of p(data, {named})", f"with {named} known: {complete.summary}")
    steps = (*prepared.steps, *steps_at_points(now, hidden, complete, because, "Section 4.1", shown))
    return EvidencePlan(
        graph,
        goal,
        name,
        f"the exact log evidence for each value of {named}, then the log of the sum",
        now.factors,
        tuple(hidden),
        complete=complete,
        steps=steps,
        barren=prepared.barren,
        proper=complete.proper,
    )


def plan_chib(graph: Graph, goal: Goal) -> EvidencePlan | Declined:
    """Chib's identity at one point, with ordinates from the exact conditionals of a Gibbs sampler."""
    name = "chib"
    if goal != "evidence":
        return other_goal(name)
    gibbs = plan_gibbs(graph, "posterior", weighing=False)
    if isinstance(gibbs, Declined):
        return Declined(name, gibbs.reason)
    exact = normalised(gibbs)
    if isinstance(exact, Declined):
        return Declined(name, exact.reason)
    gibbs = exact
    shown = "; ".join("{" + ", ".join(block.variables) + "}" for block in gibbs.blocks)
    formulas = (
        "log p(data) = log p(data, point) - log p(point | data) at any point",
        f"p(point | data) = product over the blocks {shown} of their density given those before, at the point",
        "each is an average of exact conditionals over draws; blocks before it are held at the point",
    )
    now = prepare(graph).graph
    end = by_numbers(now, now.unknown, "the joint at a point, over the posterior there", "Section 7.3", formulas)
    return EvidencePlan(
        graph,
        goal,
        name,
        f"joint density over posterior density at one point, from the conditionals of {shown} (Chib 1995)",
        gibbs.factors,
        gibbs=gibbs,
        steps=(*prepare(graph).steps, *gibbs.steps, end),
        barren=gibbs.barren,
        proper=gibbs.proper,
    )


def normalised(plan: GibbsPlan) -> GibbsPlan | Declined:
    """The blocks whose conditional densities are known with their normalisers, when these cover every unknown.

    Moves of several blocks together are there for speed, and may be left out.
    """
    exact = tuple(block for block in plan.blocks if isinstance(block, ExactBlock | ChainBlock))
    covered = {name for block in exact for name in block.variables}
    for block in plan.blocks:
        if left := [name for name in block.variables if name not in covered]:
            return Declined("chib", f"`{left[0]}` is not drawn from a conditional whose density is normalised")
    prepared = prepare(plan.graph)
    return replace(plan, blocks=exact, steps=sweep_steps(prepared.graph, exact))


def plan_annealed(graph: Graph, goal: Goal) -> EvidencePlan | Declined:
    """Annealed importance sampling from the prior to the posterior (Neal 2001)."""
    name = "annealed"
    if goal != "evidence":
        return other_goal(name)
    prepared = prepare(graph)
    now = prepared.graph
    if reason := _no_prior_draws(now):
        return Declined(name, reason)
    gibbs = plan_gibbs(tempered(now), "posterior", weighing=False)
    if isinstance(gibbs, Declined):
        return Declined(name, gibbs.reason)
    formulas = (
        "p_t = prior x likelihood^power_t, with powers from 0 to 1; each particle starts at a draw of the prior",
        "its weight is the product of likelihood^(power_t - power_t-1) along the way, whose mean is the evidence",
        "between the weights it moves by the Gibbs sampler of p_t",
    )
    end = by_numbers(tempered(now), now.unknown, "the mean weight of particles", "Section 7.3", formulas)
    return EvidencePlan(
        graph,
        goal,
        name,
        f"importance weights from the prior to the posterior; sweeps of {gibbs.summary}",
        now.factors,
        gibbs=gibbs,
        steps=(*prepared.steps, _tempering(now), *gibbs.steps, end),
        barren=prepared.barren,
    )


def plan_laplace(graph: Graph, goal: Goal) -> EvidencePlan | Declined:
    """A Gaussian approximation at the mode, on coordinates that fill the whole space."""
    name = "laplace"
    if goal != "evidence":
        return other_goal(name)
    prepared = prepare(graph)
    now = prepared.graph
    minus = normalisers(now)
    if isinstance(minus, Declined):
        return Declined(name, minus.reason)
    if (deep := max((sums_within(factor.expression) for factor in minus), default=0)) > MOST_WITHIN:
        return Declined(name, f"the normaliser of an undirected component has {deep} sums within sums")
    hidden = [variable for variable in now.unknown if now.nodes[variable].domain.is_finite]
    rest = [variable for variable in now.unknown if variable not in hidden]
    for variable in rest:
        if now.nodes[variable].domain.is_discrete:
            return Declined(name, f"`{variable}` counts without end: it can be neither summed out nor approximated")
    done = summed_out(state_of(now), hidden)
    if isinstance(done, Declined):
        return Declined(name, done.reason)
    whole = (*done.factors, *minus)
    slopes = slopes_of_all(whole, [now.nodes[variable] for variable in rest])
    if isinstance(slopes, Declined):
        return slopes
    steps = [*prepared.steps, *steps_of(done)]
    if rest:
        about = "about, for the integrand is taken as a Gaussian around its mode"
        formulas = (
            "log p(data) = log p(data, mode) + d/2 log 2 pi - 1/2 log det(-second derivatives), about",
            "mode and derivatives on coordinates that fill the whole space: logs of positive values, log ratios of",
            "probabilities, Cholesky factors of matrices; the derivatives are those of the log joint as an expression",
        )
        steps.append(by_numbers(graph_of(done), rest, about, "Section 7.3", formulas))
    summed = f", after {', '.join(hidden)} are summed out" if hidden else ""
    proper = all(node.family is None or node.family.proper for node in now.nodes.values())
    return EvidencePlan(
        graph,
        goal,
        name,
        f"a Gaussian around the mode of {', '.join(rest) or 'nothing'}{summed}",
        (*now.factors, *minus),
        tuple(hidden),
        objective=whole,
        slopes=slopes,
        climbed=GibbsPlan(graph, "posterior", (CoordinateBlock(tuple(rest), whole, name),), (), whole),
        steps=tuple(steps),
        barren=prepared.barren,
        proper=proper,
    )


def slopes_of_all(factors: Sequence[Factor], nodes: Sequence[Variable]) -> tuple[Slope, ...] | Declined:
    """The derivative of a log joint by each element of some unknowns."""
    whole, found = add(*(factor.summed for factor in factors)), []
    for node in nodes:
        at = tuple(Index(f"{axis.name}@{k}", axis.plate) for k, axis in enumerate(node.axes))
        try:
            found.append(Slope(node.name, at, at, differentiate(whole, Reference(node.name, at))))
        except ModelError as refusal:
            return Declined("laplace", str(refusal).splitlines()[0])
    return tuple(found)


def tempered(graph: Graph) -> Graph:
    """The graph in which every factor of a known variable carries the power."""
    power = Variable(POWER, "input", (), UNIT)
    changed = [
        replace(node, log_density=multiply(Reference(POWER), node.log_density))
        for name, node in graph.nodes.items()
        if node.kind == "random" and graph.is_known(name)
    ]
    return graph.with_nodes([power, *changed])


def _tempering(graph: Graph) -> Step:
    """The power of the likelihood as a known number: at 1 the joint is what it was."""
    because = f"the likelihood carries the power {POWER}, which goes from 0 to 1"
    return Step("temper", graph, tempered(graph), because, "Section 7.3")


def _no_prior_draws(graph: Graph) -> str:
    """Why the unknowns cannot be drawn from their prior, or nothing."""
    if graph.potentials:
        return "the model has potentials, so its prior cannot be drawn from"
    for name in graph.unknown:
        node = graph.nodes[name]
        if seen_name(name) in graph.nodes:
            return f"`{name}` is known in part, and its prior would have to be drawn given that"
        if node.family is None or node.family.draw is None or not node.family.proper:
            return f"`{name}` has no proper prior to start from"
    return ""


def exchanged_together(plan: EvidencePlan, sizes: Mapping[str, int]) -> tuple[tuple[str, ...], ...]:
    """Discrete unknowns whose labels may be exchanged, all of a plate at once."""
    found = find_symmetries(plan.graph, plan.factors, sizes)
    whole = [one for one in found if [len(members) for members in one.classes] == [one.size] and one.order > 1]
    wanted = (tuple(name for name in one.levelled if name in plan.hidden) for one in whole)
    return tuple(names for names in wanted if names)


def other_goal(name: str) -> Declined:
    """The refusal of a method that gives the evidence alone."""
    return Declined(name, 'it gives the evidence and nothing else: use goal="evidence"')
