"""Compare models by their evidence: Bayes factors, posterior probabilities, averaged predictions  (Section 3.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from platewright.errors import ImproperPosterior, PlatewrightError
from platewright.family import Array
from platewright.run.evidence.evidence import Evidence
from platewright.run.results.quantity import Numbers, Quantity
from platewright.run.results.result import Result
from platewright.run.results.signature_of import signature_of
from platewright.run.samplers.sampled import Sampled

LEAST_SHARE = 1e-15
"""A model of less probability changes no average."""


@dataclass(frozen=True, eq=False, repr=False)
class Averaged(Sampled):
    """A quantity averaged over models: exact where each model's own moments and density are.

    p(x) = sum_m w_m p(x | m),    mean = sum_m w_m mean_m,    variance = sum_m w_m (variance_m + (mean_m - mean)^2)
    """

    parts: tuple[tuple[float, Quantity], ...] = ()

    def __repr__(self) -> str:
        return f"<{self.name}, averaged over {len(self.parts)} models>"

    @property
    def weights(self) -> Array:
        """The probabilities of the models."""
        found = np.array([weight for weight, _ in self.parts])
        return np.asarray(found / found.sum())

    @property
    def mean(self) -> Numbers:
        """The mean of the means; of codes of categories, which have none, that of the draws."""
        try:
            means = np.array([part.mean for _, part in self.parts])
        except PlatewrightError:
            return super().mean
        return np.tensordot(self.weights, means, axes=1)

    @property
    def variance(self) -> Numbers:
        """The mean of the variances, and the variance of the means."""
        try:
            means = np.array([part.mean for _, part in self.parts])
            variances = np.array([part.variance for _, part in self.parts])
        except PlatewrightError:
            return super().variance
        return np.tensordot(self.weights, variances + (means - self.mean) ** 2, axes=1)

    @property
    def mcse(self) -> Numbers:
        """The standard error of the mean, which has none where every model knows its own."""
        return super().mcse if any(isinstance(part, Sampled) for _, part in self.parts) else np.zeros_like(self.mean)

    def log_density(self, value: object) -> Numbers:
        """The log of the mean of the densities."""
        each = [part.log_density(value) for _, part in self.parts]
        with np.errstate(divide="ignore"):
            logs = [found + np.log(weight) for found, weight in zip(each, self.weights, strict=True)]
        return np.asarray(np.logaddexp.reduce(logs, axis=0))


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several fits to the same data, weighed against each other."""

    fits: tuple[Result, ...]
    log_prior: Array

    @property
    def titles(self) -> tuple[str, ...]:
        """The names of the models."""
        return tuple(fit.derivation.graph.title for fit in self.fits)

    @property
    def log_evidence(self) -> Array:
        """The log evidence of each model."""
        return np.array([fit.evidence.value for fit in self.fits])

    @property
    def probabilities(self) -> Array:
        """Posterior probabilities of the models."""
        weights = self.log_evidence + self.log_prior
        return np.exp(weights - np.logaddexp.reduce(weights))

    def log_bayes_factor(self, one: int = 1, two: int = 0) -> float:
        """`log p(data | model one) - log p(data | model two)`."""
        for number in (one, two):
            if number not in range(len(self.fits)):
                raise PlatewrightError(f"there is no model {number}", expected=f"0 to {len(self.fits) - 1}")
        return float(self.log_evidence[one] - self.log_evidence[two])

    def bayes_factor(self, one: int = 1, two: int = 0) -> float:
        """`p(data | model one) / p(data | model two)`."""
        return float(np.exp(self.log_bayes_factor(one, two)))

    def predict(self, new: object, count: int = 4000, seed: int = 0) -> Mapping[str, Averaged]:
        """Predictions averaged over the models: moments and densities by their probabilities, draws in their shares."""
        generator = np.random.default_rng(seed)
        shares = generator.multinomial(count, self.probabilities)
        draws: dict[str, list[Array]] = {}
        parts: dict[str, list[tuple[float, Quantity]]] = {}
        for number, (fit, share) in enumerate(zip(self.fits, shares, strict=True)):
            weight = float(self.probabilities[number])
            if weight < LEAST_SHARE and not share:
                continue
            found = fit.predict(_for_model(fit, new), count=max(1, int(share)), seed=seed + 1 + number)
            for name, values in found.draws.items():
                draws.setdefault(name, []).append(values[: int(share)])
                parts.setdefault(name, []).append((weight, found[name]))
        return {name: Averaged(name, np.concatenate(draws[name]), parts=tuple(parts[name])) for name in draws}

    def log_predictive(self, new: object) -> Array:
        """For each complete new row its log predictive density, averaged over the models."""
        each = [fit.log_predictive(_for_model(fit, new)) for fit in self.fits]
        with np.errstate(divide="ignore"):  # a model without probability says nothing
            return np.logaddexp.reduce(np.stack(each) + np.log(self.probabilities)[:, None], axis=0)

    def __str__(self) -> str:
        width = max(len(title) for title in self.titles)
        exact = all(fit.evidence.method == "exact" for fit in self.fits)
        lines = [f"{'model':<{width}}  log evidence  probability{'' if exact else '  by'}"]
        for title, fit, share in zip(self.titles, self.fits, self.probabilities, strict=True):
            how = "" if exact else f"  {_method(fit.evidence)}"
            lines.append(f"{title:<{width}}  {fit.evidence.value:12.4f}  {share:11.6f}{how}")
        return "\n".join(lines)


