"""Tell the derivation of a plan in words."""

from __future__ import annotations

from collections.abc import Sequence

from platewright.algebra.expression import Index
from platewright.derive.cautions import cautions
from platewright.graph.equation import joint_equation
from platewright.graph.fixed_sizes import fixed_sizes
from platewright.operation import Declined
from platewright.program.pointwise import pointwise_text
from platewright.recognition.exchangeable import find_symmetries
from platewright.schema import Plan
from platewright.schemas.blocks import (
    Block,
    BoundedBlock,
    ChainBlock,
    CoordinateBlock,
    ExactBlock,
    HamiltonianBlock,
    MirrorBlock,
    OrbitBlock,
    ScaleBlock,
    SiteBlock,
    SliceBlock,
    WeighedBlock,
)
from platewright.schemas.collapsed import CollapsedPlan
from platewright.schemas.em import EMPlan
from platewright.schemas.evidence import EvidencePlan
from platewright.schemas.few_numbers import QuadraturePlan
from platewright.schemas.few_rows import find_few_rows
from platewright.schemas.gibbs import GibbsPlan
from platewright.schemas.mean_field import MeanFieldPlan

LONGEST_LINE = 600
HEADING = 6
"""How many lines come before the algorithm: its summary, the known, the wanted, the joint, and gaps."""

AnyPlan = Plan | CollapsedPlan | EMPlan | GibbsPlan | MeanFieldPlan | EvidencePlan | QuadraturePlan


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
    for number, step in enumerate(plan.steps, start=1):
        lines.append(f"{number}. {step}")
    if plan.barren:
        lines.append(f"predicted, not learned: {', '.join(plan.barren)}")
    lines += ["", "statistics, in one pass over the rows:"]
    for statement in plan.program.passes:
        lines.append(f"    {_line(statement)}")
    lines += ["", f"schema: {plan.schema}"]
    lines += [f"    {refusal}" for refusal in plan.declined]
    return "\n".join(lines)


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
    return lines


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
    for number, block in enumerate(plan.blocks, start=1):
        lines += [f"{number}. {line}" if k == 0 else f"       {line}" for k, line in enumerate(_told(block))]
    return "\n".join(lines + _about_labels(plan) + _ending(plan))


def explain_quadrature(plan: QuadraturePlan) -> str:
    """What is eliminated at each point, what is gone over, and what is computed once."""
    lines = _heading(plan, "unknown", plan.graph.unknown)
    for number, step in enumerate(plan.steps, start=1):
        lines.append(f"{number}. {step}")
    if plan.barren:
        lines.append(f"predicted, not learned: {', '.join(plan.barren)}")
    if plan.pointwise is not None:
        lines += ["", *(f"    {line}" for line in pointwise_text(plan.pointwise).splitlines())]
    return "\n".join(lines + _ending(plan))


def explain_evidence(plan: EvidencePlan) -> str:
    """The identity that a method rests on, and the plan below it."""
    lines = [*_heading(plan, "unknown", plan.unknown), *plan.lines]
    if plan.gibbs is not None:
        lines += ["", *explain_algorithm(plan.gibbs).splitlines()]
    if plan.complete is not None:
        lines += ["", *(f"    {step.because}" for step in plan.complete.steps if step.gone)]
    if plan.gibbs is None:  # a sampler has told it
        lines += _about_labels(plan)
    return "\n".join(lines + _ending(plan))


def _told(block: Block) -> list[str]:
    """One block in words: what is drawn, how, and why so."""
    named = ", ".join(block.variables)
    match block:
        case ExactBlock():
            steps = [step.because for step in block.plan.steps if step.gone]
            return [f"draw {named} given the rest, exactly{_without(block.without)}:", *steps]
        case SliceBlock():
            return [f"draw {named} by a slice sampler{_without(block.without)}: {block.why}"]
        case ChainBlock():
            return [f"draw {named} as a whole chain: forward filtering, backward sampling"]
        case HamiltonianBlock():
            how = f"along the gradient of their log density{_without(block.without)}"
            return [f"move {named} {how}: {block.why}", *map(str, block.slopes)]
        case CoordinateBlock():
            how = f"by a slice sampler, coordinate after coordinate{_without(block.without)}"
            return [f"move {named} {how}: {block.why}"]
        case BoundedBlock():
            low, high = (", ".join(map(str, ends)) or "none" for ends in (block.lower, block.upper))
            shown = f"draw {named} between its bounds (below {low}; above {high})"
            if block.family is not None:
                return [f"{shown} by inverting {block.family.name}"]
            if block.plan is None:
                return [f"{shown} by a slice sampler: {block.why}"]
            steps = [step.because for step in block.plan.steps if step.gone]
            return [f"{shown} by inverting", *steps]
        case ScaleBlock():
            how = f"together, the noise in units of the scale held fixed{_without(block.without)}"
            return [f"move {named} {how}: {block.why}"]
        case OrbitBlock():
            how = f"together, so that what they make stays{_without(block.without)}"
            return [f"{block.along} {named} {how}: {block.why}"]
        case MirrorBlock():
            return [f"turn the signs of {named} over by a Metropolis step: {block.why}"]
        case SiteBlock():
            return [f"draw {named} site by site, those without a tie at once: {block.why}"]
        case WeighedBlock():
            steps = [step.because for step in block.plan.steps if step.gone]
            return [f"draw {named} exactly{_without(block.without)}: {block.why}", *steps]


def _without(gone: tuple[str, ...]) -> str:
    return f", {', '.join(gone)} integrated out and drawn next" if gone else ""


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
            lines += ["", f"ascent: {', '.join(ascent.variables)} raised along slopes of the expected log joint, for"]
            lines += [f"    {ascent.why}"]
            lines += [f"    {_line(statement)}" for statement in program.passes]
            lines += [f"    log factor of {factor.owner}: {factor.summed}" for factor in ascent.factors]
            lines += [f"    {slope}" for slope in ascent.slopes]
    return "\n".join(lines + _about_labels(plan) + _ending(plan))
