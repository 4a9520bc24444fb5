"""Where few numbers are left, `by="auto"` goes over them: the same posterior however it is written, else a reason."""

from __future__ import annotations

import json
import runpy
import zipfile
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from tests.points_models import crossed, schools

import platewright as pw
from platewright.backends.kernels.lattice import over_modes
from platewright.errors import FormatError
from platewright.run.evidence.evidence_quadrature import quadrature
from platewright.run.points import running
from platewright.run.points.fit import QuadratureFit
from platewright.run.points.given import density_of, given_points
from platewright.run.results.array_file import write_array
from platewright.run.samplers.sampling import SampledFit
from platewright.schemas import pointwise
from platewright.schemas.few_numbers import QuadraturePlan
from result_kinds import crowd, funnel

PEOPLE, REGIONS = 60, 4
Data = dict[str, np.ndarray]


def rows(generator: np.random.Generator) -> Data:
    person = np.repeat(np.arange(PEOPLE), 1 + generator.poisson(4, PEOPLE))
    count = len(person)
    data = {"person": person, "region": generator.integers(0, REGIONS, count), "x": generator.normal(size=count)}
    effects = 0.8 * generator.normal(size=PEOPLE)[person] + 0.6 * generator.normal(size=REGIONS)[data["region"]]
    data["y"] = 1.5 + 0.7 * data["x"] + effects + 0.5 * generator.normal(size=count)
    return data


def mixed(order: str, people: int | None, regions: int | None, count: int | None) -> pw.Model:
    m = pw.Model("mixed")
    region, person, row = m.plate("regions", regions), m.plate("persons", people), m.plate("row", count)
    m.region = pw.Input(plates=row, levels=region)
    m.person = pw.Input(plates=row, levels=person)
    m.x = pw.Input(plates=row)
    for name in ("s_u", "s_v", "s_e"):
        setattr(m, name, pw.Uniform(0, 10))
    for letter in order:
        if letter == "u":
            m.u = pw.Normal(0, sd=m.s_u, plates=region)
        elif letter == "v":
            m.v = pw.Normal(0, sd=m.s_v, plates=person)
        else:
            m.mu = pw.Normal(0, sd=100)
            m.beta = pw.Normal(0, sd=100)
    m.y = pw.Normal(m.mu + m.beta * m.x + m.u[m.region] + m.v[m.person], sd=m.s_e, plates=row)
    return m


def ways(data: Data) -> list[pw.Model]:
    """Every order of writing, with and without sizes of every plate."""
    sized = product((None, PEOPLE), (None, REGIONS), (None, len(data["y"])))
    return [mixed(order, *sizes) for order, sizes in product(("uvm", "mvu"), sized)]


def test_neither_order_of_writing_nor_sizes_of_plates_decide_who_is_eliminated_apart() -> None:
    data = rows(np.random.default_rng(0))
    fits = [m.learn(data) for m in ways(data)]
    for fit in fits:
        assert isinstance(fit, QuadratureFit), fit.how
        assert [column.variable for column in fit.derivation.pointwise.own] == ["v"]
        assert fit.log_evidence == pytest.approx(fits[0].log_evidence, abs=1e-9)
        for name in ("s_u", "s_v", "s_e", "u", "v", "mu"):
            np.testing.assert_allclose(fit[name].mean, fits[0][name].mean, rtol=1e-7)
            np.testing.assert_allclose(fit[name].sd, fits[0][name].sd, rtol=1e-7)


def test_sizes_that_are_not_asked_would_be_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pointwise, "sizes_of", lambda _: None)
    data = rows(np.random.default_rng(0))
    plans = [m.learn(data, by="quadrature").derivation for m in (mixed("uvm", None, None, None),)]
    assert [column.variable for column in plans[0].pointwise.own] != ["v"]


def test_persons_are_gone_after_the_pass() -> None:
    """Those with as many rows enter by one matrix: what a point costs does not grow with their number."""
    generator = np.random.default_rng(1)
    kinds = []
    for people in (200, 800):
        person = np.repeat(np.arange(people), 1 + np.arange(people) % 7)
        data = {"person": person, "region": generator.integers(0, REGIONS, len(person))}
        data |= {"x": generator.normal(size=len(person)), "y": generator.normal(size=len(person))}
        fit = mixed("uvm", None, None, None).learn(data, by="quadrature")
        assert isinstance(fit, QuadratureFit)
        found = fit.eliminated.found["gaussian"]
        kinds.append(found["pooled"].shape)
        assert len(found["root"]) == 7
    assert kinds[0] == kinds[1]


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"backend": "c"}, "C was asked for"),
        ({"initial": {"s_e": 0.5}}, "`initial` is for samplers"),
        ({"keep": ["mu"]}, "`keep` is for samplers"),
    ],
)
def test_what_samplers_alone_can_do_is_left_to_them(told: dict[str, object], reason: str) -> None:
    m, data = crossed(np.random.default_rng(2))
    fit = m.learn(data, chains=1, draws=5, warm_up=2, **told)
    assert isinstance(fit, SampledFit)
    assert ("quadrature", reason) in [(word, said[-len(reason) :]) for word, said in fit.plan.declined]
    assert reason in fit.explain()


