"""Messages in C on one junction tree against a tree planned for each set of evidence."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest

import platewright as pw
from platewright.errors import DataError, NotSolvable, SupportError, UnknownName, UnseenLevel
from platewright.graph.graph import read_graph
from platewright.inference.infer import Inference, infer_on
from platewright.operation import Declined
from platewright.run.networks.compiled import compile_network


def network_text(seed: int, count: int, zeros: float) -> str:
    """A random directed network in UAI text; a share of its probabilities is zero."""
    generator = np.random.default_rng(seed)
    sizes = [int(size) for size in generator.integers(1, 5, size=count)]
    scopes, tables = [], []
    for at in range(count):
        parents = sorted(int(p) for p in generator.permutation(at)[: generator.integers(0, 4)])
        table = generator.gamma(0.7, size=[*(sizes[p] for p in parents), sizes[at]])
        table[generator.random(table.shape) < zeros] = 0.0
        table[..., 0] += 0.01
        scopes.append([*parents, at])
        tables.append((table / table.sum(axis=-1, keepdims=True)).ravel())
    lines = ["BAYES", str(count), " ".join(map(str, sizes)), str(count)]
    lines += [f"{len(scope)} " + " ".join(map(str, scope)) for scope in scopes]
    lines += [f"{table.size} " + " ".join(map(repr, table.tolist())) for table in tables]
    return "\n".join(lines)


def possible_evidence(model: pw.Model, seed: int, count: int) -> list[dict[str, object]]:
    """Parts of joint states, so that they can occur."""
    generator = np.random.default_rng(seed)
    drawn = infer_on(read_graph(model), {}).draws(count, seed)
    found = []
    for row in range(count):
        named = [name for name in drawn if generator.random() < 0.3]
        found.append({name: drawn[name][row].item() for name in named})
    return found


def check(found: Inference, wanted: Inference) -> None:
    assert found.answered is not None
    assert found.unknown == wanted.unknown
    assert np.isclose(found.log_evidence, wanted.log_evidence, atol=1e-10)
    for name in (*found.unknown, *found.evidence):
        np.testing.assert_allclose(found[name].probabilities, wanted[name].probabilities, atol=1e-12)


@pytest.mark.parametrize("seed", range(40))
def test_all_marginals_are_those_of_a_tree_of_its_own(seed: int) -> None:
    model = pw.read_uai(network_text(seed, 3 + seed % 12, 0.3 if seed % 2 else 0.0))
    for evidence in ({}, *possible_evidence(model, seed, 4)):
        check(model.infer(evidence), infer_on(read_graph(model), evidence))


def test_other_questions_are_answered_beside_them() -> None:
    model = pw.read_uai(network_text(3, 8, 0.0))
    (evidence,) = possible_evidence(model, 1, 1)
    found, wanted = model.infer(evidence), infer_on(read_graph(model), evidence)
    pair = found.unknown[:2]
    np.testing.assert_allclose(found.joint(pair).probabilities, wanted.joint(pair).probabilities, atol=1e-12)
    assert found.most_probable().state == wanted.most_probable().state
    assert "messages in C" in found.explain() and found.width == found.plan.width


@pytest.mark.parametrize("seed", range(10))
def test_a_table_of_evidence_is_its_rows_one_by_one(seed: int) -> None:
    model = pw.read_uai(network_text(seed, 9, 0.2))
    sets = possible_evidence(model, seed, 25)
    frame = pd.DataFrame([{f"x{at}": evidence.get(f"x{at}") for at in range(9)} for evidence in sets], dtype=object)
    found = model.infer(frame)
    assert len(found) == len(sets)
    for row, evidence in enumerate(sets):
        wanted = infer_on(read_graph(model), evidence)
        assert np.isclose(found.log_evidence[row], wanted.log_evidence, atol=1e-10)
        for at in range(9):
            exact = wanted[f"x{at}"]
            np.testing.assert_allclose(found[f"x{at}"].probabilities[row], exact.probabilities, atol=1e-12)
            assert found[f"x{at}"][exact.labels[0]][row] == found[f"x{at}"].probabilities[row, 0]


def test_a_thousand_likelihoods_below_the_smallest_number_are_done_in_logs() -> None:
    model = pw.Model("vote")
    model.truth = pw.Bernoulli(0.5)
    for at in range(400):
        setattr(model, f"v{at}", pw.Bernoulli(pw.where(model.truth, 1e-3, 1e-4)))
    columns = {f"v{at}": [1, 1] for at in range(400)}
    found = model.infer(columns)
    wanted = np.logaddexp(400 * np.log(1e-3), 400 * np.log(1e-4)) + np.log(0.5)
    np.testing.assert_allclose(found.log_evidence, wanted, rtol=1e-12)
    np.testing.assert_allclose(found["truth"][1], 1.0)


def both() -> pw.Model:
    model = pw.Model("both")
    model.a = pw.Bernoulli(0.3)
    model.b = pw.Bernoulli(pw.where(model.a, 1.0, 0.0))
    return model


def test_a_row_that_cannot_be_is_named() -> None:
    with pytest.raises(SupportError, match="row 2: the evidence has probability zero"):
        both().infer({"a": [1, 0, 1], "b": [1, 0, 0]})


def test_a_frame_says_which_cells_are_wrong() -> None:
    with pytest.raises(UnknownName):
        both().infer({"c": [1]})
    with pytest.raises(UnseenLevel):
        both().infer({"a": [1, 7]})
    with pytest.raises(DataError, match="1, 2 rows"):
        both().infer({"a": [1, 0], "b": [1]})
    with pytest.raises(UnknownName):
        both().infer({"a": [1, 0]})["c"]


def test_what_is_not_finite_goes_the_other_way() -> None:
    model = pw.Model("mixed")
    model.a = pw.Bernoulli(0.3)
    model.x = pw.Normal(model.a, sd=1.0)
    assert isinstance(compile_network(read_graph(model)), Declined)
    assert model.infer({"x": 0.9}).answered is None
    with pytest.raises(NotSolvable, match="`x` is real"):
        model.infer({"a": [0, 1]})


def test_models_and_answers_are_copied_and_pickled() -> None:
    model = both()
    found = model.infer({"b": 1})
    for copied in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert copied.infer({"b": 1})["a"][1] == found["a"][1]
    again = pickle.loads(pickle.dumps(found))
    assert again["a"][1] == found["a"][1] and again.joint(["a", "b"])[1, 1] == 1.0


def test_the_network_is_made_anew_when_the_model_grows() -> None:
    model = both()
    assert model.infer({"a": 1})["b"][1] == 1.0
    model.c = pw.Bernoulli(pw.where(model.b, 0.9, 0.2))
    assert np.isclose(model.infer({"a": 1})["c"][1], 0.9)
