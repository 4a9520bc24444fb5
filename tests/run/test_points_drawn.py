"""More numbers than a lattice goes over: points from a mixture fitted to the marginal density, each weighed."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest
from scipy import special, stats

import platewright as pw
from platewright.backends.kernels import fitted as kernel
from platewright.backends.kernels.held_density import Density_of, Unsettled
from platewright.backends.kernels.lattice import drawn_from, over_modes
from platewright.run.points.fit import QuadratureFit

Data = dict[str, np.ndarray]
SHAPES = np.array([2.0, 3.0, 5.0, 9.0, 20.0, 1.5, 40.0, 4.0])


def gammas(values: np.ndarray) -> np.ndarray:
    """Eight numbers, each a Gamma of its own shape, times a constant."""
    return np.asarray(((SHAPES - 1) * np.log(values) - values - special.gammaln(SHAPES)).sum(axis=1) + 3.0)


def found() -> dict[str, np.ndarray]:
    return over_modes(Density_of(gammas, [(0.0, np.inf)] * len(SHAPES)), 1e-4, 40_000)


def check_moments() -> None:
    """The posterior and the evidence are those of the closed form, as near as the error says."""
    points = found()
    error = float(points["error"])
    assert error < 0.02
    assert points["log_evidence"] == pytest.approx(3.0, abs=4 * error)
    values, share = np.exp(points["u"]), points["share"]
    assert np.abs(share @ values - SHAPES) / np.sqrt(SHAPES) == pytest.approx(0.0, abs=4 * error)
    assert share @ points["u"] == pytest.approx(special.digamma(SHAPES), abs=4 * error)
    for k, shape in enumerate(SHAPES):
        below = share @ (values[:, k] < stats.gamma.ppf([[0.1], [0.5], [0.9]], shape)).T
        assert below == pytest.approx([0.1, 0.5, 0.9], abs=3 * error)


def check_draws() -> None:
    density = Density_of(gammas, [(0.0, np.inf)] * len(SHAPES))
    drawn = np.exp(drawn_from(density, found(), 4000, np.random.default_rng(1)))
    for k, shape in enumerate(SHAPES):
        assert stats.kstest(drawn[:, k], stats.gamma(shape).cdf).pvalue > 1e-4


def test_moments_quantiles_and_evidence_of_eight_numbers_are_those_of_the_closed_form() -> None:
    check_moments()


def test_draws_are_of_the_posterior_and_not_of_the_mixture() -> None:
    check_draws()


@pytest.mark.parametrize("wrong", ["a part's size", "counts of parts", "the root"])
def test_a_planted_defect_is_noticed(wrong: str, monkeypatch: pytest.MonkeyPatch) -> None:
    log_student, mixture, about = kernel.log_student, kernel.mixture, kernel.about
    match wrong:
        case "a part's size":
            monkeypatch.setattr(kernel, "log_student", lambda u, part: log_student(u, part) - 0.2)
        case "counts of parts":
            monkeypatch.setattr(kernel, "mixture", lambda heights, counts: mixture(heights, counts)[::-1])
        case _:
            monkeypatch.setattr(kernel, "about", lambda part, n, rng: about((part[0], 0.8 * part[1]), n, rng))
    with pytest.raises((AssertionError, Unsettled)):
        check_moments()


def test_a_density_that_no_mixture_fits_is_declined_and_not_answered() -> None:
    """A shell: all of it lies where a mixture about its modes has next to nothing."""

    def shell(values: np.ndarray) -> np.ndarray:
        return np.asarray(-0.5 * ((values**2).sum(axis=1) - 900.0) ** 2)

    with pytest.raises(Unsettled):
        over_modes(Density_of(shell, [(-np.inf, np.inf)] * 12), 1e-4, 12_000)


def effects(generator: np.random.Generator, rows: int = 80, offset: float = 0.0) -> tuple:  # type: ignore[type-arg]
    """A mixed model of several crossed groupings, a scale each, drawn from its prior; and the truth."""
    m = pw.Model("several groupings")
    row = m.plate("row")
    m.mu = pw.Normal(offset, sd=2)
    m.s_e = pw.Gamma(4, rate=4)
    mean, data, truth = m.mu, {}, {"mu": offset + 2 * generator.normal(), "s_e": generator.gamma(4) / 4}
    y = truth["mu"] + truth["s_e"] * generator.normal(size=rows)
    for k, size in enumerate((5, 6, 7, 4, 6)):
        group = m.plate(f"group_{k}", size)
        setattr(m, f"in_{k}", pw.Input(plates=row, levels=group))
        setattr(m, f"s_{k}", pw.Gamma(4, rate=4))
        setattr(m, f"v_{k}", pw.Normal(0, sd=getattr(m, f"s_{k}"), plates=group))
        data[f"in_{k}"] = generator.integers(0, size, rows)
        truth[f"s_{k}"] = generator.gamma(4) / 4
        y = y + truth[f"s_{k}"] * generator.normal(size=size)[data[f"in_{k}"]]
        mean = mean + getattr(m, f"v_{k}")[getattr(m, f"in_{k}")]
    m.y = pw.Normal(mean, sd=m.s_e, plates=row)
    return m, {**data, "y": y}, truth


def test_density_after_elimination_times_the_conditional_is_the_joint() -> None:
    m, data, _ = effects(np.random.default_rng(0))
    for seed in (0, 1):
        (law,) = m.derive(set(data), by="quadrature").verify(seed).laws
        assert law.passed and law.error < 1e-9, law


def test_auto_takes_it_the_emitted_file_gives_the_same_and_so_does_the_fit_from_a_file(tmp_path: Path) -> None:
    m, data, _ = effects(np.random.default_rng(1))
    fit = m.learn(data)
    assert isinstance(fit, QuadratureFit), fit.how
    assert "drawn and weighed, standard error" in fit.how
    (tmp_path / "file.py").write_text(fit.source("numpy"))
    program = runpy.run_path(str(tmp_path / "file.py"))
    sizes = {name: fit.sizes[name] for name in fit.derivation.pointwise.plates}
    alone = program["learn"]({name: np.asarray(value) for name, value in fit.columns.items()}, sizes)
    assert alone["log_evidence"] == pytest.approx(fit.log_evidence, rel=1e-12)
    for name in fit.derivation.held:
        assert alone[f"{name}.mean"] == pytest.approx(float(fit[name].mean), rel=1e-10)
    fit.save(tmp_path / "fit.zip")
    again = pw.load(tmp_path / "fit.zip")
    assert again["s_2"].quantile(0.3) == fit["s_2"].quantile(0.3)
    assert np.array_equal(again.draws(5, 1)["v_1"], fit.draws(5, 1)["v_1"])


def test_offsets_cost_no_digits() -> None:
    fits = []
    for offset in (0.0, 1e6):
        m, data, _ = effects(np.random.default_rng(2), offset=offset)
        fits.append(m.learn(data, by="quadrature"))
    at = {name: np.array([0.5, 1.3]) for name in fits[0].derivation.held}
    plain, moved = (fit.eliminated.log_density(at) for fit in fits)
    assert moved == pytest.approx(plain, abs=1e-6)  # y itself is rounded to 1e-10
    assert float(fits[1]["mu"].mean) - 1e6 == pytest.approx(float(fits[0]["mu"].mean), abs=0.05)


def test_truths_drawn_from_the_prior_have_even_ranks_in_the_posterior() -> None:
    """The joint-distribution test: over data simulated from the model each quantile of the truth is uniform."""
    ranks: dict[str, list[float]] = {}
    for seed in range(25):
        m, data, truth = effects(np.random.default_rng(100 + seed), rows=60)
        fit = m.learn(data, by="quadrature")
        drawn = fit.draws(300, seed)
        for name in ("mu", "s_e", "s_0", "s_3", "s_4"):
            ranks.setdefault(name, []).append(float((drawn[name] < truth[name]).mean()))
    for name, found_ranks in ranks.items():
        assert stats.kstest(found_ranks, "uniform").pvalue > 1e-3, name
    assert stats.kstest(np.concatenate([ranks[f"s_{k}"] for k in (0, 3, 4)]), "uniform").pvalue > 1e-3
