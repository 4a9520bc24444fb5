"""A model written as Stan text has our log joint as its `target`, by an interpreter that shares nothing with us."""

from __future__ import annotations

import numpy as np
import pytest

import platewright as pw
from bugs.evaluated import log_joint
from example_models import examples
from platewright.algebra.evaluate import Environment, evaluate
from platewright.errors import ModelError, UnknownName
from platewright.graph.graph import read_graph
from platewright.language.bugs.reader import read_bugs
from platewright.language.stan.densities import counts
from platewright.language.stan.page import Page
from platewright.run.checks.simulating import small_data
from stan.interpreter import Program
from stan.models import stan_models


def in_words_of_stan(model: pw.Model, values: dict[str, np.ndarray], sizes: dict[str, int]) -> dict[str, object]:
    page = Page(model)
    found: dict[str, object] = {}
    for name, variable in model.variables.items():
        if name in values and variable.definition is None:
            shift = 1 if variable.domain.kind == "levels" else 0
            found[page.word(name)] = np.asarray(values[name]) + shift
    for plate in model.plates:
        if not page.size(plate).isdigit():
            found[page.size(plate)] = sizes[plate]
    return found


def check(model: pw.Model, known: list[str], seed: int = 0) -> str:
    graph = read_graph(model, known)
    text = pw.write_stan(model, known)
    program = Program(text)
    for draw in range(seed, seed + 2):
        values, sizes = small_data(graph, draw)
        values |= {name: np.ceil(values[name]) for name in counts(model)}
        with np.errstate(all="ignore"):
            wanted = float(evaluate(graph.log_joint, Environment(values, sizes)))
        assert np.isfinite(wanted)
        assert program.target(in_words_of_stan(model, values, sizes)) == pytest.approx(wanted, rel=1e-9, abs=1e-9)
    return text


@pytest.mark.parametrize("name", examples(rows=5))
def test_the_target_of_every_example_is_its_log_joint(name: str) -> None:
    model, data = examples(rows=5)[name][:2]
    known = [column for column in data if column in model.variables and model.variables[column].kind != "input"]
    check(model, known)


@pytest.mark.parametrize("name", stan_models())
def test_the_target_of_every_other_model_is_its_log_joint(name: str) -> None:
    model, known = stan_models()[name]()
    try:
        check(model, known)
    except ModelError as error:
        assert "Stan" in str(error)


def scalars() -> pw.Model:
    """One unknown of every family without axes."""
    m = pw.Model("scalars")
    m.a = pw.Normal(0.5, sd=2.0)
    m.b = pw.Gamma(2.0, rate=1.5)
    m.c = pw.InverseGamma(3.0, scale=1.2)
    m.d = pw.Beta(2.0, 3.0)
    m.e = pw.Exponential(rate=m.b)
    m.f = pw.StudentT(degrees=4.0, mean=m.a, precision=m.b)
    m.g = pw.Laplace(m.a, rate=m.b)
    m.h = pw.LogNormal(m.a, sd=0.5)
    m.i = pw.HalfNormal(sd=2.0)
    m.j = pw.HalfCauchy(1.5)
    m.k = pw.Weibull(2.0, rate=m.b)
    m.l = pw.Pareto(3.0, scale=0.4)
    m.n = pw.Uniform(-1.0, 4.0)
    m.o = pw.VonMises(0.3, concentration=m.b)
    m.p = pw.ChiSquare(3.0)
    m.q = pw.InverseGaussian(1.5, shape=2.0)
    m.sum = pw.Bernoulli(m.d)
    m.target = pw.Binomial(7, m.d)
    m.model_ = pw.Poisson(m.b)
    m.r = pw.Geometric(m.d)
    m.s = pw.NegativeBinomial(2.5, m.d)
    return m


def test_every_scalar_family_has_its_density() -> None:
    text = check(scalars(), ["sum", "target", "model_", "r", "s"])
    assert "v_sum" in text and "v_target" in text and "v_model" in text


def functions() -> pw.Model:
    """Sums, series, choices, tables of constants and functions of unknowns."""
    m = pw.Model("functions")
    row, k = m.plate("row"), m.plate("k", 3)
    step = m.plate("step", ordered=True)
    m.x = pw.Input(plates=(row, k))
    m.w = pw.Normal(0, sd=1.0, plates=k)
    m.eta = pw.dot(m.x, m.w, over=k)
    m.z = pw.Input(plates=row, levels=k)
    m.offset = pw.array([0.5, -1.0, 2.0], over=k)[m.z] + pw.where(pw.less(m.eta, 0.0), 0.1, m.w[m.z])
    m.y = pw.Bernoulli(pw.logistic(m.eta + m.offset), plates=row)
    m.level = pw.Normal(m.lag("level"), sd=1.0, start=pw.Normal(0.0, sd=10.0), plates=step)
    m.seen = pw.Normal(pw.exp(0.1 * m.level), sd=0.3, plates=step)
    m.potential("tie", -0.5 * pw.sum(m.w, over=k) ** 2)
    return m