def test_many_that_stay_together_are_sampled_and_the_reason_has_their_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "MOST_COLUMNS", 5)
    m, data = crossed(np.random.default_rng(2))
    fit = m.learn(data, chains=1, draws=5, warm_up=2)
    assert isinstance(fit, SampledFit)
    assert "6 Gaussian unknowns would be eliminated together, at most 5 are" in fit.explain()


def test_three_programs_at_each_point_are_not_chosen_and_the_plan_says_so() -> None:
    m = pw.Model("three")
    row = m.plate("row")
    m.a, m.b, m.c = pw.Gamma(2, rate=1), pw.Gamma(2, rate=1), pw.Gamma(2, rate=1)
    m.each = pw.Gamma(m.a, rate=m.b, plates=row)
    m.y = pw.Poisson(m.each * m.c, plates=row)
    plan = m.derive(known=["y"])
    assert plan.schema == "gibbs"
    assert any(word == "quadrature" and "27,000 times, by gibbs 6,000 times" in said for word, said in plan.declined)
    assert m.derive(known=["y"], by="quadrature").schema == "quadrature"


def test_both_roads_to_the_evidence_agree() -> None:
    m, data = schools(np.random.default_rng(0))
    fit = m.learn(data, goal="evidence")
    assert isinstance(fit, QuadratureFit) and fit.derivation.otherwise is not None
    other = quadrature(fit.derivation.otherwise, fit.columns, fit.sizes)
    assert fit.evidence.error is not None and fit.evidence.error < 1e-8
    assert fit.log_evidence == pytest.approx(other.value, abs=3 * fit.evidence.error + 1e-9)


@pytest.mark.slow
def test_the_evidence_with_three_scales_is_within_its_error() -> None:
    """Beside annealing the error is stated so that a finer lattice stays inside it."""
    m, data = crossed(np.random.default_rng(3), people=8)
    fit = m.learn(data, goal="evidence")
    assert isinstance(fit, QuadratureFit) and fit.derivation.otherwise is None
    fine = m.derive(set(data), goal="evidence").plan
    assert isinstance(fine, QuadraturePlan)
    found = over_modes(density_of(fine, given_points(fine, fit.columns, fit.sizes)), 1e-6, 150_000)
    assert abs(fit.log_evidence - float(found["log_evidence"])) <= fit.error + float(found["error"])


@pytest.mark.parametrize("goal", ["posterior", "evidence"])
def test_a_file_of_the_program_refines_as_far_as_the_library(goal: str, tmp_path: Path) -> None:
    y = np.random.default_rng(3).normal(2, 1.5, 25)
    cases = [(funnel(), {"y": y}, "t")] + ([(crowd(), {"y": np.arange(25) % 4}, "rate")] if goal == "posterior" else [])
    for m, data, name in cases:
        fit = m.learn(data, goal=goal, by="quadrature")
        path = tmp_path / f"{name}.py"
        path.write_text(fit.source())
        found = runpy.run_path(str(path))["learn"](dict(fit.columns), dict(fit.sizes))
        assert found["log_evidence"] == pytest.approx(fit.log_evidence, rel=1e-13)
        assert found[f"{name}.mean"] == pytest.approx(float(fit[name].mean), rel=1e-12)


def test_the_table_has_spreads_and_quantiles() -> None:
    m, data = crossed(np.random.default_rng(1))
    fit = m.learn(data)
    shown = {row.name: row for row in fit.summary().rows}
    assert shown["s_v"].sd == pytest.approx(float(fit["s_v"].sd))
    assert shown["u[0]"].high == pytest.approx(float(fit["u"].quantile(0.95)[0]))


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (("points/1.npy", np.full(30, 1.0)), "shape"),
        (("points/6.npy", np.array([7])), r"is_line|modes|whole"),
        (("options/0.npy", np.array(0)), "count="),
    ],
)
def test_points_that_were_changed_are_refused(array: tuple[str, np.ndarray], message: str, tmp_path: Path) -> None:
    path = tmp_path / "a.fit"
    funnel().learn({"y": np.random.default_rng(3).normal(2, 1.5, 25)}).save(path)
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist() if name != array[0]}
    assert "points" in json.loads(files["fit.json"])["arrays"]
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        write_array(archive, *array)
    with pytest.raises(FormatError, match=message):
        pw.load(path)


