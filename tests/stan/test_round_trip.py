"""A model written as a Stan program is read back with the same density, up to the constants that `read_stan` leaves."""

from __future__ import annotations

import numpy as np
import pytest

import platewright as pw
from bugs.evaluated import log_joint
from example_models import examples
from platewright.algebra.evaluate import Environment, evaluate
from platewright.errors import ModelError
from platewright.family import Array
from platewright.graph.graph import Graph, read_graph, topological
from platewright.language.stan.densities import counts
from platewright.run.checks.simulating import small_data
from stan.models import stan_models
from stan.test_write_stan import functions, in_words_of_stan, scalars


def check(model: pw.Model, known: list[str]) -> None:
    """Log joints at two points differ by the same amount in the model and in the program that is read."""
    graph = read_graph(model, known)
    text = pw.write_stan(model, known)
    first, sizes = small_data(graph, 0)
    # what is known stays the same: a program is read with its data
    data = {name: value for name, value in first.items() if name in graph.known or graph.nodes[name].kind == "input"}
    data |= {name: np.ceil(data[name]) for name in counts(model) if name in data}
    points, wanted = [], []
    for draw in range(9):
        if len(points) == 3:
            break
        point = with_definitions(graph, {**small_data(graph, draw)[0], **data}, sizes)
        with np.errstate(all="ignore"):
            found = float(evaluate(graph.log_joint, Environment(point, sizes)))
        if np.isfinite(found):
            points.append(point)
            wanted.append(found)
    words = [in_words_of_stan(model, point, sizes) for point in points]
    given = in_words_of_stan(model, data, sizes)
    read = pw.read_stan(text, given).read_from
    arrays = [{word: np.asarray(value, dtype=float) for word, value in one.items()} for one in words]
    found = [log_joint(read, one) for one in arrays]
    assert len(found) > 1
    assert np.diff(found) == pytest.approx(np.diff(wanted), rel=1e-9, abs=1e-8)


def with_definitions(graph: Graph, values: dict[str, Array], sizes: dict[str, int]) -> dict[str, Array]:
    """Values of random nodes and inputs, with those of deterministic nodes computed from them."""
    environment = Environment(values, sizes)
    for name in topological(graph):
        node = graph.nodes[name]
        if node.definition is not None:
            value = evaluate(node.definition, environment, node.axes)
            environment = environment.with_values({name: value})
    return dict(environment.values)


@pytest.mark.parametrize("name", examples(rows=5))
def test_an_example_reads_back(name: str) -> None:
    model, data = examples(rows=5)[name][:2]
    check(model, [column for column in data if column in model.variables and model.variables[column].kind != "input"])


@pytest.mark.parametrize("name", stan_models())
def test_a_model_reads_back(name: str) -> None:
    model, known = stan_models()[name]()
    try:
        check(model, known)
    except ModelError as error:
        assert "Stan" in str(error)


def test_every_scalar_family_reads_back() -> None:
    check(scalars(), ["sum", "target", "model_", "r", "s"])


def test_sums_series_choices_and_tables_read_back() -> None:
    check(functions(), ["y", "seen"])
