"""Compare models by their evidence: Bayes factors, posterior probabilities, averaged predictions  (Section 3.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from platewright.errors import ImproperPosterior, PlatewrightError
from platewright.family import Array
from platewright.run.exact.fit import Fit
from platewright.run.samplers.sampled import Sampled


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several fits to the same data, weighed against each other."""

    fits: tuple[Fit, ...]
    log_prior: Array

    @property
    def titles(self) -> tuple[str, ...]:
        """The names of the models."""
        return tuple(fit.plan.graph.title for fit in self.fits)

    @property
    def log_evidence(self) -> Array:
        """The log evidence of each model."""
        return np.array([fit.log_evidence for fit in self.fits])

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

    def predict(self, new: object, count: int = 4000, seed: int = 0) -> Mapping[str, Sampled]:
        """Predictions averaged over the models, as draws: each draw from a model chosen by its probability."""
        generator = np.random.default_rng(seed)
        shares = generator.multinomial(count, self.probabilities)
        parts: dict[str, list[Array]] = {}
        for number, (fit, share) in enumerate(zip(self.fits, shares, strict=True)):
            if share:
                found = fit.predict(_for_model(fit, new), count=int(share), seed=seed + 1 + number).draws
                for name, values in found.items():
                    parts.setdefault(name, []).append(values)
        return {name: Sampled(name, np.concatenate(values)) for name, values in parts.items()}

    def log_predictive(self, new: object) -> Array:
        """For each complete new row its log predictive density, exact, averaged over the models."""
        each = [fit.log_predictive(_for_model(fit, new)) for fit in self.fits]
        with np.errstate(divide="ignore"):  # a model without probability says nothing
            return np.logaddexp.reduce(np.stack(each) + np.log(self.probabilities)[:, None], axis=0)

    def __str__(self) -> str:
        width = max(len(title) for title in self.titles)
        lines = [f"{'model':<{width}}  log evidence  probability"]
        for title, evidence, share in zip(self.titles, self.log_evidence, self.probabilities, strict=True):
            lines.append(f"{title:<{width}}  {evidence:12.4f}  {share:11.6f}")
        return "\n".join(lines)


def _for_model(fit: Fit, new: object) -> object:
    """Of a dict the columns that a model knows: nested models do not have the same inputs."""
    if not isinstance(new, Mapping) or fit.signature is None:
        return new
    known = {*fit.signature.columns, *fit.signature.plates}
    kept = {name: values for name, values in new.items() if name in known}
    return kept or len(np.atleast_1d(next(iter(new.values()), ())))


def compare(fits: Sequence[Fit], prior: Sequence[float] | None = None) -> Comparison:
    """Weigh models that were fitted to the same data."""
    if not isinstance(fits, (list, tuple)) or not all(isinstance(fit, Fit) for fit in fits):
        raise PlatewrightError("not a list of fits", where="compare(...)", expected="pw.compare([fit, other])")
    if len(fits) < 2:
        raise PlatewrightError(f"{len(fits)} model to compare", expected="at least two fits")
    for fit in fits:
        if not fit.plan.proper:
            raise ImproperPosterior(
                f"`{fit.plan.graph.title}` has an improper prior, so its evidence is known only up to a constant",
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


def _check_same_data(fits: Sequence[Fit]) -> None:
    """Evidence of different data cannot be compared: the known random variables must be the same numbers."""
    first = fits[0]
    for fit in fits[1:]:
        if first.plan.graph.known != fit.plan.graph.known:
            differing = ", ".join(sorted(first.plan.graph.known ^ fit.plan.graph.known))
            raise PlatewrightError(
                f"the models do not explain the same data: {differing}", expected="the same known variables"
            )
        for name in first.plan.graph.known:
            one, two = first.columns.get(name), fit.columns.get(name)
            if one is None or two is None:
                continue
            if one is not two and not np.array_equal(one, two):
                raise PlatewrightError(
                    f"the models were fitted to different values of `{name}`", expected="the same data"
                )
