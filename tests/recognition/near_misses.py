"""Models that look solvable and are not: at least three for every rule, each with what its refusal must say.

A line is a model on rows `n`; `z` codes group `g`, `x`, `e` are inputs, `y` is what is known.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Miss:
    """One near miss: the rule it almost fulfils, the model, and words of the refusal."""

    rule: str
    lines: tuple[str, ...]
    says: tuple[str, ...]


def miss(rule: str, *lines: str, says: str | tuple[str, ...]) -> Miss:
    """A near miss; `says` are words that the refusal must hold."""
    return Miss(rule, lines, (says,) if isinstance(says, str) else says)


NEAR_MISSES: tuple[Miss, ...] = (
    # Beta
    miss("Beta", "p = Beta(2, 2)", "y = Bernoulli(0.5 * m.p, plates=n)", says=("`p`", "log(1 - 0.5 p)")),
    miss("Beta", "p = LogisticNormal(0, sd=1)", "y = Bernoulli(m.p, plates=n)", says=("`p`", "log(p)^2")),
    miss("Beta", "p = Beta(2, 2)", "y = Bernoulli(m.p * m.e, plates=n)", says=("`p`", "1 - ", "e[n]")),
    miss("Beta", "p = Beta(2, 2)", "q = Beta(2, 2)", "y = Bernoulli(m.p * m.q, plates=n)", says=("`p`", "`q`")),
    # Dirichlet
    miss(
        "Dirichlet",
        "a = Gamma(2, rate=1)",
        "p = Dirichlet(m.a, over=k, plates=g)",
        "y = Categorical(m.p[m.z], plates=n)",
        says=("`a`", "lgamma"),
    ),
    miss(
        "Dirichlet",
        "p = Dirichlet(1, over=k)",
        "q = Dirichlet(1, over=k)",
        "y = Categorical(0.5 * m.p + 0.5 * m.q, plates=n)",
        says=("`p`", "ties the unknown"),
    ),
    miss(
        "Dirichlet",
        "p = Dirichlet(1, over=k)",
        "c = Categorical(m.p, plates=n)",
        "y = Poisson(array([1.0, 2.0, 3.0], over=k)[m.c], plates=n)",
        says=("`c`",),
    ),
    # Gamma
    miss("Gamma", "r = LogNormal(0, sd=1)", "y = Poisson(m.r, plates=n)", says=("`r`", "log(r)^2")),
    miss("Gamma", "r = InverseGamma(2, scale=1)", "y = Poisson(m.r, plates=n)", says=("`r`", "r^(-1)")),
    miss("Gamma", "r = Gamma(2, rate=1)", "y = Poisson(m.r + m.e, plates=n)", says=("`r`", "log(r + e[n])")),
    miss("Gamma", "r = HalfCauchy(1.0)", "y = Exponential(rate=m.r, plates=n)", says=("`r`", "log1p")),
    miss("Gamma", "r = Gamma(2, rate=1)", "y = Exponential(scale=m.r, plates=n)", says=("`r`", "r^(-1)")),
    # Normal, alone
    miss("Normal", "t = Laplace(0, scale=1)", "y = Normal(m.t, sd=1, plates=n)", says=("`t`", "absolute(t)")),
    miss("Normal", "t = StudentT(3, 0, scale=1)", "y = Normal(m.t, sd=1, plates=n)", says=("`t`", "log1p")),
    miss("Normal", "t = Normal(0, sd=1)", "y = Normal(m.t ** 2, sd=1, plates=n)", says=("`t`", "t^2", "not linear")),
    # heavy tails
    miss("tails", "t = Normal(0, sd=1)", "y = StudentT(4, m.t, scale=1, plates=n)", says=("`t`", "log1p")),
    miss("tails", "t = Normal(0, sd=1)", "y = Laplace(m.t, scale=1, plates=n)", says=("`t`", "absolute")),
    miss("tails", "s = Gamma(2, rate=1)", "y = StudentT(4, 0, precision=m.s, plates=n)", says=("`s`", "log1p")),
    # Pareto: the end of a uniform
    miss("bounds", "b = LogNormal(0, sd=1)", "y = Uniform(0, m.b, plates=n)", says=("`b`", "bounded below by y[n]")),
    miss("bounds", "b = Gamma(2, rate=1)", "y = Uniform(0, m.b, plates=n)", says=("`b`", "bounded below by y[n]")),
    miss("bounds", "b = Pareto(2, 1)", "y = Uniform(0, m.b * m.e, plates=n)", says=("`b`", "bounds")),
    miss("bounds", "b = Pareto(2, 1)", "y = Uniform(-m.b, m.b, plates=n)", says=("`b`", "bounds")),
    # von Mises
    miss("VonMises", "k = Gamma(2, rate=1)", "y = VonMises(0.3, m.k, plates=n)", says=("`k`", "log_bessel0(k)")),
    miss("VonMises", "t = Normal(0, sd=1)", "y = VonMises(m.t, 1.5, plates=n)", says=("`t`", "cos")),
    miss("VonMises", "t = VonMises(0, 1)", "y = VonMises(m.e * m.t, 1.5, plates=n)", says=("`t`", "cos")),
    # Wishart and inverse Wishart
    miss(
        "Wishart",
        "S = Wishart(5, scale=identity(d), over=d)",
        "mu = MultivariateNormal(0, precision=identity(d), over=d)",
        "v = MultivariateNormal(m.mu, precision=m.S, over=d, plates=n)",
        says=("`mu`", "`S`", "common factor"),
    ),
    miss(
        "Wishart",
        "S = InverseWishart(5, scale=identity(d), over=d)",
        "v = MultivariateNormal(0, precision=m.S, over=d, plates=n)",
        says=("`S`",),
    ),
    miss(
        "Wishart",
        "S = Wishart(5, scale=identity(d), over=d)",
        "v = MultivariateNormal(0, precision=m.S + identity(d), over=d, plates=n)",
        says=("`S`",),
    ),
    miss(
        "Wishart",
        "S = Wishart(5, scale=identity(d), over=d)",
        "v = MultivariateNormal(0, covariance=m.S, over=d, plates=n)",
        says=("`S`",),
    ),
    miss(
        "Wishart",
        "mu = MultivariateNormal(0, precision=identity(d), over=d)",
        "v = MultivariateNormal(exp(m.mu), precision=identity(d), over=d, plates=n)",
        says=("`mu`", "exp(mu", "not linear"),
    ),
    # power of a scale
    miss("power", "s = Gamma(2, rate=1)", "y = Normal(0, sd=m.s, plates=n)", says=("`s`", "s^(-2)")),
    miss("power", "s = HalfNormal(sd=1)", "y = Normal(0, precision=m.s, plates=n)", says=("`s`", "s^2")),
    miss("power", "s = HalfCauchy(1.0)", "y = Normal(0, sd=m.s, plates=n)", says=("`s`", "log1p")),
    miss("power", "s = Gamma(2, rate=1)", "y = Normal(0, variance=m.s + 1, plates=n)", says=("`s`", "log(s + 1)")),
    # logarithm of a variable
    miss("log", "t = LogNormal(0, sd=1)", "y = Normal(m.t, sd=1, plates=n)", says=("`t`", "log(t)^2")),
    miss("log", "t = LogNormal(0, sd=1)", "y = LogNormal(m.t, sd=1, plates=n)", says=("`t`", "log(t)^2")),
    miss("log", "t = Gamma(2, rate=1)", "y = Normal(log(m.t), sd=1, plates=n)", says=("`t`", "log(t)^2")),
    # Gaussian block: links
    miss("link", "t = Normal(0, sd=1)", "y = Poisson(exp(m.t), plates=n)", says=("`t`", "`y`", "exp(t)")),
    miss("link", "t = Normal(0, sd=1)", "y = Bernoulli(logit=m.t, plates=n)", says=("`t`", "`y`", "log_logistic")),
    miss("link", "t = Normal(0, sd=1)", "y = Normal(exp(m.t), sd=1, plates=n)", says=("`t`", "exp(t)", "not linear")),
    miss("link", "t = Normal(0, sd=1)", "y = Normal(sin(m.e * m.t), sd=1, plates=n)", says=("`t`", "not linear")),
    # Gaussian block: products of unknowns
    miss(
        "product",
        "a = Normal(0, sd=1)",
        "b = Normal(0, sd=1)",
        "y = Normal(m.a * m.b, sd=1, plates=n)",
        says=("`a`", "`b`", "a b", "not linear"),
    ),
    miss(
        "product",
        "a = Normal(0, sd=1, plates=g)",
        "b = Normal(0, sd=1)",
        "y = Normal(m.a[m.z] * m.b + m.a[m.z], sd=1, plates=n)",
        says=("`a`", "`b`", "not linear"),
    ),
    miss(
        "product",
        "a = Normal(0, sd=1)",
        "b = Gamma(2, rate=1)",
        "y = Normal(m.a * m.b, sd=1, plates=n)",
        says=("`b`",),
    ),
    # Gaussian block: no common scale
    miss(
        "scale",
        "tau = Gamma(2, rate=1)",
        "mu = Normal(0, sd=1)",
        "y = Normal(m.mu, precision=m.tau, plates=n)",
        says=("`mu`", "a fixed one in its own prior", "tau in `y`", "so `tau` cannot be eliminated after it"),
    ),
    miss(
        "scale",
        "tau = Gamma(2, rate=1)",
        "rho = Gamma(2, rate=1)",
        "mu = Normal(0, precision=m.rho, plates=g)",
        "y = Normal(m.mu[m.z], precision=m.tau, plates=n)",
        says=("`mu`", "rho in its own prior", "tau in `y`", "`rho` and `tau`"),
    ),
    miss(
        "scale",
        "tau = Gamma(2, rate=1)",
        "top = Normal(0, sd=1)",
        "mu = Normal(m.top, precision=m.tau, plates=g)",
        "y = Normal(m.mu[m.z], precision=m.tau, plates=n)",
        says=("`top`", "a fixed one in its own prior", "tau in `mu`"),
    ),
    # Gaussian block: a scale that differs along a plate
    miss(
        "plate",
        "tau = Gamma(2, rate=1, plates=g)",
        "mu = Normal(0, sd=1)",
        "y = Normal(m.mu, precision=m.tau[m.z], plates=n)",
        says=("`mu`", "tau", "`y`"),
    ),
    miss(
        "plate",
        "tau = Gamma(2, rate=1, plates=n)",
        "mu = Normal(0, sd=1)",
        "y = Normal(m.mu, precision=m.tau, plates=n)",
        says=("`mu`", "tau"),
    ),
    miss(
        "plate",
        "tau = Gamma(2, rate=1, plates=g)",
        "rho = Gamma(2, rate=1)",
        "mu = Normal(0, precision=m.rho, plates=g)",
        "y = Normal(m.mu[m.z], precision=m.tau[m.z], plates=n)",
        says=("`mu`", "rho in its own prior", "tau in `y`"),
    ),
    # half-normal and truncated means
    miss("sign", "t = HalfNormal(sd=1)", "y = Normal(m.t, sd=1, plates=n)", says=("`t`", "t^2", "(0, inf)")),
    miss("sign", "t = Exponential(rate=1)", "y = Normal(m.t, sd=1, plates=n)", says=("`t`", "t^2", "(0, inf)")),
    miss("sign", "t = Uniform(0, 1)", "y = Normal(m.t, sd=1, plates=n)", says=("`t`", "t^2", "(0, 1)")),
    miss(
        "sign",
        "t = HalfNormal(sd=1)",
        "a = Normal(0, sd=1, plates=g)",
        "y = Normal(m.t + m.a[m.z], sd=1, plates=n)",
        says=("`t`", "t^2"),
    ),
    # counts, shapes and degrees
    miss("count", "k = Poisson(5.0)", "y = Binomial(m.k, 0.4, plates=n)", says=("`k`", "lgamma")),
    miss("count", "k = Gamma(2, rate=1)", "y = NegativeBinomial(m.k, 0.4, plates=n)", says=("`k`", "lgamma")),
    miss("count", "k = Poisson(5.0)", "y = Normal(m.k, sd=1, plates=n)", says=("`k`",)),
    miss("shape", "a = Gamma(2, rate=1)", "y = Gamma(m.a, rate=1, plates=n)", says=("`a`", "lgamma(a)")),
    miss("shape", "a = Gamma(2, rate=1)", "y = Weibull(m.a, rate=1, plates=n)", says=("`a`", "y[n]")),
    miss("shape", "a = Gamma(2, rate=1)", "y = Beta(m.a, 1.5, plates=n)", says=("`a`", "lgamma")),
    miss("degrees", "v = Gamma(2, rate=1)", "y = StudentT(m.v, 0, scale=1, plates=n)", says=("`v`", "v^(-1)")),
    miss("degrees", "v = Gamma(2, rate=1)", "y = ChiSquare(m.v, plates=n)", says=("`v`", "lgamma(0.5 v)")),
    miss("degrees", "v = Exponential(rate=1)", "y = StudentT(m.v, 0, scale=2, plates=n)", says=("`v`", "v^(-1)")),
    # mixtures with unknown classes and unknown parameters
    miss(
        "mixture",
        "p = Dirichlet(1, over=k)",
        "mu = Normal(0, sd=3, plates=k)",
        "c = Categorical(m.p, plates=n)",
        "y = Normal(m.mu[m.c], sd=1, plates=n)",
        says=("`c`",),
    ),
    miss(
        "mixture",
        "mu = Normal(0, sd=3, plates=k)",
        "c = Categorical([0.2, 0.3, 0.5], over=k, plates=n)",
        "y = Normal(m.mu[m.c], sd=1, plates=n)",
        says=("`c`",),
    ),
    miss(
        "mixture",
        "r = Gamma(2, rate=1, plates=k)",
        "c = Categorical([0.2, 0.3, 0.5], over=k, plates=n)",
        "y = Poisson(m.r[m.c], plates=n)",
        says=("`c`",),
    ),
)
