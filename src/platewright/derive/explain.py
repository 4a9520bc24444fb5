"""Tell the derivation of a plan in words."""

from __future__ import annotations

from platewright.graph.equation import joint_equation
from platewright.schema import Plan
from platewright.schemas.em import EMPlan
from platewright.schemas.gibbs import ChainBlock, ExactBlock, GibbsPlan, SliceBlock
from platewright.schemas.mean_field import MeanFieldPlan


def explain_plan(plan: Plan | EMPlan | GibbsPlan | MeanFieldPlan) -> str:
    """The derivation of any plan."""
    match plan:
        case Plan():
            return explain(plan)
        case GibbsPlan():
            return explain_gibbs(plan)
    return explain_em(plan)


def explain(plan: Plan) -> str:
    """The whole way from the model to the algorithm, one paragraph a step."""
    graph = plan.graph
    known = ", ".join(sorted(graph.known)) or "nothing"
    unknown = ", ".join(graph.unknown) or "nothing"
    lines = [
        f"{graph.title}: {plan.summary}",
        "",
        f"known:   {known}",
        f"unknown: {unknown}",
        f"joint:   {joint_equation(graph)}",
        "",
    ]
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


def _line(statement: object) -> str:
    from platewright.program.program import statement_text

    return statement_text(statement)  # type: ignore[arg-type]


def explain_gibbs(plan: GibbsPlan) -> str:
    """The blocks of a sweep, each with its conditional and why."""
    graph = plan.graph
    lines = [
        f"{graph.title}: {plan.summary}",
        "",
        f"known:   {', '.join(sorted(graph.known)) or 'nothing'}",
        f"unknown: {', '.join(graph.unknown) or 'nothing'}",
        f"joint:   {joint_equation(graph)}",
        "",
    ]
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
    if plan.declined:
        lines += ["", "why not a better schema:"]
        lines += [f"    {refusal}" for refusal in plan.declined]
    return "\n".join(lines)


def explain_em(plan: EMPlan | MeanFieldPlan) -> str:
    """The two steps, each with what justifies it."""
    graph = plan.graph
    lines = [
        f"{graph.title}: {plan.summary}",
        "",
        f"known:   {', '.join(sorted(graph.known)) or 'nothing'}",
        f"hidden:  {', '.join(item.name for item in plan.hidden)}",
        f"joint:   {joint_equation(graph)}",
        "",
    ]
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
    if plan.declined:
        lines += ["", "why not a better schema:"]
        lines += [f"    {refusal}" for refusal in plan.declined]
    return "\n".join(lines)
