"""Models with hidden variables some of whose parameters have no closed mode: listed ones, and others made at random."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import platewright as pw
from platewright.language.plate import Plate
from schemas.small_instance import Case


def _classes(title: str, count: int = 2) -> tuple[pw.Model, Plate, Plate]:
    m = pw.Model(title)
    n, k = m.plate("n"), m.plate("k", count)
    m.p = pw.Dirichlet(1.5, over=k)
    m.z = pw.Categorical(m.p, plates=n)
    return m, n, k


def gammas() -> pw.Model:
    m, n, k = _classes("gammas")
    m.shape = pw.Gamma(3, rate=1, plates=k)
    m.rate = pw.Gamma(3, rate=2, plates=k)
    m.y = pw.Gamma(m.shape[m.z], rate=m.rate[m.z], plates=n)
    return m


def betas() -> pw.Model:
    m, n, k = _classes("betas")
    m.a = pw.Gamma(3, rate=1, plates=k)
    m.b = pw.Gamma(3, rate=1, plates=k)
    m.y = pw.Beta(m.a[m.z], m.b[m.z], plates=n)
    return m


def logistic_regressions() -> pw.Model:
    m, n, k = _classes("logistic regressions")
    m.x = pw.Input(plates=n)
    m.a = pw.Normal(0, sd=2, plates=k)
    m.b = pw.Normal(0, sd=2, plates=k)
    m.y = pw.Binomial(6, logit=m.a[m.z] + m.b[m.z] * m.x, plates=n)
    return m


def poisson_regressions() -> pw.Model:
    m, n, k = _classes("poisson regressions")
    j = m.plate("j", 2)
    m.x = pw.Input(plates=(n, j))
    m.w = pw.Normal(0, sd=1, plates=(k, j))
    m.y = pw.Poisson(pw.exp(pw.dot(m.x, m.w[m.z], over=j)), plates=n)
    return m


def negative_binomials() -> pw.Model:
    m, n, k = _classes("negative binomials")
    m.r = pw.Gamma(3, rate=1, plates=k)
    m.q = pw.Beta(2, 2, plates=k)
    m.y = pw.NegativeBinomial(m.r[m.z], p=m.q[m.z], plates=n)
    return m


def students() -> pw.Model:
    m, n, k = _classes("students")
    m.mu = pw.Normal(0, sd=3, plates=k)
    m.s = pw.Gamma(3, rate=2, plates=k)
    m.df = pw.Gamma(3, rate=1, plates=k)
    m.y = pw.StudentT(m.df[m.z], m.mu[m.z], scale=m.s[m.z], plates=n)
    return m


def experts() -> pw.Model:
    m = pw.Model("experts")
    n, k = m.plate("n"), m.plate("k", 2)
    m.x = pw.Input(plates=n)
    m.g = pw.Normal(0, sd=2, plates=k)
    m.h = pw.Normal(0, sd=2, plates=k)
    m.z = pw.Categorical(logits=m.g + m.h * m.x, over=k, plates=n)
    m.mu = pw.Normal(0, sd=3, plates=k)
    m.tau = pw.Gamma(3, rate=2, plates=k)
    m.y = pw.Normal(m.mu[m.z], precision=m.tau[m.z], plates=n)
    return m


def zero_inflated_regression() -> pw.Model:
    m = pw.Model("zero inflated regression")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.a = pw.Normal(0, sd=1)
    m.b = pw.Normal(0, sd=1)
    m.g = pw.Normal(0, sd=1)
    m.h = pw.Normal(0, sd=1)
    m.on = pw.Bernoulli(logit=m.g + m.h * m.x, plates=n)
    m.y = pw.Poisson(pw.where(m.on, pw.exp(m.a + m.b * m.x), 0), plates=n)
    return m


def half_cauchy_scales() -> pw.Model:
    m, n, k = _classes("scales with an odd prior")
    m.mu = pw.Normal(0, sd=3, plates=k)
    m.s = pw.HalfCauchy(scale=1, plates=k)
    m.y = pw.Normal(m.mu[m.z], sd=m.s[m.z], plates=n)
    return m


def decaying() -> pw.Model:
    m, n, k = _classes("decays")
    m.x = pw.Input(plates=n)
    m.a = pw.Normal(0, sd=3, plates=k)
    m.r = pw.Uniform(0.1, 4, plates=k)
    m.y = pw.Normal(m.a[m.z] * pw.exp(-m.r[m.z] * m.x), sd=0.3, plates=n)
    return m


def hidden_markov_gammas() -> pw.Model:
    m = pw.Model("hidden chain of gammas")
    t, k = m.plate("n", ordered=True), m.plate("k", 2)
    origin = m.plate("origin", like=k)
    m.begin = pw.Dirichlet(2.0, over=k)
    m.move = pw.Dirichlet(2.0, over=k, plates=origin)
    m.z = pw.Categorical(m.move[m.lag("z")], start=m.begin, plates=t)
    m.shape = pw.Gamma(3, rate=1, plates=k)
    m.y = pw.Gamma(m.shape[m.z], rate=1.5, plates=t)
    return m


def hidden_markov_angles() -> pw.Model:
    m = pw.Model("hidden chain of angles")
    t, k = m.plate("n", ordered=True), m.plate("k", 2)
    origin = m.plate("origin", like=k)
    m.begin = pw.Dirichlet(2.0, over=k)
    m.move = pw.Dirichlet(2.0, over=k, plates=origin)
    m.z = pw.Categorical(m.move[m.lag("z")], start=m.begin, plates=t)
    m.mu = pw.VonMises(0, concentration=0.5, plates=k)
    m.kappa = pw.Gamma(3, rate=1, plates=k)
    m.y = pw.VonMises(m.mu[m.z], concentration=m.kappa[m.z], plates=t)
    return m


def concentrations() -> pw.Model:
    m, n, k = _classes("unknown concentrations")
    j = m.plate("j", 3)
    m.alpha = pw.Gamma(4, rate=2, plates=(k, j))
    m.y = pw.Dirichlet(m.alpha[m.z], over=j, plates=n)
    return m


def two_classes_in_one_rate() -> pw.Model:
    m, n, k = _classes("two classes in one rate")
    m.q = pw.Beta(2, 2)
    m.u = pw.Bernoulli(m.q, plates=n)
    m.a = pw.Normal(0, sd=1, plates=k)
    m.b = pw.Normal(0, sd=1)
    m.y = pw.Poisson(pw.exp(m.a[m.z] + m.b * m.u), plates=n)
    return m


def no_hidden_class() -> pw.Model:
    m = pw.Model("logistic regression")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.a = pw.Normal(0, sd=2)
    m.b = pw.Normal(0, sd=2)
    m.y = pw.Bernoulli(logit=m.a + m.b * m.x, plates=n)
    return m


BUILDERS: tuple[Callable[[], pw.Model], ...] = (
    gammas,
    betas,
    logistic_regressions,
    poisson_regressions,
    negative_binomials,
    students,
    experts,
    zero_inflated_regression,
    half_cauchy_scales,
    decaying,
    hidden_markov_gammas,
    hidden_markov_angles,
    concentrations,
    two_classes_in_one_rate,
    no_hidden_class,
)
RAISED = tuple(Case(build.__name__, build, ("y",), {"n": 5}) for build in BUILDERS)


# -- made at random ---


def _random(seed: int) -> tuple[pw.Model, list[str]]:
    """A class of rows and one to three columns, each of a kind without a closed mode or with one; their names."""
    r = np.random.default_rng(seed)
    m, n, k = _classes(f"random {seed}", int(r.integers(2, 4)))
    m.x = pw.Input(plates=n)
    columns: list[str] = []

    def parameter(name: str, positive: bool) -> object:
        on = () if r.random() < 0.25 else (k,)
        priors = [pw.Gamma(3, rate=1.5, plates=on), pw.LogNormal(0.3, sd=0.5, plates=on)] if positive else [
            pw.Normal(0, sd=1, plates=on),
            pw.Logistic(0, scale=0.5, plates=on),
        ]  # fmt: skip
        setattr(m, name, priors[int(r.integers(2))])
        found = getattr(m, name)
        return found[m.z] if on else found

    for number in range(int(r.integers(1, 4))):
        kind = int(r.integers(7))
        one, two = f"one_{number}", f"two_{number}"
        match kind:
            case 0:
                y = pw.Gamma(parameter(one, True), rate=parameter(two, True), plates=n)
            case 1:
                y = pw.Beta(parameter(one, True), parameter(two, True), plates=n)
            case 2:
                y = pw.Bernoulli(logit=parameter(one, False) + parameter(two, False) * m.x, plates=n)
            case 3:
                y = pw.Poisson(pw.exp(parameter(one, False) * m.x), plates=n)
            case 4:
                y = pw.Normal(parameter(one, False), sd=parameter(two, True), plates=n)
            case 5:
                y = pw.Weibull(parameter(one, True), scale=parameter(two, True), plates=n)
            case _:
                y = pw.Normal(parameter(one, False) * m.x, precision=parameter(two, True), plates=n)
        setattr(m, f"y_{number}", y)
        columns.append(f"y_{number}")
    return m, columns


def random_case(seed: int) -> Case:
    """A model made at random, with all its columns known."""
    return Case(f"random_{seed}", lambda: _random(seed)[0], tuple(_random(seed)[1]), {"n": 4})


RANDOM = tuple(random_case(seed) for seed in range(16))
