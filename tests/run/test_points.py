"""Quadrature over a few numbers: its density is the joint's, its posterior that of brute force."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from tests.points_models import MODELS, Data, crossed, product, schools, slopes

import platewright as pw
from platewright.backends.kernels import eliminated
from platewright.errors import UnknownName
from platewright.run.points.fit import QuadratureFit


def learned(name: str, seed: int = 3) -> QuadratureFit:
    m, data = MODELS[name](np.random.default_rng(seed))
    fit = m.learn(data, by="quadrature")
    assert isinstance(fit, QuadratureFit), fit.how
    return fit


@pytest.mark.parametrize("name", MODELS)
def test_density_after_elimination_times_the_conditional_is_the_joint(name: str) -> None:
    m, data = MODELS[name](np.random.default_rng(1))
    for seed in (0, 1):
        (law,) = m.derive(set(data), by="quadrature").verify(seed).laws
        assert law.passed and law.error < 1e-9, law


def _defects() -> dict[str, tuple[str, object]]:
    quadratics, own_given, taken_out = eliminated.quadratics, eliminated.own_given, eliminated.taken_out

    def lost_volume(found: eliminated.Found, scales: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        whole, left = quadratics(found, scales)
        return whole, left + 0.01 * np.log(scales).sum(axis=1)

    def lost_turn(found: eliminated.Found, scales: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return quadratics({**found, "within": found["within"] * 1.001}, scales)

    def other_gain(found: eliminated.Found, scales: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        gain, noise = own_given(found, scales)
        return gain * 1.001, noise

    def lost_within(*given: object) -> eliminated.Found:
        found = taken_out(*given)  # type: ignore[arg-type]
        return {**found, "within": 0.0 * found["within"]}

    return {
        "a volume": ("quadratics", lost_volume),
        "squares within elements": ("quadratics", lost_turn),
        "the gain": ("own_given", other_gain),
        "what is left within elements": ("taken_out", lost_within),
    }


@pytest.mark.parametrize("name", _defects())
def test_a_planted_defect_is_noticed(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    m, data = crossed(np.random.default_rng(1))
    plan = m.derive(set(data), by="quadrature")
    where, what = _defects()[name]
    monkeypatch.setattr(eliminated, where, what)
    from platewright.run.points.loaded import loaded_points

    loaded_points.cache_clear()
    try:
        assert not plan.verify().laws[0].passed
    finally:
        loaded_points.cache_clear()


def _dense_log_density(data: Data, at: np.ndarray) -> np.ndarray:
    """`log p(y, s_u, s_v, s_e)` of the crossed model by the dense covariance of all rows."""
    y, x, count = data["y"], data["x"], len(data["y"])
    region = np.eye(data["region"].max() + 1)[data["region"]]
    person = np.eye(data["person"].max() + 1)[data["person"]]
    fixed = 100.0 + 100.0 * np.outer(x, x)
    squares = (at**2).T[..., None, None]
    covariance = (
        fixed + squares[0] * (region @ region.T) + squares[1] * (person @ person.T) + squares[2] * np.eye(count)
    )
    root = np.linalg.cholesky(covariance)
    away = np.linalg.solve(covariance, np.broadcast_to(y[:, None], (len(at), count, 1)))[..., 0] @ y
    log_root = np.log(np.diagonal(root, axis1=1, axis2=2)).sum(axis=1)
    found = -0.5 * away - log_root - 0.5 * count * np.log(2 * np.pi)
    prior = stats.halfnorm.logpdf(at[:, 0], scale=2.0) + stats.expon.logpdf(at[:, 1]) + np.log(0.1)
    return found + prior


def test_the_posterior_is_that_of_brute_force() -> None:
    m, data = crossed(np.random.default_rng(5), people=6)
    fit = m.learn(data, by="quadrature")
    assert isinstance(fit, QuadratureFit)
    names = ("s_u", "s_v", "s_e")
    axes = []
    for name in names:  # the middle of even cells on the log scale, far into both tails
        low, high = np.log(fit[name].quantile([1e-5, 1 - 1e-5]))
        axes.append(np.linspace(low - 2.0 * (name != "s_e"), high + 0.3, 30))
    logs = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    heights = _dense_log_density(data, np.exp(logs)) + logs.sum(axis=1)
    share = np.exp(heights - heights.max())
    volume = np.prod([axis[1] - axis[0] for axis in axes])
    assert fit.log_evidence == pytest.approx(np.log(share.sum() * volume) + heights.max(), abs=2e-3)
    share /= share.sum()
    for k, name in enumerate(names):
        values = np.exp(logs[:, k])
        mean = share @ values
        sd = np.sqrt(share @ (values - mean) ** 2)
        assert fit[name].mean == pytest.approx(mean, abs=4e-3 * sd)
        assert fit[name].sd == pytest.approx(sd, rel=1e-2)
        below = np.cumsum([share[values == value].sum() for value in np.exp(axes[k])])
        edges = axes[k] + (axes[k][1] - axes[k][0]) / 2
        for q in (0.2, 0.8):
            assert np.interp(np.log(fit[name].quantile(q)), edges, below) == pytest.approx(q, abs=0.01)


def test_one_number_has_the_moments_quantiles_and_density_of_a_fine_grid() -> None:
    m, data = schools(np.random.default_rng(0))
    fit = m.learn(data, by="quadrature")
    assert isinstance(fit, QuadratureFit)
    tau = np.exp(np.linspace(-14, 9, 20001))
    variance = tau[:, None] ** 2 + data["se"] ** 2
    precision = (1 / variance).sum(axis=1) + 1 / 400
    mean = (data["y"] / variance).sum(axis=1) / precision
    logs = stats.norm.logpdf(data["y"], 0, np.sqrt(variance)).sum(axis=1) + 0.5 * precision * mean**2
    logs += -0.5 * np.log(400 * precision) + np.log(2) + stats.cauchy.logpdf(tau, 0, 5) + np.log(tau)
    step = np.log(tau[1] / tau[0])
    assert fit.log_evidence == pytest.approx(np.log(np.exp(logs).sum() * step), abs=1e-5)
    share = np.exp(logs) / np.exp(logs).sum()
    assert fit["tau"].mean == pytest.approx(share @ tau, rel=1e-3)
    for q in (0.05, 0.5, 0.95):
        assert share @ (tau <= fit["tau"].quantile(q)) == pytest.approx(q, abs=3e-3)
    at = np.searchsorted(tau, 6.0)
    assert fit["tau"].log_density(tau[at]) == pytest.approx(np.log(share[at] / step / tau[at]), abs=1e-2)
    centre = share @ mean
    assert fit["mu"].mean == pytest.approx(centre, rel=1e-4)
    assert fit["mu"].variance == pytest.approx(share @ (1 / precision + (mean - centre) ** 2), rel=1e-4)


@pytest.mark.parametrize("unit", [1.0, 20.0])
def test_the_density_of_a_number_has_its_moments_in_any_unit(unit: float) -> None:
    m = pw.Model("level")
    n = m.plate("n")
    m.b = pw.StudentT(5, 0.0, scale=1.5 * unit)
    m.y = pw.Normal(m.b, sd=unit, plates=n)
    y = np.array([0.3, 1.9, -0.4])
    found = m.learn({"y": y * unit}, by="quadrature")["b"]
    grid = unit * np.linspace(-12, 12, 20_001)
    density = np.exp(found.log_density(grid))
    mass = np.trapezoid(density, grid)
    mean = np.trapezoid(density * grid, grid)
    assert mass == pytest.approx(1, abs=1e-5)
    assert mean == pytest.approx(found.mean, rel=1e-4)
    assert np.sqrt(np.trapezoid(density * (grid - mean) ** 2, grid)) == pytest.approx(found.sd, rel=1e-3)
    known = np.exp(stats.t.logpdf(grid / unit, 5, scale=1.5) + stats.norm.logpdf(y[:, None], grid / unit).sum(axis=0))
    known /= np.trapezoid(known, grid)
    at = np.array([-2, -1, 0, 1, 2]) * found.sd + found.mean
    np.testing.assert_allclose(found.log_density(at), np.log(np.interp(at, grid, known)), atol=0.01)


def test_the_order_of_writing_and_sized_plates_change_nothing() -> None:
    first, data = crossed(np.random.default_rng(2), people=30)
    second, _ = crossed(np.random.default_rng(2), people=30, reverse=True)
    fits = [m.learn(data, by="quadrature") for m in (first, second)]
    assert all(isinstance(fit, QuadratureFit) for fit in fits)
    assert fits[0].log_evidence == pytest.approx(fits[1].log_evidence, abs=1e-4)
    for fit in fits:
        assert [column.variable for column in fit.derivation.pointwise.own] == ["v"]
    for name in ("mu", "s_u", "u", "v"):
        np.testing.assert_allclose(fits[0][name].mean, fits[1][name].mean, atol=1e-4)


def test_offsets_of_a_million_lose_no_digits() -> None:
    _, data = crossed(np.random.default_rng(4), people=20)
    fits = []
    for offset in (0.0, 2.0**20):
        m = pw.Model("offset")
        person, row = m.plate("persons"), m.plate("row")
        m.person = pw.Input(plates=row, levels=person)
        m.x = pw.Input(plates=row)
        m.mu = pw.Normal(offset, sd=3.0)
        m.beta = pw.Normal(0, sd=3.0)
        m.s_v = pw.HalfNormal(sd=1.0)
        m.s_e = pw.HalfNormal(sd=1.0)
        m.v = pw.Normal(0, sd=m.s_v, plates=person)
        m.y = pw.Normal(m.mu + m.beta * m.x + m.v[m.person], sd=m.s_e, plates=row)
        rounded = np.round(data["y"] * 2**20) / 2**20  # exact beside the offset
        fits.append(m.learn({"person": data["person"], "x": data["x"], "y": rounded + offset}, by="quadrature"))
    assert fits[0].log_evidence == pytest.approx(fits[1].log_evidence, abs=1e-7)
    for name in ("s_v", "s_e", "beta", "v"):
        np.testing.assert_allclose(fits[0][name].mean, fits[1][name].mean, rtol=1e-7, atol=1e-8)
    assert fits[1]["mu"].mean - 2.0**20 == pytest.approx(fits[0]["mu"].mean, abs=1e-7)


def test_modes_are_weighed_by_their_mass() -> None:
    m, data = product(np.random.default_rng(0))
    fit = m.learn(data, by="quadrature")
    assert isinstance(fit, QuadratureFit) and len(fit.found["modes"]) == 2
    b = np.linspace(-12, 12, 24001)
    precision = 0.25 + 9 * b**2
    mean = (0.25 + b * data["y"].sum()) / precision
    logs = -0.5 * np.log(precision) + 0.5 * precision * mean**2 + stats.norm.logpdf(b, 0.3, 2.0)
    share = np.exp(logs - logs.max())
    share /= share.sum()
    right = share @ (b > 0)
    drawn = fit.draws(100, 1)
    assert (drawn["b"] > 0).mean() == pytest.approx(right, abs=0.16)
    assert fit.found["share"] @ (fit.found["u"][:, 0] > 0) == pytest.approx(right, abs=2e-3)
    assert fit["b"].mean == pytest.approx(share @ b, abs=2e-3)
    np.testing.assert_array_equal(drawn["a"] > 0, drawn["b"] > 0)


def test_a_result_is_a_result_like_any_other() -> None:
    m, data = slopes(np.random.default_rng(3))
    fit = m.learn(data, by="quadrature", chains=2, draws=300, warm_up=10, seed=4)
    assert isinstance(fit, QuadratureFit)
    drawn = fit.draws()
    assert drawn["level"].shape == (600, 7)
    many = fit.draws(6000, 9)
    for name in ("a", "s_a", "level", "slope"):
        sd = fit[name].sd
        np.testing.assert_array_less(np.abs(many[name].mean(axis=0) - fit[name].mean) / sd, 0.07)
        np.testing.assert_allclose(many[name].std(axis=0), sd, rtol=0.07)
        for q in (0.1, 0.9):
            assert np.abs((many[name] <= fit[name].quantile(q)).mean(axis=0) - q).max() < 0.025
    assert all(found["independent"] for found in fit.diagnostics().values())
    assert fit.evidence.error is not None and fit.evidence.error < 1e-3
    assert "quadrature" in str(fit.summary()) and "level[0]" in str(fit.summary())
    assert "for each group" in fit.explain() and "eliminate s_a, s_b, s: few numbers" in fit.explain()
    ahead = fit.predict({"g": [1, 2], "x": [0.0, 1.0]}, count=4000)
    assert ahead["y"].mean[0] == pytest.approx(fit["level"].mean[1], abs=0.05)
    inside = np.linspace(-6, 8, 2001)
    mass = np.exp([fit["level"].log_density(np.full(7, x)) for x in inside]).sum(axis=0) * (inside[1] - inside[0])
    np.testing.assert_allclose(mass, 1.0, atol=1e-3)


def test_the_emitted_file_gives_the_numbers_of_the_result(tmp_path: Path) -> None:
    fit = learned("two_tables")
    path = tmp_path / "emitted.py"
    path.write_text(fit.source())
    learn = runpy.run_path(str(path))["learn"]
    found = learn(dict(fit.columns), dict(fit.sizes))
    assert found["log_evidence"] == fit.log_evidence
    assert found["s_p.mean"] == pytest.approx(float(fit["s_p"].mean), rel=1e-12)
    assert found["s_p.sd"] == pytest.approx(float(fit["s_p"].sd), rel=1e-10)
    (own,) = fit.derivation.pointwise.own
    np.testing.assert_allclose(found["of_elements.sd"][:, 0], fit[own.variable].sd, rtol=1e-12)


def test_what_a_sampler_alone_can_do_is_refused_by_name() -> None:
    m, data = slopes(np.random.default_rng(3))
    with pytest.raises(UnknownName, match="initial"):
        m.learn(data, by="quadrature", initial={"s": 0.3})
