"""Run a plan for the evidence, whichever its method; one that is too large for the data gives way to the next."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from math import prod
from typing import Any

import numpy as np

from platewright.backends.kernels.enumeration import MOST_ASSIGNMENTS
from platewright.backends.numpy.learning import DEFAULTS, Options
from platewright.derive.planner import choose_plan
from platewright.derive.plans import AnyPlan
from platewright.errors import NotLearned, NotSolvable, PlatewrightError
from platewright.family import Array
from platewright.operation import Declined
from platewright.recognition.exchangeable import find_symmetries
from platewright.run.checkpoint import Checkpoint
from platewright.run.evidence.evidence import Evidence
from platewright.run.evidence.evidence_annealed import annealed
from platewright.run.evidence.evidence_chib import MOST_RELABELLINGS, chib
from platewright.run.evidence.evidence_enumeration import enumerated, listing, shown_count
from platewright.run.evidence.evidence_laplace import draws_about, laplace
from platewright.run.evidence.evidence_quadrature import quadrature, why_not
from platewright.run.hidden.em_fit import Point
from platewright.run.results.outcome import DRAWS_OF_PARAMETERS, Written, one_chain
from platewright.run.results.quantity import Numbers
from platewright.run.results.result import Result
from platewright.run.results.writing import collapsed, options_to_write
from platewright.run.samplers.sampled import Sampled, Summed, one_after_another
from platewright.run.samplers.sampling import SampledFit, run_gibbs
from platewright.schemas.evidence import EvidencePlan

NEXT = {
    "enumeration": ("quadrature", "chib", "annealed"),
    "quadrature": ("chib", "annealed"),
    "chib": ("annealed",),
}
"""What `by="auto"` turns to when a method is too large for the data, or does not settle on them."""
OPTIONS = {
    "enumeration": ("most",),
    "quadrature": ("most",),
    "chib": ("chains", "draws", "warm_up", "thin", "checkpoint"),
    "annealed": ("particles", "powers", "sweeps"),
    "laplace": ("restarts",),
}
"""What `learn` passes on to each method."""


@dataclass(frozen=True, eq=False, repr=False)
class EvidenceFit(Result):
    """What `m.learn(data, goal="evidence")` returns where there is no closed form."""

    derivation: EvidencePlan
    found: Evidence
    sampled: SampledFit | None = None
    """The Gibbs run behind the evidence, where there was one."""
    mode: Mapping[str, Array] = field(default_factory=dict)
    """The mode that Laplace's method was taken at."""
    told: Options = DEFAULTS
    """What the run was told, as the emitted program names it."""

    @property
    def options(self) -> Options:
        """What the run was told, as the emitted program names it."""
        return replace(self.told, sizes=self.sizes)

    @property
    def log_evidence(self) -> float:
        """`log p(data | model)`, by the method that `evidence` names."""
        return self.found.value

    @property
    def how(self) -> str:
        """One line: which method ran, and how sure it is."""
        return f"{self.derivation.schema}: {self.found}"

    @property
    def learned(self) -> tuple[str, ...]:
        """The unknowns about which the method says something."""
        told = self.mode if self.sampled is None else self.sampled.chains
        return tuple(name for name in self.derivation.unknown if name in told)

    @property
    def functions(self) -> tuple[str, ...]:
        """Functions of unknowns, where there are draws."""
        return () if self.sampled is None else self.sampled.functions

    def draws(self, count: int = 1000, seed: int | None = None) -> dict[str, Array]:
        """Draws of the Gibbs run behind the evidence, or the mode, `count` times."""
        if self.sampled is not None:
            return self.sampled.draws(count, seed)
        if not self.mode:
            raise self._lacks("draws")
        return {name: np.broadcast_to(value, (count, *np.shape(value))) for name, value in self.mode.items()}

    @property
    def score(self) -> str:
        """The evidence with its method and error, as a table says it."""
        return f", {self.evidence}"

    @cached_property
    def evidence(self) -> Evidence:
        """What the method found."""
        return self.found

    def parameters(self) -> dict[str, Array]:
        """Draws of the Gibbs run behind the evidence, or of the Gaussian about the mode."""
        drawn = self.draws_by_chain(DRAWS_OF_PARAMETERS, None)[0]
        return {name: one_after_another(values) for name, values in drawn.items()}

    def draws_by_chain(self, count: int, seed: int | None) -> tuple[dict[str, Array], str]:
        """Those of the run behind the evidence, or of the Gaussian about the mode."""
        if self.sampled is not None:
            return self.sampled.draws_by_chain(count, seed)
        if not self.mode:
            raise NotLearned(f"{self.derivation.schema} gives the evidence and no posterior")
        chosen = self.seed if seed is None else seed
        drawn = draws_about(self.derivation, self.columns, self.sizes, self.mode, count, chosen)
        return one_chain(drawn), "the Gaussian about the mode"

    def log_predictive(self, new: object) -> Numbers:
        """For each complete new row its log predictive density, where there are draws."""
        return super().log_predictive(new) if self.sampled is None else self.sampled.log_predictive(new)

    def leave_one_out(self) -> Numbers:
        """For each row its log predictive density given all others, where there are draws."""
        return super().leave_one_out() if self.sampled is None else self.sampled.leave_one_out()

    def written(self) -> Written:
        """What a file keeps: the evidence, and what it was found from."""
        found = {"value": np.array(self.found.value)}
        if self.found.error is not None:
            found["error"] = np.array(self.found.error)
        chains = {} if self.sampled is None else self.sampled.chains
        told = options_to_write(self.told)["options"]
        groups = {"chains": chains, "mode": self.mode, "evidence": found, "columns": self.columns, "options": told}
        return collapsed(self, groups, self.found.detail)

    def __getitem__(self, name: str) -> Sampled | Summed | Point:
        """What the method learned about an unknown on its way."""
        if self.sampled is not None:
            return self.sampled[name]
        if name in self.mode:
            return Point(name, self.mode[name], self.labels)
        if name not in self.derivation.unknown:
            raise self.absent(name, self.derivation.unknown)
        found = f"{self.derivation.schema} gives the evidence and no posterior of `{name}`"
        raise PlatewrightError(found, hint='learn(data, goal="posterior")')


