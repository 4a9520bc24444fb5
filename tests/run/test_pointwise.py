"""Pointwise scores: densities against those written by hand, leave-one-out against learning again, and its laws."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm, poisson, t

import platewright as pw
from platewright.errors import DataError, NotLearned, ShapeError, UnsureWarning
from platewright.run.results import likelihood, outcome, pointwise
from platewright.run.results.likelihood import likelihood_given
from platewright.run.results.result import Result
from result_kinds import FEW, TWO, Y, mixture, normal, result

MIXTURES = ["em", "mean-field", "gibbs of classes", "collapsed-gibbs"]


def densities(fit: Result) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Draws of the parameters, and the densities that follow from them."""
    drawn = dict(fit.parameters())
    latent = getattr(fit.derivation, "latent", None)
    found = likelihood_given(fit.derivation.graph, drawn, () if latent is None else latent.names)
    return drawn, found.per_draw(drawn, fit.columns, fit.sizes)


@pytest.mark.parametrize("kind", MIXTURES)
def test_classes_of_rows_are_summed_out_whether_they_were_drawn_or_not(kind: str) -> None:
    fit = result(kind)
    drawn, found = densities(fit)
    y = np.asarray(fit.columns["y"])[:, None]
    for at in (0, len(drawn["mu"]) - 1):
        share, mu, tau = (drawn[name][at] for name in ("share", "mu", "tau"))
        by_hand = logsumexp(norm.logpdf(y, mu, tau**-0.5), b=share, axis=1)
        assert found["y"][at] == pytest.approx(by_hand, rel=1e-9)


def test_densities_of_a_normal_are_those_of_scipy() -> None:
    for kind in ("exact", "gibbs", "mode"):
        drawn, found = densities(result(kind))
        by_hand = norm.logpdf(Y[None, :], drawn["mu"][:, None], drawn["tau"][:, None] ** -0.5)
        assert found["y"] == pytest.approx(by_hand, rel=1e-9)


def test_densities_of_many_draws_are_looked_at_in_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = densities(result("exact"))[1]["y"]
    monkeypatch.setattr(likelihood, "MOST_CELLS", 700)
    assert np.array_equal(densities(result("exact"))[1]["y"], whole)


def test_effects_of_groups_are_conditioned_on() -> None:
    m = pw.Model("effects")
    group = m.plate("group")
    row = m.plate("row", within=group)
    m.tau = pw.Gamma(2, rate=2)
    m.a = pw.Normal(0, sd=1, plates=group)
    m.y = pw.Normal(m.a, precision=m.tau, plates=row)
    at = np.repeat(np.arange(4), 5)
    fit = m.learn({"y": Y[:20], "group": at}, by="gibbs", **FEW)
    drawn, found = densities(fit)
    by_hand = norm.logpdf(Y[:20], drawn["a"][:, at], drawn["tau"][:, None] ** -0.5)
    assert found["y"] == pytest.approx(by_hand, rel=1e-9)


def schools() -> pw.Model:
    m = pw.Model("schools")
    school = m.plate("school")
    m.error = pw.Input(plates=school)
    m.mu = pw.Normal(0, sd=10)
    m.tau = pw.HalfNormal(sd=10)
    m.effect = pw.Normal(m.mu, sd=m.tau, plates=school)
    m.y = pw.Normal(m.effect, sd=m.error, plates=school)
    return m


def test_leaving_a_row_out_takes_its_own_effect_out_too() -> None:
    """8 schools: the weights of a school are those without its effect, so that they can be trusted."""
    y = np.array([28.0, 8, -3, 7, -1, 1, 18, 12])
    error = np.array([15.0, 10, 16, 11, 9, 11, 10, 18])
    fit = schools().learn({"y": y, "error": error}, by="gibbs", chains=2, draws=800)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnsureWarning)
        left = fit.leave_one_out()
    for out in (0,):
        rest = {"y": np.delete(y, out), "error": np.delete(error, out)}
        again = schools().learn(rest, by="gibbs", chains=2, draws=800)
        new = {"y": y[[out]], "error": error[[out]]}
        assert left[out] == pytest.approx(again.log_predictive(new)[0], abs=0.08)


