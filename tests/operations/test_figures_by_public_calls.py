"""The paper's figures through the public calls of a graph; each test names its figure."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import betaln

import platewright as pw
from discrete_models import network
from learning_models import figure_10, figure_11, figure_15
from platewright.errors import NotSolvable
from platewright.graph.equation import joint_equation
from platewright.graph.expansion import contract, expand_plates
from platewright.operable import OperableGraph, operable
from platewright.operation import Declined

MEDICAL = "Age, Age -> Occ, Age -> Clim, Occ -> Clim, Age -> Dis, Occ -> Dis, Clim -> Dis, Age -> Symp, Dis -> Symp"


def medical(*known: str) -> OperableGraph:
    return operable(network(MEDICAL, known))


def regression(*, common_scale: bool = True) -> OperableGraph:
    """Figures 19 and 20; with a scale for each row as in Figure 32 otherwise."""
    m = pw.Model("regression")
    n, j = m.plate("n"), m.plate("j", 2)
    m.basis = pw.Input(plates=(n, j))
    m.s = pw.Gamma(2, rate=1)
    m.theta = pw.Normal(0, precision=m.s, plates=j)
    m.m = pw.dot(m.basis, m.theta, over=j)
    if common_scale:
        m.y = pw.Normal(m.m, precision=m.s, plates=n)
    else:
        m.weight = pw.Input(plates=n)
        m.y = pw.Normal(m.m, precision=m.s * m.weight, plates=n)
    return m.graph(known="y")


def test_figure_2_reads_as_equation_1_and_answers_what_depends_on_what() -> None:
    graph = operable(network("Age, Occ, Clim, Age -> Dis, Occ -> Dis, Clim -> Dis, Dis -> Symp"))
    assert joint_equation(graph) == "p(Age) p(Occ) p(Clim) p(Dis | Age, Occ, Clim) p(Symp | Dis)"
    assert graph.separated("Age", "Occ", given=[])
    assert not graph.separated("Age", "Occ", given=["Symp"])
    assert graph.separated("Age", "Symp", given=["Dis"])


def test_figure_3_a_pixel_depends_on_its_neighbours() -> None:
    pixels = [f"x{i}{j}" for i in range(4) for j in range(4)]
    arcs = [f"x{i}{j} - x{i}{j + 1}" for i in range(4) for j in range(3)]
    arcs += [f"x{i}{j} - x{i + 1}{j}" for i in range(3) for j in range(4)]
    graph = operable(network(", ".join(arcs)))
    assert graph.components() == frozenset({frozenset(pixels)})
    assert graph.blanket("x11") == {"x01", "x10", "x12", "x21"}
    assert graph.blanket("x00") == {"x01", "x10"}


def test_figure_4_a_rule_set_is_a_function_that_is_looked_through() -> None:
    m = pw.Model("rules")
    row = m.plate("row")
    m.a = pw.Bernoulli(0.3, plates=row)
    m.b = pw.Bernoulli(0.6, plates=row)
    m.rule = m.a * m.b
    m.c = pw.Bernoulli(0.1 + 0.8 * m.rule, plates=row)
    graph = m.graph(known=["a", "b", "c"])
    step = graph.remove_deterministic("rule")
    assert "rule" not in step.after.nodes and step.after.parents["c"] == {"a", "b"}
    point = {"a": [1, 1], "b": [0, 1], "c": [1, 1]}
    assert step.after.log_density(point) == pytest.approx(graph.log_density(point), rel=1e-12)


def test_figure_5_known_arcs_go_and_one_stays() -> None:
    graph = medical("Age", "Occ", "Clim", "Symp")
    step = graph.drop_settled_arcs()
    assert joint_equation(step.after) == "p(Dis | Age, Occ, Clim) p(Symp | Age, Dis)"
    with pytest.raises(NotSolvable, match="parent Dis of Symp is unknown"):
        graph.drop_settled_arcs("Symp")


def test_figures_6_and_7_cliques_are_merged() -> None:
    above = ", ".join(f"{a} -> {d}" for a in ("Age", "Occ", "Clim") for d in ("Heart", "Lung"))
    below = ", ".join(f"{d} -> {s}" for d in ("Heart", "Lung") for s in ("A", "B"))
    graph = operable(network(f"Age, Occ, Clim, Heart - Lung, {above}, A - B, {below}"))
    merged = graph.merge("A", "B", name="Symp").after.merge("Heart", "Lung", name="Dis").after
    assert joint_equation(merged) == "p(Age) p(Occ) p(Clim) p(Dis | Age, Occ, Clim) p(Symp | Dis)"
    assert graph.merge("Heart", "Lung").after.nodes["Heart_Lung"].kind == "undirected"


def test_figure_8_a_chain_graph_falls_into_components() -> None:
    graph = operable(network("a, b, a -> x, b -> y, x - y, x -> c, y -> d, c - d"))
    found = {component for component in graph.components() if not any("copy" in name for name in component)}
    assert found == {frozenset("a"), frozenset("b"), frozenset("xy"), frozenset("cd")}


@pytest.mark.parametrize("cases", [1, 3])
def test_figures_10_and_15_are_the_same_graph(cases: int) -> None:
    plated, written = operable(figure_15()), figure_10(cases)
    out = plated.expand(case=cases).after
    groups = {name: [f"{name}_{i}" for i in range(cases)] for name in ("var1", "var2", "var3")}
    groups["class_"] = [f"class_{i}" for i in range(cases)]
    expected = contract(expand_plates(written), groups)
    assert expand_plates(out).directed == expected.directed
    assert expand_plates(out).known == expected.known


def test_figures_13_and_17_the_coin_loses_its_plate() -> None:
    m = pw.Model("coin")
    toss = m.plate("toss")
    m.theta = pw.Beta(1.5, 1.5)
    m.heads = pw.Bernoulli(m.theta, plates=toss)
    graph = m.graph(known="heads")
    assert len(graph.expand(toss=5).after.known) == 5
    removed = graph.remove_plate("toss").after
    assert [n for n, node in removed.nodes.items() if node.kind == "random"] == ["theta"]
    assert sum(node.kind == "statistic" for node in removed.nodes.values()) == 2
    left = graph.eliminate("theta").after.log_density({"heads": [1, 1, 0]})
    assert left == pytest.approx(betaln(3.5, 2.5) - betaln(1.5, 1.5))


def test_figure_16_an_arc_is_reversed() -> None:
    graph = operable(network("P, Q, S, P -> b, S -> b, S -> a, Q -> a, b -> a"))
    turned = graph.reverse_arc("b", "a").after
    assert turned.parents["a"] == {"P", "Q", "S"} and turned.parents["b"] == {"P", "Q", "S", "a"}
    point = {"P": 0, "Q": 1, "S": 0, "a": 1, "b": 0}
    assert turned.log_density(point) == pytest.approx(graph.log_density(point), abs=1e-12)


def test_figure_18_a_plate_goes_where_statistics_are_of_fixed_size() -> None:
    m = pw.Model("two means")
    n = m.plate("n")
    m.mu = pw.Normal(0, sd=1)
    m.x = pw.Normal(pw.exp(m.mu), sd=1, plates=n)
    m.z = pw.Normal(m.mu, sd=1, plates=n)
    removed = m.graph(known=["x", "z"]).remove_plate("n")
    assert any("sum over n" in formula for formula in removed.formulas)
    late = pw.Model("logistic")
    n = late.plate("n")
    late.u = pw.Input(plates=n)
    late.b = pw.Normal(0, sd=1)
    late.y = pw.Bernoulli(logit=late.b * late.u, plates=n)
    with pytest.raises(NotSolvable, match="no statistics of fixed size"):
        late.graph(known="y").remove_plate("n")


def test_figures_19_to_21_regression_loses_its_plate() -> None:
    graph = regression()
    with pytest.raises(NotSolvable, match="m is on plate n and unknown"):
        graph.remove_plate("n")
    flat = graph.remove_deterministic().after
    removed = flat.remove_plate("n").after
    assert list(removed.plates) == ["j"]
    assert sorted(len(node.axes) for node in removed.nodes.values() if node.kind == "statistic") == [0, 0, 1, 2]
    assert flat.conditional("theta").family == "Normal"  # type: ignore[union-attr]
    last = flat.eliminate("theta").after.conditional("s")
    assert not isinstance(last, Declined) and last.family == "Gamma"


def test_figures_24_25_and_27_model_m1_falls_apart() -> None:
    graph = operable(figure_11())
    pieces = graph.decompose()
    assert set(map(frozenset, pieces.unknowns)) == {
        frozenset({"theta1"}),
        frozenset({"theta2"}),
        frozenset({"mu1", "sigma1"}),
        frozenset({"mu2", "sigma2"}),
    }
    assert len(operable(figure_11(known=["var1", "var2", "x2"])).decompose()) == 3
    rng = np.random.default_rng(1)
    point = {"theta1": [0.4, 0.6], "theta2": [[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]], "var1": [0, 1, 1], "var2": [2, 1, 0]}
    point |= {"mu1": [0.1, 0.4], "sigma1": [1.0, 2.0], "mu2": [0.3, -0.1], "sigma2": [0.5, 0.7]}
    point |= {"x1": rng.normal(size=3), "x2": rng.normal(size=3)}
    parts = [*pieces, pieces.rest]
    total = sum(p.log_density({n: v for n, v in point.items() if n in p.nodes}) for p in map(operable, parts))
    assert total == pytest.approx(graph.log_density(point), rel=1e-12)
    simple = graph.remove_plate("case").after
    assert set(simple.plates) == {"one", "two"}


def test_figure_26_one_arc_changes_one_piece() -> None:
    first, second = operable(figure_11()), operable(figure_11(second=True))
    pieces = first.decompose()
    updated = second.update(pieces, "x1", "mu1", "sigma1")
    assert updated.unknowns == second.decompose().unknowns
    assert [new is old for old, new in zip(pieces, updated)] == ["mu1" not in old.nodes for old in pieces]
    assert all(isinstance(piece, OperableGraph) for piece in (*updated, updated.rest))
    with pytest.raises(NotSolvable, match="one piece"):
        second.update(pieces, "x1", "x2")


def test_figure_28_gibbs_on_the_medical_example_needs_only_the_blanket() -> None:
    graph = medical("Symp", "Age")
    assert graph.blanket("Dis") == {"Age", "Occ", "Clim", "Symp"}
    assert graph.blanket("Occ") == {"Age", "Clim", "Dis"}
    found = graph.conditional("Dis")
    assert not isinstance(found, Declined)
    weights = found.parameters["log_weights"]
    levels = []
    for level in (0, 1):
        levels.append(graph.log_density({"Age": 1, "Occ": 0, "Clim": 1, "Dis": level, "Symp": 1}))
    others = [graph.log_density({"Age": 1, "Occ": 0, "Clim": 1, "Dis": level, "Symp": 0}) for level in (0, 1)]
    assert levels != others
    assert {"Age", "Occ", "Clim", "Symp"} == {name for name in graph.nodes if f"{name}" in str(weights)} - {"Dis"}


def test_figures_30_and_31_with_the_class_known_all_is_conjugate() -> None:
    hidden = operable(figure_15())
    assert len(hidden.decompose()) == 1
    drawn = hidden.conditional("class_")
    assert not isinstance(drawn, Declined) and drawn.family == "Categorical"
    complete = operable(figure_15(known=["class_", "var1", "var2", "var3"]))
    assert [complete.conditional(name).family for name in ("phi", "theta1")] == ["Dirichlet"] * 2  # type: ignore[union-attr]
    assert len(complete.decompose()) == 4
    assert complete.remove_plate("case").after.unknown == ("phi", "theta1", "theta2", "theta3")


def test_figures_32_and_33_known_weights_keep_the_plate_removable() -> None:
    flat = regression(common_scale=False).remove_deterministic().after
    removed = flat.remove_plate("n").after
    assert "n" not in removed.plates
    left = flat.eliminate("theta").after
    rng = np.random.default_rng(2)
    data = {"basis": rng.normal(size=(4, 2)), "weight": rng.uniform(1, 2, 4), "y": rng.normal(size=4)}
    s = 0.8
    covariance = data["basis"] @ data["basis"].T / s + np.diag(1 / (s * data["weight"]))
    expected = -0.5 * (
        4 * np.log(2 * np.pi) + np.linalg.slogdet(covariance)[1] + data["y"] @ np.linalg.solve(covariance, data["y"])
    )
    expected += 2 * np.log(1) + np.log(s) - s
    assert left.log_density({**data, "s": s}) == pytest.approx(expected, rel=1e-10)


def test_figure_34_linear_outputs_of_a_network_are_integrated_out() -> None:
    m = pw.Model("network with linear output")
    n, h, i = m.plate("n"), m.plate("h", 2), m.plate("i", 2)
    m.x = pw.Input(plates=(n, i))
    m.w = pw.Normal(0, sd=1, plates=(h, i))
    m.v = pw.Normal(0, sd=1, plates=h)
    m.hidden = pw.tanh(pw.dot(m.x, m.w, over=i))
    m.y = pw.Normal(pw.dot(m.hidden, m.v, over=h), sd=0.5, plates=n)
    flat = m.graph(known="y").remove_deterministic().after
    refused = flat.conditional("w")
    assert isinstance(refused, Declined) and "tanh" in refused.reason
    found = flat.conditional("v")
    assert not isinstance(found, Declined) and found.family == "Normal"
    rng = np.random.default_rng(3)
    x, w, y = rng.normal(size=(3, 2)), rng.normal(size=(2, 2)), rng.normal(size=3)
    derivative = flat.differentiate("w")
    point = {"x": x, "w": w, "v": [0.3, -0.4], "y": y}
    slope, step = derivative.at(point).slope, 1e-6
    up, down = w.copy(), w.copy()
    up[0, 1] += step
    down[0, 1] -= step
    numeric = (flat.log_density({**point, "w": up}) - flat.log_density({**point, "w": down})) / (2 * step)
    assert slope[0, 1] == pytest.approx(numeric, rel=1e-6)


def test_figures_28_and_30_each_step_of_a_sweep_shades_all_but_what_it_draws() -> None:
    m = pw.Model("classes")
    case, k = m.plate("case"), m.plate("k", 2)
    m.phi = pw.Dirichlet(1.0, over=k)
    m.mu = pw.Normal(0, sd=3, plates=k)
    m.class_ = pw.Categorical(m.phi, plates=case)
    m.x = pw.Normal(m.mu[m.class_], sd=1, plates=case)
    plan = m.derive(known="x", by="gibbs")
    draws = [step for step in plan.steps if step.operation.startswith("draw ")]
    shown = [step.after.unknown for step in draws]
    assert sorted(name for names in shown for name in names) == ["class_", "mu", "phi"]
    assert ("class_",) in shown
    for step in draws:
        assert step.operation == f"draw {', '.join(step.after.unknown)}"
        assert step.before.unknown == ("phi", "mu", "class_") and step.after.known >= {"x"}
        assert step.svg().startswith("<svg")
    gone = [name for step in plan.steps for name in step.gone]
    assert sorted(gone) == ["class_", "mu", "phi"]


def test_figure_31_the_expected_statistics_of_hidden_classes_count_as_known() -> None:
    m = pw.Model("classes")
    case, k = m.plate("case"), m.plate("k", 2)
    m.phi = pw.Dirichlet(1.0, over=k)
    m.mu = pw.Normal(0, sd=3, plates=k)
    m.class_ = pw.Categorical(m.phi, plates=case)
    m.x = pw.Normal(m.mu[m.class_], sd=1, plates=case)
    steps = m.derive(known="x", goal="map", by="em").steps
    assert [step.operation for step in steps][:2] == ["eliminate class_", "count_as_known"]
    assert steps[1].after.unknown == ("phi", "mu")
    assert {name for step in steps[2:] for name in step.gone} == {"phi", "mu"}
    assert all(step.svg().startswith("<svg") and "\\textbf" in step.latex() for step in steps)


def test_figures_32_and_33_unknown_noise_leaves_statistics_that_are_functions_of_it() -> None:
    m = pw.Model("heterogeneous variance")
    n, j = m.plate("n"), m.plate("j", 2)
    m.x = pw.Input(plates=(n, j))
    m.noise = pw.Normal(0, sd=1, plates=j)
    m.theta = pw.Normal(0, sd=1, plates=j)
    m.y = pw.Normal(pw.dot(m.x, m.theta, over=j), sd=pw.exp(pw.dot(m.x, m.noise, over=j)), plates=n)
    left = m.graph(known="y").eliminate("theta").after
    assert left.unknown == ("noise",)
    assert [node.kind for node in left.nodes.values() if node.reads] == ["deterministic", "deterministic"]
    rng = np.random.default_rng(5)
    x, y, noise = rng.normal(size=(4, 2)), rng.normal(size=4), rng.normal(size=2)
    covariance = x @ x.T + np.diag(np.exp(2 * x @ noise))
    expected = -0.5 * (4 * np.log(2 * np.pi) + np.linalg.slogdet(covariance)[1] + y @ np.linalg.solve(covariance, y))
    expected -= 0.5 * (noise @ noise + 2 * np.log(2 * np.pi))
    assert left.log_density({"x": x, "y": y, "noise": noise}) == pytest.approx(expected, rel=1e-10)
