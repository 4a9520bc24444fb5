"""Quadrature gives the evidence: that of closed forms where there is one, else that of an integrator of SciPy's."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

import numpy as np
import pytest
from scipy import integrate, special, stats

import platewright as pw
from language import unlisted_gaussian, unlisted_others
from platewright.backends.kernels.quadrature import Surface
from platewright.errors import ImproperPosterior, NotSolvable, SizeError
from platewright.run.evidence.evidence_fit import EvidenceFit

PROBLEMS = {found.__name__: found for found in (*unlisted_gaussian.PROBLEMS, *unlisted_others.PROBLEMS)}


def by_quadrature(model: pw.Model, data: dict[str, object], **options: object) -> EvidenceFit:
    return model.learn(data, goal="evidence", by="quadrature", **options)


@pytest.mark.parametrize("name", PROBLEMS)
def test_where_a_closed_form_exists_the_grid_gives_it(name: str) -> None:
    model, data, *_ = PROBLEMS[name]()
    try:
        exact = model.learn(data, goal="evidence", by="exact").log_evidence
        found = by_quadrature(model, data)
    except NotSolvable:
        pytest.skip("no closed form, or too many numbers are left")
    assert found.log_evidence == pytest.approx(exact, abs=1e-7 + 10 * found.evidence.error)


def regression(prior: Callable[[], object]) -> tuple[pw.Model, dict[str, object]]:
    m = pw.Model("one weight")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.b = prior()
    m.y = pw.Bernoulli(pw.logistic(m.b * m.x), plates=n)
    return m, {"x": np.array([-1.0, 0.5, 2.0, 1.0]), "y": np.array([0, 0, 1, 1])}


def log_likelihood(b: float, data: dict[str, object]) -> float:
    x, y = np.asarray(data["x"]), np.asarray(data["y"])
    return float(special.log_expit(np.where(y == 1, 1, -1) * b * x).sum())


PRIORS = {
    "normal": (lambda: pw.Normal(0.5, sd=2.0), stats.norm(0.5, 2.0)),
    "heavy tails": (lambda: pw.StudentT(degrees=1.0, mean=0.0, precision=1.0), stats.cauchy()),
    "positive": (lambda: pw.Gamma(0.7, rate=0.3), stats.gamma(0.7, scale=1 / 0.3)),
    "interval": (lambda: pw.Uniform(-1.0, 6.0), stats.uniform(-1.0, 7.0)),
    "far away": (lambda: pw.Normal(300.0, sd=0.01), stats.norm(300.0, 0.01)),
    "share": (lambda: pw.Beta(2.0, 0.8), stats.beta(2.0, 0.8)),
}


@pytest.mark.parametrize("prior", PRIORS)
def test_one_number_agrees_with_an_integrator(prior: str) -> None:
    make, density = PRIORS[prior]
    model, data = regression(make)
    low, high = density.support()
    middle = density.median()

    def whole(b: float) -> float:
        return float(np.exp(density.logpdf(b) + log_likelihood(b, data)))

    parts = [
        integrate.quad(whole, *ends, epsabs=0, epsrel=1e-11, limit=500)[0] for ends in ((low, middle), (middle, high))
    ]
    found = by_quadrature(model, data)
    assert found.evidence.method == "quadrature" and found.evidence.error < 1e-8
    assert found.log_evidence == pytest.approx(np.log(sum(parts)), abs=1e-8)


def test_two_numbers_agree_with_an_integrator() -> None:
    m = pw.Model("line")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.a, m.b = pw.Normal(0.0, sd=1.5), pw.Normal(1.0, sd=2.0)
    m.y = pw.Poisson(pw.exp(m.a + m.b * m.x), plates=n)
    x, y = np.array([-1.0, 0.0, 0.5, 1.2]), np.array([0, 1, 2, 6])

    def whole(b: float, a: float) -> float:
        prior = stats.norm.logpdf(a, 0, 1.5) + stats.norm.logpdf(b, 1, 2)
        return float(np.exp(prior + stats.poisson.logpmf(y, np.exp(a + b * x)).sum()))

    truth = integrate.dblquad(whole, -8, 8, -8, 8, epsabs=0, epsrel=1e-9)[0]
    found = by_quadrature(m, {"x": x, "y": y})
    assert found.plan.hidden == ("a", "b")
    assert found.log_evidence == pytest.approx(np.log(truth), abs=1e-7)


def test_a_second_mode_behind_a_valley_is_found() -> None:
    m = pw.Model("squared")
    n = m.plate("n")
    m.b = pw.Normal(0.3, sd=2.0)
    m.y = pw.Normal(m.b**2, sd=0.1, plates=n)
    y = np.array([9.1, 8.9, 9.0])

    def whole(b: float) -> float:
        return float(np.exp(stats.norm.logpdf(b, 0.3, 2.0) + stats.norm.logpdf(y, b**2, 0.1).sum()))

    truth = sum(integrate.quad(whole, at - 0.5, at + 0.5, epsabs=0, epsrel=1e-11)[0] for at in (-3.0, 3.0))
    assert by_quadrature(m, {"y": y}).log_evidence == pytest.approx(np.log(truth), abs=1e-8)


def test_a_kink_is_cut_out_and_its_error_told() -> None:
    model, data = regression(lambda: pw.Laplace(0.0, scale=1.0))

    def whole(b: float) -> float:
        return float(np.exp(stats.laplace.logpdf(b) + log_likelihood(b, data)))

    truth = np.log(sum(integrate.quad(whole, *ends, epsrel=1e-12)[0] for ends in ((-np.inf, 0), (0, np.inf))))
    found = by_quadrature(model, data)
    assert abs(found.log_evidence - truth) <= 2 * found.evidence.error
    assert 0.0 < found.evidence.error < 1e-9


def test_exact_elimination_leaves_as_few_numbers_as_it_can() -> None:
    m = pw.Model("own precision")
    unit = m.plate("unit")
    m.precision = pw.Gamma(1, rate=1)
    m.mu = pw.Normal(0, sd=1)
    m.theta = pw.Normal(m.mu, precision=m.precision, plates=unit)
    m.y = pw.Normal(m.theta, sd=1, plates=unit)
    y = np.array([0.3, -1.2, 2.2, 0.9])
    fit = m.learn({"y": y}, goal="evidence")
    assert fit.plan.schema == "quadrature" and fit.plan.held == ("precision",)

    def whole(log_precision: float) -> float:
        precision = np.exp(log_precision)
        spread = np.eye(4) * (1 + 1 / precision) + 1.0
        inside = stats.multivariate_normal.logpdf(y, np.zeros(4), spread)
        return float(np.exp(stats.gamma.logpdf(precision, 1) + log_precision + inside))

    truth = integrate.quad(whole, -40, 6, epsabs=0, epsrel=1e-11, limit=500)[0]
    assert fit.log_evidence == pytest.approx(np.log(truth), abs=1e-8)
    sampled = m.learn({"y": y}, goal="evidence", by="chib", seed=1)
    assert abs(sampled.log_evidence - fit.log_evidence) < 5 * sampled.evidence.error


def test_an_improper_posterior_is_refused() -> None:
    model, data = regression(pw.Flat)
    data = {"x": np.abs(np.asarray(data["x"])), "y": np.ones(4, dtype=int)}
    with pytest.raises(ImproperPosterior, match="has not fallen"):
        by_quadrature(model, data)
    with pytest.raises(NotSolvable, match="quadrature declined: the integrand has not fallen"):
        model.learn(data, goal="evidence")


def test_too_many_numbers_and_points_are_declined() -> None:
    m = pw.Model("three")
    n = m.plate("n")
    m.a, m.b, m.c = pw.Normal(0, sd=1), pw.Normal(0, sd=1), pw.Normal(0, sd=1)
    m.y = pw.Poisson(pw.exp(m.a) + pw.exp(m.b) + pw.exp(m.c), plates=n)
    with pytest.raises(NotSolvable, match=r"exact elimination leaves 3 numbers \(a, b, c\), at most 2"):
        m.learn({"y": [1, 2]}, goal="evidence", by="quadrature")
    model, data = regression(lambda: pw.Normal(0.0, sd=1.0))
    with pytest.raises(SizeError, match="more than 5 points"):
        by_quadrature(model, data, most=5)


def test_a_forgotten_volume_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    model, data = regression(lambda: pw.Normal(0.0, sd=1.0))
    right = by_quadrature(model, data).log_evidence
    monkeypatch.setattr(Surface, "bent", lambda self, t: self.at(self.centre + self.root @ np.sinh(t)))
    assert abs(by_quadrature(model, data).log_evidence - right) > 1e-2


def step(rows: int) -> tuple[pw.Model, dict[str, object]]:
    m = pw.Model("step")
    row = m.plate("row")
    m.x = pw.Input(plates=row)
    m.c, m.a, m.b = pw.Normal(0, sd=1), pw.Normal(0, sd=1), pw.Normal(0, sd=1)
    m.y = pw.Normal(m.a + m.b * pw.less(m.x, m.c), sd=0.5, plates=row)
    rng = np.random.default_rng(rows)
    x = rng.normal(size=rows)
    return m, {"x": x, "y": np.where(x < 0.3, 1.5, 0.0) + 0.5 * rng.normal(size=rows)}


@pytest.mark.parametrize("rows", [3, 20])
def test_a_step_is_cut_at_its_jumps(rows: int) -> None:
    """Between two rows the place of the step does not matter: the evidence is a sum over the gaps."""
    model, data = step(rows)
    x, y = np.asarray(data["x"]), np.asarray(data["y"])
    ends = np.concatenate([[-np.inf], np.sort(x), [np.inf]])
    logs = []
    for low, high in pairwise(ends):
        columns = np.stack([np.ones(rows), x < (max(low, -50) + min(high, 50)) / 2], axis=1)
        inside = stats.multivariate_normal(np.zeros(rows), columns @ columns.T + 0.25 * np.eye(rows)).logpdf(y)
        logs.append(inside + np.log(stats.norm.cdf(high) - stats.norm.cdf(low)))
    fit = by_quadrature(model, data)
    assert fit.log_evidence == pytest.approx(special.logsumexp(logs), abs=1e-9)
    assert fit.evidence.error < 1e-8
    assert int(fit.how.split(" points")[0].split()[-1].replace(",", "")) < 6000