def test_draws_agree_with_the_closed_form() -> None:
    exact, drawn = result("exact"), normal().learn({"y": Y}, by="gibbs", chains=2, draws=2000)
    with pytest.warns(UnsureWarning, match=r"1 rows \(9\)"):  # far out, and named
        apart = np.abs(drawn.leave_one_out() - exact.leave_one_out())
    assert np.delete(apart, 9).max() < 0.02 and apart[9] < 0.4
    new = {"y": [-3.0, 2.0, 6.0]}
    assert drawn.log_predictive(new) == pytest.approx(exact.log_predictive(new), abs=0.03)


def test_a_mode_is_found_anew_without_the_row() -> None:
    left = result("mode").leave_one_out()
    for out in (0, 9):
        again = normal().learn({"y": np.delete(Y, out)}, goal="map").point
        assert left[out] == pytest.approx(norm.logpdf(Y[out], again["mu"], again["tau"] ** -0.5), rel=1e-9)


@pytest.mark.parametrize(("by", "near"), [("em", 1e-4), ("mean-field", 0.02), ("collapsed-gibbs", 0.1)])
def test_leave_one_out_is_learning_without_the_row(by: str, near: float) -> None:
    options = {"chains": 1, "draws": 800} if by == "collapsed-gibbs" else {}
    left = mixture().learn({"y": TWO}, by=by, **options).leave_one_out()
    assert left.shape == (24,)
    for out in (0,):
        again = mixture().learn({"y": np.delete(TWO, out)}, by=by, **options)
        assert left[out] == pytest.approx(again.log_predictive({"y": TWO[[out]]})[0], abs=near)


def test_a_row_tells_more_than_it_does_without_itself() -> None:
    """Planted: densities given all rows are too high, so leave-one-out is not their mean."""
    fit = result("gibbs of classes")
    assert fit.leave_one_out().sum() < fit.log_predictive({"y": TWO}).sum() - 0.5


def test_rows_may_come_in_any_order() -> None:
    order = np.random.default_rng(0).permutation(24)
    fit, turned = (mixture().learn({"y": y}, by="em") for y in (TWO, TWO[order]))
    assert turned.leave_one_out() == pytest.approx(fit.leave_one_out()[order], abs=1e-4)


def test_a_new_row_has_a_density_that_integrates_to_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcome, "DRAWS_OF_PARAMETERS", 200)
    grid = np.linspace(-25, 25, 1001)
    for kind in MIXTURES:
        total = np.exp(result(kind).log_predictive({"y": grid})).sum() * (grid[1] - grid[0])
        assert total == pytest.approx(1, abs=2e-3)


def test_a_row_that_tells_too_much_is_named() -> None:
    fit = normal().learn({"y": [*Y[:6], 60.0]}, by="gibbs", **FEW)
    with pytest.warns(UnsureWarning, match=r"\(.*6"):
        fit.leave_one_out()


def test_counts_and_their_rates() -> None:
    m = pw.Model("counts")
    row = m.plate("row")
    m.rate = pw.Gamma(2, rate=1)
    m.k = pw.Poisson(m.rate, plates=row)
    k = np.array([0, 2, 3, 1])
    drawn, found = densities(m.learn({"k": k}))
    assert found["k"] == pytest.approx(poisson.logpmf(k, drawn["rate"][:, None]))


def test_steps_of_a_hidden_chain_are_scored_by_those_before_them() -> None:
    m = pw.Model("chain")
    step = m.plate("step", ordered=True)
    state = m.plate("state", 2)
    to = m.plate("to", like=state)
    m.move = pw.Dirichlet(2, over=to, plates=state)
    m.mu = pw.Normal(0, sd=3, plates=state)
    m.begin = pw.Dirichlet(2, over=to)
    m.z = pw.Categorical(m.move[m.lag("z")], plates=step, start=m.begin)
    m.y = pw.Normal(m.mu[m.z], sd=1, plates=step)
    fit = m.learn({"y": TWO[:10]}, by="em")
    drawn, found = densities(fit)
    move, mu = drawn["move"][0], drawn["mu"][0]
    chance, total = drawn["begin"][0], []
    for number, y in enumerate(TWO[:10]):
        chance = (chance @ move if number else chance) * norm.pdf(y, mu, 1)
        total.append(np.log(chance.sum()))
        chance = chance / chance.sum()
    assert found["y"][0] == pytest.approx(total, rel=1e-8)