def too_large(plan: AnyPlan, columns: Mapping[str, Array], sizes: Mapping[str, int]) -> Declined | None:
    """Why a method cannot be used on data of these sizes."""
    if not isinstance(plan, EvidencePlan):
        return None
    if plan.schema == "enumeration" and (count := listing(plan, columns, sizes).count) > MOST_ASSIGNMENTS:
        return Declined(
            "enumeration", f"{shown_count(count)} assignments to list, and at most {MOST_ASSIGNMENTS:,} are"
        )
    if plan.schema == "quadrature" and (reason := why_not(plan, columns, sizes)):
        return Declined("quadrature", reason)
    if plan.schema == "chib":
        order = prod(symmetry.order for symmetry in find_symmetries(plan.graph, plan.factors, sizes))
        if order > MOST_RELABELLINGS:
            return Declined("chib", f"{order:,} relabellings to average over, and at most {MOST_RELABELLINGS} are")
    return None


def settled(plan: AnyPlan, by: str, columns: Mapping[str, Array], sizes: Mapping[str, int]) -> AnyPlan:
    """The plan itself, or for `by="auto"` the next method that suits the size of the data."""
    declined = too_large(plan, columns, sizes)
    if declined is None or by != "auto":
        return plan
    return next_method(plan, declined, columns, sizes)


def next_method(plan: AnyPlan, declined: Declined, columns: Mapping[str, Array], sizes: Mapping[str, int]) -> AnyPlan:
    """What takes over from a method that does not suit the data, with the reasons of all before it."""
    refusals = [*plan.declined, declined]
    for name in NEXT[plan.schema]:
        try:
            found = choose_plan(plan.graph, "evidence", name)
        except NotSolvable as error:
            refusals.append(Declined(name, error.found))
            continue
        reason = too_large(found, columns, sizes)
        if reason is None:
            return replace(found, declined=tuple(refusals))
        refusals.append(reason)
    reasons = "\n    ".join(f"{refusal.operation} declined: {refusal.reason}" for refusal in refusals)
    raise NotSolvable(
        f"no method gives the evidence of `{plan.graph.title}` on these data:\n    {reasons}",
        hint="try by='laplace', or by='mean-field' for a lower bound",
    )


def run_evidence(
    plan: EvidencePlan,
    columns: Mapping[str, Array],
    sizes: Mapping[str, int],
    labels: Mapping[str, tuple[object, ...]],
    seed: int,
    backend: str,
    options: Mapping[str, Any],
    checkpoint: Checkpoint | None = None,
) -> EvidenceFit:
    """The evidence by the method of the plan."""

    def fitted(found: Evidence, **more: Any) -> EvidenceFit:
        return EvidenceFit(plan, columns, sizes, found, labels=labels, seed=seed, **more)

    match plan.schema:
        case "enumeration":
            return fitted(enumerated(plan, columns, sizes, **options))
        case "quadrature":
            return fitted(quadrature(plan, columns, sizes, **options))
        case "annealed":
            found, particles = annealed(plan, columns, sizes, seed=seed, **options)
            return fitted(found, told=Options({**options, "seed": seed, "particles": particles}))
        case "laplace":
            found, mode = laplace(plan, columns, sizes, seed=seed, **options)
            return fitted(found, mode=mode, told=Options({**options, "seed": seed}))
    assert plan.gibbs is not None
    chains, ran = run_gibbs(plan.gibbs, columns, sizes, seed=seed, backend=backend, checkpoint=checkpoint, **options)
    if ran.interrupted:  # half a run has no ordinates yet; with a checkpoint it goes on
        raise KeyboardInterrupt
    more: dict[str, Any] = {"labels": labels, "seed": seed, "backend": ran.backend}
    sampled = SampledFit(plan.gibbs, columns, sizes, chains, ran.why, **more, told=ran.told)
    return fitted(chib(plan.gibbs, columns, sizes, chains, seed), backend=ran.backend, sampled=sampled)
