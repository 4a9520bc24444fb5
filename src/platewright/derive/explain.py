"""Tell the derivation of a plan in words."""

from __future__ import annotations

from platewright.graph.equation import joint_equation
from platewright.schema import Plan


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
