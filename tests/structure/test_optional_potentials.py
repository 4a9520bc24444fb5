"""Optional potentials: components normalised with and without them, enumerated, searched and sampled alike."""

from __future__ import annotations

import numpy as np
import pytest

import platewright as pw
from platewright.errors import ModelError
from platewright.graph.graph import read_graph
from platewright.graph.text import graph_text
from platewright.language.serial import model_from_json, model_json

RNG = np.random.default_rng(0)
A = RNG.integers(0, 2, 40)
DATA = {"a": A, "b": np.where(RNG.random(40) < 0.7, A, 1 - A), "c": RNG.integers(0, 2, 40)}
PAIRS = {"ab": ("a", "b"), "bc": ("b", "c"), "ac": ("a", "c")}


def triangle(optional: frozenset[str] = frozenset(PAIRS), there: frozenset[str] = frozenset(PAIRS)) -> pw.Model:
    """Three spins, each pair tied or not, all ties of one strength that is unknown."""
    m = pw.Model("triangle")
    row, level = m.plate("row"), m.plate("level", 2)
    m.tie = pw.Normal(0.5, sd=1)
    m.a, m.b, m.c = (pw.Undirected(levels=level, plates=row) for _ in range(3))
    m.potential("lean", 0.3 * m.a)
    for name, (one, two) in PAIRS.items():
        if name in there:
            one, two = getattr(m, one), getattr(m, two)
            m.potential(name, m.tie * pw.equal(one, two), of=[one, two], optional=name in optional)
    return m


def by_hand(there: frozenset[str]) -> float:
    """log p(data) by the trapezium rule over the strength, every state of the spins in the normaliser."""
    grid = np.linspace(-6.0, 7.0, 6001)
    states = [dict(zip("abc", state, strict=True)) for state in np.ndindex(2, 2, 2)]

    def height(spins: dict[str, int]) -> np.ndarray:
        return 0.3 * spins["a"] + grid * sum(spins[PAIRS[name][0]] == spins[PAIRS[name][1]] for name in there)

    normaliser = np.logaddexp.reduce([height(state) for state in states], axis=0)
    total = -0.5 * (grid - 0.5) ** 2 - 0.5 * np.log(2 * np.pi)
    for row in range(40):
        total = total + height({name: int(column[row]) for name, column in DATA.items()}) - normaliser
    return float(np.logaddexp.reduce(total) + np.log(grid[1] - grid[0]))


def test_the_eight_models_have_the_probabilities_of_their_evidences() -> None:
    exact = triangle().structures().enumerate(DATA)
    assert len(exact.weighed) == 8
    subsets = [frozenset(name for k, name in enumerate(PAIRS) if code >> k & 1) for code in range(8)]
    logs = {there: by_hand(there) for there in subsets}
    total = np.logaddexp.reduce(list(logs.values()))
    assert exact.log_evidence == pytest.approx(total - np.log(8), abs=1e-6)
    for name, (one, two) in PAIRS.items():
        wanted = sum(np.exp(value - total) for there, value in logs.items() if name in there)
        assert exact.arc_probability(name, one) == pytest.approx(wanted, abs=1e-6)
        assert exact.arc_probability(name, two) == exact.arc_probability(name, one)


def test_searched_and_sampled_models_agree() -> None:
    family = triangle().structures(prior=pw.arcs(0.3))
    exact, best = family.enumerate(DATA), family.search(DATA)
    assert best.graph == exact.graphs(1)[0].graph
    there = frozenset(name for name, _ in best.graph.arcs)
    assert best.log_evidence == pytest.approx(by_hand(there), abs=1e-6)
    drawn = family.sample(DATA, draws=4000, seed=1)
    assert np.abs(drawn.arcs - exact.arcs).max() < 0.05


def test_what_is_left_is_an_ordinary_model() -> None:
    for present, model in triangle(optional=frozenset({"bc"})).instances():
        there = frozenset({"ab", "ac"}) | {name for name, _ in present}
        assert set(model.potentials) == there | {"lean"}
        assert not any(potential.optional for potential in model.potentials.values())
        plain = triangle(frozenset(), there).learn(DATA)
        assert model.learn(DATA).log_evidence == pytest.approx(plain.log_evidence, abs=1e-9)


def test_they_are_kept_by_json_and_shape_something() -> None:
    again = model_from_json(model_json(triangle()))
    assert [name for name, potential in again.potentials.items() if potential.optional] == list(PAIRS)
    m = pw.Model("no component")
    m.x = pw.Normal(0, sd=1)
    m.potential("pull", -(m.x**2), optional=True)
    with pytest.raises(ModelError, match="`pull` shapes no undirected"):
        m.structures()


def test_they_are_dashed_and_said() -> None:
    m = triangle(optional=frozenset({"bc"}))
    assert m.svg().count("stroke-dasharray") == 1
    assert graph_text(read_graph(m)).count(", optional") == 1 and str(m).count("an optional log factor") == 1


def test_a_variable_that_no_factor_is_left_of_is_any_of_its_levels() -> None:
    m = pw.Model("alone")
    row, level = m.plate("row"), m.plate("level", 3)
    m.a = pw.Undirected(levels=level, plates=row)
    assert m.learn({"a": np.arange(30) % 3}).log_evidence == pytest.approx(-30 * np.log(3), rel=1e-12)
