"""Junction trees against the sum over all states: random chain graphs, and random networks full of zeros."""

from __future__ import annotations

import numpy as np
import pytest

from inference.enumeration import Enumerated, random_case
from platewright.errors import SupportError
from platewright.inference.infer import Inference, infer, infer_on
from platewright.language.networks.uai import read_uai

SEEDS = range(120)


def check(exact: Enumerated, found: Inference, seed: int) -> None:
    """Every kind of question gets the answer of the enumeration."""
    unknown = [name for name in exact.order if name not in exact.known]
    for name in unknown:
        np.testing.assert_allclose(found[name].probabilities, exact.joint_of([name]), atol=1e-12)
    assert np.isclose(found.log_evidence, exact.log_evidence, atol=1e-10)
    generator = np.random.default_rng(seed)
    if unknown:
        chosen = [str(n) for n in generator.permutation(unknown)[: generator.integers(1, 4)]]
        np.testing.assert_allclose(found.joint(chosen).probabilities, exact.joint_of(chosen), atol=1e-12)
        best = found.most_probable()
        at = tuple([*found[n].labels].index(best[n]) if n in unknown else 0 for n in exact.order)
        assert np.isclose(best.log_probability, exact.best, atol=1e-10)
        assert np.isclose(np.log(exact.clamped[at] / exact.clamped.sum()), exact.best, atol=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_chain_graph_is_answered_as_enumeration_does(seed: int) -> None:
    _, exact, found = random_case(seed)
    check(exact, found, seed)


@pytest.mark.parametrize("seed", range(40))
def test_leaving_out_barren_nodes_changes_no_answer(seed: int) -> None:
    graph, _, whole = random_case(seed)
    for name in whole.unknown[:2]:
        part = infer_on(graph, whole.evidence, about=[name])
        np.testing.assert_allclose(part[name].probabilities, whole[name].probabilities, atol=1e-12)
        assert np.isclose(part.log_evidence, whole.log_evidence, atol=1e-10)


def markov_text(
    seed: int, zeros: float, spread: float = 1.0
) -> tuple[str, list[tuple[tuple[int, ...], np.ndarray]], list[int]]:
    """A random undirected network in UAI text; a share of the weights is zero."""
    generator = np.random.default_rng(seed)
    sizes = [int(size) for size in generator.integers(1, 4, size=generator.integers(3, 7))]
    factors = []
    for _ in range(generator.integers(3, 9)):
        scope = tuple(int(v) for v in generator.permutation(len(sizes))[: generator.integers(1, 4)])
        table = np.exp(np.clip(spread * generator.normal(size=[sizes[v] for v in scope]), -650, 650))
        table[generator.random(table.shape) < zeros] = 0.0
        factors.append((scope, table))
    lines = ["MARKOV", str(len(sizes)), " ".join(map(str, sizes)), str(len(factors))]
    lines += [f"{len(scope)} " + " ".join(map(str, scope)) for scope, _ in factors]
    lines += [f"{table.size}\n" + " ".join(repr(float(v)) for v in table.ravel()) for _, table in factors]
    return "\n".join(lines), factors, sizes


def enumerated(factors: list[tuple[tuple[int, ...], np.ndarray]], sizes: list[int]) -> np.ndarray:
    """The product of all factors at every state."""
    joint = np.ones(sizes)
    for scope, table in factors:
        turned = np.transpose(table, np.argsort(scope))
        joint = joint * turned.reshape([sizes[v] if v in scope else 1 for v in range(len(sizes))])
    return joint


@pytest.mark.parametrize("seed", range(60))
def test_weights_of_zero_never_give_nan(seed: int) -> None:
    text, factors, sizes = markov_text(seed, zeros=0.3)
    joint = enumerated(factors, sizes)
    model = read_uai(text)
    if joint.sum() == 0:
        with pytest.raises(SupportError, match="weight zero"):
            infer(model).log_partition  # noqa: B018
        return
    found = infer(model)
    assert np.isclose(found.log_partition, np.log(joint.sum()))
    order = tuple(f"x{v}" for v in range(len(sizes)))
    check(Enumerated(order, joint / joint.sum(), {}), found, seed)


@pytest.mark.parametrize("seed", range(20))
def test_weights_too_far_apart_for_floats_are_done_in_logs(seed: int) -> None:
    text, factors, sizes = markov_text(seed, zeros=0.0, spread=250.0)
    logs = sum(
        np.transpose(np.log(table), np.argsort(scope)).reshape(
            [sizes[v] if v in scope else 1 for v in range(len(sizes))]
        )
        for scope, table in factors
    )
    logs = np.broadcast_to(logs, sizes)
    found = infer(read_uai(text))
    top = logs.max()
    assert np.isclose(found.log_partition, top + np.log(np.exp(logs - top).sum()))
    for v in range(len(sizes)):
        others = tuple(w for w in range(len(sizes)) if w != v)
        wanted = np.exp(logs - top).sum(axis=others)
        np.testing.assert_allclose(found[f"x{v}"].probabilities, wanted / wanted.sum(), rtol=1e-9, atol=1e-300)


@pytest.mark.parametrize("seed", range(12))
def test_draws_follow_the_joint(seed: int) -> None:
    _, exact, found = random_case(seed)
    unknown = list(found.unknown)[:3]
    if not unknown:
        return
    draws = found.draws(20_000, seed=seed)
    wanted = exact.joint_of(unknown)
    counts = np.zeros(wanted.shape)
    np.add.at(counts, tuple(np.searchsorted(found[name].labels, draws[name]) for name in unknown), 1)
    gap = np.abs(counts / 20_000 - wanted)
    assert (gap <= 5 * np.sqrt(wanted * (1 - wanted) / 20_000) + 1e-12).all()


def test_the_same_seed_gives_the_same_draws() -> None:
    _, _, found = random_case(3)
    one, two, three = found.draws(50, seed=1), found.draws(50, seed=1), found.draws(50, seed=2)
    assert all((one[name] == two[name]).all() for name in one)
    assert any((one[name] != three[name]).any() for name in one)
