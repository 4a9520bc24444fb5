"""Operations on plated models with real variables: the log joint at random points, before and after."""

from __future__ import annotations

import numpy as np

from learning_models import Bernoulli, Categorical, Dirichlet, Normal
from platewright.algebra.evaluate import Environment, evaluate
from platewright.graph.graph import Graph, read_graph, topological
from platewright.language.distribution import Input, Undirected
from platewright.language.functions import dot, exp, tanh
from platewright.language.functions import sum as total
from platewright.language.model import Model
from platewright.operation import Declined, Step
from platewright.operations.add_known_arc import add_known_arc
from platewright.operations.decompose import Decomposition, decompose
from platewright.operations.merge_clique import merge_clique
from platewright.operations.remove_barren import remove_barren
from platewright.operations.remove_deterministic import remove_deterministic
from platewright.operations.reverse_arc import reverse_arc

SIZES = {"row": 4, "column": 3, "k": 3, "doc": 2, "word": 5, "step": 6}


def environment(graph: Graph, seed: int) -> Environment:
    """Random values for every node; functions are computed from their definitions."""
    generator = np.random.default_rng(seed)
    sizes = {name: plate.size or SIZES[name] for name, plate in graph.plates.items()}
    values: dict[str, np.ndarray] = {}
    for name in topological(graph):
        node = graph.nodes[name]
        shape = tuple(sizes[axis.plate] for axis in node.axes)
        if node.definition is not None:
            values[name] = evaluate(node.definition, Environment(values, sizes), node.axes)
        elif node.domain.is_finite:
            top = sizes[node.domain.levels] if node.domain.levels else 2
            values[name] = generator.integers(0, top, size=shape)
        elif node.domain.kind == "simplex":
            values[name] = generator.dirichlet(np.ones(shape[-1]), size=shape[:-1])
        else:
            values[name] = generator.normal(size=shape)
    return Environment(values, sizes)


def assert_same_joint(before: Graph, after: Graph) -> None:
    for seed in range(3):
        point = environment(before, seed)
        wider = Environment(point.values, {**{n: p.size or SIZES[n] for n, p in after.plates.items()}, **point.sizes})
        np.testing.assert_allclose(evaluate(after.log_joint, wider), evaluate(before.log_joint, point), rtol=1e-10)


def step_of(result: Step | Declined) -> Step:
    assert isinstance(result, Step), result
    return result


def test_lemma_6_1_a_function_is_taken_where_it_is_used() -> None:
    m = Model("places")
    row, column, k = m.plate("row"), m.plate("column"), m.plate("k", 3)
    m.w = Normal(0, sd=1, plates=(k, column))
    m.x = Input(plates=(row, column))
    m.z = Categorical([0.2, 0.3, 0.5], plates=row, over=k)
    m.length = dot(m.w, m.w, over=column)
    m.slope = m.w * m.length
    m.mean = dot(m.slope[:, m.z], m.x, over=column)  # plates of a function come in the order of declaration
    m.y = Normal(tanh(m.mean) + m.length[2], sd=exp(0.1 * total(m.length, over=k)), plates=row)
    graph = read_graph(m, ["y"])
    step = step_of(remove_deterministic(graph))
    assert "mean" not in step.after.nodes
    assert step.after.parents["y"] == {"w", "x", "z"}
    assert_same_joint(graph, step.after)
    one = step_of(remove_deterministic(graph, "length"))
    assert "slope" in one.after.nodes
    assert_same_joint(graph, one.after)


def test_lemma_6_1_bound_indices_step_aside() -> None:
    m = Model("capture")
    column = m.plate("column")
    m.a = Normal(0, sd=1, plates=column)
    m.centred = m.a - dot(m.a, 0.1, over=column)
    m.y = Normal(total(m.centred * m.centred, over=column), sd=1)
    graph = read_graph(m)
    assert_same_joint(graph, step_of(remove_deterministic(graph)).after)


def test_lemma_6_1_one_step_back() -> None:
    m = Model("filter")
    step = m.plate("step", ordered=True)
    m.z = Normal(m.lag("z"), sd=1, start=0.0, plates=step)
    m.twice = 2 * m.z
    m.y = Normal(m.lag("twice"), sd=1, start=0.0, plates=step)
    graph = read_graph(m, ["y"])
    result = step_of(remove_deterministic(graph))
    assert_same_joint(graph, result.after)
    m.change = m.z - m.lag("z")
    m.u = Normal(m.lag("change"), sd=1, start=0.0, plates=step)
    result = step_of(remove_deterministic(read_graph(m, ["y"]), "change"))
    assert_same_joint(read_graph(m, ["y"]), result.after)


