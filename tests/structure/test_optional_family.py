"""The sixteen models of Figure 26: enumerated, sampled, searched and averaged with agreeing probabilities."""

from __future__ import annotations

import numpy as np
import pytest

import platewright as pw
from platewright.errors import ModelError, SizeError

ARCS = {("var1", "var2"), ("var2", "x1"), ("x1", "x2"), ("var1", "x2")}


def figure_26() -> pw.Model:
    m = pw.Model("figure 26")
    n, a, b = m.plate("n"), m.plate("a", 2), m.plate("b", 2)
    m.theta1 = pw.Dirichlet(1, over=a)
    m.var1 = pw.Categorical(m.theta1, plates=n)
    m.theta2 = pw.Dirichlet(1, over=b, plates=a)
    m.var2 = pw.Categorical(m.theta2[m.var1], plates=n, optional=[m.var1])
    m.tau1 = pw.Gamma(1, rate=1, plates=(a, b))
    m.mu1 = pw.Normal(0, precision=m.tau1, plates=(a, b))
    m.x1 = pw.Normal(m.mu1[m.var1, m.var2], precision=m.tau1[m.var1, m.var2], plates=n, optional=[m.var2])
    m.tau2 = pw.Gamma(1, rate=1, plates=a)
    m.mu2 = pw.Normal(0, precision=m.tau2, plates=a)
    m.slope = pw.Normal(0, precision=m.tau2, plates=a)
    mean = m.mu2[m.var1] + m.slope[m.var1] * m.x1
    m.x2 = pw.Normal(mean, precision=m.tau2[m.var1], plates=n, optional=[m.x1, m.var1])
    return m


def rows(count: int, seed: int = 26) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    var1 = rng.integers(0, 2, count)
    var2 = np.where(rng.random(count) < 0.6, var1, rng.integers(0, 2, count))
    x1 = rng.normal(size=count) + 0.5 * var2
    return {"var1": var1, "var2": var2, "x1": x1, "x2": 0.3 * x1 + rng.normal(size=count)}


DATA = rows(40)
FAMILY = figure_26().structures()
EXACT = FAMILY.enumerate(DATA)


def evidences() -> dict[frozenset[tuple[str, str]], float]:
    return {present: float(model.learn(DATA).log_evidence) for present, model in figure_26().instances()}


def test_the_sixteen_models_have_the_probabilities_of_their_full_evidences() -> None:
    found = evidences()
    assert len(found) == len(EXACT.weighed) == 16
    total = np.logaddexp.reduce(list(found.values()))
    for graph, share in EXACT.graphs(top=16):
        assert share == pytest.approx(np.exp(found[graph.arcs] - total), rel=1e-9)
    assert EXACT.log_evidence == pytest.approx(total - np.log(16), abs=1e-9)
    for arc in ARCS:
        wanted = sum(np.exp(value - total) for present, value in found.items() if arc in present)
        assert EXACT.arc_probability(*arc) == pytest.approx(wanted, rel=1e-9)


def test_only_local_terms_are_learned() -> None:
    assert EXACT.learned.is_local
    # two models for var2 and x1, four for x2, the fullest shared by all three
    assert len(EXACT.learned.fits) == 2 + 2 + 4 - 2


def test_the_search_finds_the_most_probable() -> None:
    best = FAMILY.search(DATA)
    assert best.proven and best.graph == EXACT.graphs(1)[0].graph
    assert best.log_evidence == pytest.approx(best.fit.log_evidence, abs=1e-9)


def test_sampling_agrees() -> None:
    drawn = FAMILY.sample(DATA, draws=20_000, seed=1)
    for arc in ARCS:
        assert drawn.arc_probability(*arc) == pytest.approx(EXACT.arc_probability(*arc), abs=0.015)
    assert drawn.diagnostics["worst_rhat"] < 1.02


def test_averages_agree_and_are_those_of_the_evidence() -> None:
    new = rows(3, seed=1)
    exact = EXACT.average(new)
    assert FAMILY.sample(DATA, draws=20_000, seed=1).average(new) == pytest.approx(exact, abs=0.01)
    for row in range(3):
        more = {name: np.append(column, new[name][row]) for name, column in DATA.items()}
        gain = FAMILY.enumerate(more).log_evidence - EXACT.log_evidence
        assert exact[row] == pytest.approx(gain, abs=1e-8)
    slope = EXACT.average(lambda fit: float(np.sum(fit["theta1"].mean * [0, 1])))
    assert 0.0 < slope < 1.0


def test_a_prior_over_arcs_weighs_the_models() -> None:
    sparse = figure_26().structures(prior=pw.arcs(0.1)).enumerate(DATA)
    odds = np.log(0.1 / 0.9)
    for state, score in sparse.scores.items():
        arcs = sum(above.bit_count() for above in state)
        assert score - EXACT.scores[state] == pytest.approx(arcs * odds + 4 * np.log(0.9) + 4 * np.log(2), abs=1e-9)


def test_a_hidden_node_makes_models_that_are_learned_as_a_whole() -> None:
    m = pw.Model("two kinds")
    n, k, level = m.plate("n"), m.plate("k", 2), m.plate("level", 2)
    m.share = pw.Dirichlet(2, over=k)
    m.kind = pw.Categorical(m.share, plates=n)
    m.p = pw.Dirichlet(1, over=level, plates=k)
    m.y = pw.Categorical(m.p[m.kind], plates=n, optional=[m.kind])
    family = m.structures()
    found = family.enumerate({"y": np.array([0, 1, 1, 0, 1, 1])})
    assert not found.learned.is_local
    # with one column the classes say nothing new: both models give their own exact evidence
    assert len(found.weighed) == 2 and np.isfinite(found.log_evidence)


def test_variable_selection_gives_inclusion_probabilities() -> None:
    rng = np.random.default_rng(3)
    data = {f"x{j}": rng.normal(size=60) for j in range(4)}
    data["y"] = 0.8 * data["x1"] + rng.normal(size=60)
    m = pw.Model("regression")
    n = m.plate("n")
    m.tau = pw.Gamma(1, rate=1)
    m.a = pw.Normal(0, precision=m.tau)
    mean = m.a
    for j in range(4):
        setattr(m, f"x{j}", pw.Input(plates=n))
        setattr(m, f"b{j}", pw.Normal(0, precision=m.tau))
        mean = mean + getattr(m, f"b{j}") * getattr(m, f"x{j}")
    m.y = pw.Normal(mean, precision=m.tau, plates=n, optional=[m.x0, m.x1, m.x2, m.x3])
    found = m.structures().enumerate(data)
    included = found.inclusion("y")
    assert included["x1"] > 0.99 and all(included[f"x{j}"] < 0.6 for j in (0, 2, 3))


def test_a_model_without_optional_arcs_is_no_family() -> None:
    m = pw.Model("one")
    m.theta = pw.Beta(1, 1)
    with pytest.raises(ModelError, match="no optional arcs"):
        m.structures()


def test_too_many_models_are_not_listed() -> None:
    m = pw.Model("wide")
    n = m.plate("n")
    m.tau = pw.Gamma(1, rate=1)
    mean = 0.0
    for j in range(13):
        setattr(m, f"x{j}", pw.Input(plates=n))
        setattr(m, f"b{j}", pw.Normal(0, precision=m.tau))
        mean = mean + getattr(m, f"b{j}") * getattr(m, f"x{j}")
    m.y = pw.Normal(mean, precision=m.tau, plates=n, optional=[getattr(m, f"x{j}") for j in range(13)])
    with pytest.raises(SizeError, match="optional arcs"):
        m.structures().enumerate({})
