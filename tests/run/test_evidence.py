"""The evidence of latent models: every method against enumeration, quadrature or the closed form, within its error."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.special import logsumexp

import platewright as pw
from platewright.errors import NotSolvable, PlatewrightError, SizeError, UnknownName
from platewright.run.evidence.evidence_enumeration import enumerated, listing
from platewright.run.evidence.evidence_fit import EvidenceFit
from platewright.schemas.evidence import EvidencePlan, plan_enumeration
from schemas import chains_that_meet, hierarchies, mixtures, sequences
from schemas.small_instance import Case, instance

EVERY = (*mixtures.MIXTURES, *sequences.CHAINS, *chains_that_meet.MEETING, *hierarchies.HIERARCHIES)
CASES = {case.name: case for case in EVERY}
TINY = ("poissons", "zero_inflated", "symbols_several")
LARGER = ("conjugate_precisions", "latent_class_by_column", "two_apart", "two_causes", "full_wishart", "own_gaussians")


def shares(rows: int = 6) -> tuple[pw.Model, dict[str, object]]:
    """Known classes in unknown shares: the evidence is an integral over one number."""
    m = pw.Model("shares")
    n = m.plate("n")
    m.p = pw.Beta(2, 3)
    m.z = pw.Bernoulli(m.p, plates=n)
    m.y = pw.Normal(2 * m.z, sd=1, plates=n)
    return m, {"y": np.linspace(-1, 3, rows)}


def line() -> tuple[pw.Model, dict[str, object]]:
    m = pw.Model("line")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.a, m.b = pw.Normal(0, sd=2), pw.Normal(1, sd=3)
    m.y = pw.Normal(m.a + m.b * m.x, sd=0.7, plates=n)
    return m, {"x": [0.0, 1.0, 2.0, 3.0], "y": [0.1, 0.8, 2.3, 2.9]}


def mean_and_scale() -> tuple[pw.Model, dict[str, object], float]:
    """A mean apart from its precision: no closed form, but an integral over two numbers."""
    y = np.array([0.3, 1.2, -0.4, 2.2, 1.9])

    def joint(mu: float, tau: float) -> float:
        density = stats.norm.pdf(y, mu, tau**-0.5).prod() * stats.gamma.pdf(tau, 3, scale=0.5)
        return float(density * stats.norm.pdf(mu, 1, 2))

    total = integrate.dblquad(joint, 1e-6, 8, -7, 8, epsabs=1e-12, epsrel=1e-8)[0]
    return hierarchies.mean_and_scale(), {"y": y}, float(np.log(total))


def learned(case: Case, by: str, **options: float) -> tuple[EvidenceFit, float]:
    """A method on a tiny instance, and the exact evidence by enumeration."""
    small = instance(case, 0)
    exact = plan_enumeration(case.graph, "evidence")
    assert isinstance(exact, EvidencePlan)
    data = {name: value for name, value in small.columns.items() if "@" not in name}
    if case.groups:
        ((inner, codes),) = case.groups.items()
        outer = case.build().plates[inner].within
        data[str(outer)] = np.array(codes)
    fit = case.build().learn(data, goal="evidence", by=by, **options)
    assert isinstance(fit, EvidenceFit)
    return fit, enumerated(exact, small.columns, small.sizes).value


def test_enumeration_equals_the_integral_over_shares() -> None:
    m, data = shares()
    y = np.asarray(data["y"])

    def density(p: float) -> float:
        return float(np.prod(p * stats.norm.pdf(y, 2, 1) + (1 - p) * stats.norm.pdf(y, 0, 1)) * stats.beta.pdf(p, 2, 3))

    fit = m.learn(data, goal="evidence")
    assert fit.evidence.method == "enumeration" and fit.evidence.error == 0
    assert fit.log_evidence == pytest.approx(np.log(integrate.quad(density, 0, 1, epsabs=1e-13)[0]), abs=1e-9)


@pytest.mark.parametrize("name", ["known_variance", "two_apart", "symbols", "classes_of_groups"])
def test_one_of_each_relabelling_stands_for_all(name: str) -> None:
    case = {**CASES, "classes_of_groups": mixtures.CLASSES_OF_GROUPS}[name]
    small = instance(case, 1)
    plan = plan_enumeration(case.graph, "evidence")
    assert isinstance(plan, EvidencePlan)
    listed = listing(plan, small.columns, small.sizes)
    weights = [weight for _, weight in listed.assignments()]
    assert len(weights) == listed.count < listed.total
    assert np.exp(weights).sum() == pytest.approx(listed.total, rel=1e-12)


@pytest.mark.parametrize("name", [*TINY, *(pytest.param(name, marks=pytest.mark.slow) for name in LARGER)])
def test_chib_agrees_with_enumeration(name: str) -> None:
    fit, exact = learned(CASES[name], "chib", chains=2, draws=250, warm_up=50)
    assert fit.evidence.method == "chib" and fit.evidence.error is not None
    assert 0 < fit.evidence.error < 0.2
    assert abs(fit.log_evidence - exact) < 4 * fit.evidence.error


@pytest.mark.parametrize("name", ["poissons", "symbols_several", pytest.param("latent_class", marks=pytest.mark.slow)])
def test_annealing_agrees_with_enumeration(name: str) -> None:
    fit, exact = learned(CASES[name], "annealed", particles=20, powers=15)
    assert fit.evidence.error is not None and 0 < fit.evidence.error < 0.5
    assert abs(fit.log_evidence - exact) < 4 * fit.evidence.error


def test_chib_with_one_block_is_the_closed_form() -> None:
    m, data = line()
    exact = m.learn(data).evidence
    found = m.learn(data, goal="evidence", by="chib", chains=1, draws=5, warm_up=0).evidence
    assert exact.method == "exact" and found.error == 0
    assert found.value == pytest.approx(exact.value, abs=1e-9)


def test_laplace_is_exact_for_a_gaussian_posterior() -> None:
    m, data = line()
    found = m.learn(data, goal="evidence", by="laplace")
    assert found.evidence.error is None
    assert found.log_evidence == pytest.approx(m.learn(data).log_evidence, abs=1e-7)
    assert found["a"].value == pytest.approx(m.learn(data)["a"].mean, abs=1e-6)


def test_every_method_agrees_with_quadrature_where_there_is_no_closed_form() -> None:
    m, data, exact = mean_and_scale()
    by_grid = m.learn(data, goal="evidence")
    assert by_grid.evidence.method == "quadrature" and by_grid.log_evidence == pytest.approx(exact, abs=1e-6)
    by_chib = m.learn(data, goal="evidence", by="chib", chains=2, draws=400, warm_up=50)
    assert by_chib.evidence.method == "chib"
    assert abs(by_chib.log_evidence - exact) < 4 * by_chib.evidence.error
    by_steps = m.learn(data, goal="evidence", by="annealed", particles=30, powers=20)
    assert abs(by_steps.log_evidence - exact) < 4 * by_steps.evidence.error
    assert m.learn(data, goal="evidence", by="laplace").log_evidence == pytest.approx(exact, abs=0.1)


def test_annealing_goes_where_chib_has_no_densities() -> None:
    m = hierarchies.logistic()
    data = {"x": [-1.0, 0.0, 1.0, 2.0], "y": [0, 0, 1, 1]}
    fit = m.learn(data, goal="evidence", by="annealed", particles=25, powers=15)
    assert fit.evidence.method == "annealed"
    with pytest.raises(NotSolvable, match="not drawn from a conditional"):
        m.learn(data, goal="evidence", by="chib")
    x, y = np.asarray(data["x"]), np.asarray(data["y"])

    def joint(b: float, a: float) -> float:
        p = 1 / (1 + np.exp(-(a + b * x)))
        return float(np.prod(np.where(y == 1, p, 1 - p)) * stats.norm.pdf(a) * stats.norm.pdf(b))

    exact = np.log(integrate.dblquad(joint, -8, 8, -8, 8)[0])
    assert abs(fit.log_evidence - exact) < 4 * fit.evidence.error
    assert m.learn(data, goal="evidence").log_evidence == pytest.approx(exact, abs=1e-6)


def test_separated_classes_cost_mean_field_their_relabellings() -> None:
    """With K far classes the posterior has K! copies and mean field sees one: the bound is log K! too low."""
    m = pw.Model("far apart")
    n, k = m.plate("n"), m.plate("k", 3)
    m.p = pw.Dirichlet(2, over=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.mu = pw.Normal(0, sd=20, plates=k)
    m.y = pw.Normal(m.mu[m.z], sd=0.5, plates=n)
    data = {"y": [-30.0, -30.5, 0.2, 0.4, 31.0, 30.1, 30.5]}
    exact = m.learn(data, goal="evidence")
    bound = m.learn(data, goal="evidence", by="mean-field")
    assert exact.evidence.is_exact and bound.evidence.method == "lower bound"
    assert bound.log_evidence == bound.lower_bound < exact.log_evidence
    assert exact.log_evidence - bound.lower_bound == pytest.approx(np.log(6), abs=1e-6)
    by_chib = m.learn(data, goal="evidence", by="chib", chains=2, draws=50, warm_up=50)
    assert by_chib.log_evidence == pytest.approx(exact.log_evidence, abs=max(1e-3, 4 * by_chib.evidence.error))


@pytest.mark.parametrize(
    "name", ["poissons", "latent_class", "symbols", "kinds_of_moves", "factorial", "mixed_readings"]
)
def test_the_lower_bound_is_below_the_evidence(name: str) -> None:
    case = CASES[name]
    small = instance(case, 0)
    exact = plan_enumeration(case.graph, "evidence")
    assert isinstance(exact, EvidencePlan)
    data = {key: value for key, value in small.columns.items() if "@" not in key}
    data |= {small.graph.plates[plate].within: np.array(codes) for plate, codes in case.groups.items()}
    fit = case.build().learn(data, by="mean-field")
    assert fit.evidence.value < enumerated(exact, small.columns, small.sizes).value


@pytest.mark.parametrize("count", [2, 3])
def test_laplace_counts_every_relabelling_of_classes_that_are_apart(count: int) -> None:
    """With K far classes the posterior has K! copies of one near Gaussian: each counts, to the last digits."""
    m = pw.Model("far apart")
    n, k = m.plate("n"), m.plate("k", count)
    m.z = pw.Categorical(pw.array([1 / count] * count, over=k), plates=n)
    m.mu = pw.Normal(0, sd=20, plates=k)
    m.y = pw.Normal(m.mu[m.z], sd=0.5, plates=n)
    data = {"y": [-30.0, -30.5, 0.2, 0.4, 31.0, 30.1][: 2 * count]}
    exact = m.learn(data, goal="evidence")
    found = m.learn(data, goal="evidence", by="laplace")
    assert exact.evidence.is_exact
    assert found.log_evidence == pytest.approx(exact.log_evidence, abs=1e-3)
    assert f"{2 if count == 2 else 6} modes that differ" in found.evidence.detail


def test_laplace_counts_equal_components_once() -> None:
    """One row cannot tell two classes apart: the mode has equal components and no second copy."""
    m = mixtures.poissons()
    fit = m.learn({"y": [2]}, goal="evidence", by="laplace")
    assert "modes that differ" not in fit.evidence.detail


def test_too_many_assignments_are_refused_with_their_number_or_passed_on() -> None:
    m, data = shares(40)
    with pytest.raises(SizeError, match="1,099,511,627,776 assignments"):
        m.learn(data, goal="evidence", by="enumeration")
    fit = m.learn(data, goal="evidence")
    assert fit.evidence.method == "quadrature"  # with one number known, rows are summed out one by one
    by_chib = m.learn(data, goal="evidence", by="chib", chains=2, draws=100, warm_up=20)
    assert abs(by_chib.log_evidence - fit.log_evidence) < 4 * by_chib.evidence.error
    assert ("enumeration", "1,099,511,627,776 assignments to list, and at most 10,000 are") in list(fit.plan.declined)


def test_only_missing_cells_are_listed() -> None:
    """A cause known in part: the evidence is the sum over its missing cells alone."""
    m = pw.Model("cause")
    n, k = m.plate("n"), m.plate("k", 2)
    m.p = pw.Dirichlet(2, over=k)
    m.q = pw.Beta(2, 2, plates=k)
    m.c = pw.Categorical(m.p, plates=n)
    m.y = pw.Bernoulli(m.q[m.c], plates=n)
    y = [1, 0, 1, 1, 0]
    fit = m.learn({"c": [0.0, 1.0, np.nan, 1.0, np.nan], "y": y}, goal="evidence")
    assert fit.evidence.detail.startswith("4 assignments")
    whole = [m.learn({"c": [0, 1, a, 1, b], "y": y}).log_evidence for a in (0, 1) for b in (0, 1)]
    assert fit.log_evidence == pytest.approx(logsumexp(whole), abs=1e-9)


def test_improper_priors_cannot_be_annealed() -> None:
    m = pw.Model("flat")
    n, k = m.plate("n"), m.plate("k", 2)
    m.p = pw.Dirichlet(1, over=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.mu = pw.Flat(plates=k)
    m.y = pw.Normal(m.mu[m.z], sd=1, plates=n)
    with pytest.raises(NotSolvable, match="`mu` has no proper prior"):
        m.learn({"y": [0.0, 1.0]}, goal="evidence", by="annealed")


def test_methods_of_evidence_give_no_posterior() -> None:
    m, data = shares()
    fit = m.learn(data, goal="evidence")
    with pytest.raises(PlatewrightError, match="no posterior of `p`"):
        fit["p"]
    with pytest.raises(UnknownName):
        fit["q"]
    with pytest.raises(NotSolvable, match='goal="evidence"'):
        m.learn(data, by="chib")
    with pytest.raises(UnknownName):
        m.learn(data, goal="evidence", particles=3)


def test_the_estimate_and_the_draws_have_an_evidence_too() -> None:
    m, data = shares()
    exact = m.learn(data, goal="evidence").log_evidence
    draws = m.learn(data, by="gibbs", chains=2, draws=200, warm_up=20)
    assert draws.evidence.method == "chib"
    assert abs(draws.log_evidence - exact) < 4 * draws.evidence.error
    estimate = m.learn(data, goal="map")
    assert estimate.evidence.method == "laplace"
    assert estimate.evidence.value == pytest.approx(exact, abs=0.3)


def test_what_was_done_is_told() -> None:
    m, data = shares()
    fit = m.learn(data, goal="evidence")
    assert "log sum over z" in fit.explain() and "64 assignments of z" in fit.how
    assert "enumeration" in str(fit.summary())


def test_log_mean_is_a_log_of_a_mean() -> None:
    from platewright.backends.kernels.log_means import log_mean

    logs = np.array([-1000.0, -1001.0, -1003.0])
    assert log_mean(logs) == pytest.approx(logsumexp(logs) - np.log(3))
    assert log_mean(np.array([-np.inf, -np.inf])) == -np.inf
