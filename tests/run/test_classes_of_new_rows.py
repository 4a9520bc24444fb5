"""Classes of new rows are inferred from the rest of the row, exactly: the evidence of both together weighs them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import pytest
from scipy import stats

import platewright as pw
from platewright.errors import PlatewrightError
from platewright.operation import Declined
from platewright.run.exact.row_densities import nodes_apart

Data = Mapping[str, object]


def naive_bayes() -> pw.Model:
    m = pw.Model("categories given a class")
    row, c, f, level = m.plate("row"), m.plate("c", 3), m.plate("f", 2), m.plate("level", 4)
    m.share = pw.Dirichlet(1.0, over=c)
    m.table = pw.Dirichlet(0.5, over=level, plates=(c, f))
    m.y = pw.Categorical(m.share, plates=row)
    m.x = pw.Categorical(m.table[m.y], plates=(row, f))
    return m


def numbers_given_a_class() -> pw.Model:
    m = pw.Model("numbers given a class")
    row, c, f = m.plate("row"), m.plate("c", 2), m.plate("f", 3)
    m.share = pw.Dirichlet(2.0, over=c)
    m.precision = pw.Gamma(2.0, rate=1.0, plates=(c, f))
    m.mean = pw.Normal(0.0, precision=0.1 * m.precision, plates=(c, f))
    m.y = pw.Categorical(m.share, plates=row)
    m.x = pw.Normal(m.mean[m.y], precision=m.precision[m.y], plates=(row, f))
    return m


def counts_of_a_switch() -> pw.Model:
    m = pw.Model("counts of a switch")
    row = m.plate("row")
    m.p = pw.Beta(1.0, 2.0)
    m.low = pw.Gamma(2.0, rate=1.0)
    m.high = pw.Gamma(6.0, rate=1.0)
    m.y = pw.Bernoulli(m.p, plates=row)
    m.x = pw.Poisson(pw.where(m.y, m.high, m.low), plates=row)
    return m


def one_table_for_all_cells() -> pw.Model:
    """The cells of a row share their table: their densities do not multiply."""
    m = pw.Model("one table")
    row, c, f, level = m.plate("row"), m.plate("c", 2), m.plate("f", 3), m.plate("level", 2)
    m.share = pw.Dirichlet(1.0, over=c)
    m.table = pw.Dirichlet(0.5, over=level, plates=c)
    m.y = pw.Categorical(m.share, plates=row)
    m.x = pw.Categorical(m.table[m.y], plates=(row, f))
    return m


def one_precision_for_all_cells() -> pw.Model:
    m = pw.Model("one precision")
    row, c, f = m.plate("row"), m.plate("c", 2), m.plate("f", 2)
    m.precision = pw.Gamma(2.0, rate=1.0)
    m.mean = pw.Normal(0.0, precision=0.1 * m.precision, plates=(c, f))
    m.y = pw.Categorical([0.3, 0.7], over=c, plates=row)
    m.x = pw.Normal(m.mean[m.y], precision=m.precision, plates=(row, f))
    return m


def two_nodes_of_one_rate() -> pw.Model:
    m = pw.Model("two nodes of one rate")
    row, c = m.plate("row"), m.plate("c", 2)
    m.rate = pw.Gamma(2.0, rate=1.0, plates=c)
    m.y = pw.Categorical([0.5, 0.5], over=c, plates=row)
    m.a = pw.Poisson(m.rate[m.y], plates=row)
    m.b = pw.Exponential(rate=m.rate[m.y], plates=row)
    return m


SEEN: dict[Callable[[], pw.Model], Data] = {
    naive_bayes: {"y": [0, 1, 2, 0, 1], "x": [[0, 1], [3, 1], [2, 2], [0, 0], [3, 3]]},
    numbers_given_a_class: {"y": [0, 1, 0], "x": [[0.0, 1.0, 2.0], [3.0, 3.0, 1.0], [0.5, 1.5, 0.0]]},
    counts_of_a_switch: {"y": [0, 1, 0, 0], "x": [1, 7, 0, 2]},
    one_table_for_all_cells: {"y": [0, 1], "x": [[0, 1, 1], [0, 0, 0]]},
    one_precision_for_all_cells: {"y": [0, 1, 0], "x": [[0.0, 1.0], [3.0, 3.0], [0.5, 1.5]]},
    two_nodes_of_one_rate: {"y": [0, 1], "a": [1, 6], "b": [0.9, 0.1]},
}
NEW: dict[Callable[[], pw.Model], Data] = {
    naive_bayes: {"x": [[0, 1], [3, 3], [1, 2]]},
    numbers_given_a_class: {"x": [[0.0, 1.0, 1.0], [3.0, 2.0, 1.0]]},
    counts_of_a_switch: {"x": [0, 4, 9]},
    one_table_for_all_cells: {"x": [[1, 1, 1], [0, 0, 1]]},
    one_precision_for_all_cells: {"x": [[0.0, 1.0], [2.0, 2.5]]},
    two_nodes_of_one_rate: {"a": [0, 5], "b": [2.0, 0.3]},
}
SHARED = (one_table_for_all_cells, one_precision_for_all_cells, two_nodes_of_one_rate)


def by_evidence(build: Callable[[], pw.Model], levels: int) -> np.ndarray:
    """Each class put in and learned from as one more row: the evidence tells its weight."""
    data, new = SEEN[build], {name: np.asarray(values) for name, values in NEW[build].items()}
    found = []
    for number in range(len(next(iter(new.values())))):
        scores = []
        for level in range(levels):
            row = {"y": [level], **{name: values[number : number + 1] for name, values in new.items()}}
            joined = {name: np.concatenate([np.asarray(data[name]), np.asarray(row[name])]) for name in data}
            scores.append(build().learn(joined).log_evidence)
        found.append(np.exp(scores - np.logaddexp.reduce(scores)))
    return np.array(found)


@pytest.mark.parametrize("build", SEEN, ids=lambda build: build.__name__)
def test_a_class_has_the_probability_that_evidence_gives_it(build: Callable[[], pw.Model]) -> None:
    predicted = build().learn(SEEN[build]).predict(NEW[build])
    probabilities = predicted.probabilities("y")
    np.testing.assert_allclose(probabilities, by_evidence(build, probabilities.shape[-1]), rtol=1e-9)
    np.testing.assert_allclose(np.exp(predicted["y"].log_density(1)), probabilities[:, 1], rtol=1e-12)


@pytest.mark.parametrize("build", SEEN, ids=lambda build: build.__name__)
def test_densities_multiply_only_where_nothing_is_shared(build: Callable[[], pw.Model]) -> None:
    fit = build().learn(SEEN[build])
    found = nodes_apart(fit.derivation.graph, fit.posterior, "row")
    assert isinstance(found, Declined) == (build in SHARED)
    if isinstance(found, Declined):
        assert "share" in found.reason


def test_few_rows_are_not_taken_for_many() -> None:
    """Parameters of a class seen once are uncertain, and a given value tells about them too: no plug-in, no average."""
    m = pw.Model("switch")
    row, c = m.plate("row"), m.plate("c", 2)
    m.q = pw.Beta(1.0, 1.0, plates=c)
    m.y = pw.Categorical([0.5, 0.5], over=c, plates=row)
    m.x = pw.Binomial(10, m.q[m.y], plates=row)
    fit = m.learn({"y": [0, 1], "x": [2, 9]})
    weights = [stats.betabinom.pmf(6, 10, 1 + s, 11 - s) for s in (2, 9)]
    np.testing.assert_allclose(fit.predict({"x": [6]}).probabilities("y")[0], weights / np.sum(weights), rtol=1e-9)


def test_several_open_variables_are_inferred_together() -> None:
    m = pw.Model("two causes")
    row = m.plate("row")
    two, both = m.plate("two", 2), m.plate("both", 2)
    m.table = pw.Beta(1.0, 1.0, plates=(two, both))
    m.a = pw.Categorical([0.4, 0.6], over=two, plates=row)
    m.b = pw.Categorical([0.7, 0.3], over=both, plates=row)
    m.x = pw.Bernoulli(m.table[m.a, m.b], plates=row)
    fit = m.learn({"a": [0, 1, 1], "b": [0, 0, 1], "x": [1, 0, 1]})
    found = fit.predict({"x": [1]})
    mean = np.array([[2 / 3, 1 / 2], [1 / 3, 2 / 3]])
    joint = np.outer([0.4, 0.6], [0.7, 0.3]) * mean
    np.testing.assert_allclose(found.joint[0], joint / joint.sum(), rtol=1e-9)
    drawn = found.draws
    seen = [[((drawn["a"] == i) & (drawn["b"] == j)).mean() for j in (0, 1)] for i in (0, 1)]
    np.testing.assert_allclose(seen, joint / joint.sum(), atol=5 * np.sqrt(0.25 / 4000))


def test_a_row_that_no_class_allows_is_named() -> None:
    m = pw.Model("bounds")
    row = m.plate("row")
    m.y = pw.Bernoulli(0.5, plates=row)
    m.p = pw.Beta(1.0, 1.0)
    m.z = pw.Bernoulli(m.p, plates=row)
    m.x = pw.Uniform(0.0, pw.where(m.y, 2.0, 1.0), plates=row)
    fit = m.learn({"y": [0, 1], "z": [1, 0], "x": [0.5, 1.5]})
    np.testing.assert_allclose(fit.predict({"x": [0.5, 1.5], "z": [1, 1]}).probabilities("y"), [[2 / 3, 1 / 3], [0, 1]])
    with pytest.raises(PlatewrightError, match="new row 1 has probability zero"):
        fit.predict({"x": [0.5, 3.0], "z": [1, 1]}).probabilities("y")


def test_an_open_count_is_not_taken_for_two_classes() -> None:
    """A count of several values above a given one: all its values have weight, by enumeration."""
    m = pw.Model("count above a number")
    row = m.plate("row")
    m.p = pw.Beta(1.0, 1.0)
    m.k = pw.Binomial(4, 0.5, plates=row)
    m.z = pw.Bernoulli(m.p, plates=row)
    m.x = pw.Normal(m.k, sd=1.0, plates=row)
    fit = m.learn({"k": [1, 3], "z": [0, 1], "x": [1.0, 2.5]})
    found = fit.predict({"x": [3.5], "z": [1]})
    weights = stats.binom.pmf(np.arange(5), 4, 0.5) * stats.norm.pdf(3.5, np.arange(5), 1.0)
    np.testing.assert_allclose(found["k"].mean, weights @ np.arange(5) / weights.sum(), atol=0.1)
