"""The steps of a Gibbs sweep: what each block holds fixed, what is integrated out of it, and its exact steps.

    y (known) <- a -> b        draw a        y (known) <- a -> b (known)        eliminate a

Each block begins with a step that says how it is drawn (Figures 28 and 30); the conditional that an elimination leaves
is what is drawn from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from platewright.elimination.stepping import eliminate
from platewright.graph.graph import Graph
from platewright.operation import Step
from platewright.schema import Plan
from platewright.schemas.blocks import (
    Block,
    BoundedBlock,
    ChainBlock,
    CoordinateBlock,
    ExactBlock,
    HamiltonianBlock,
    JumpBlock,
    OrbitBlock,
    ScaleBlock,
    SiteBlock,
    SliceBlock,
    WeighedBlock,
)
from platewright.schemas.iterated_steps import by_numbers
from platewright.schemas.mirrors import Mirror

DRAW = "draw"


def sweep_steps(graph: Graph, blocks: Sequence[Block]) -> tuple[Step, ...]:
    """For each block of a sweep what is held fixed, what is integrated out of it, and its exact steps if it has any."""
    steps: list[Step] = []
    for block in blocks:
        without = () if isinstance(block, WeighedBlock) else getattr(block, "without", ())
        free = {*block.variables, *getattr(block, "without", ())}
        now = replace(graph, known=graph.known.union(name for name in graph.unknown if name not in free))
        because, formulas = _sentence(block)
        steps.append(Step(f"{DRAW} {', '.join(block.variables)}", graph, now, because, "Figures 28 and 30", formulas))
        for name in without:
            found = eliminate(now, name) if name in now.unknown else None
            if isinstance(found, Step):
                steps.append(found)
                now = found.after
        plan = getattr(block, "plan", None)
        if isinstance(plan, Plan):
            steps += plan.steps
        elif isinstance(block, ChainBlock):
            filtered = "forwards along the chain; draws go backwards"
            steps.append(by_numbers(now, block.variables, filtered, "Section 7.1"))
    return tuple(steps)


def _sentence(block: Block) -> tuple[str, tuple[str, ...]]:
    """What is drawn, how, and why so; and the slopes that it is moved along."""
    named = ", ".join(block.variables)
    match block:
        case ExactBlock():
            return f"draw {named} given the rest, exactly{_without(block.without)}:", ()
        case SliceBlock():
            return f"draw {named} by a slice sampler{_without(block.without)}: {block.why}", ()
        case ChainBlock():
            return f"draw {named} as a whole chain: forward filtering, backward sampling", ()
        case HamiltonianBlock():
            how = f"along the gradient of their log density{_without(block.without)}"
            return f"move {named} {how}: {block.why}", tuple(map(str, block.slopes))
        case CoordinateBlock():
            how = f"by a slice sampler, coordinate after coordinate{_without(block.without)}"
            return f"move {named} {how}: {block.why}", ()
        case BoundedBlock():
            low, high = (", ".join(map(str, ends)) or "none" for ends in (block.lower, block.upper))
            shown = f"draw {named} between its bounds (below {low}; above {high})"
            if block.family is not None:
                return f"{shown} by inverting {block.family.name}", ()
            if block.plan is None:
                return f"{shown} by a slice sampler: {block.why}", ()
            return f"{shown} by inverting", ()
        case ScaleBlock():
            how = f"together, the noise in units of the scale held fixed{_without(block.without)}"
            return f"move {named} {how}: {block.why}", ()
        case OrbitBlock():
            how = f"together, so that what they make stays{_without(block.without)}"
            return f"{block.along} {named} {how}: {block.why}", ()
        case JumpBlock():
            how = f"turn {named} over" if isinstance(block.jump, Mirror) else f"exchange elements of {named}"
            return f"{how} by a jump: {block.why}", ()
        case SiteBlock():
            return f"draw {named} site by site, those without a tie at once: {block.why}", ()
        case WeighedBlock():
            return f"draw {named} exactly{_without(block.without)}: {block.why}", ()


def _without(gone: tuple[str, ...]) -> str:
    return f", {', '.join(gone)} integrated out and drawn next" if gone else ""
