"""Tell the derivation of a plan in words."""

from __future__ import annotations

from collections.abc import Sequence

from platewright.algebra.expression import Index
from platewright.derive.cautions import cautions
from platewright.derive.cost import cost_of
from platewright.derive.plans import AnyPlan
from platewright.graph.equation import joint_equation
from platewright.graph.fixed_sizes import fixed_sizes
from platewright.operation import Declined, Step
from platewright.program.pointwise import pointwise_text
from platewright.recognition.exchangeable import find_symmetries
from platewright.schema import Plan
from platewright.schemas.collapsed import CollapsedPlan
from platewright.schemas.em import EMPlan
from platewright.schemas.evidence import EvidencePlan
from platewright.schemas.few_numbers import QuadraturePlan
from platewright.schemas.few_rows import find_few_rows
from platewright.schemas.gibbs import GibbsPlan
from platewright.schemas.mean_field import MeanFieldPlan
from platewright.schemas.sweep_steps import DRAW

LONGEST_LINE = 600
HEADING = 6
"""How many lines come before the algorithm: its summary, the known, the wanted, the joint, and gaps."""


def explain_plan(plan: AnyPlan) -> str:
    """The derivation of any plan."""
    match plan:
        case Plan():
            return explain(plan)
        case GibbsPlan():
            return explain_gibbs(plan)
        case CollapsedPlan():
            return explain_collapsed(plan)
        case EvidencePlan():
            return explain_evidence(plan)
        case QuadraturePlan():
            return explain_quadrature(plan)
    return explain_em(plan)


def explain_algorithm(plan: AnyPlan) -> str:
    """The derivation without its heading, for pages that have told it already."""
    return "\n".join(explain_plan(plan).splitlines()[HEADING:])


def told(plan: AnyPlan, full: bool = False) -> str:
    """The derivation for readers: formulas that run over several lines are cut short unless asked for in full."""
    text = explain_plan(plan)
    return text if full else "\n".join(map(_abridged, text.splitlines()))


