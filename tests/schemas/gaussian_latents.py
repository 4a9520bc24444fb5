"""Hidden Gaussian variables: factors, states, missing cells, and hidden classes beside them."""

from __future__ import annotations

import platewright as pw
from schemas.small_instance import Case


def factor_analysis() -> pw.Model:
    m = pw.Model("factor analysis")
    n, d, k = m.plate("n"), m.plate("d", 3), m.plate("k", 2)
    m.mu = pw.Normal(1, sd=3, plates=d)
    m.w = pw.Normal(0, sd=1, plates=(d, k))
    m.psi = pw.InverseGamma(3, scale=2, plates=d)
    m.z = pw.Normal(0, sd=1, plates=(n, k))
    m.x = pw.Normal(m.mu + pw.dot(m.w, m.z, over=k), variance=m.psi, plates=(n, d))
    return m


def principal_components() -> pw.Model:
    m = pw.Model("probabilistic principal components")
    n, d, k = m.plate("n"), m.plate("d", 3), m.plate("k", 1)
    m.tau = pw.Gamma(3, rate=2)
    m.mu = pw.Normal(1, precision=0.1 * m.tau, plates=d)
    m.w = pw.Normal(0, precision=m.tau, plates=(d, k))
    m.z = pw.Normal(0, sd=1, plates=(n, k))
    m.x = pw.Normal(m.mu + pw.dot(m.w, m.z, over=k), precision=m.tau, plates=(n, d))
    return m


def random_effects() -> pw.Model:
    m = pw.Model("random effects with unknown scales")
    g = m.plate("g")
    n = m.plate("n", within=g)
    m.mu = pw.Normal(0, sd=3)
    m.between = pw.InverseGamma(3, scale=2)
    m.inside = pw.InverseGamma(3, scale=1)
    m.b = pw.Normal(m.mu, variance=m.between, plates=g)
    m.y = pw.Normal(m.b, variance=m.inside, plates=n)
    return m


def errors_in_causes() -> pw.Model:
    m = pw.Model("errors in the causes")
    n = m.plate("n")
    m.a = pw.Normal(0, sd=2)
    m.b = pw.Normal(0, sd=2)
    m.v = pw.InverseGamma(3, scale=1)
    m.x = pw.Normal(1, sd=2, plates=n)
    m.seen = pw.Normal(m.x, sd=0.5, plates=n)
    m.y = pw.Normal(m.a + m.b * m.x, variance=m.v, plates=n)
    return m


def state_space() -> pw.Model:
    m = pw.Model("linear dynamical system")
    series = m.plate("series")
    step = m.plate("step", within=series, ordered=True)
    d = m.plate("d", 2)
    m.a = pw.Normal(0.5, sd=1)
    m.q = pw.InverseGamma(3, scale=2)
    m.c = pw.Normal(1, sd=1, plates=d)
    m.r = pw.InverseGamma(3, scale=1, plates=d)
    m.h = pw.Normal(m.a * m.lag("h"), variance=m.q, start=0.3, plates=step)
    m.y = pw.Normal(m.c * m.h, variance=m.r, plates=(step, d))
    return m


def two_states() -> pw.Model:
    m = pw.Model("states of two dimensions")
    step = m.plate("step", ordered=True)
    k = m.plate("k", 2)
    j = m.plate("j", like=k)
    d = m.plate("d", 2)
    m.A = pw.Normal(0, sd=0.5, plates=(k, j))
    m.q = pw.InverseGamma(3, scale=2)
    m.C = pw.Normal(0, sd=1, plates=(d, k))
    m.r = pw.InverseGamma(3, scale=1)
    m.h = pw.Normal(pw.dot(m.A, m.lag("h")[j.index], over=j), variance=m.q, start=0.0, plates=(step, k))
    m.y = pw.Normal(pw.dot(m.C, m.h, over=k), variance=m.r, plates=(step, d))
    return m


def mixture_of_factors() -> pw.Model:
    m = pw.Model("mixture of factor analysers")
    n, c, d, k = m.plate("n"), m.plate("c", 2), m.plate("d", 2), m.plate("k", 1)
    m.p = pw.Dirichlet(2, over=c)
    m.mu = pw.Normal(0, sd=3, plates=(c, d))
    m.w = pw.Normal(0, sd=1, plates=(c, d, k))
    m.psi = pw.InverseGamma(3, scale=2, plates=d)
    m.u = pw.Categorical(m.p, plates=n)
    m.z = pw.Normal(0, sd=1, plates=(n, k))
    m.x = pw.Normal(m.mu[m.u] + pw.dot(m.w[m.u], m.z, over=k), variance=m.psi, plates=(n, d))
    return m


def switching_cause() -> pw.Model:
    m = pw.Model("hidden class of a hidden cause")
    n, c = m.plate("n"), m.plate("c", 2)
    m.p = pw.Dirichlet(2, over=c)
    m.mu = pw.Normal(0, sd=3, plates=c)
    m.b = pw.Normal(0, sd=1)
    m.v = pw.InverseGamma(3, scale=1)
    m.u = pw.Categorical(m.p, plates=n)
    m.x = pw.Normal(m.mu[m.u], sd=1, plates=n)
    m.y = pw.Normal(m.b * m.x, variance=m.v, plates=n)
    return m