def _method(evidence: Evidence) -> str:
    return f"{evidence.method}, +- {evidence.error:.2g}" if evidence.error else evidence.method


def _for_model(fit: Any, new: object) -> object:
    """Of a dict the columns that a model knows: nested models do not have the same inputs."""
    if not isinstance(new, Mapping):
        return new
    wanted = signature_of(fit.derivation.graph)
    known = {*wanted.columns, *wanted.plates}
    kept = {name: values for name, values in new.items() if name in known}
    return kept or len(np.atleast_1d(next(iter(new.values()), ())))


def compare(fits: Sequence[Any], prior: Sequence[float] | None = None) -> Comparison:
    """Weigh models that were fitted to the same data, each by the evidence that its fit can give."""
    if not isinstance(fits, (list, tuple)) or not all(isinstance(fit, Result) for fit in fits):
        raise PlatewrightError("not a list of fits", where="compare(...)", expected="pw.compare([fit, other])")
    if len(fits) < 2:
        raise PlatewrightError(f"{len(fits)} model to compare", expected="at least two fits")
    for fit in fits:
        if fit.evidence.method == "lower bound":
            raise PlatewrightError(
                f"the fit of `{fit.derivation.graph.title}` knows a lower bound of its evidence only",
                hint='learn(data, goal="evidence")',
            )
        if not fit.evidence.proper:
            raise ImproperPosterior(
                f"`{fit.derivation.graph.title}` has an improper prior, so its evidence is known only up to a constant",
                hint="give proper priors to compare models",
            )
    _check_same_data(fits)
    try:
        weights = np.full(len(fits), 1.0 / len(fits)) if prior is None else np.asarray(prior, dtype=float)
    except (TypeError, ValueError):
        raise PlatewrightError(f"prior probabilities {prior!r}", expected=f"{len(fits)} numbers") from None
    if weights.shape != (len(fits),) or (weights < 0).any() or not weights.sum() > 0:
        raise PlatewrightError(f"prior probabilities {prior}", expected=f"{len(fits)} numbers that are not negative")
    with np.errstate(divide="ignore"):
        return Comparison(tuple(fits), np.log(weights / weights.sum()))


def _check_same_data(fits: Sequence[Any]) -> None:
    """Evidence of different data cannot be compared: the known random variables must be the same numbers."""
    first = fits[0]
    for fit in fits[1:]:
        if first.derivation.graph.known != fit.derivation.graph.known:
            differing = ", ".join(sorted(first.derivation.graph.known ^ fit.derivation.graph.known))
            raise PlatewrightError(
                f"the models do not explain the same data: {differing}", expected="the same known variables"
            )
        for name in first.derivation.graph.known:
            one, two = first.columns.get(name), fit.columns.get(name)
            if one is None or two is None:
                continue
            if one is not two and not np.array_equal(one, two):
                raise PlatewrightError(
                    f"the models were fitted to different values of `{name}`", expected="the same data"
                )
