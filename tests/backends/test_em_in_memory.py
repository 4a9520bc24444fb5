"""EM in C that libtcc compiles, where there are no vectors: expectations and statistics are those of NumPy."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import platewright as pw
from backends.test_c_chain import native
from backends.test_c_cliques import agree, bound, random_network
from backends.test_c_em import assert_step
from platewright.backends.c.compile import find_compiler
from platewright.backends.c.in_memory import has_memory_compiler
from schemas.random_chains import random_chain

pytestmark = pytest.mark.skipif(not has_memory_compiler(), reason="no libtcc")


@pytest.fixture(autouse=True)
def no_compiler(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    assert find_compiler() is None


@pytest.mark.parametrize("seed", range(12))
def test_chains_are_those_of_numpy(seed: int) -> None:
    chain = random_chain(seed)
    em = native(chain)
    assert_step(em, chain.values)
    assert em.made_by.startswith("libtcc")


@pytest.mark.parametrize("seed", range(6))
def test_classes_that_meet_are_those_of_numpy(seed: int) -> None:
    agree(*bound(*random_network(seed)))


def hidden_chain() -> tuple[pw.Model, dict[str, np.ndarray]]:
    m = pw.Model("hidden chain")
    t, k = m.plate("t", ordered=True), m.plate("k", 2)
    before = m.plate("before", like=k)
    m.start = pw.Dirichlet(1.5, over=k)
    m.move = pw.Dirichlet(2, over=k, plates=before)
    m.mu = pw.Normal(0, sd=5, plates=k)
    m.z = pw.Categorical(m.move[m.lag("z")], start=m.start, plates=t)
    m.y = pw.Normal(m.mu[m.z], sd=1, plates=t)
    generator = np.random.default_rng(2)
    states = np.cumsum(generator.random(2_500) < 0.1) % 2
    return m, {"y": np.array([-2.0, 2.0])[states] + generator.normal(size=states.size)}


def test_a_long_chain_needs_no_compiler_and_says_who_compiled_it() -> None:
    model, data = hidden_chain()
    found = model.learn(data, goal="map", seed=1, restarts=1)
    assert found.backend == "c" and "(c: libtcc" in found.how
    by_numpy = model.learn(data, goal="map", seed=1, restarts=1, iterations=3, backend="numpy")
    by_c = model.learn(data, goal="map", seed=1, restarts=1, iterations=3)
    np.testing.assert_allclose(by_c.estimate.objective, by_numpy.estimate.objective, rtol=1e-9)
