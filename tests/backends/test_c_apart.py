"""What is compiled apart is what stands in the text: the same functions, the same draws, one object for all models."""

from __future__ import annotations

import ctypes
import re
from pathlib import Path

import numpy as np
import pytest

from platewright.backends.c.compile import AS_WRITTEN, LIGHT, compiled, find_compiler
from platewright.backends.c_gibbs.apart import declared_text, object_text
from platewright.backends.c_gibbs.support import SHARED
from platewright.graph.graph import read_graph
from platewright.run.samplers.native_gibbs import MOST_LIGHT, NativeGibbs, compiled_gibbs, flags_for
from platewright.schemas.gibbs import GibbsPlan, plan_gibbs
from schemas import hierarchies

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="there is no C compiler here")

COUNTS = {"y": np.array([1, 0, 4, 7]), "t": np.ones(4)}
START = {"shape": np.array(1.0), "rate": np.array(1.0), "theta": np.ones(4)}


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PLATEWRIGHT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def pumps() -> GibbsPlan:
    plan = plan_gibbs(read_graph(hierarchies.pumps(), tuple(COUNTS)), "posterior")
    assert isinstance(plan, GibbsPlan)
    return plan


def after_a_sweep(built: NativeGibbs) -> dict[str, np.ndarray]:
    chain = built.chain(START, np.random.default_rng(1))
    chain.run(1, 1)
    return chain.values


@pytest.mark.parametrize("name", SHARED)
def test_a_function_is_declared_as_it_is_defined(name: str) -> None:
    declared = re.findall(r"^HIDDEN ([^;{]*);", "\n".join(declared_text(f"{name}(")), re.M)
    defined = re.findall(r"^HIDDEN ([^;{]*)\n\{", object_text(), re.M)
    assert set(declared) <= set(defined)
    assert "static inline" in SHARED[name] or any(f"{name}(" in head for head in declared)
    assert not re.search(r"^static (?!inline)", object_text(), re.M)


def test_apart_and_alone_draw_the_same() -> None:
    plan = pumps()
    apart = compiled_gibbs(plan, COUNTS, {"n": 4})
    compiler = find_compiler()
    assert compiler is not None
    whole = compiled(apart.source.text, compiler, AS_WRITTEN)
    alone = NativeGibbs(plan, apart.source, whole, {"n": 4}, apart.given)
    found, wanted = after_a_sweep(apart), after_a_sweep(alone)
    for name, values in wanted.items():
        assert np.array_equal(found[name], values)
        assert not np.array_equal(values, START[name])


def test_models_share_one_object(own_cache: Path) -> None:
    for model, columns in ((hierarchies.pumps(), COUNTS), (hierarchies.mean_and_scale(), {"y": np.arange(4.0)})):
        plan = plan_gibbs(read_graph(model, tuple(columns)), "posterior")
        assert isinstance(plan, GibbsPlan)
        compiled_gibbs(plan, columns, {"n": 4})
    endings = sorted(file.suffix for file in own_cache.iterdir())
    assert endings == [".entry", ".entry", ".entry", ".o", ".so", ".so"]


def test_no_other_library_can_take_the_place_of_a_shared_function(own_cache: Path) -> None:
    built = compiled_gibbs(pumps(), COUNTS, {"n": 4})
    assert isinstance(built.shared, ctypes.CDLL) and hasattr(built.shared, "sweeps")
    assert not any(hasattr(built.shared, name) for name in ("cholesky", "gamma_draw", "slice_draw", "dot"))


def test_only_short_sweeps_without_paths_are_compiled_lightly() -> None:
    exact = plan_gibbs(read_graph(hierarchies.mean_and_scale(), ("y",)), "posterior")
    assert isinstance(exact, GibbsPlan)
    assert flags_for(exact, {"n": 4}) == LIGHT
    assert flags_for(exact, {"n": MOST_LIGHT}) == AS_WRITTEN
    assert "Hamiltonian" in pumps().summary and flags_for(pumps(), {"n": 4}) == AS_WRITTEN
