"""Every row of the conjugate table in `errata.md`, section 2: the model, some data, and the table's own answer.

The answers are written with scipy from the table's formulas, so that nothing here comes from the code under test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special, stats

import platewright as pw

Array = np.ndarray
Answer = tuple[float, Mapping[str, Any]]
"""Log evidence, and for each unknown its marginal: one frozen scipy distribution, or a list for a vector."""


@dataclass(frozen=True)
class Row:
    """One row: `parameters` writes the priors, `observe` the data, `simulate` draws some, `update` is the oracle."""

    name: str
    parameters: Callable[[Any, Any], None]
    observe: Callable[[Any, Callable[[Any], Any], Any], Any]
    simulate: Callable[[np.random.Generator, int], Array]
    update: Callable[[Array], Answer]
    vector: bool = False
    """Whether an observation is a vector along plate `d`, which the priors declare."""


# -- the terms that the table abbreviates -----------------------------------------------------------------------------


def gamma_term(a: float, b: float, a_new: float, b_new: float) -> float:
    """GAM(a, b) of the table."""
    return a * np.log(b) - special.gammaln(a) + special.gammaln(a_new) - a_new * np.log(b_new)


def gamma(a: float, b: float) -> Any:
    return stats.gamma(a, scale=1 / b)


def inverse_gamma(a: float, b: float) -> Any:
    return stats.invgamma(a, scale=b)


def _beta_row(counted: Callable[[Array], tuple[float, float, float]]) -> Callable[[Array], Answer]:
    """Beta(1.5, 2.5) plus (successes, failures), with a term that does not hold the parameter."""

    def update(x: Array) -> Answer:
        yes, no, extra = counted(x)
        evidence = extra + special.betaln(1.5 + yes, 2.5 + no) - special.betaln(1.5, 2.5)
        return evidence, {"p": stats.beta(1.5 + yes, 2.5 + no)}

    return update


def _gamma_row(name: str, counted: Callable[[Array], tuple[float, float, float]]) -> Callable[[Array], Answer]:
    """Gamma(2.5, rate 1.5) plus (shape, rate), with a term that does not hold the parameter."""

    def update(x: Array) -> Answer:
        shape, rate, extra = counted(x)
        return extra + gamma_term(2.5, 1.5, 2.5 + shape, 1.5 + rate), {name: gamma(2.5 + shape, 1.5 + rate)}

    return update


def _p(m: Any, plates: Any) -> None:
    m.p = pw.Beta(1.5, 2.5, plates=plates)


def _rate(m: Any, plates: Any) -> None:
    m.rate = pw.Gamma(2.5, rate=1.5, plates=plates)


# -- one unknown -------------------------------------------------------------------------------------------------------


def _negative_binomial(x: Array) -> tuple[float, float, float]:
    extra = np.sum(special.gammaln(x + 3.5) - special.gammaln(x + 1) - special.gammaln(3.5))
    return 3.5 * len(x), float(x.sum()), float(extra)


def _inverse_gaussian(x: Array) -> tuple[float, float, float]:
    q = np.sum((x - 1.2) ** 2 / (2 * 1.2**2 * x))
    return len(x) / 2, float(q), float(-len(x) / 2 * np.log(2 * np.pi) - 1.5 * np.log(x).sum())


def _dirichlet(x: Array) -> Answer:
    prior = np.array([0.5, 1.5, 2.0])
    after = prior + np.bincount(x.astype(int), minlength=3)
    lg = special.gammaln
    evidence = lg(after).sum() - lg(after.sum()) - lg(prior).sum() + lg(prior.sum())
    return float(evidence), {"p": [stats.beta(a, after.sum() - a) for a in after]}


def _table(m: Any, plates: Any) -> None:
    m.p = pw.Dirichlet([0.5, 1.5, 2.0], over=m.plate("k", 3), plates=plates)


def _known_sd(x: Array) -> Answer:
    m, t, sd = 0.7, 2.0, 1.3
    t_new = (1 / t**2 + len(x) / sd**2) ** -0.5
    m_new = t_new**2 * (m / t**2 + x.sum() / sd**2)
    squares = (x**2).sum() / sd**2 + m**2 / t**2 - m_new**2 / t_new**2
    evidence = -len(x) / 2 * np.log(2 * np.pi * sd**2) + np.log(t_new / t) - squares / 2
    return float(evidence), {"mu": stats.norm(m_new, t_new)}


def _mean_prior(m: Any, plates: Any) -> None:
    m.mu = pw.Normal(0.7, sd=2.0, plates=plates)


def _known_mean(name: str, inverse: bool) -> Callable[[Array], Answer]:
    def update(x: Array) -> Answer:
        a, b = 2.5 + len(x) / 2, 1.5 + ((x - 0.4) ** 2).sum() / 2
        evidence = -len(x) / 2 * np.log(2 * np.pi) + gamma_term(2.5, 1.5, a, b)
        return float(evidence), {name: (inverse_gamma if inverse else gamma)(a, b)}

    return update


def _uniform(x: Array) -> Answer:
    a, c = 2.5 + len(x), max(1.5, x.max(initial=0.0))
    evidence = np.log(2.5) + 2.5 * np.log(1.5) - np.log(a) - a * np.log(c)
    return float(evidence), {"end": stats.pareto(a, scale=c)}


def _von_mises(x: Array) -> Answer:
    where = 2.0 * np.exp(0.3j) + 1.7 * np.exp(1j * x).sum()

    def log_bessel(kappa: float) -> float:
        return float(np.log(special.i0e(kappa)) + kappa)

    evidence = -len(x) * (np.log(2 * np.pi) + log_bessel(1.7)) + log_bessel(abs(where)) - log_bessel(2.0)
    return float(evidence), {"mu": stats.vonmises(abs(where), loc=np.angle(where))}


def _set_variance(m: Any, plates: Any) -> None:
    m.var = pw.InverseGamma(2.5, scale=1.5, plates=plates)


def _set_end(m: Any, plates: Any) -> None:
    m.end = pw.Pareto(2.5, 1.5, plates=plates)


def _set_angle(m: Any, plates: Any) -> None:
    m.mu = pw.VonMises(0.3, 2.0, plates=plates)


# -- mean and scale ----------------------------------------------------------------------------------------------------


def _both(scale: str, transform: Callable[[Array], Array] = lambda x: x) -> Callable[[Array], Answer]:
    """NIG(0.7, 0.8, 2.5, 1.5); `scale` names the unknown that is the variance (`var`) or the precision (`tau`)."""

    def update(raw: Array) -> Answer:
        x = transform(raw)
        n, m, k, a, b = len(x), 0.7, 0.8, 2.5, 1.5
        mean = x.mean() if n else 0.0
        k_new, a_new = k + n, a + n / 2
        m_new = (k * m + n * mean) / k_new
        b_new = b + ((x - mean) ** 2).sum() / 2 + k * n * (mean - m) ** 2 / (2 * k_new)
        evidence = -n / 2 * np.log(2 * np.pi) + gamma_term(a, b, a_new, b_new) + np.log(k / k_new) / 2
        if transform(np.ones(1))[0] != 1.0:
            evidence -= np.log(raw).sum()
        about_scale = inverse_gamma(a_new, b_new) if scale == "var" else gamma(a_new, b_new)
        return float(evidence), {
            "mu": stats.t(2 * a_new, m_new, np.sqrt(b_new / (a_new * k_new))),
            scale: about_scale,
        }

    return update


def _variance_first(m: Any, plates: Any) -> None:
    m.var = pw.InverseGamma(2.5, scale=1.5, plates=plates)
    m.mu = pw.Normal(0.7, variance=m.var / 0.8, plates=plates)


def _precision_first(m: Any, plates: Any) -> None:
    m.tau = pw.Gamma(2.5, rate=1.5, plates=plates)
    m.mu = pw.Normal(0.7, precision=0.8 * m.tau, plates=plates)


# -- vectors -----------------------------------------------------------------------------------------------------------

P = np.array([[2.0, 0.3], [0.3, 1.0]])
P0 = np.array([[0.5, -0.1], [-0.1, 0.8]])
M0 = np.array([0.4, -0.2])
S0 = np.array([[1.5, 0.2], [0.2, 0.9]])


def log_det(matrix: Array) -> float:
    return float(np.linalg.slogdet(matrix)[1])


def _vector_known(x: Array) -> Answer:
    n = len(x)
    after = P0 + n * P
    mean = np.linalg.solve(after, P0 @ M0 + P @ x.sum(axis=0))
    squares = np.einsum("ni,ij,nj->", x, P, x) + M0 @ P0 @ M0 - mean @ after @ mean
    evidence = -n * np.log(2 * np.pi) + (n * log_det(P) + log_det(P0) - log_det(after)) / 2 - squares / 2
    spread = np.sqrt(np.diag(np.linalg.inv(after)))
    return float(evidence), {"mu": [stats.norm(mean[i], spread[i]) for i in range(2)]}


def _set_vector(m: Any, plates: Any) -> None:
    m.mu = pw.MultivariateNormal(M0, precision=P0, over=m.plate("d", 2), plates=plates)


def _normal_wishart(x: Array) -> Answer:
    n, k, v = len(x), 0.8, 4.5
    mean = x.mean(axis=0) if n else np.zeros(2)
    k_new, v_new = k + n, v + n
    m_new = (k * M0 + n * mean) / k_new
    away = mean - M0
    after = S0 + (x - mean).T @ (x - mean) + k * n / k_new * np.outer(away, away)
    lg = special.multigammaln
    evidence = -n * np.log(np.pi) + lg(v_new / 2, 2) - lg(v / 2, 2) + v / 2 * log_det(S0) - v_new / 2 * log_det(after)
    evidence += np.log(k / k_new)
    free = v_new - 1
    mu = [stats.t(free, m_new[i], np.sqrt(after[i, i] / (k_new * free))) for i in range(2)]
    return float(evidence), {"mu": mu, "prec": stats.wishart(v_new, np.linalg.inv(after))}


def _set_wishart(m: Any, plates: Any) -> None:
    d = m.plate("d", 2)
    m.prec = pw.Wishart(4.5, scale=np.linalg.inv(S0), over=d, plates=plates)
    m.mu = pw.MultivariateNormal(M0, precision=0.8 * m.prec, over=d, plates=plates)


def _draw_vectors(g: np.random.Generator, n: int) -> Array:
    return g.multivariate_normal([0.5, -1.0], np.linalg.inv(P), size=n)


def _observed_vector(m: Any, at: Callable[[Any], Any], n: Any) -> Any:
    return pw.MultivariateNormal(at(m.mu), precision=P, over=m.plates["d"], plates=n)


def _observed_wishart(m: Any, at: Callable[[Any], Any], n: Any) -> Any:
    return pw.MultivariateNormal(at(m.mu), precision=at(m.prec), over=m.plates["d"], plates=n)


ROWS: Sequence[Row] = (
    Row(
        "Bernoulli",
        _p,
        lambda m, at, n: pw.Bernoulli(at(m.p), plates=n),
        lambda g, n: g.integers(0, 2, n),
        _beta_row(lambda x: (x.sum(), len(x) - x.sum(), 0.0)),
    ),
    Row(
        "categorical",
        _table,
        lambda m, at, n: pw.Categorical(at(m.p), plates=n),
        lambda g, n: g.integers(0, 3, n),
        _dirichlet,
    ),
    Row(
        "Poisson",
        _rate,
        lambda m, at, n: pw.Poisson(at(m.rate), plates=n),
        lambda g, n: g.poisson(2.0, n),
        _gamma_row("rate", lambda x: (x.sum(), len(x), -special.gammaln(x + 1).sum())),
    ),
    Row(
        "geometric",
        _p,
        lambda m, at, n: pw.Geometric(at(m.p), plates=n),
        lambda g, n: g.geometric(0.3, n),
        _beta_row(lambda x: (len(x), (x - 1).sum(), 0.0)),
    ),
    Row(
        "negative binomial",
        _p,
        lambda m, at, n: pw.NegativeBinomial(3.5, at(m.p), plates=n),
        lambda g, n: g.negative_binomial(3.5, 0.4, n),
        _beta_row(_negative_binomial),
    ),
    Row(
        "exponential",
        _rate,
        lambda m, at, n: pw.Exponential(rate=at(m.rate), plates=n),
        lambda g, n: g.exponential(0.7, n),
        _gamma_row("rate", lambda x: (len(x), x.sum(), 0.0)),
    ),
    Row(
        "gamma, known shape",
        _rate,
        lambda m, at, n: pw.Gamma(3.2, rate=at(m.rate), plates=n),
        lambda g, n: g.gamma(3.2, 0.5, n),
        _gamma_row("rate", lambda x: (3.2 * len(x), x.sum(), 2.2 * np.log(x).sum() - len(x) * special.gammaln(3.2))),
    ),
    Row(
        "normal, known sd",
        _mean_prior,
        lambda m, at, n: pw.Normal(at(m.mu), sd=1.3, plates=n),
        lambda g, n: g.normal(1.0, 1.3, n),
        _known_sd,
    ),
    Row(
        "normal, known mean",
        _set_variance,
        lambda m, at, n: pw.Normal(0.4, variance=at(m.var), plates=n),
        lambda g, n: g.normal(0.4, 1.2, n),
        _known_mean("var", inverse=True),
    ),
    Row(
        "normal, known mean, precision",
        _rate,
        lambda m, at, n: pw.Normal(0.4, precision=at(m.rate), plates=n),
        lambda g, n: g.normal(0.4, 1.2, n),
        _known_mean("rate", inverse=False),
    ),
    Row(
        "normal-inverse-gamma",
        _variance_first,
        lambda m, at, n: pw.Normal(at(m.mu), variance=at(m.var), plates=n),
        lambda g, n: g.normal(0.4, 1.2, n),
        _both("var"),
    ),
    Row(
        "normal-gamma",
        _precision_first,
        lambda m, at, n: pw.Normal(at(m.mu), precision=at(m.tau), plates=n),
        lambda g, n: g.normal(0.4, 1.2, n),
        _both("tau"),
    ),
    Row(
        "vector normal, known precision",
        _set_vector,
        _observed_vector,
        _draw_vectors,
        _vector_known,
        vector=True,
    ),
    Row("normal-Wishart", _set_wishart, _observed_wishart, _draw_vectors, _normal_wishart, vector=True),
    Row(
        "log-normal",
        _precision_first,
        lambda m, at, n: pw.LogNormal(at(m.mu), precision=at(m.tau), plates=n),
        lambda g, n: g.lognormal(0.4, 0.8, n),
        _both("tau", np.log),
    ),
    Row(
        "uniform",
        _set_end,
        lambda m, at, n: pw.Uniform(0.0, at(m.end), plates=n),
        lambda g, n: g.uniform(0.0, 3.0, n),
        _uniform,
    ),
    Row(
        "von Mises",
        _set_angle,
        lambda m, at, n: pw.VonMises(at(m.mu), 1.7, plates=n),
        lambda g, n: g.vonmises(0.8, 1.7, n),
        _von_mises,
    ),
    Row(
        "inverse Gaussian",
        _rate,
        lambda m, at, n: pw.InverseGaussian(1.2, at(m.rate), plates=n),
        lambda g, n: g.wald(1.2, 2.0, n),
        _gamma_row("rate", _inverse_gaussian),
    ),
)
