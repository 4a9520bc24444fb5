"""Any plan as source: closed forms, EM and Gibbs sampling as programs that run alone, the rest step by step."""

from __future__ import annotations

from platewright.backends.c_collapsed.collapsed import default_source
from platewright.backends.emit import emit
from platewright.backends.naming import comment
from platewright.backends.numpy.em import numpy_em_source
from platewright.backends.numpy.gibbs import numpy_gibbs_source
from platewright.derive.planner import AnyPlan
from platewright.errors import PlatewrightError
from platewright.program.program import Program
from platewright.schema import Plan
from platewright.schemas.collapsed import CollapsedPlan
from platewright.schemas.em import EMPlan
from platewright.schemas.evidence import EvidencePlan
from platewright.schemas.gibbs import GibbsPlan


def plan_source(plan: AnyPlan, backend: str = "numpy") -> str:
    """The source of a plan; where it is not one program that runs alone, the first line says so."""
    if isinstance(plan, Plan):
        return emit(plan.program, backend)
    if backend == "c" and isinstance(plan, CollapsedPlan):
        return default_source(plan).text
    why = f"{plan.schema} is printed step by step"
    if backend == "numpy":
        try:
            match plan:
                case EMPlan():
                    return numpy_em_source(plan)
                case GibbsPlan():
                    return numpy_gibbs_source(plan)
        except PlatewrightError as error:
            why = error.found
    steps = "\n\n".join(emit(program, backend) for program in _programs(plan))
    mark = "#" if backend == "numpy" else "//"
    return f"{mark} The steps of the algorithm, to read; not one program yet: {comment(why)}\n\n{steps}"


def _programs(plan: AnyPlan) -> tuple[Program, ...]:
    match plan:
        case GibbsPlan():
            return plan.programs
        case CollapsedPlan():
            return (plan.complete.program,)  # the parameters given the hidden variables
        case EvidencePlan():
            return (plan.complete.program,) if plan.complete else plan.gibbs.programs if plan.gibbs else ()
        case Plan():
            return (plan.program,)
    return (plan.expect, *plan.latent.programs)
