r"""The updates of an iterative plan as LaTeX: expectations and modes of EM, factors of mean field, draws of Gibbs.

\subsection*{Expectation}   \[ ... \]   \subsection*{Maximisation}   \[ ... \]
"""

from __future__ import annotations

from collections.abc import Sequence

from platewright.algebra.latex import escaped, latex, symbol
from platewright.derive.latex import body_latex, equation, explain_latex, opening, passes_latex, places
from platewright.derive.plans import AnyPlan
from platewright.elimination.state import Conditional, FamilyConditional, GaussianConditional, TableConditional
from platewright.graph.graph import Factor
from platewright.schema import Plan
from platewright.schemas.ascent import Ascent
from platewright.schemas.blocks import Block, ExactBlock, WeighedBlock, way
from platewright.schemas.collapsed import CollapsedPlan
from platewright.schemas.em import EMPlan
from platewright.schemas.gibbs import GibbsPlan
from platewright.schemas.latent import Latent
from platewright.schemas.mean_field import MeanFieldPlan


def plan_latex(plan: AnyPlan) -> str:
    """The derivation of any plan."""
    return explain_latex(plan) if isinstance(plan, Plan) else iterated_latex(plan)


def iterated_latex(plan: AnyPlan) -> str:
    """The model, then each step of an iteration."""
    lines = opening(plan.graph, plan.summary, plan.steps)
    match plan:
        case EMPlan():
            for item in plan.integrated:
                family = escaped(item.conditional.family.name)
                lines.append(f"\n${symbol(item.name)}$ is integrated out: {family} given the rest\n")
            lines += ["\\subsection*{Expectation}", *_hidden(plan.latent), "\\subsection*{Maximisation}"]
            for number, block in enumerate(plan.blocks):
                lines += _updated(plan.latent, number, block, "the mode of ")
            for number, ascent in enumerate(plan.ascents, start=len(plan.blocks)):
                lines += _raised(plan.latent, number, ascent)
        case MeanFieldPlan():
            lines += ["\\subsection*{Hidden variables, from expected log factors}", *_hidden(plan.latent)]
            lines.append("\\subsection*{Parameters, from expected statistics}")
            for number, block in enumerate(plan.blocks):
                lines += _updated(plan.latent, number, block, "")
        case GibbsPlan():
            for number, found in enumerate(plan.blocks, start=1):
                lines += _block(number, found)
        case CollapsedPlan():
            lines += _collapsed(plan)
    lines += [f"\\paragraph{{Declined}} {escaped(str(refusal))}" for refusal in plan.declined]
    return "\n".join(lines) + "\n"


def _hidden(latent: Latent) -> list[str]:
    """Weights and probabilities of classes, weights of chains, curvature and slope of Gaussians."""
    lines = [equation(places(s.name, s.indices), s.expression) for s in latent.expect.assignments]
    for item in latent.hidden:
        if item.chain:
            how = "forward and backward recursions on the log weights"
            lines.append(f"\n${symbol(item.name)}$ is a hidden chain: {how}\n")
            lines += _factors(item.factors)
    for group in latent.gaussian:
        shown = ", ".join(f"${symbol(member.name)}$" for member in group.members)
        how = "filtering and smoothing along chains" if group.step is not None else "element by element"
        lines.append(f"\n{shown}: Gaussian given the rest, {how}, with precision and slope\n")
        lines += [equation(places(s.name, s.indices), s.expression) for s in group.curvature.assignments]
    return lines


def _updated(latent: Latent, number: int, block: Plan, what: str) -> list[str]:
    """Expected statistics of a block of parameters, and what follows from them."""
    program = latent.programs[number]
    lines = passes_latex(program) + body_latex(program)
    return [*lines, *(f"\n{what}{_distribution(c)}\n" for c in reversed(block.conditionals))]


def _raised(latent: Latent, number: int, ascent: Ascent) -> list[str]:
    """Expected log factors of parameters without a closed mode, and their slopes."""
    shown = ", ".join(f"${symbol(name)}$" for name in ascent.variables)
    lines = [*passes_latex(latent.programs[number]), f"\n{shown}: raised along the slopes of the sum of\n"]
    lines += [*_factors(ascent.factors), "\nwhich are the sums of\n"]
    for slope in ascent.slopes:
        place = symbol(slope.variable, tuple(latex(at) for at in slope.at))
        lines.append(f"\\[\n\\frac{{\\partial}}{{\\partial {place}}}: \\quad {latex(slope.expression)}\n\\]")
    return lines


def _block(number: int, block: Block) -> list[str]:
    """One draw of a sweep."""
    shown = ", ".join(f"${symbol(name)}$" for name in block.variables)
    lines = [f"\\subsection*{{Block {number}: {shown}, {escaped(way(block))}}}"]
    if isinstance(block, ExactBlock):
        lines += passes_latex(block.plan.program) + body_latex(block.plan.program)
        return [*lines, *(f"\n{_distribution(c)}\n" for c in reversed(block.plan.conditionals))]
    if isinstance(block, WeighedBlock):
        lines.append("\nThe log weight of a value is the log evidence with it known\n")
        return lines + passes_latex(block.plan.program) + body_latex(block.plan.program)
    lines.append("\nThe log density of the block, up to a constant, is the sum of\n")
    return [*lines, *_factors(block.factors)]


def _collapsed(plan: CollapsedPlan) -> list[str]:
    """The log weight of each level of an element, the parameters being integrated out."""
    lines = []
    for move in plan.moves:
        title = symbol(move.hidden, tuple(latex(axis) for axis in move.axes))
        lines.append(f"\\subsection*{{The log weight of a level of ${title}$, the element being out of its tables}}")
        for change in (*move.changes, *(change for stage in move.stages for change in stage.changes)):
            over = "".join(f"\\sum_{{{latex(index)}}} " for index in change.loops)
            lines.append(f"\\[\n{over}{latex(change.expression)}\n\\]")
    lines.append("\\subsection*{Parameters given the hidden variables}")
    lines += passes_latex(plan.complete.program) + body_latex(plan.complete.program)
    return [*lines, *(f"\n{_distribution(c)}\n" for c in reversed(plan.complete.conditionals))]


def _factors(factors: Sequence[Factor]) -> list[str]:
    return [f"\\[\n{latex(factor.summed)}\n\\]" for factor in factors]


def _distribution(found: Conditional) -> str:
    """What a conditional is, in a line."""
    match found:
        case FamilyConditional(variable, recognised, parameters):
            given = ", ".join(latex(value) for value in parameters.values())
            of = recognised.transform.name
            left = f"${symbol(variable)}$" if of == "identity" else f"the {escaped(of)} of ${symbol(variable)}$"
            return f"{left} $\\sim \\mathrm{{{recognised.family.name}}}({given})$"
        case TableConditional(variable, level, log_weights):
            return f"${symbol(variable)} = {latex(level)}$ with log weight ${latex(log_weights)}$"
        case GaussianConditional():
            shown = ", ".join(f"${symbol(name)}$" for name in found.variables)
            return f"{shown}: Gaussian, $R \\, u = r$ with precision $R^\\top R$ times ${latex(found.scale)}$"
    raise TypeError(found)
