"""Optional arcs: one graph stands for a family of models (Figure 26), whose scores are sums of local terms."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import platewright as pw
from platewright.derive.planner import choose_plan
from platewright.errors import ModelError
from platewright.graph.graph import Graph, read_graph
from platewright.run.exact.fit import Fit
from platewright.run.exact.runner import choose_runner
from platewright.structure.instances import Arc, instance, instances, optional_arcs

ROWS = 40
RNG = np.random.default_rng(26)
DATA = {
    "var1": RNG.integers(0, 2, ROWS),
    "var2": RNG.integers(0, 2, ROWS),
    "x1": RNG.normal(size=ROWS),
    "x2": RNG.normal(size=ROWS),
}
ARCS: tuple[Arc, ...] = (("var1", "var2"), ("var2", "x1"), ("x1", "x2"), ("var1", "x2"))


def figure_26() -> Graph:
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
    m.x2 = pw.Normal(
        m.mu2[m.var1] + m.slope[m.var1] * m.x1, precision=m.tau2[m.var1], plates=n, optional=[m.x1, m.var1]
    )
    return read_graph(m, DATA)


def learned(graph: Graph) -> Fit:
    plan = choose_plan(graph, "posterior")
    sizes = {**plan.program.sizes, "n": ROWS, "a": 2, "b": 2}
    found = choose_runner(plan.program, "numpy", ROWS).statistics(DATA, sizes)
    return Fit(plan, DATA, sizes, found)


def local_terms(fit: Fit) -> dict[str, float]:
    """Local evidence by the data node that the piece explains, told by its parameters' names."""
    owner = {"theta1": "var1", "theta2": "var2", "tau1": "x1", "tau2": "x2"}
    return {
        owner[next(name for name in piece if name in owner)]: value
        for piece, value in fit.local_evidence.items()
        if piece
    }


FITS = {present: learned(graph) for present, graph in instances(figure_26())}


def test_figure_26_has_four_optional_arcs() -> None:
    assert set(optional_arcs(figure_26())) == set(ARCS)


def test_figure_26_stands_for_sixteen_models_all_solvable() -> None:
    assert len(FITS) == 16
    assert {frozenset(chosen) for size in range(5) for chosen in combinations(ARCS, size)} == set(FITS)
    assert all(np.isfinite(fit.log_evidence) for fit in FITS.values())


def test_the_fullest_model_comes_first_and_has_no_optional_arcs_left() -> None:
    present, graph = next(iter(instances(figure_26())))
    assert present == frozenset(ARCS)
    assert optional_arcs(graph) == ()


@pytest.mark.parametrize("arc", ARCS, ids="->".join)
def test_the_bayes_factor_of_one_arc_touches_one_local_term_only(arc: Arc) -> None:
    for present, fit in FITS.items():
        if arc not in present:
            continue
        other = FITS[present - {arc}]
        one, two = local_terms(fit), local_terms(other)
        assert set(one) == set(two) == {"var1", "var2", "x1", "x2"}
        changed = {name for name in one if one[name] != two[name]}
        assert changed == {arc[1]}
        factor = fit.log_evidence - other.log_evidence
        assert factor == pytest.approx(one[arc[1]] - two[arc[1]], abs=1e-10)


@pytest.mark.parametrize("present", FITS, ids=lambda arcs: "+".join(sorted("".join(arc) for arc in arcs)) or "none")
def test_local_terms_add_up_to_the_evidence(present: frozenset[Arc]) -> None:
    fit = FITS[present]
    assert sum(fit.local_evidence.values()) == pytest.approx(fit.log_evidence, abs=1e-10)


def by_hand(present: frozenset[Arc]) -> float:
    """The same model written out without optional arcs."""
    m = pw.Model("by hand")
    n, a, b = m.plate("n"), m.plate("a", 2), m.plate("b", 2)
    m.theta1 = pw.Dirichlet(1, over=a)
    m.var1 = pw.Categorical(m.theta1, plates=n)
    if ("var1", "var2") in present:
        m.theta2 = pw.Dirichlet(1, over=b, plates=a)
        m.var2 = pw.Categorical(m.theta2[m.var1], plates=n)
    else:
        m.theta2 = pw.Dirichlet(1, over=b)
        m.var2 = pw.Categorical(m.theta2, plates=n)
    both = ("var2", "x1") in present
    m.tau1 = pw.Gamma(1, rate=1, plates=(a, b) if both else a)
    m.mu1 = pw.Normal(0, precision=m.tau1, plates=(a, b) if both else a)
    at = (m.var1, m.var2) if both else m.var1
    m.x1 = pw.Normal(m.mu1[at], precision=m.tau1[at], plates=n)
    grouped = ("var1", "x2") in present
    plates = a if grouped else ()
    m.tau2 = pw.Gamma(1, rate=1, plates=plates)
    m.mu2 = pw.Normal(0, precision=m.tau2, plates=plates)
    mean, tau = (m.mu2[m.var1], m.tau2[m.var1]) if grouped else (m.mu2, m.tau2)
    if ("x1", "x2") in present:
        m.slope = pw.Normal(0, precision=m.tau2, plates=plates)
        mean = mean + (m.slope[m.var1] if grouped else m.slope) * m.x1
    m.x2 = pw.Normal(mean, precision=tau, plates=n)
    return float(m.learn(DATA).log_evidence)


