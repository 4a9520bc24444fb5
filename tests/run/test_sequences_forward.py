"""Sequences drawn forward: each element from the one before it, the first of each from `start`."""

from __future__ import annotations

import numpy as np

import platewright as pw
from platewright.graph.graph import read_graph
from platewright.run.forward import simulate


def chain() -> pw.Model:
    m = pw.Model("chain")
    series = m.plate("series")
    step = m.plate("step", within=series, ordered=True)
    m.b = pw.Normal(0, sd=1)
    m.y = pw.Normal(m.b, sd=1, plates=step)
    m.z = pw.Normal(0.5 * m.lag("z") + m.b, sd=0.1, start=pw.Normal(100, sd=0.01), plates=step)
    return m


def test_parameters_tell_the_start_of_a_sequence() -> None:
    written = dict(chain().variables["z"].parameters)
    assert str(written["mean"]) == "where(first@step[step], 100, 0.5 z[step-1] + b)"


def test_a_sequence_that_nobody_saw_is_drawn_from_its_start() -> None:
    fit = chain().learn({"y": [1.0, 2.0, 3.0, 4.0, 0.0], "series": [0, 0, 0, 1, 1]})
    drawn = fit.draws(4000, seed=1)
    z, b = drawn["z"], drawn["b"]
    assert np.abs(z[:, [0, 3]] - 100).max() < 0.1
    for now, before in ((1, 0), (2, 1), (4, 3)):
        noise = z[:, now] - 0.5 * z[:, before] - b
        assert abs(noise.mean()) < 0.01 and abs(noise.std() - 0.1) < 0.01


def test_simulated_transitions_have_the_frequencies_of_their_table() -> None:
    m = pw.Model("states")
    k = m.plate("k", 2)
    o = m.plate("o", like=k)
    step = m.plate("step", ordered=True)
    m.move = pw.Input(plates=(o, k))
    m.z = pw.Categorical(m.move[m.lag("z")], over=k, start=[0.0, 1.0], plates=step)
    first = np.zeros(300, dtype=np.int64)
    first[::10] = 1
    inputs = {"move": np.array([[0.9, 0.1], [0.4, 0.6]]), "first@step": first}
    found = np.concatenate(
        [
            simulate(read_graph(m), {"step": 300, "k": 2, "o": 2}, inputs, seed)["z"].reshape(30, 10)
            for seed in range(20)
        ]
    )
    assert (found[:, 0] == 1).all()
    before, now = found[:, :-1].ravel(), found[:, 1:].ravel()
    assert abs(now[before == 0].mean() - 0.1) < 0.02
    assert abs(now[before == 1].mean() - 0.6) < 0.04


def test_a_plate_stands_for_its_index() -> None:
    m = pw.Model("pairs")
    one = m.plate("one", 3)
    two = m.plate("two", like=one)
    m.a = pw.Normal(0, sd=1, plates=one)
    m.y = pw.Normal(m.a - m.a[two], sd=1, plates=(one, two))
    y = np.arange(9.0).reshape(3, 3)
    design = np.zeros((9, 3))
    for row in range(3):
        for column in range(3):
            design[3 * row + column, row] += 1
            design[3 * row + column, column] -= 1
    expected = np.linalg.solve(np.eye(3) + design.T @ design, design.T @ y.ravel())
    np.testing.assert_allclose(m.learn({"y": y})["a"].mean, expected, atol=1e-12)


def test_predictions_of_several_models_are_averaged_exactly() -> None:
    m = pw.Model("coin")
    n = m.plate("n")
    m.p = pw.Beta(1, 1)
    m.y = pw.Bernoulli(m.p, plates=n)
    fair = pw.Model("fair")
    n = fair.plate("n")
    fair.y = pw.Bernoulli(0.5, plates=n)
    tosses = {"y": [1, 1, 1, 0]}
    compared = pw.compare([m.learn(tosses), fair.learn(tosses)])
    weights = compared.probabilities
    expected = np.log(weights @ [4 / 6, 0.5]), np.log(weights @ [2 / 6, 0.5])
    np.testing.assert_allclose(compared.log_predictive({"y": [1, 0]}), expected, atol=1e-12)
