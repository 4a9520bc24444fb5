"""Tell the derivation of a plan in words."""

from __future__ import annotations

from collections.abc import Sequence

from platewright.graph.equation import joint_equation
from platewright.recognition.exchangeable import find_symmetries
from platewright.schema import Plan
from platewright.schemas.em import EMPlan
from platewright.schemas.evidence import EvidencePlan
from platewright.schemas.exact import fixed_sizes
from platewright.schemas.gibbs import ChainBlock, ExactBlock, GibbsPlan, SliceBlock
from platewright.schemas.mean_field import MeanFieldPlan

AnyPlan = Plan | EMPlan | GibbsPlan | MeanFieldPlan | EvidencePlan


def explain_plan(plan: AnyPlan) -> str:
    """The derivation of any plan."""
    match plan:
        case Plan():
            return explain(plan)
        case GibbsPlan():
            return explain_gibbs(plan)
        case EvidencePlan():
            return explain_evidence(plan)
    return explain_em(plan)


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


def _why_not_better(plan: AnyPlan) -> list[str]:
    if not plan.declined:
        return []
    return ["", "why not a better schema:", *(f"    {refusal}" for refusal in plan.declined)]


def _about_labels(plan: EMPlan | GibbsPlan | MeanFieldPlan) -> list[str]:
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
        named = ", ".join(block.variables)
        match block:
            case ExactBlock():
                lines.append(f"{number}. draw {named} given the rest, exactly:")
                lines += [f"       {step.because}" for step in block.plan.steps if step.operation.startswith("elim")]
            case SliceBlock():
                lines.append(f"{number}. draw {named} by a slice sampler: {block.why}")
            case ChainBlock():
                lines.append(f"{number}. draw {named} as a whole chain: forward filtering, backward sampling")
    return "\n".join(lines + _about_labels(plan) + _why_not_better(plan))


def explain_evidence(plan: EvidencePlan) -> str:
    """The identity that a method rests on, and the plan below it."""
    lines = [*_heading(plan, "unknown", plan.unknown), *plan.lines]
    if plan.gibbs is not None:
        lines += ["", *explain_gibbs(plan.gibbs).splitlines()[6:]]
    if plan.complete is not None:
        lines += ["", *(f"    {step.because}" for step in plan.complete.steps if step.operation.startswith("elim"))]
    return "\n".join(lines + _why_not_better(plan))


def explain_em(plan: EMPlan | MeanFieldPlan) -> str:
    """The two steps, each with what justifies it."""
    lines = _heading(plan, "hidden", [item.name for item in plan.hidden])
    if isinstance(plan, MeanFieldPlan):
        lines.append("hidden variables: their distribution from expected log factors of the parameters")
        second = "parameters: their exact posterior, with expected statistics in place of known ones"
    else:
        lines.append("expectation: posterior of the hidden variables given data and parameters")
        second = "maximisation: the closed-form mode, with expected statistics in place of known ones"
    lines += [f"    {_line(statement)}" for statement in plan.expect.body]
    lines += ["", second]
    lines += [f"    {step.because}" for step in plan.complete.steps if step.operation.startswith("eliminate")]
    lines += [f"    {_line(statement)}" for statement in plan.maximise.passes]
    return "\n".join(lines + _about_labels(plan) + _why_not_better(plan))
