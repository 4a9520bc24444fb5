"""Run an iterative plan on bound data: EM, mean field, the samplers, and the evidence of latent models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

from platewright.data.dataset import Dataset
from platewright.derive.explain import explain_plan
from platewright.errors import UnknownName, nearest
from platewright.family import Array
from platewright.run.checkpoint import Checkpoint, run_key
from platewright.run.checks.sanity import check_moderate
from platewright.run.checks.sizing import check_sizes
from platewright.run.evidence.evidence_fit import OPTIONS as EVIDENCE_OPTIONS
from platewright.run.evidence.evidence_fit import EvidenceFit, run_evidence
from platewright.run.hidden.em import Runner as EMRunner
from platewright.run.hidden.em_backend import choose_em_backend, native_runner, told_backend
from platewright.run.hidden.em_fit import EstimatedFit
from platewright.run.hidden.em_search import OPTIONS as EM_OPTIONS
from platewright.run.hidden.em_search import run_em
from platewright.run.hidden.few_rows import Gathered, gathered_once, run_on_few
from platewright.run.hidden.mean_field_fit import MeanFieldFit
from platewright.run.hidden.mean_field_search import native_field, run_mean_field
from platewright.run.hidden.mean_field_search import run_on_few as field_on_few
from platewright.run.samplers.collapsed_fit import CollapsedFit, run_collapsed
from platewright.run.samplers.sampling import SampledFit, run_gibbs
from platewright.schemas.collapsed import CollapsedPlan
from platewright.schemas.em import EMPlan
from platewright.schemas.evidence import EvidencePlan
from platewright.schemas.exact import fixed_sizes
from platewright.schemas.gibbs import GibbsPlan
from platewright.schemas.mean_field import MeanFieldPlan

IterativePlan = CollapsedPlan | EMPlan | GibbsPlan | MeanFieldPlan | EvidencePlan
IterativeFit = EstimatedFit | MeanFieldFit | SampledFit | EvidenceFit

OPTIONS = {
    "gibbs": ("chains", "draws", "warm_up", "thin", "initial", "checkpoint"),
    "em": EM_OPTIONS,
    "mean-field": ("restarts", "iterations", "tolerance", "checkpoint", "update"),
}
OPTIONS |= {"collapsed-gibbs": OPTIONS["gibbs"], **EVIDENCE_OPTIONS}
"""What `learn` passes on to an iterative schema."""


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
    if extra := set(options) - set(OPTIONS[plan.schema]):
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
    check_options(plan, options)
    check_moderate(columns)
    sizes = {**fixed_sizes(plan.graph), **dataset.sizes}
    found = _run(plan, columns, sizes, dataset.labels, seed, backend, dict(options))
    return replace(found, seconds={**seconds, "run": perf_counter() - start})


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
        case EMPlan():
            few = gathered_once(plan, columns, sizes)
            used, all_sizes = (few.few.plan, few.sizes) if isinstance(few, Gathered) else (plan, sizes)
            for program in used.latent.programs:
                check_sizes(program, all_sizes, plan.latent.points)
            chosen = choose_em_backend(plan, backend, sizes)
            chosen = few.backend if isinstance(few, Gathered) else chosen
            path = options.pop("checkpoint", None)
            store = _checkpoint(plan, columns, path, {**options, "seed": seed, "backend": chosen})
            if isinstance(few, Gathered):
                best = run_on_few(few, EMRunner(plan, columns, sizes), seed=seed, checkpoint=store, **options)
            else:
                in_c = native_runner(plan, columns, sizes) if chosen == "c" else None
                told = {"seed": seed, "backend": chosen, "checkpoint": store, **options}
                best = run_em(plan, columns, sizes, native=in_c, **told)
                chosen = told_backend(chosen, in_c)
            return EstimatedFit(plan, columns, sizes, best, labels=labels, seed=seed, backend=chosen)
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
            store = _checkpoint(plan, columns, path, {**options, "seed": seed, "backend": chosen})
            bounded = run_mean_field(plan, columns, sizes, native=native, seed=seed, checkpoint=store, **options)
            return MeanFieldFit(plan, columns, sizes, bounded, labels=labels, seed=seed, backend=chosen, why=why)
        case EvidencePlan():
            return run_evidence(plan, columns, sizes, labels, seed, backend, options)
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
                labels=labels,
                seed=seed,
                backend=run.backend,
                means=run.means,
                log_joint=run.log_joint,
            )
    for program in plan.programs:
        check_sizes(program, sizes)
    path = options.pop("checkpoint", None)
    store = _checkpoint(plan, columns, path, {**options, "seed": seed, "backend": backend})
    chains, ran = run_gibbs(plan, columns, sizes, seed=seed, backend=backend, checkpoint=store, **options)
    return SampledFit(plan, columns, sizes, chains, ran.why, labels=labels, seed=seed, backend=ran.backend)


def _checkpoint(
    plan: IterativePlan, columns: Mapping[str, Array], path: str | Path | None, options: Mapping[str, object]
) -> Checkpoint:
    """Where the state of a run is stored, and what it must belong to."""
    if path is None:
        return Checkpoint()
    return Checkpoint(Path(path), run_key(explain_plan(plan), columns, options))
