"""Each stage of the way as text and as JSON data: graph, steps, plan, program, source."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from platewright.derive.explain import explain_plan
from platewright.derive.plans import AnyPlan
from platewright.errors import PlatewrightError
from platewright.graph.graph import Graph
from platewright.graph.serial import graph_json
from platewright.graph.text import graph_text
from platewright.schema import Plan

Shown = tuple[str, Any]
"""The text, and the same as data."""


def graph_stage(graph: Graph) -> Shown:
    """The graph with its conditionals."""
    return graph_text(graph), graph_json(graph)


def steps_stage(plan: AnyPlan, backend: str) -> Shown:
    """The operations that were applied."""
    data = [
        {"operation": s.operation, "because": s.because, "reference": s.reference, "formulas": list(s.formulas)}
        for s in plan.steps
    ]
    return "\n".join(f"{number}. {step}" for number, step in enumerate(plan.steps, start=1)), data


def plan_stage(plan: AnyPlan, backend: str) -> Shown:
    """The schema chosen, and why no better one."""
    data = {
        "model": plan.graph.title,
        "goal": plan.goal,
        "schema": plan.schema,
        "summary": plan.summary,
        "known": sorted(plan.graph.known),
        "unknown": list(plan.graph.unknown),
        "predicted": list(plan.barren),
        "declined": [[refusal.operation, refusal.reason] for refusal in plan.declined],
    }
    return explain_plan(plan), data


def program_stage(plan: AnyPlan, backend: str) -> Shown:
    """What will run, in no language yet."""
    program = closed_form(plan).program
    return str(program), {"program": str(program), "columns": list(program.columns), "plates": list(program.plates)}


def source_stage(plan: AnyPlan, backend: str) -> Shown:
    """The emitted program."""
    from platewright.run.plan_source import plan_source  # all emitters: loaded when somebody looks

    source = plan_source(plan, backend)
    return source.rstrip("\n"), {"backend": backend, "source": source}


def closed_form(plan: AnyPlan) -> Plan:
    """The plan, when it is one program from data to result."""
    if not isinstance(plan, Plan):
        raise PlatewrightError(
            f"{plan.schema} iterates: it is no single program",
            expected="a closed-form plan",
            hint="the stage `plan` tells its steps, the stage `source` is all of it",
        )
    return plan


STAGES: dict[str, Callable[[AnyPlan, str], Shown]] = {
    "steps": steps_stage,
    "plan": plan_stage,
    "program": program_stage,
    "source": source_stage,
}
"""The stages of a plan by name."""