@pytest.mark.slow
def test_truths_drawn_from_the_prior_lie_evenly_in_the_posterior() -> None:
    """Simulated from the model itself, the place of the truth in its posterior is uniform."""
    generator = np.random.default_rng(8)
    m = pw.Model("groups")
    group, row = m.plate("group", 12), m.plate("row")
    m.g = pw.Input(plates=row, levels=group)
    m.mu = pw.Normal(0, sd=2)
    m.tau = pw.HalfNormal(sd=1)
    m.s = pw.HalfNormal(sd=1)
    m.level = pw.Normal(m.mu, sd=m.tau, plates=group)
    m.y = pw.Normal(m.level[m.g], sd=m.s, plates=row)
    g = np.repeat(np.arange(12), 1 + np.arange(12) % 4)
    places: dict[str, list[float]] = {name: [] for name in ("mu", "tau", "s", "level")}
    for _ in range(80):
        truth = {"mu": generator.normal(0, 2), "tau": abs(generator.normal()), "s": abs(generator.normal())}
        level = truth["mu"] + truth["tau"] * generator.normal(size=12)
        fit = m.learn({"g": g, "y": level[g] + truth["s"] * generator.normal(size=len(g))}, by="quadrature")
        probabilities = np.linspace(0.01, 0.99, 99)
        for name, value in {**truth, "level": level[3]}.items():
            found = fit[name].quantile(probabilities)
            places[name].append(float(np.mean((found if found.ndim == 1 else found[:, 3]) < value)))
    for name, at in places.items():
        assert stats.kstest(at, "uniform").pvalue > 1e-3, name


TABLES = """model {
  for (i in 1:N) {
    y[i] ~ dnorm(mu[i], te)
    mu[i] <- beta[1] * x1[i] + beta[2] * x2[i] + region[r[i]] + source[r[i]] * s[i] + person[p[i]]
  }
  for (j in 1:M) {
    z[j] ~ dnorm(nu[j], tz)
    nu[j] <- level + region[rz[j]] + source[rz[j]] * sz[j]
  }
  for (k in 1:P) { person[k] ~ dnorm(0, tp) }
  for (k in 1:R) {
    region[k] ~ dnorm(mu.region, tr)
    source[k] ~ dnorm(mu.source, ts)
  }
  for (k in 1:2) { beta[k] ~ dnorm(0, 1.0E-4) }
  level ~ dnorm(0, 1.0E-4)
  mu.region ~ dnorm(0, 1.0E-4)
  mu.source ~ dnorm(0, 1.0E-4)
  sd.e ~ dunif(0, 10)
  sd.z ~ dunif(0, 10)
  sd.p ~ dunif(0, 10)
  sd.r ~ dunif(0, 10)
  sd.s ~ dunif(0, 10)
  te <- 1 / (sd.e * sd.e)
  tz <- pow(sd.z, -2)
  tp <- pow(sd.p, -2)
  tr <- pow(sd.r, -2)
  ts <- pow(sd.s, -2)
}"""
"""Rows of persons with covariates, and a table without persons; regions and sources in both, a scale for each part."""


def two_tables(generator: np.random.Generator, people: int = 400) -> dict[str, object]:
    first, second, regions = 6 * people, 4 * people, 8
    found: dict[str, object] = {"N": first, "M": second, "P": people, "R": regions}
    p = np.concatenate([np.arange(people), generator.integers(0, people, first - people)])
    r, rz = generator.integers(0, regions, first), generator.integers(0, regions, second)
    s, sz = generator.integers(0, 2, first), generator.integers(0, 2, second)
    x = generator.normal(size=(2, first))
    region, source = 1 + 0.4 * generator.normal(size=regions), -0.5 + 0.3 * generator.normal(size=regions)
    y = np.array([0.5, -0.3]) @ x + region[r] + source[r] * s + 0.6 * generator.normal(size=people)[p]
    y += 0.8 * generator.normal(size=first)
    z = 0.7 + region[rz] + source[rz] * sz + 1.1 * generator.normal(size=second)
    columns = {"y": y, "x1": x[0], "x2": x[1], "r": r + 1, "s": s, "p": p + 1, "z": z, "rz": rz + 1, "sz": sz}
    return found | {name: column.tolist() for name, column in columns.items()}


def test_five_scales_of_two_tables_are_gone_over_from_bugs_text() -> None:
    m = pw.read_bugs(TABLES, two_tables(np.random.default_rng(0)))
    fit = m.learn(m.read_from.data())
    assert isinstance(fit, QuadratureFit) and len(fit.derivation.held) == 5
    assert [column.variable for column in fit.derivation.pointwise.own] == ["person"]
    assert fit.error < 1e-3
