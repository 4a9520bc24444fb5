"""Any plan as source: in NumPy a program that runs alone; in C the passes and sweeps that the library calls.

What has no source in the language asked for is printed step by step, to read, and the first line says why.
"""

from __future__ import annotations

from platewright.backends.c.compile import AS_WRITTEN, FLAGS, compile_line
from platewright.backends.c.expression import Unprintable
from platewright.backends.c_chain.chain import em_program
from platewright.backends.c_collapsed.collapsed import default_source
from platewright.backends.c_gibbs.gibbs import GibbsSource, gibbs_source
from platewright.backends.emit import emit
from platewright.backends.naming import comment
from platewright.backends.numpy.annealed import numpy_annealed_source
from platewright.backends.numpy.assembling import Frame
from platewright.backends.numpy.collapsed import numpy_collapsed_source
from platewright.backends.numpy.em import numpy_em_source
from platewright.backends.numpy.evidence import numpy_evidence_source
from platewright.backends.numpy.exact_mode import numpy_mode_source
from platewright.backends.numpy.gibbs import numpy_gibbs_source
from platewright.backends.numpy.laplace import numpy_laplace_source
from platewright.backends.numpy.learning import DEFAULTS, Options
from platewright.backends.numpy.mean_field import numpy_mean_field_source
from platewright.backends.numpy.points import numpy_points_source
from platewright.backends.numpy.program import numpy_source
from platewright.derive.plans import AnyPlan
from platewright.errors import PlatewrightError
from platewright.program.program import Program
from platewright.schema import Plan
from platewright.schemas.collapsed import CollapsedPlan
from platewright.schemas.em import EMPlan
from platewright.schemas.evidence import EvidencePlan
from platewright.schemas.few_numbers import QuadraturePlan
from platewright.schemas.gibbs import GibbsPlan
from platewright.schemas.mean_field import MeanFieldPlan

STEPS_ONLY = "The steps of the algorithm, to read; not one program yet"
"""How a source begins that is no program."""


def plan_source(plan: AnyPlan, backend: str = "numpy", options: Options = DEFAULTS, gathered: bool = True) -> str:
    """The source of a plan; where it is not one program that runs alone, the first line says so.

    After a run it has the options of the run as its defaults, and gathers rows as the run did.
    """
    if isinstance(plan, Plan):
        line = f"{compile_line(FLAGS)}\n" if backend == "c" else ""
        return _exact(plan) if backend == "numpy" else f"{line}{emit(plan.program, backend)}"
    try:
        if backend == "numpy":
            return _in_numpy(plan, options, gathered)
        if backend == "c":
            return _in_c(plan)
        why = f"{plan.schema} is printed step by step"
    except PlatewrightError as error:
        why = error.found
    except Unprintable as refusal:
        why = str(refusal)
    steps = "\n\n".join(emit(program, backend) for program in _programs(plan))
    mark = "#" if backend == "numpy" else "//"
    return f"{mark} {STEPS_ONLY}: {comment(why)}\n\n{steps}"


def runs_alone(source: str) -> bool:
    """Whether a source is a program, and not only its steps."""
    return not source.removeprefix("//").removeprefix("#").startswith(f" {STEPS_ONLY}")


def _exact(plan: Plan) -> str:
    """The closed form, with the way from a table to it."""
    wanted = {"map": "mode"}.get(plan.goal, plan.goal)
    frame = Frame(plan.graph, f"the exact {wanted}", plan.summary, plan.program.columns, "learn(data, size)")
    return numpy_mode_source(plan, frame) if plan.goal == "map" else numpy_source(plan.program, frame)


def _in_numpy(plan: AnyPlan, options: Options, gathered: bool) -> str:
    """A program that needs NumPy and SciPy only."""
    match plan:
        case EMPlan():
            return numpy_em_source(plan, options, gathered)
        case GibbsPlan():
            return numpy_gibbs_source(plan, options)
        case MeanFieldPlan():
            return numpy_mean_field_source(plan, options, gathered)
        case CollapsedPlan():
            return numpy_collapsed_source(plan, options)
        case EvidencePlan():
            return _evidence(plan, options)
        case QuadraturePlan():
            return numpy_points_source(plan)
    raise PlatewrightError(f"{plan.schema} has no standalone source")


def _evidence(plan: EvidencePlan, options: Options) -> str:
    """The method of the plan."""
    match plan.schema:
        case "annealed":
            return numpy_annealed_source(plan, options)
        case "laplace":
            return numpy_laplace_source(plan, options)
    return numpy_evidence_source(plan)


def _in_c(plan: AnyPlan) -> str:
    """The file that the library compiles for a plan, with what is called and how; the first line has the flags."""
    match plan:
        case CollapsedPlan():
            return f"{compile_line(AS_WRITTEN)}\n{default_source(plan).text}"
        case GibbsPlan():
            nodes = plan.graph.nodes
            found = gibbs_source(plan, [name for name, node in nodes.items() if "@" in name or node.domain.is_discrete])
            return f"{compile_line(AS_WRITTEN)}\n{_arrays(found)}{found.text}"
        case EMPlan() | MeanFieldPlan() if plan.hidden and not plan.latent.gaussian:
            program = em_program(plan)
            if not program.left:
                return f"{compile_line(FLAGS)}\n{program.source}"
            name, reason = program.left[0]
            raise Unprintable(f"`{name}` stays with NumPy: {reason}")
    raise PlatewrightError(f"{plan.schema} of this plan runs in NumPy")


def _arrays(found: GibbsSource) -> str:
    """The arrays and sizes that a sampler is called with, in their order."""
    lines = ["/* Arrays, in the order in which the functions below take them (int64 where it says whole):"]
    for number, slot in enumerate(found.slots):
        lines.append(f" *   {number}: {comment(slot.name)}{' (whole)' if slot.integer else ''}")
    lines.append(" * Sizes, in their order: " + (", ".join(comment(size) for size in found.sizes) or "none"))
    return "\n".join([*lines, " */", ""])


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
        case QuadraturePlan():
            return (plan.complete.program,) if plan.complete else ()
    return (plan.expect, *plan.latent.programs)
