"""New steps of a sequence follow the last ones that were learned from: densities by evidence, draws by simulation."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import platewright as pw
from example_models import autoregression, markov_chain
from platewright.errors import DataError, PlatewrightError

COUNT = 20_000


def several(rng: np.random.Generator, rows: int) -> tuple[pw.Model, dict[str, Any]]:
    m = pw.Model("several sequences")
    g = m.plate("g")
    s = m.plate("s", within=g, ordered=True)
    m.tau = pw.Gamma(3, rate=2)
    m.phi = pw.Normal(0.5, precision=m.tau)
    m.x = pw.Input(plates=s)
    m.y = pw.Normal(m.phi * m.lag("y") + m.x, precision=m.tau, start=0.0, plates=s)
    groups = np.sort(rng.integers(0, 3, rows))
    return m, {"y": rng.normal(size=rows), "x": rng.normal(size=rows), "g": np.array(["a", "b", "c"])[groups]}


def walk(rng: np.random.Generator, rows: int) -> tuple[pw.Model, dict[str, Any]]:
    m = pw.Model("walk")
    step = m.plate("step", ordered=True)
    m.level = pw.Normal(m.lag("level"), sd=1.0, start=pw.Normal(0.0, sd=10.0), plates=step)
    m.seen = pw.Normal(m.level, sd=0.5, plates=step)
    return m, {"seen": np.cumsum(rng.normal(size=rows))}


def drift(rng: np.random.Generator, rows: int) -> tuple[pw.Model, dict[str, Any]]:
    m = pw.Model("drift")
    step = m.plate("step", ordered=True)
    m.rate = pw.Normal(0.0, sd=2.0)
    m.y = pw.Normal(m.lag("y") + m.rate, sd=0.5, start=0.0, plates=step)
    return m, {"y": np.cumsum(0.3 + 0.5 * rng.normal(size=rows))}


def all_paths(length: int) -> Iterator[tuple[int, ...]]:
    return product(range(3), repeat=length)


def test_the_paths_of_a_markov_chain_have_the_probabilities_of_enumeration() -> None:
    m, data = markov_chain(np.random.default_rng(3), 20)
    fit = m.learn(data)
    new = fit.predict(2, count=COUNT, seed=1)
    drawn = new.draws["z"]
    total = 0.0
    for path in all_paths(2):
        exact = np.exp(np.sum(new.log_density({"z": list(path)})))
        longer = m.learn({"z": [*data["z"], *path]}).log_evidence - fit.log_evidence
        assert exact == pytest.approx(np.exp(longer), rel=1e-10)
        share = np.mean((drawn == path).all(axis=1))
        assert abs(share - exact) < 5 * np.sqrt(exact * (1 - exact) / COUNT)
        total += exact
    assert total == pytest.approx(1.0, rel=1e-10)


def test_the_next_state_of_a_markov_chain_has_exact_probabilities() -> None:
    m, data = markov_chain(np.random.default_rng(4), 15)
    fit = m.learn(data)
    next_state = fit.predict(1)["z"]
    longer = [m.learn({"z": [*data["z"], state]}).log_evidence - fit.log_evidence for state in range(3)]
    np.testing.assert_allclose(next_state.parameters["log_probabilities"][0], longer, rtol=1e-10)


def test_the_next_value_of_an_autoregression_is_student() -> None:
    m, data = autoregression(np.random.default_rng(5), 12)
    fit = m.learn(data)
    after = fit.predict(1)["y"]
    assert after.family.name == "StudentT"
    for value in (-2.0, 0.1, 3.0):
        longer = m.learn({"y": [*data["y"], value]}).log_evidence - fit.log_evidence
        np.testing.assert_allclose(after.log_density([value]), longer, rtol=1e-9)


def test_later_values_of_an_autoregression_are_those_of_simulation() -> None:
    m, data = autoregression(np.random.default_rng(6), 40)
    fit = m.learn(data)
    drawn = fit.predict(4, count=COUNT, seed=2).draws["y"]
    parameters, rng = fit.draws(COUNT, seed=3), np.random.default_rng(4)
    value, by_hand = np.full(COUNT, data["y"][-1]), []
    for _ in range(4):
        noise = rng.normal(size=COUNT) / np.sqrt(parameters["tau"])
        value = parameters["c"] + parameters["phi"] * value + noise
        by_hand.append(value)
    for step, wanted in enumerate(by_hand):
        error = 5 * np.sqrt(2 / COUNT) * wanted.std()
        assert abs(drawn[:, step].mean() - wanted.mean()) < error
        np.testing.assert_allclose(drawn[:, step].std(), wanted.std(), rtol=0.05)
        pairs = [np.corrcoef(pair)[0, 1] for pair in ((drawn[:, step], drawn[:, 0]), (wanted, by_hand[0]))]
        assert abs(pairs[0] - pairs[1]) < 5 * np.sqrt(2 / COUNT)


def test_the_density_of_two_steps_integrates_to_one() -> None:
    m, data = drift(np.random.default_rng(7), 8)
    fit = m.learn(data)
    new = fit.predict(2)
    here = data["y"][-1] + np.linspace(-4, 5, 28)
    cell = (here[1] - here[0]) ** 2
    total = sum(np.exp(np.sum(new.log_density({"y": [a, b]}))) * cell for a in here for b in here)
    assert total == pytest.approx(1.0, abs=2e-3)


def test_each_sequence_goes_on_behind_its_own_last_row() -> None:
    m, data = several(np.random.default_rng(8), 30)
    fit = m.learn(data)
    ends = {label: np.flatnonzero(data["g"] == label)[-1] for label in "abc"}
    given = {"g": ["c", "a"], "x": [0.3, -1.0]}
    after = fit.predict(given)["y"]
    assert after.family.name == "StudentT"
    phi = fit["phi"].mean
    wanted = [phi * data["y"][ends["c"]] + 0.3, phi * data["y"][ends["a"]] - 1.0]
    np.testing.assert_allclose(after.mean, wanted, rtol=1e-10)
    values = [0.7, -0.2]
    order = {"c": 0, "a": 1}
    whole = {name: list(column) for name, column in data.items()}
    for label in ("c", "a"):
        at = max(k for k, g in enumerate(whole["g"]) if g == label) + 1
        row = {"g": label, "x": given["x"][order[label]], "y": values[order[label]]}
        for name in whole:
            whole[name].insert(at, row[name])
    longer = m.learn(whole).log_evidence - fit.log_evidence
    both = fit.log_predictive({**given, "y": values})
    np.testing.assert_allclose(both.sum(), longer, rtol=1e-9)


def test_sequences_of_different_lengths_go_on_together() -> None:
    m, data = several(np.random.default_rng(9), 30)
    fit = m.learn(data)
    x = [1.0, 2.0, 3.0, -1.0]
    drawn = fit.predict({"g": ["b", "b", "b", "a"], "x": x}, count=COUNT, seed=5).draws["y"]
    parameters, rng = fit.draws(COUNT, seed=6), np.random.default_rng(7)
    for label, rows in (("b", [0, 1, 2]), ("a", [3])):
        value = np.full(COUNT, data["y"][np.flatnonzero(data["g"] == label)[-1]])
        for row in rows:
            value = parameters["phi"] * value + x[row] + rng.normal(size=COUNT) / np.sqrt(parameters["tau"])
            assert abs(drawn[:, row].mean() - value.mean()) < 5 * np.sqrt(2 / COUNT) * value.std()
            np.testing.assert_allclose(drawn[:, row].std(), value.std(), rtol=0.05)


def test_a_hidden_walk_goes_on_from_its_last_level() -> None:
    m, data = walk(np.random.default_rng(10), 25)
    fit = m.learn(data)
    drawn = fit.predict(3, count=COUNT, seed=8).draws["seen"]
    mean, variance = fit["level"].mean[-1], fit["level"].variance[-1]
    for step in range(3):
        wide = variance + (step + 1) * 1.0 + 0.25
        assert abs(drawn[:, step].mean() - mean) < 5 * np.sqrt(wide / COUNT)
        np.testing.assert_allclose(drawn[:, step].var(), wide, rtol=0.06)


def test_no_new_steps_are_no_draws() -> None:
    m, data = autoregression(np.random.default_rng(11), 10)
    assert m.learn(data).predict(0, count=7).draws["y"].shape == (7, 0)


def test_rows_of_a_file_are_not_kept(tmp_path: Path) -> None:
    m, data = autoregression(np.random.default_rng(12), 10)
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(["y", *map(repr, data["y"].tolist())]))
    with pytest.raises(DataError, match="not kept"):
        m.learn(path).predict(2).draws  # noqa: B018


def test_new_steps_of_several_sequences_say_which() -> None:
    m, data = several(np.random.default_rng(13), 30)
    with pytest.raises(PlatewrightError, match=r"`g`|`x`"):
        m.learn(data).predict(2).draws  # noqa: B018


def test_a_past_with_missing_cells_is_refused() -> None:
    m, data = drift(np.random.default_rng(14), 10)
    m.also = pw.Normal(m.rate, sd=1.0, plates=m.plates["step"])
    also = np.random.default_rng(15).normal(size=10)
    also[4] = np.nan
    fit = m.learn({**data, "also": also})
    with pytest.raises(PlatewrightError, match="`also` had missing cells"):
        fit.predict(2).draws  # noqa: B018
