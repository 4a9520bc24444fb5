"""The evidence that a fit can give: exact, a lower bound, Chib's from draws, Laplace's at a mode."""

from __future__ import annotations

from platewright.errors import DataError, NotLearned
from platewright.operation import Declined
from platewright.run.evidence.evidence import Evidence
from platewright.run.evidence.evidence_chib import chib
from platewright.run.evidence.evidence_fit import EvidenceFit
from platewright.run.evidence.evidence_laplace import laplace
from platewright.run.exact.fit import Fit
from platewright.run.hidden.em_fit import EstimatedFit
from platewright.run.hidden.mean_field_fit import MeanFieldFit
from platewright.run.points.fit import QuadratureFit
from platewright.run.results.result import Result
from platewright.run.samplers.collapsed_fit import CollapsedFit
from platewright.run.samplers.sampling import SampledFit
from platewright.schemas.evidence import plan_laplace


def evidence_of(fit: Result) -> Evidence:
    """The log evidence by the method that suits a fit."""
    match fit:
        case EvidenceFit():
            return fit.found
        case QuadratureFit():
            return fit.evidence
        case Fit():
            return Evidence(fit.log_evidence, "exact", 0.0, "closed form", fit.derivation.proper)
        case MeanFieldFit():
            detail = "mean field; the evidence itself is larger by the divergence from the posterior"
            return Evidence(fit.lower_bound, "lower bound", 0.0, detail, fit.derivation.complete.proper)
        case CollapsedFit():
            raise NotLearned(
                "a collapsed run keeps no conditionals of its parameters", hint='learn(data, goal="evidence")'
            )
        case SampledFit() if fit.sums:
            raise NotLearned(f"the draws of `{next(iter(fit.sums))}` were not kept", hint="learn without keep=")
        case SampledFit():
            return chib(fit.derivation, fit.columns, fit.sizes, fit.chains, fit.seed)
        case EstimatedFit():
            if not fit.columns:
                raise DataError(
                    "the rows were read from a file and not kept", hint="learn from data in memory for the evidence"
                )
            plan = plan_laplace(fit.derivation.graph, "evidence")
            if isinstance(plan, Declined):
                raise NotLearned(
                    f"this estimate has no Laplace evidence: {plan.reason}", hint='learn(data, goal="evidence")'
                )
            integrated = [member.name for group in fit.derivation.latent.gaussian for member in group.members]
            start = {**fit.estimate.values, **{name: fit.expected(name) for name in integrated}}
            return laplace(plan, fit.columns, fit.sizes, seed=fit.seed, start=start)[0]
    raise NotLearned(f"a {type(fit).__name__} has no evidence", hint='learn(data, goal="evidence")')
