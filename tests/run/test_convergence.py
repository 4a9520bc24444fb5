"""What is said of chains: the numbers of ArviZ, one answer everywhere, and runs that go on."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import platewright as pw
from platewright.errors import ConvergenceWarning, ParameterError
from platewright.graph.graph import read_graph
from platewright.recognition.exchangeable import Symmetry
from platewright.run.samplers import extending
from platewright.run.samplers.convergence import converged, slowest, suspects, without_labels
from platewright.run.samplers.extending import as_told, reached

RNG = np.random.default_rng(1)


def wandering(chains: int, draws: int, follows: float, apart: float, places: int = 12) -> np.ndarray:
    """Chains of first order, each about a place of its own."""
    found = np.zeros((chains, draws))
    steps = RNG.normal(size=(chains, draws))
    for draw in range(draws):
        found[:, draw] = follows * found[:, draw - 1] * (draw > 0) + steps[:, draw]
    return np.round(found + apart * RNG.normal(size=(chains, 1)), places)


@pytest.mark.parametrize("follows", [0.0, 0.9, -0.5, 0.99])
@pytest.mark.parametrize("draws", [10, 101, 400])
@pytest.mark.parametrize("chains", [1, 2, 4])
def test_r_hat_and_effective_size_are_those_of_arviz(chains: int, draws: int, follows: float) -> None:
    stats = pytest.importorskip("arviz_stats.base").array_stats
    for values in (wandering(chains, draws, follows, 0.3), wandering(chains, draws, follows, 0.3, 0)):
        r_hat, size = converged(values)
        assert size == pytest.approx(float(stats.ess(values, chain_axis=0, draw_axis=1)), rel=1e-10)
        if chains > 1:
            assert r_hat == pytest.approx(float(stats.rhat(values, chain_axis=0, draw_axis=1)), rel=1e-10)


def test_chains_of_different_spread_are_told_apart() -> None:
    """Their means agree: only the folded draws show it."""
    values = RNG.normal(size=(4, 500)) * np.array([1.0, 1.0, 1.0, 3.0])[:, None]
    assert converged(values)[0] > 1.05


def test_one_slow_element_among_many_is_found() -> None:
    values = RNG.normal(size=(4, 400, 300))
    values[:, :, 217] = wandering(4, 400, 0.97, 0.0)
    found = slowest("x", values)
    assert found is not None and found.at == (217,) and found.is_amiss
    assert 217 not in suspects(RNG.permuted(values, axis=1).reshape(4, 400, 300)[:, :, :217])


def test_a_constant_and_what_hardly_ever_changes_say_nothing() -> None:
    rare = np.zeros((4, 400), dtype=int)
    rare[0, :5] = 1
    assert slowest("z", np.zeros((4, 400))) is None
    assert slowest("z", rare, discrete=True) is None
    stuck = np.repeat(np.array([0, 1, 0, 1])[:, None], 400, axis=1)
    found = slowest("z", stuck, discrete=True)
    assert found is not None and found.is_amiss


def test_labels_that_switch_have_no_part() -> None:
    symmetry = Symmetry(("k",), ((0, 1, 2),), 3, ("z",), {"mu": (0,), "move": (0, 1)})
    mu, move = np.sort(RNG.normal(size=(2, 50, 3)), axis=-1), RNG.normal(size=(2, 50, 3, 3))
    chains = {"mu": mu, "z": RNG.integers(0, 3, (2, 50, 4)), "move": move}
    switched = symmetry.moved({name: values[1] for name, values in chains.items()}, (1, 2, 0), leading=1)
    mixed = {name: np.stack([values[0], switched[name]]) for name, values in chains.items()}
    one, other = without_labels([symmetry], chains), without_labels([symmetry], mixed)
    assert set(one) == {"mu", "move"}
    for name in one:
        np.testing.assert_array_equal(one[name], other[name])


def crossed() -> pw.Model:
    """Two rates of which the data see the sum alone."""
    m = pw.Model("crossed")
    row = m.plate("row")
    m.a = pw.Gamma(2.0, rate=1.0)
    m.b = pw.Gamma(3.0, rate=1.0)
    m.both = m.a + m.b
    m.y = pw.Poisson(m.both, plates=row)
    return m


DATA = {"y": np.random.default_rng(1).poisson(4, size=60)}


def fitted(**options: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return crossed().learn(DATA, by="gibbs", **options)


@pytest.mark.parametrize("backend", ["numpy", "c"])
def test_a_run_that_went_on_has_the_draws_of_one_that_was_told(backend: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extending, "FIRST", 20)
    monkeypatch.setattr("platewright.run.samplers.plain_chains.FIRST", 20)
    monkeypatch.setattr("platewright.run.samplers.sampling.FIRST", 20)
    monkeypatch.setattr("platewright.run.samplers.sampling.until_enough", lambda *_: doubled)
    few: dict[str, Any] = {"chains": 2, "warm_up": 20, "backend": backend}
    unset, told = fitted(**few), fitted(**few, draws=40)
    assert unset.chains["a"].shape == (2, 40)
    assert "40 draws of each chain" in unset.how and "40 draws of each chain" not in told.how
    for name, values in told.chains.items():
        assert values.tobytes() == unset.chains[name].tobytes()


def test_a_collapsed_run_goes_on_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(extending, "FIRST", 20)
    monkeypatch.setattr("platewright.run.samplers.collapsed_fit.FIRST", 20)
    monkeypatch.setattr("platewright.run.samplers.collapsed_fit.until_enough", lambda *_: doubled)
    m = pw.Model("mixture")
    n, k = m.plate("n"), m.plate("k", 2)
    m.p = pw.Dirichlet(2.0, over=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.rate = pw.Gamma(1.0, rate=0.1, plates=k)
    m.y = pw.Poisson(m.rate[m.z], plates=n)
    few: dict[str, Any] = {"by": "collapsed-gibbs", "chains": 2, "warm_up": 10, "backend": "numpy"}
    unset, told = (m.learn({"y": [1, 2, 9, 8, 1]}, **few, **more) for more in ({}, {"draws": 40}))
    assert unset.chains["z"].shape[:2] == (2, 40)
    for name, values in told.chains.items():
        assert values.tobytes() == unset.chains[name].tobytes()
    np.testing.assert_array_equal(unset.expected("rate"), told.expected("rate"))


def doubled(chains: Any) -> int:
    """Asks once for twice as many draws."""
    return 2 * as_told(chains) if as_told(chains) == 20 else as_told(chains)


def test_the_rule_reads_draws_and_gives_up_where_chains_are_apart() -> None:
    longer = extending.until_enough(read_graph(crossed(), ["y"]), (), {"row": 60})
    good, slow = RNG.normal(size=(4, 1000)), wandering(4, 1000, 0.9, 0.0)
    apart = good + 10 * np.arange(4)[:, None]
    assert longer({"a": good, "b": good}) == 1000
    assert longer({"a": good, "b": slow}) == 2000
    assert longer({"a": good, "b": apart}) == 1000
    assert longer({"a": np.tile(slow, 8)}) == 8000
    assert [reached(counts) for counts in ([], [3], [1000, 1001], [4000])] == [1000, 1000, 2000, 4000]


def test_table_note_and_diagnostics_say_the_same() -> None:
    fit = fitted(draws=60, warm_up=30, chains=2)
    found = fit.diagnostics()
    assert set(found) == {"a", "b", "both"}  # functions of unknowns too
    said = fit.summary()
    for row in said.rows:
        assert row.effective == found[row.name]["effective_size"]
        assert row.r_hat == found[row.name]["r_hat"]
    worst = max(fit.slow, key=lambda one: one.burden)
    (note,) = (note for note in said.notes if "run longer" in note or "effective draws of" in note)
    assert str(worst) in note
    assert "R-hat" in str(said) and "effective" in said._repr_html_()


def test_learn_warns_once_and_names_the_worst() -> None:
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        fit = crossed().learn(DATA, by="gibbs", draws=60, warm_up=30, chains=2)
    (one,) = (each for each in told if each.category is ConvergenceWarning)
    assert one.filename == __file__
    drawn = [slow for slow in fit.slow if slow.name != "both"]
    assert str(max(drawn, key=lambda slow: slow.burden)) in str(one.message)
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        m = pw.Model("easy")
        m.a = pw.Normal(0.0, sd=1.0)
        m.y = pw.Normal(m.a, sd=1.0, plates=m.plate("row"))
        m.learn({"y": [1.0, 2.0]}, by="gibbs", draws=1000)


def test_draws_of_closed_forms_have_no_such_columns() -> None:
    m = pw.Model("coin")
    m.a = pw.Beta(1.0, 1.0)
    m.y = pw.Bernoulli(m.a, plates=m.plate("row"))
    assert "R-hat" not in str(m.learn({"y": [0, 1, 1]}).summary())


def test_a_start_of_what_is_computed_is_refused() -> None:
    with pytest.raises(ParameterError, match="`both`, which is computed"):
        fitted(initial={"both": 3.0}, draws=5)
    with pytest.raises(ParameterError, match="no number"):
        fitted(initial={"y": "what"}, draws=5)