def _abridged(line: str) -> str:
    if len(line) <= LONGEST_LINE:
        return line
    head, tail = line[: LONGEST_LINE * 2 // 3], line[-LONGEST_LINE // 4 :]
    return f"{head} ... ({len(line) - len(head) - len(tail)} more characters: explain(full=True)) ... {tail}"


def explain(plan: Plan) -> str:
    """The whole way from the model to the algorithm, one paragraph a step."""
    lines = _heading(plan, "unknown", plan.graph.unknown)
    lines += _numbered(plan.steps)
    if plan.barren:
        lines.append(f"predicted, not learned: {', '.join(plan.barren)}")
    lines += ["", "statistics, in one pass over the rows:"]
    for statement in plan.program.passes:
        lines.append(f"    {_line(statement)}")
    lines += ["", f"schema: {plan.schema}"]
    lines += [f"    {refusal}" for refusal in plan.declined]
    return "\n".join([*lines, f"cost: {cost_of(plan)}"])


def _heading(plan: AnyPlan, word: str, wanted: Sequence[str]) -> list[str]:
    """What every derivation begins with: the algorithm, what is known, what is wanted, and the joint."""
    graph = plan.graph
    return [
        f"{graph.title}: {plan.summary}",
        "",
        f"known:   {', '.join(sorted(graph.known)) or 'nothing'}",
        f"{word + ':':<8} {', '.join(wanted) or 'nothing'}",
        f"joint:   {joint_equation(graph)}",
        "",
    ]


def _ending(plan: AnyPlan) -> list[str]:
    """What may go wrong, and why no better schema applies."""
    lines = []
    if found := cautions(plan):
        lines += ["", "take care:", *(f"    {caution}" for caution in found)]
    if plan.declined:
        lines += ["", "why not a better schema:", *(f"    {refusal}" for refusal in plan.declined)]
    return [*lines, "", f"cost: {cost_of(plan)}"]


def _about_labels(plan: EMPlan | EvidencePlan | GibbsPlan | MeanFieldPlan | CollapsedPlan) -> list[str]:
    """Labels of hidden variables that the model cannot tell apart."""
    found = find_symmetries(plan.graph, plan.factors, fixed_sizes(plan.graph))
    return ["", *(symmetry.sentence for symmetry in found)] if found else []


def _line(statement: object) -> str:
    from platewright.program.program import statement_text

    return statement_text(statement)  # type: ignore[arg-type]


def explain_gibbs(plan: GibbsPlan) -> str:
    """The blocks of a sweep, each with its conditional and why."""
    lines = _heading(plan, "unknown", plan.graph.unknown)
    lines += _numbered(plan.steps)
    return "\n".join(lines + _about_labels(plan) + _ending(plan))


def _numbered(steps: Sequence[Step]) -> list[str]:
    """Steps line by line; what a block of a sweep is drawn from is part of it."""
    lines: list[str] = []
    number, within = 0, False
    for step in steps:
        begins = step.operation.startswith(f"{DRAW} ")
        within = within or begins
        if begins or not within:
            number += 1
            shown = step.because if begins else str(step)
            lines.append(f"{number}. {shown}")
            lines += [f"       {formula}" for formula in step.formulas if begins]
        elif step.gone:
            lines.append(f"       {step.because}")
    return lines


def explain_quadrature(plan: QuadraturePlan) -> str:
    """What is eliminated at each point, what is gone over, and what is computed once."""
    lines = _heading(plan, "unknown", plan.graph.unknown)
    lines += _numbered(plan.steps)
    if plan.barren:
        lines.append(f"predicted, not learned: {', '.join(plan.barren)}")
    if plan.pointwise is not None:
        lines += ["", *(f"    {line}" for line in pointwise_text(plan.pointwise).splitlines())]
    return "\n".join(lines + _ending(plan))


def explain_evidence(plan: EvidencePlan) -> str:
    """The steps, the last of which says what the method rests on, and the sampler below it."""
    inner = [] if plan.gibbs is None else plan.gibbs.steps
    lines = _heading(plan, "unknown", plan.unknown)
    lines += _numbered([step for step in plan.steps if not any(step is other for other in inner)])
    if plan.gibbs is not None:
        lines += ["", *explain_algorithm(plan.gibbs).splitlines()]
    else:  # a sampler has told it
        lines += _about_labels(plan)
    return "\n".join(lines + _ending(plan))


def explain_collapsed(plan: CollapsedPlan) -> str:
    """What is integrated out, the tables that elements enter, and what a level changes."""
    lines = _heading(plan, "hidden", plan.hidden)
    lines.append("integrated out, the hidden variables counted as known:")
    lines += [f"    {step.because}" for step in plan.complete.steps if step.gone]
    lines += ["", "tables that an element is taken out of and put back into:"]
    lines += [f"    {table}" for table in plan.tables]
    for move in plan.moves:
        lines += ["", f"log weight of {move.level.name}, the element {move.hidden} being out:"]
        lines += [f"    + {_summed(change.loops)}{change.expression}" for change in move.changes]
        for stage in move.stages:
            lines.append(f"    for each {', '.join(row.name for row in stage.rows)} of the element, one after another:")
            lines += [f"        + {_summed(change.loops)}{change.expression}" for change in stage.changes]
    return "\n".join(lines + _about_labels(plan) + _ending(plan))


def _summed(loops: Sequence[Index]) -> str:
    return "".join(f"sum_{index.name} " for index in loops)


def _about_rows(plan: EMPlan | MeanFieldPlan) -> list[str]:
    """Whether rows are gathered before the iterations, where what is hidden is Gaussian."""
    if not plan.latent.gaussian:
        return []
    few = find_few_rows(plan)
    if isinstance(few, Declined):
        return [f"every iteration goes over all rows: {few.reason}", ""]
    return [f"before the iterations: {few.because};", "    a few rows with the same moments stand for all of them", ""]


def explain_em(plan: EMPlan | MeanFieldPlan) -> str:
    """The two steps, each with what justifies it."""
    lines = _heading(plan, "hidden", sorted(plan.latent.names))
    if isinstance(plan, MeanFieldPlan):
        lines += _about_rows(plan)
        if plan.latent.names:
            lines.append("hidden variables: their distribution from expected log factors of the parameters")
        second = "parameters: their exact posterior, with expected statistics in place of known ones"
        if len(plan.blocks) > 1:
            second = "blocks of parameters in turn: the exact posterior of each, given moments of the others"
    else:
        lines += _about_rows(plan)
        gone = {item.name for item in plan.integrated}
        lines += [f"{step}\n" for step in plan.steps if step.gone and gone.issuperset(step.gone)]
        lines.append("expectation: posterior of the hidden variables given data and parameters")
        second = "maximisation: the closed-form mode, with expected statistics in place of known ones"
        second = second if plan.blocks else "maximisation: no parameter has a closed-form mode"
    for group in plan.latent.gaussian:
        lines.append(
            f"    {', '.join(member.name for member in group.members)}: Gaussian, integrated out in each element"
        )
        lines += [f"    {_line(statement)}" for statement in group.curvature.body]
    for chain in plan.latent.chains:
        lines += [f"    {_line(statement)}" for statement in chain.weights.body]
        shown = f"    {', '.join(chain.group.now)}: summed forwards and backwards along {chain.group.step.plate}"
        lines.append(shown + (f", for each value of {', '.join(chain.group.above)}" if chain.group.classes else ""))
    lines += [f"    {_line(statement)}" for statement in plan.expect.body]
    lines += [f"    {_line(statement)}" for chain in plan.latent.chains for statement in chain.shares.body]
    lines += ["", second]
    for block, program in zip(plan.blocks, plan.latent.programs, strict=False):
        lines += [f"    {step.because}" for step in block.steps if step.gone]
        lines += [f"    {_line(statement)}" for statement in program.passes]
    if isinstance(plan, EMPlan):
        for ascent, program in zip(plan.ascents, plan.latent.programs[len(plan.blocks) :], strict=True):
            [step] = [one for one in plan.steps if one.gone == ascent.variables]
            lines += ["", f"ascent: {step.because}"]
            if ascent.one_top:
                lines.append("    log-concave by its second derivatives in predictors, falling on all sides: one mode")
            lines += [f"    {_line(statement)}" for statement in program.passes]
            lines += [f"    log factor of {factor.owner}: {factor.summed}" for factor in ascent.factors]
            lines += [f"    {slope}" for slope in ascent.slopes]
    return "\n".join(lines + _about_labels(plan) + _ending(plan))