def _states(m: pw.Model, step: pw.Plate, k: pw.Plate) -> None:
    before = m.plate("before", like=k)
    m.begin = pw.Dirichlet(1.5, over=k)
    m.move = pw.Dirichlet(1.5, over=k, plates=before)
    m.c = pw.Categorical(m.move[m.lag("c")], start=m.begin, plates=step)


def factors_of_states() -> pw.Model:
    m = pw.Model("factors of the states of a chain")
    step, d, k = m.plate("step", ordered=True), m.plate("d", 2), m.plate("k", 2)
    _states(m, step, k)
    m.w = pw.Normal(0, sd=1, plates=(k, d))
    m.psi = pw.InverseGamma(3, scale=2, plates=d)
    m.z = pw.Normal(0, sd=1, plates=step)
    m.x = pw.Normal(m.w[m.c] * m.z, variance=m.psi, plates=(step, d))
    return m


def parts_of_states() -> pw.Model:
    """A Gaussian that depends on the state of a chain and on a class of its step."""
    m = pw.Model("noisy readings of mixtures")
    step, k, part = m.plate("step", ordered=True), m.plate("k", 2), m.plate("part", 2)
    _states(m, step, k)
    m.q = pw.Dirichlet(1.5, over=part, plates=k)
    m.w = pw.Categorical(m.q[m.c], plates=step)
    m.mu = pw.Normal(0, sd=2, plates=(k, part))
    m.z = pw.Normal(m.mu[m.c, m.w], sd=1, plates=step)
    m.v = pw.InverseGamma(3, scale=2)
    m.y = pw.Normal(m.z, variance=m.v, plates=step)
    return m


SERIES = {"series": 2, "step": 5}


def factors_of_schools() -> pw.Model:
    """The class of a school decides how the factors of its pupils show."""
    m = pw.Model("factors of pupils, classes of schools")
    school, c, d, k = m.plate("school"), m.plate("c", 2), m.plate("d", 2), m.plate("k", 1)
    pupil = m.plate("pupil", within=school)
    m.p = pw.Dirichlet(2, over=c)
    m.mu = pw.Normal(0, sd=3, plates=(c, d))
    m.w = pw.Normal(0, sd=1, plates=(c, d, k))
    m.psi = pw.InverseGamma(3, scale=2, plates=d)
    m.g = pw.Categorical(m.p, plates=school)
    m.z = pw.Normal(0, sd=1, plates=(pupil, k))
    m.x = pw.Normal(m.mu[m.g] + pw.dot(m.w[m.g], m.z, over=k), variance=m.psi, plates=(pupil, d))
    return m


def factors_of_both() -> pw.Model:
    """The factors of pupils depend on classes of their own and of their school."""
    m = pw.Model("factors of pupils, classes of pupils and of schools")
    school, a, c, d, k = m.plate("school"), m.plate("a", 2), m.plate("c", 2), m.plate("d", 2), m.plate("k", 1)
    pupil = m.plate("pupil", within=school)
    m.p = pw.Dirichlet(2, over=a)
    m.r = pw.Dirichlet(2, over=c, plates=a)
    m.mu = pw.Normal(0, sd=3, plates=(c, d))
    m.w = pw.Normal(0, sd=1, plates=(a, d, k))
    m.psi = pw.InverseGamma(3, scale=2, plates=d)
    m.g = pw.Categorical(m.p, plates=school)
    m.u = pw.Categorical(m.r[m.g], plates=pupil)
    m.z = pw.Normal(0, sd=1, plates=(pupil, k))
    m.x = pw.Normal(m.mu[m.u] + pw.dot(m.w[m.g], m.z, over=k), variance=m.psi, plates=(pupil, d))
    return m


LATENTS: tuple[Case, ...] = (
    Case("factor_analysis", factor_analysis, ("x",), {"n": 4}),
    Case("principal_components", principal_components, ("x",), {"n": 4}),
    Case("random_effects", random_effects, ("y",), {"g": 2, "n": 5}, {"n": (0, 0, 1, 1, 1)}),
    Case("errors_in_causes", errors_in_causes, ("seen", "y"), {"n": 4}),
    Case("state_space", state_space, ("y",), SERIES, {"step": (0, 0, 0, 1, 1)}),
    Case("two_states", two_states, ("y",), {"step": 4}),
    Case("mixture_of_factors", mixture_of_factors, ("x",), {"n": 3}),
    Case("factors_of_states", factors_of_states, ("x",), {"step": 3}),
    Case("parts_of_states", parts_of_states, ("y",), {"step": 3}),
    Case("switching_cause", switching_cause, ("y",), {"n": 3}),
    Case("factors_of_schools", factors_of_schools, ("x",), {"school": 3, "pupil": 4}, {"pupil": (0, 2, 2, 0)}),
    Case("factors_of_both", factors_of_both, ("x",), {"school": 2, "pupil": 3}, {"pupil": (1, 0, 1)}),
)