def test_sums_series_choices_and_tables_have_their_values() -> None:
    check(functions(), ["y", "seen"])


def nested_loops() -> pw.Model:
    """Loops of one name inside each other, names that differ by a mark only, and linear algebra."""
    m = pw.Model("nested")
    row, a, a_ = m.plate("row"), m.plate("a", 2), m.plate("a_", 2)
    m.x = pw.Input(plates=row)
    m.centred = m.x - 0.1 * pw.sum(m.x, over=row)
    m.trials = pw.Input(plates=row)
    m.b = pw.Normal(0.0, sd=1.0)
    m.n_row = pw.Gamma(2.0, rate=1.0)
    m.v = pw.Normal(m.n_row, sd=1.0, plates=(a, a_))
    m.total = pw.sum(pw.sum(m.v, over=a), over=a_)
    m.y = pw.Binomial(m.trials, p=pw.logistic(m.b * m.centred + m.total), plates=row)
    m.z = pw.Binomial(m.trials + 1.0, p=0.3, plates=row)
    m.potential("odd", pw.where(m.x[0], m.b, pw.sum(m.v[0], over=a_)))
    return m


def test_loops_inside_loops_and_counts_have_their_values() -> None:
    text = check(nested_loops(), ["y", "z"])
    assert "i_row_too" in text and "i_v_" not in text
    assert "array[n_row] int<lower=0> trials" in text.replace("v_n_row", "n_row")


GROUPS = """model {
  for (i in 1:4) { y[i] ~ dnorm(mu[g[i]], tau) }
  for (k in 1:2) { mu[k] ~ dnorm(0, 1) }
  tau ~ dgamma(1, 1)
}"""
COUNTS = """model {
  for (i in 1:3) { y[i] ~ dpois(l[i]); log(l[i]) <- a + b[i]; b[i] ~ dt(0, 2, 5) }
  a ~ ddexp(0, 1)
}"""


@pytest.mark.parametrize(
    ("text", "data"),
    [(GROUPS, {"g": [1, 2, 2, 1], "y": [0.1, 0.2, 1, 2]}), (COUNTS, {"y": [1, 0, 4]})],
    ids=["groups", "counts"],
)
def test_bugs_texts_become_stan_texts(text: str, data: dict[str, object]) -> None:
    model = pw.read_bugs(text, data)
    check(model, ["y"])


def test_discrete_unknowns_are_declined() -> None:
    m = pw.Model("mixture")
    row, k = m.plate("row"), m.plate("k", 2)
    m.p = pw.Dirichlet(1.0, over=k)
    m.z = pw.Categorical(m.p, plates=row)
    m.y = pw.Poisson(pw.array([1.0, 2.0], over=k)[m.z], plates=row)
    with pytest.raises(ModelError, match="`z` is unknown and a level of k: Stan has no discrete parameters"):
        pw.write_stan(m)
    check(m, ["y", "z"])


def test_unknown_names_and_undirected_nodes_are_told() -> None:
    with pytest.raises(UnknownName, match="nothing"):
        pw.write_stan(scalars(), ["nothing"])
    m = pw.Model("field")
    m.a, m.b = pw.Undirected(levels=m.plate("k", 2)), pw.Undirected(levels=m.plates["k"])
    m.potential("tie", 0.3 * pw.equal(m.a, m.b))
    with pytest.raises(ModelError, match="undirected"):
        pw.write_stan(m)


@pytest.mark.parametrize("name", examples(rows=5))
def test_what_can_be_said_in_bugs_reads_back_as_the_same_model(name: str) -> None:
    model = examples(rows=5)[name][0]
    try:
        text = pw.write_bugs(model)
    except ModelError as error:
        assert str(error)
        return
    graph = read_graph(model)
    values, sizes = small_data(graph, 1)
    wanted = float(evaluate(graph.log_joint, Environment(values, sizes)))
    given: dict[str, object] = {}
    for label, variable in model.variables.items():
        if variable.kind != "deterministic":
            shift = 1.0 if variable.domain.kind == "levels" else 0.0
            word = label.replace("@", ".of.").replace("_", ".").rstrip(".")
            given[word] = (np.asarray(values[label], dtype=float) + shift).tolist()
    for plate, known in model.plates.items():
        if known.size is None:
            given[f"n.{plate.replace('_', '.').rstrip('.')}"] = sizes[plate]
    again = read_bugs(text, given)
    assert log_joint(again, {}) == pytest.approx(wanted, rel=1e-9, abs=1e-8)
