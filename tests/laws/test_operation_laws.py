"""Laws of graph operations: on random small chain graphs, by enumeration of all levels.

Each operation keeps p(unknown | known), changes nothing it was given, and gives a reason when it refuses. The joint is
that of Equation 7, with the normaliser of every undirected component.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations

import numpy as np
import pytest

from discrete_models import conditional, joint_table, normalised, random_graph, random_nodes, table_of
from platewright.graph.blanket import markov_blanket
from platewright.graph.components import chain_components, component_parents
from platewright.graph.graph import Graph
from platewright.graph.normaliser import normalised_log_joint
from platewright.graph.separation import separated
from platewright.operation import Declined, Step
from platewright.operations.decompose import Decomposition, decompose, evidence_is_product
from platewright.operations.drop_settled_arcs import drop_settled_arcs
from platewright.operations.drop_undirected_arc import drop_undirected_arc
from platewright.operations.merge_clique import merge_clique
from platewright.operations.remove_barren import remove_barren
from platewright.operations.remove_deterministic import remove_deterministic
from platewright.operations.reverse_arc import reverse_arc

BLOCKS = range(10)
MODELS_A_BLOCK = 40


def graphs(block: int) -> Iterator[Graph]:
    for seed in range(block * MODELS_A_BLOCK, (block + 1) * MODELS_A_BLOCK):
        yield random_graph(seed)


def checked(operation: Callable[..., Step | Declined], graph: Graph, *arguments: object) -> Step | None:
    """Apply an operation; it must leave its graph as it was, and refuse with a sentence."""
    nodes, potentials, known, plates = dict(graph.nodes), dict(graph.potentials), graph.known, dict(graph.plates)
    result = operation(graph, *arguments)
    now = (dict(graph.nodes), dict(graph.potentials), graph.known, dict(graph.plates))
    assert now == (nodes, potentials, known, plates)
    if isinstance(result, Declined):
        assert len(result.reason.split()) > 2, result
        assert result.operation == operation.__name__
        return None
    assert result.before is graph
    assert result.because
    assert result.reference
    return result


def assert_same_conditional(before: Graph, after: Graph, order: list[str]) -> None:
    np.testing.assert_allclose(conditional(after, order), conditional(before, order), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("block", BLOCKS)
def test_dropping_arcs_keeps_the_conditional_of_the_unknowns(block: int) -> None:
    applied = 0
    for graph in graphs(block):
        order = random_nodes(graph)
        attempts = [checked(drop_settled_arcs, graph, name) for name in order]
        attempts += [checked(drop_undirected_arc, graph, one, two) for one, two in combinations(order, 2)]
        for step in attempts:
            if step is not None and graph.unknown:
                applied += 1
                assert_same_conditional(graph, step.after, order)
    assert applied > 5


@pytest.mark.parametrize("block", BLOCKS)
def test_removing_a_barren_node_sums_it_out(block: int) -> None:
    applied = 0
    for graph in graphs(block):
        order = random_nodes(graph)
        for name in order:
            if (step := checked(remove_barren, graph, name)) is not None:
                applied += 1
                gone = tuple(axis for axis, other in enumerate(order) if other not in step.after.nodes)
                left = [other for other in order if other in step.after.nodes]
                summed = conditional(graph, order).sum(axis=gone)
                np.testing.assert_allclose(conditional(step.after, left), summed, rtol=1e-9, atol=1e-12)
    assert applied > 5


@pytest.mark.parametrize("block", BLOCKS)
def test_reversing_an_arc_keeps_the_joint(block: int) -> None:
    applied = 0
    for graph in graphs(block):
        order = random_nodes(graph)
        for head in order:
            for tail in sorted(graph.parents[head]):
                if (step := checked(reverse_arc, graph, tail, head)) is not None:
                    applied += 1
                    np.testing.assert_allclose(joint_table(step.after, order), joint_table(graph, order), atol=1e-9)
                    assert head in step.after.parents[tail]
                    shared = (graph.parents[tail] | graph.parents[head]) - {tail}
                    assert step.after.parents[head] == shared
                    assert step.after.parents[tail] == shared | {head}
                    chain_components(step.after)  # no circle
    assert applied > 5


def test_an_arc_reversed_twice_gives_the_first_conditionals_again() -> None:
    for seed in range(60):
        graph = random_graph(seed)
        for head in random_nodes(graph):
            for tail in sorted(graph.parents[head]):
                there = reverse_arc(graph, tail, head)
                if isinstance(there, Step):
                    back = reverse_arc(there.after, head, tail)
                    assert isinstance(back, Step)
                    order = random_nodes(graph)
                    np.testing.assert_allclose(joint_table(back.after, order), joint_table(graph, order), atol=1e-9)


@pytest.mark.parametrize("block", BLOCKS)
def test_merging_a_clique_relabels_the_joint(block: int) -> None:
    for graph in graphs(block):
        order = random_nodes(graph)
        for members in _cliques(graph):
            if (step := checked(merge_clique, graph, members)) is not None:
                others = [name for name in order if name not in members]
                merged = joint_table(step.after, [*others, "_".join(members)])
                before = joint_table(graph, [*others, *members])
                np.testing.assert_allclose(merged.reshape(before.shape), before, atol=1e-9)


def _cliques(graph: Graph) -> list[tuple[str, ...]]:
    undirected = [name for name, node in graph.nodes.items() if node.kind == "undirected"]
    return [*combinations(undirected, 2), *combinations(undirected, 3)]


@pytest.mark.parametrize("block", BLOCKS)
def test_removing_deterministic_nodes_keeps_the_joint(block: int) -> None:
    for graph in graphs(block):
        step = checked(remove_deterministic, graph)
        if step is not None:
            order = random_nodes(graph)
            np.testing.assert_allclose(joint_table(step.after, order), joint_table(graph, order), atol=1e-9)


@pytest.mark.parametrize("block", BLOCKS)
def test_pieces_of_a_decomposition_multiply_to_the_whole(block: int) -> None:
    for graph in graphs(block):
        pieces = decompose(graph)
        if isinstance(pieces, Declined):
            assert not graph.unknown
            continue
        order = random_nodes(graph)
        whole = conditional(graph, order)
        product = np.ones(whole.shape)
        for piece in pieces.pieces:
            product = product * _spread(conditional(piece, random_nodes(piece)), random_nodes(piece), order)
        np.testing.assert_allclose(product, whole, rtol=1e-9, atol=1e-12)
        assert sorted(name for found in pieces.unknowns for name in found) == sorted(graph.unknown)
        _assert_each_factor_once(graph, pieces)


def _spread(table: np.ndarray, own: list[str], order: list[str]) -> np.ndarray:
    """A table over some nodes as one over all, constant along the others."""
    table = np.transpose(table, [own.index(name) for name in order if name in own])
    return table.reshape(
        [table.shape[[n for n in order if n in own].index(name)] if name in own else 1 for name in order]
    )


def _assert_each_factor_once(graph: Graph, pieces: Decomposition) -> None:
    order = random_nodes(graph)
    total = table_of(graph, graph.log_joint, order)
    for piece in (*pieces.pieces, pieces.rest):
        own = random_nodes(piece)
        total = total - _spread(table_of(piece, piece.log_joint, own), own, order)
    np.testing.assert_allclose(total, 0.0, atol=1e-9)


@pytest.mark.parametrize("block", BLOCKS)
def test_a_decomposition_is_the_finest(block: int) -> None:
    for graph in graphs(block):
        pieces = decompose(graph)
        if isinstance(pieces, Declined):
            continue
        home = {name: at for at, found in enumerate(pieces.unknowns) for name in found}
        whole = any(
            len(component) > 1 and not component_parents(graph, component) <= graph.known
            for component in chain_components(graph)
        )
        tied = [pair for pair in combinations(graph.unknown, 2) if not separated(graph, *pair, _others(graph, pair))]
        assert all(home[one] == home[two] for one, two in tied)
        if not whole:
            assert len(pieces.pieces) == len(_connected(graph.unknown, tied))


def _others(graph: Graph, pair: tuple[str, str]) -> list[str]:
    return [name for name in random_nodes(graph) if name not in pair]


def _connected(names: tuple[str, ...], pairs: list[tuple[str, str]]) -> set[frozenset[str]]:
    found = {name: frozenset((name,)) for name in names}
    for one, two in pairs:
        together = found[one] | found[two]
        found |= dict.fromkeys(together, together)
    return set(found.values())


@pytest.mark.parametrize("block", BLOCKS)
def test_the_evidence_is_the_product_of_the_pieces_when_it_is_said_to_be(block: int) -> None:
    for graph in graphs(block):
        verdict = evidence_is_product(graph)
        assert verdict.reason
        pieces = decompose(graph)
        if not verdict.holds or isinstance(pieces, Declined):
            continue
        order = random_nodes(graph)
        total = _log_evidence(graph, order)
        for piece in (*pieces.pieces, pieces.rest):
            own = random_nodes(piece)
            total = total - _spread(_log_evidence(piece, own), own, order)
        np.testing.assert_allclose(total, 0.0, atol=1e-9)


def _log_evidence(graph: Graph, order: list[str]) -> np.ndarray:
    if not order:
        return np.zeros(())
    table = np.exp(joint_table(graph, order))
    return np.log(table.sum(axis=tuple(a for a, name in enumerate(order) if name in graph.unknown), keepdims=True))


@pytest.mark.parametrize("block", BLOCKS)
def test_given_its_blanket_a_node_is_independent_of_the_rest(block: int) -> None:
    for graph in graphs(block):
        order = random_nodes(graph)
        log_joint = joint_table(graph, order)
        for axis, name in enumerate(order):
            alone = normalised(log_joint, [other == name for other in order])
            outside = tuple(
                a for a, other in enumerate(order) if a != axis and other not in markov_blanket(graph, name)
            )
            if outside:
                np.testing.assert_allclose(alone, alone.mean(axis=outside, keepdims=True) + 0 * alone, atol=1e-10)


@pytest.mark.parametrize("block", BLOCKS)
def test_separated_means_independent_and_random_tables_show_every_other_dependence(block: int) -> None:
    for graph in graphs(block):
        order = random_nodes(graph)
        joint = np.exp(joint_table(graph, order))
        for one, two in combinations(range(len(order)), 2):
            given = [name for at, name in enumerate(order) if at not in (one, two) and (at + one) % 2]
            gap = _dependence(joint, one, two, [order.index(name) for name in given])
            if separated(graph, order[one], order[two], given):
                assert gap < 1e-10
            else:
                assert gap > 1e-10


def _dependence(joint: np.ndarray, one: int, two: int, given: list[int]) -> float:
    """The largest |p(a, b | c) - p(a | c) p(b | c)|."""
    gone = tuple(axis for axis in range(joint.ndim) if axis not in (one, two, *given))
    table = joint.sum(axis=gone, keepdims=True)
    table = table / table.sum(axis=(one, two), keepdims=True)
    return float(np.abs(table - table.sum(axis=two, keepdims=True) * table.sum(axis=one, keepdims=True)).max())


def test_the_joint_of_a_chain_graph_sums_to_one() -> None:
    for seed in range(200):
        graph = random_graph(seed)
        if not any(potential.startswith("of_x") and "u" not in potential for potential in graph.potentials):
            assert not isinstance(normalised_log_joint(graph), str)
            assert np.exp(joint_table(graph, random_nodes(graph))).sum() == pytest.approx(1.0, abs=1e-9)