def test_lemma_6_1_through_membership() -> None:
    m = Model("words")
    doc = m.plate("doc")
    word = m.plate("word", within=doc)
    m.a = Normal(0, sd=1, plates=doc)
    m.rate = exp(m.a)
    m.b = Normal(m.rate, sd=1, plates=word)
    graph = read_graph(m, ["b"])
    assert_same_joint(graph, step_of(remove_deterministic(graph)).after)


def test_figure_16_a_mixture_is_reversed_inside_its_plate() -> None:
    m = Model("mixture")
    row, k = m.plate("row"), m.plate("k", 3)
    m.phi = Dirichlet(1.0, over=k)
    m.mu = Normal(0, sd=1, plates=k)
    m.z = Categorical(m.phi, plates=row)
    m.y = Normal(m.mu[m.z], sd=1, plates=row)
    graph = read_graph(m, ["y"])
    step = step_of(reverse_arc(graph, "z", "y"))
    assert step.after.parents["y"] == {"phi", "mu"}
    assert_same_joint(graph, step.after)
    summed = step_of(remove_barren(step.after, "z"))
    assert set(summed.after.nodes) == {"phi", "mu", "y"}


def test_figure_16_a_coin_is_reversed_too() -> None:
    m = Model("coin")
    row = m.plate("row")
    m.z = Bernoulli(0.3, plates=row)
    m.y = Normal(2.0 * m.z, sd=1, plates=row)
    graph = read_graph(m, ["y"])
    assert_same_joint(graph, step_of(reverse_arc(graph, "z", "y")).after)


def test_comment_2_1_a_clique_is_merged_on_its_plate() -> None:
    m = Model("field")
    row = m.plate("row")
    m.a = Undirected(levels=2, plates=row)
    m.b = Undirected(levels=3, plates=row)
    m.potential("pair", 0.7 * m.a * m.b - 0.1 * m.a)
    m.y = Normal(m.a + m.b, sd=1, plates=row)
    graph = read_graph(m, ["y"])
    step = step_of(merge_clique(graph, ["a", "b"], "ab"))
    point = environment(graph, 0)
    merged = point.with_values({"ab": 3 * point.values["a"] + point.values["b"]})
    merged = Environment(merged.values, {**merged.sizes, "ab.levels": 6})
    np.testing.assert_allclose(evaluate(step.after.log_joint, merged), evaluate(graph.log_joint, point))
    assert step.formulas == ("ab = 3 a + b",)


def test_lemma_6_3_an_update_equals_a_new_decomposition() -> None:
    def model(extra: bool) -> Graph:
        m = Model("update")
        row = m.plate("row")
        m.x = Normal(0, sd=1, plates=row)
        m.u = Normal(0, sd=1, plates=row)
        m.a = Normal(0, sd=1)
        m.b = Normal(0, sd=1)
        m.mean = m.a * m.x
        m.y = Normal(m.mean + m.u if extra else m.mean, sd=1, plates=row)
        m.v = Normal(m.b * m.u, sd=1, plates=row)
        return read_graph(m, ["x", "u", "y", "v"])

    for before, after in ((model(False), model(True)), (model(True), model(False))):
        old, expected = decompose(before), decompose(after)
        assert isinstance(old, Decomposition)
        assert isinstance(expected, Decomposition)
        new = add_known_arc(old, after.nodes["y"])
        assert isinstance(new, Decomposition)
        assert new.pieces == expected.pieces
        assert new.rest is old.rest
        assert new.pieces[1] is old.pieces[1]


def test_functions_of_several_pieces_stay_apart() -> None:
    m = Model("apart")
    m.a = Normal(0, sd=1)
    m.b = Normal(0, sd=1)
    m.both = m.a + m.b
    m.double = 2 * m.a
    pieces = decompose(read_graph(m))
    assert isinstance(pieces, Decomposition)
    assert pieces.apart == ("both",)
    assert "double" in pieces.pieces[0].nodes