def test_what_cannot_be_scored_says_why() -> None:
    with pytest.raises(NotLearned, match="no posterior"):
        result("enumeration").leave_one_out()
    m = pw.Model("two")
    one, two = m.plate("one"), m.plate("two")
    m.mu = pw.HalfNormal(sd=1)
    m.x = pw.Normal(m.mu, sd=1, plates=one)
    m.y = pw.Normal(m.mu, sd=1, plates=two)
    fit = m.learn({"x": [1.0], "y": [2.0, 3.0]}, by="gibbs", **FEW)
    with pytest.raises(NotLearned, match="which are the rows"):
        fit.leave_one_out()
    gone = normal().learn({"y": Y}, by="gibbs", **FEW)
    with pytest.raises(DataError, match="not kept"):
        replace(gone, columns={}).leave_one_out()


def test_student_t_of_the_closed_form() -> None:
    """The judge of the judges: leave-one-out of a normal sample is a Student t of the others."""
    left = result("exact").leave_one_out()
    rest = np.delete(Y, 3)
    count, mean = len(rest), rest.mean()
    precision = 0.1 + count
    centre = count * mean / precision
    shape = 2 + count / 2
    rate = 3 + 0.5 * ((rest - mean) ** 2).sum() + 0.5 * 0.1 * count / precision * mean**2
    scale = np.sqrt(rate / shape * (1 + 1 / precision))
    assert left[3] == pytest.approx(t.logpdf(Y[3], 2 * shape, centre, scale), rel=1e-9)


def test_new_rows_with_other_groups_are_refused() -> None:
    m = pw.Model("levels")
    row, kind = m.plate("row"), m.plate("kind")
    m.sd = pw.HalfNormal(sd=1)
    m.mu = pw.Normal(0, sd=m.sd, plates=kind)
    m.y = pw.Normal(m.mu, sd=1, plates=(row, kind))
    fit = m.learn({"y": np.zeros((3, 2))}, by="gibbs", **FEW)
    with pytest.raises((ShapeError, DataError), match="kind"):
        fit.log_predictive({"y": np.zeros((1, 3))})


@pytest.mark.parametrize(
    ("place", "name", "wrong"),
    [
        (likelihood, "log_norms", lambda true: lambda *given: {n: v + 0.01 for n, v in true(*given).items()}),
        (likelihood, "lift", lambda true: lambda *given: true(given[0], frozenset(sorted(given[1])[:1]), given[2])),
        (pointwise, "by_row", lambda true: lambda found, densities, row: -true(found, densities, row)),
        (pointwise, "_log_mean", lambda true: lambda scores: true(2 * scores) / 2),
    ],
    ids=["an integral that is off", "a draw that is not put in", "weights that are turned round", "a mean of squares"],
)
def test_a_planted_defect_is_noticed(monkeypatch: pytest.MonkeyPatch, place: object, name: str, wrong: object) -> None:
    monkeypatch.setattr(place, name, wrong(getattr(place, name)))  # type: ignore[operator]
    laws = (
        lambda: test_classes_of_rows_are_summed_out_whether_they_were_drawn_or_not("em"),
        test_densities_of_a_normal_are_those_of_scipy,
        test_a_row_tells_more_than_it_does_without_itself,
        lambda: test_a_new_row_has_a_density_that_integrates_to_one(monkeypatch),
    )
    broken = 0
    for law in laws:
        try:
            law()
        except (AssertionError, KeyError, ValueError):
            broken += 1
    assert broken