@pytest.mark.parametrize("present", FITS, ids=lambda arcs: "+".join(sorted("".join(arc) for arc in arcs)) or "none")
def test_an_instance_is_the_model_written_out_by_hand(present: frozenset[Arc]) -> None:
    assert FITS[present].log_evidence == pytest.approx(by_hand(present), abs=1e-9)


def test_cutting_arcs_leaves_the_family_alone() -> None:
    graph = figure_26()
    before = repr(graph)
    instance(graph, frozenset())
    assert repr(graph) == before


# -- arcs that cannot be cut -------------------------------------------------------------------------------------------


def test_a_parameter_that_another_node_uses_cannot_be_narrowed() -> None:
    m = pw.Model("shared")
    n, a = m.plate("n"), m.plate("a", 2)
    m.z = pw.Input(plates=n, levels=a)
    m.mu = pw.Normal(0, sd=1, plates=a)
    m.x = pw.Normal(m.mu[m.z], sd=1, plates=n, optional=[m.z])
    m.y = pw.Normal(m.mu[m.z], sd=1, plates=n)
    with pytest.raises(ModelError, match="`mu` is looked up at `z`, but `y` uses it too"):
        list(instances(read_graph(m, ["x", "y"])))


def test_a_table_of_numbers_has_no_axis_to_lose() -> None:
    m = pw.Model("table")
    n, a = m.plate("n"), m.plate("a", 2)
    m.z = pw.Input(plates=n, levels=a)
    m.x = pw.Normal(pw.array([1.0, 2.0], over=a)[m.z], sd=1, plates=n, optional=[m.z])
    with pytest.raises(ModelError, match="a table of numbers is looked up at `z`"):
        list(instances(read_graph(m, ["x"])))


def test_a_prior_that_differs_along_the_plate_cannot_lose_it() -> None:
    m = pw.Model("own prior")
    n, a = m.plate("n"), m.plate("a", 2)
    m.z = pw.Input(plates=n, levels=a)
    m.mu = pw.Normal(pw.array([1.0, 2.0], over=a), sd=1, plates=a)
    m.x = pw.Normal(m.mu[m.z], sd=1, plates=n, optional=[m.z])
    with pytest.raises(ModelError, match="the prior of `mu` differs along a"):
        list(instances(read_graph(m, ["x"])))


def test_an_axis_inside_a_value_cannot_be_dropped() -> None:
    m = pw.Model("inside")
    n, a = m.plate("n"), m.plate("a", 2)
    m.z = pw.Input(plates=n, levels=a)
    m.t = pw.Dirichlet(1, over=a)
    m.x = pw.Bernoulli(m.t[m.z], plates=n, optional=[m.z])
    with pytest.raises(ModelError, match="`t` has its optional axis inside each value"):
        list(instances(read_graph(m, ["x"])))


def test_a_model_gives_its_instances_as_models() -> None:
    m = pw.Model("which inputs")
    n = m.plate("n")
    m.x, m.u = pw.Input(plates=n), pw.Normal(0, sd=1, plates=n)
    m.tau = pw.Gamma(2, rate=1)
    m.a, m.b, m.c = (pw.Normal(0, precision=0.1 * m.tau) for _ in range(3))
    m.y = pw.Normal(m.a + m.b * m.x + m.c * m.u, precision=m.tau, plates=n, optional=[m.x, m.u])
    rng = np.random.default_rng(0)
    data = {name: rng.normal(size=9) for name in ("x", "u", "y")}
    fits = {arcs: model.learn(data) for arcs, model in m.instances()}
    assert [len(arcs) for arcs in fits] == [2, 1, 1, 0]
    unknown = {len(arcs): fit.posterior.unknown for arcs, fit in fits.items()}
    assert unknown[2] == {"tau", "a", "b", "c"} and unknown[0] == {"tau", "a"}
    for arcs, fit in fits.items():
        assert fit.plan.graph.known == {"u", "y"}, "a parent that is data stays in the model when its arc is cut"
        plain = pw.Model("by hand")
        n = plain.plate("n")
        plain.x, plain.u = pw.Input(plates=n), pw.Normal(0, sd=1, plates=n)
        plain.tau = pw.Gamma(2, rate=1)
        plain.a = pw.Normal(0, precision=0.1 * plain.tau)
        mean = plain.a
        for name, parent in (("b", "x"), ("c", "u")):
            if (parent, "y") in arcs:
                setattr(plain, name, pw.Normal(0, precision=0.1 * plain.tau))
                mean = mean + getattr(plain, name) * getattr(plain, parent)
        plain.y = pw.Normal(mean, precision=plain.tau, plates=n)
        assert fit.log_evidence == pytest.approx(plain.learn(data).log_evidence, abs=1e-10)
    assert pw.compare(list(fits.values())).probabilities.sum() == pytest.approx(1.0)
