"""Draws of a result for those who work with draws, whatever schema it came from, by chain.

Chains stay as they are, under labels that agree. An exact posterior and a mean-field distribution give independent
draws. An estimate has none: those of the Gaussian about it (Laplace's method) show how far it may be off; where there
is no such Gaussian, all draws are the estimate.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from platewright.errors import NotLearned, PlatewrightError
from platewright.family import Array
from platewright.operation import Declined
from platewright.run.evidence.evidence_fit import EvidenceFit
from platewright.run.evidence.evidence_laplace import draws_about
from platewright.run.exact.fit import Fit
from platewright.run.forward import extend_draws
from platewright.run.hidden.em_fit import EstimatedFit
from platewright.run.hidden.mean_field_fit import MeanFieldFit
from platewright.run.results.likelihood import check_rows
from platewright.run.results.result import Result
from platewright.run.samplers.sampling import SampledFit
from platewright.schemas.evidence import plan_laplace


def draws_by_chain(fit: Result, count: int, seed: int | None) -> tuple[dict[str, Array], str]:
    """By name: chain, draw, then the axes of the variable; and where the draws come from."""
    if isinstance(fit, EvidenceFit):
        if fit.sampled is not None:
            return draws_by_chain(fit.sampled, count, seed)
        if not fit.mode:
            raise NotLearned(f"{fit.derivation.schema} gives the evidence and no posterior")
        drawn = draws_about(fit.derivation, fit.columns, fit.sizes, fit.mode, count, _seed(fit, seed))
        return _one_chain(drawn), "the Gaussian about the mode"
    if isinstance(fit, SampledFit):
        if fit.sums and not fit.chains:
            raise NotLearned("no draw was kept", hint=f'keep=["{next(iter(fit.sums))}"] keeps some')
        functions = {name: fit.followed(name) for name in fit.functions}
        return {name: np.asarray(values) for name, values in {**fit.matched, **functions}.items()}, "chains"
    if isinstance(fit, EstimatedFit):
        hidden = [member.name for group in fit.derivation.latent.gaussian for member in group.members]
        drawn, source = _about(fit, hidden, count, _seed(fit, seed))
        return _one_chain(drawn | fit.functions_of(drawn, count)), source
    if isinstance(fit, Fit) and fit.derivation.goal == "map":  # whose Gaussian unknowns were not integrated out
        drawn, source = _about(fit, (), count, _seed(fit, seed))
        generator = np.random.default_rng([_seed(fit, seed), 1])
        return _one_chain(extend_draws(fit.posterior, drawn, count, generator)), source
    drawn = dict(fit.draws(count, seed))
    if isinstance(fit, MeanFieldFit):
        return _one_chain(drawn | fit.functions_of(drawn, count)), "independent draws of the mean-field distribution"
    return _one_chain(drawn), "independent draws"


def _seed(fit: Result, seed: int | None) -> int:
    return fit.seed if seed is None else seed


def _one_chain(drawn: Mapping[str, Array]) -> dict[str, Array]:
    return {name: np.asarray(values)[None] for name, values in drawn.items()}


def _about(fit: Result, hidden: Iterable[str], count: int, seed: int) -> tuple[dict[str, Array], str]:
    """Draws about an estimate; Gaussian hidden variables are coordinates like any other, and left out again."""
    try:
        plan = plan_laplace(fit.derivation.graph, "evidence")
        if isinstance(plan, Declined):
            raise NotLearned(plan.reason)
        check_rows(fit.derivation.graph, fit.columns)
        start = {**fit.point, **{name: fit.expected(name) for name in hidden}}
        drawn = draws_about(plan, fit.columns, fit.sizes, start, count, seed)
    except PlatewrightError as error:
        same = {name: np.broadcast_to(value, (count, *np.shape(value))) for name, value in fit.point.items()}
        return same, f"the estimate again and again: {error.found}"
    return {name: values for name, values in drawn.items() if name in fit.point}, "the Gaussian about the estimate"
