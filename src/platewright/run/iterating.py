"""Run an iterative plan on bound data: EM, mean field, the samplers, and the evidence of latent models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

from platewright.data.dataset import Dataset
from platewright.derive.explain import explain_plan
from platewright.derive.planner import choose_plan
from platewright.derive.plans import AnyPlan
from platewright.errors import UnknownName, nearest
from platewright.family import Array
from platewright.graph.fixed_sizes import fixed_sizes
from platewright.operation import Declined
from platewright.run.checkpoint import Checkpoint, checkpoint_at, run_name
from platewright.run.checks.room import check_steps
from platewright.run.checks.sanity import check_moderate
from platewright.run.checks.sizing import check_sizes
from platewright.run.evidence.evidence_fit import OPTIONS as EVIDENCE_OPTIONS
from platewright.run.evidence.evidence_fit import EvidenceFit, next_method, run_evidence, settled
from platewright.run.hidden.em import Runner as EMRunner
from platewright.run.hidden.em_backend import choose_em_backend, native_runner, told_backend
from platewright.run.hidden.em_fit import EstimatedFit
from platewright.run.hidden.em_search import OPTIONS as EM_OPTIONS
from platewright.run.hidden.em_search import run_em
from platewright.run.hidden.few_rows import Gathered, gathered_once, run_on_few
from platewright.run.hidden.gaussian_hidden import with_points
from platewright.run.hidden.laplace_fit import LaplaceFit
from platewright.run.hidden.mean_field_fit import MeanFieldFit
from platewright.run.hidden.mean_field_search import native_field, run_mean_field
from platewright.run.hidden.mean_field_search import run_on_few as field_on_few
from platewright.run.hidden.summit import check_summit
from platewright.run.points.fit import QuadratureFit
from platewright.run.points.running import fits, refuse, run_quadrature
from platewright.run.results.about_chains import warn_of_chains
from platewright.run.samplers.collapsed_fit import CollapsedFit, run_collapsed
from platewright.run.samplers.sampling import SampledFit, run_gibbs
from platewright.schemas.collapsed import CollapsedPlan
from platewright.schemas.em import EMPlan
from platewright.schemas.evidence import EvidencePlan
from platewright.schemas.few_numbers import QuadraturePlan
from platewright.schemas.gibbs import GibbsPlan
from platewright.schemas.marginal_laplace import NAME as LAPLACE
from platewright.schemas.mean_field import MeanFieldPlan

IterativePlan = CollapsedPlan | EMPlan | GibbsPlan | MeanFieldPlan | EvidencePlan | QuadraturePlan
IterativeFit = EstimatedFit | MeanFieldFit | SampledFit | EvidenceFit | QuadratureFit

OPTIONS = {
    "gibbs": ("chains", "draws", "warm_up", "thin", "initial", "keep", "checkpoint"),
    "em": EM_OPTIONS,
    "mean-field": ("restarts", "iterations", "tolerance", "checkpoint", "update"),
}
OPTIONS |= {"collapsed-gibbs": OPTIONS["gibbs"], **EVIDENCE_OPTIONS}
"""What `learn` passes on to an iterative schema."""


OF_POINTS = ("chains", "draws", "warm_up", "thin")
"""Words for draws that quadrature takes: its draws are independent, and as many as these say."""


def no_option(word: str, schema: str) -> UnknownName:
    """The error for a word that `learn` does not take under a schema; it may belong to another one."""
    allowed = OPTIONS.get(schema, ())
    takers = [name for name, words in OPTIONS.items() if word in words]
    near = nearest(word, [*allowed, "goal", "by", "backend", "seed"])
    hint = f"did you mean `{near}`?" if near else ""
    if takers:
        hint = f"leave it out, or choose a schema that takes it: by={' or by='.join(map(repr, takers))}"
    return UnknownName(
        word, allowed, where=f"options of {schema}", found=f"{schema} takes no option `{word}`", hint=hint
    )


def check_options(plan: IterativePlan, options: Mapping[str, Any]) -> None:
    """Refuse an option that the schema does not take."""
    by_points = isinstance(plan, QuadraturePlan) and plan.goal == "posterior"
    allowed = OF_POINTS if by_points else OPTIONS["em" if isinstance(plan, EMPlan) else plan.schema]
    if extra := set(options) - set(allowed):
        raise no_option(min(extra), plan.schema)


def run_iterated(
    plan: IterativePlan,
    columns: Mapping[str, Any],
    dataset: Dataset,
    seed: int,
    backend: str,
    options: Mapping[str, Any],
    seconds: Mapping[str, float],
) -> IterativeFit:
    """Check the options, run the plan, and note how long it took."""
    start = perf_counter()
    if isinstance(plan, QuadraturePlan) and (plan.is_chosen or plan.otherwise is not None):
        chosen = chosen_quadrature(plan, columns, dataset, seed, backend, options)
        if isinstance(chosen, QuadratureFit):
            return _timed(chosen, seconds, start)
        plan = chosen
    check_options(plan, options)
    check_moderate(columns)
    sizes = {**fixed_sizes(plan.graph), **dataset.sizes}
    found = _run(plan, columns, sizes, dataset.labels, seed, backend, dict(options))
    if isinstance(found, SampledFit):
        warn_of_chains(found)
    return _timed(found, seconds, start)


def _timed(fit: IterativeFit, seconds: Mapping[str, float], start: float) -> IterativeFit:
    """The fit with the times of its parts; what it found on its way stays found."""
    object.__setattr__(fit, "seconds", {**seconds, "run": perf_counter() - start})
    return fit


def chosen_quadrature(
    plan: QuadraturePlan,
    columns: Mapping[str, Any],
    dataset: Dataset,
    seed: int,
    backend: str,
    options: Mapping[str, Any],
) -> QuadratureFit | GibbsPlan | EvidencePlan:
    """The fit where the error of quadrature is small, else the plan of what takes over."""
    sizes = {**fixed_sizes(plan.graph), **dataset.sizes}
    declined = fits(plan, sizes, backend, set(options) - set(OF_POINTS)) if plan.goal == "posterior" else None
    if declined is None:
        check_options(plan, options)
        check_moderate(columns)
        found = run_quadrature(plan, columns, sizes, dataset.labels, seed, options)
        if isinstance(found, QuadratureFit):
            return found
        declined = found
    if plan.goal == "posterior":
        instead: AnyPlan = choose_plan(plan.graph, "posterior", "gibbs")
    elif plan.otherwise is None:
        instead = next_method(plan, declined, columns, sizes)
    else:
        instead = settled(plan.otherwise, "auto" if plan.is_chosen else plan.schema, columns, sizes)
    assert isinstance(instead, GibbsPlan | EvidencePlan)
    steps = tuple(step for step in plan.steps if step.operation.startswith("split"))
    before = dict.fromkeys((*plan.declined, declined, *instead.declined))
    return replace(instead, steps=(*steps, *instead.steps), declined=tuple(before))


def _run(
    plan: IterativePlan,
    columns: Mapping[str, Array],
    sizes: Mapping[str, int],
    labels: Mapping[str, tuple[object, ...]],
    seed: int,
    backend: str,
    options: dict[str, Any],
) -> IterativeFit:
    """The fit of whichever plan it is."""
    match plan:
        case QuadraturePlan():
            by_points = run_quadrature(plan, columns, sizes, labels, seed, options)
            if isinstance(by_points, Declined):
                raise refuse(by_points)
            return by_points
        case EMPlan():
            few = gathered_once(plan, columns, sizes)
            used, all_sizes = (few.few.plan, few.sizes) if isinstance(few, Gathered) else (plan, sizes)
            for program in used.latent.programs:
                check_sizes(program, all_sizes, plan.latent.points)
            chosen = choose_em_backend(plan, backend, sizes)
            chosen, made_by = few.backend if isinstance(few, Gathered) else chosen, ""
            path = options.pop("checkpoint", None)
            store = _checkpoint(plan, columns, path, {**options, "seed": seed, "backend": chosen})
            if isinstance(few, Gathered):
                best = run_on_few(few, EMRunner(plan, columns, sizes), seed=seed, checkpoint=store, **options)
            else:
                if chosen != "c":
                    check_steps((plan.expect,), with_points(plan.latent, sizes), "EM")
                in_c = native_runner(plan, columns, sizes) if chosen == "c" else None
                told = {"seed": seed, "backend": chosen, "checkpoint": store, **options}
                best = run_em(plan, columns, sizes, native=in_c, **told)
                chosen, made_by = told_backend(chosen, in_c), in_c.made_by if in_c is not None else ""
            with_all: dict[str, Any] = {"labels": labels, "seed": seed, "backend": chosen, "made_by": made_by}
            if plan.schema == LAPLACE:
                return LaplaceFit(plan, columns, sizes, best, **with_all)
            check_summit(plan, EMRunner(plan, columns, sizes), best, labels)
            return EstimatedFit(plan, columns, sizes, best, **with_all)
        case MeanFieldPlan():
            less = gathered_once(plan, columns, sizes)
            soft, own = (less.few.plan, less.sizes) if isinstance(less, Gathered) else (plan, sizes)
            for program in soft.latent.programs:
                check_sizes(program, own, plan.latent.points | plan.noises)
            path = options.pop("checkpoint", None)
            if isinstance(less, Gathered):
                store = _checkpoint(plan, columns, path, {**options, "seed": seed, "backend": less.backend})
                bounded = field_on_few(less, plan, columns, sizes, seed=seed, checkpoint=store, **options)
                return MeanFieldFit(plan, columns, sizes, bounded, labels=labels, seed=seed, backend=less.backend)
            native, chosen, why = native_field(plan, columns, sizes, backend)
            if chosen != "c":
                check_steps((plan.expect,), with_points(plan.latent, sizes), "mean field")
            store = _checkpoint(plan, columns, path, {**options, "seed": seed, "backend": chosen})
            bounded = run_mean_field(plan, columns, sizes, native=native, seed=seed, checkpoint=store, **options)
            made_by = native.made_by if native is not None else ""
            told = {"labels": labels, "seed": seed, "backend": chosen, "made_by": made_by}
            return MeanFieldFit(plan, columns, sizes, bounded, why, **told)
        case EvidencePlan():
            path = options.pop("checkpoint", None)
            store = _checkpoint(plan, columns, path, {**options, "seed": seed, "backend": backend})
            return run_evidence(plan, columns, sizes, labels, seed, backend, options, store)
        case CollapsedPlan():
            check_sizes(plan.complete.program, sizes)
            path = options.pop("checkpoint", None)
            store = _checkpoint(plan, columns, path, {**options, "seed": seed, "backend": backend})
            run = run_collapsed(plan, columns, sizes, seed=seed, backend=backend, checkpoint=store, **options)
            return CollapsedFit(
                plan,
                columns,
                sizes,
                run.chains,
                run.why,
                labels=labels,
                seed=seed,
                backend=run.backend,
                made_by=run.made_by,
                means=run.means,
                sums=run.sums,
                log_joint=run.log_joint,
                told=run.told,
            )
    for program in plan.programs:
        check_sizes(program, sizes)
    path = options.pop("checkpoint", None)
    store = _checkpoint(plan, columns, path, {**options, "seed": seed, "backend": backend})
    chains, choice = run_gibbs(plan, columns, sizes, seed=seed, backend=backend, checkpoint=store, **options)
    by: dict[str, Any] = {"labels": labels, "seed": seed, "backend": choice.backend, "made_by": choice.made_by}
    return SampledFit(choice.plan or plan, columns, sizes, chains, choice.why, **by, sums=choice.sums, told=choice.told)


def _checkpoint(
    plan: IterativePlan, columns: Mapping[str, Array], path: str | Path | None, options: Mapping[str, object]
) -> Checkpoint:
    """Where the state of a run is stored, and what it must belong to."""
    if path is None:
        return Checkpoint()
    return checkpoint_at(path, run_name(explain_plan(plan), columns, options))
