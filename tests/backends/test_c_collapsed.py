"""The emitted sampler makes the draws of the plain one, element for element, for every model that collapses."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from platewright.backends.c.compile import find_compiler
from platewright.backends.c_collapsed.collapsed import default_source
from platewright.backends.kernels.xoshiro import Xoshiro
from platewright.errors import PlatewrightError
from platewright.run.samplers.collapsed import CollapsedSampler
from platewright.run.samplers.collapsed_data import CollapsedData
from platewright.run.samplers.collapsed_fit import start_sampler
from platewright.run.samplers.native_collapsed import NativeCollapsed
from platewright.schemas.collapsed import CollapsedPlan, plan_collapsed
from schemas.collapsed_models import COLLAPSED
from schemas.random_mixtures import random_mixture
from schemas.small_instance import Case, instance

CASES = {case.name: case for case in COLLAPSED}
pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")


def plan_of(case: Case) -> CollapsedPlan:
    found = plan_collapsed(case.graph, "posterior")
    assert isinstance(found, CollapsedPlan), found
    return found


def both(case: Case, seed: int) -> tuple[NativeCollapsed, CollapsedSampler]:
    """The same chain in C and in Python."""
    plan, small = plan_of(case), instance(case, seed)
    data = CollapsedData(plan, small.columns, small.sizes)
    hidden = {name: small.values[name] for name in plan.hidden}
    native, plain = (
        start_sampler(data, hidden, Xoshiro.seeded(np.random.SeedSequence(seed)), backend) for backend in ("c", "numpy")
    )
    assert isinstance(native, NativeCollapsed) and isinstance(plain, CollapsedSampler)
    return native, plain


@pytest.mark.parametrize("case", COLLAPSED, ids=str)
def test_c_draws_what_the_plain_sampler_draws(case: Case) -> None:
    seen = set()
    for seed in (3, 4):
        native, plain = both(case, seed)
        for _ in range(8):
            native.sweep()
            plain.sweep()
            for name, values in plain.hidden.items():
                assert np.array_equal(native.hidden[name], values)
                seen.add((seed, name, values.tobytes()))
    assert len(seen) > 2 * len(plain.hidden), "nothing moved"


@pytest.mark.parametrize("seed", (2, 4, 5, 11, 13))
def test_mixtures_put_together_at_random_too(seed: int) -> None:
    test_c_draws_what_the_plain_sampler_draws(random_mixture(seed))


@pytest.mark.parametrize("name", ["topics", "many_topics", "author_topics", "document_classes", "conjugate_diagonal"])
def test_tables_stay_what_the_elements_make_them(name: str) -> None:
    native, _ = both(CASES[name], 5)
    native.sweep(25)
    data, hidden = native.data, native.hidden
    for table, layout, stored in zip(data.plan.tables, native.source.tables, native.tables, strict=True):
        fresh = np.transpose(data.filled(table, hidden), layout.order)
        assert np.allclose(stored[tuple(slice(extent) for extent in fresh.shape)], fresh, rtol=1e-12, atol=1e-12)


def test_larger_data_too() -> None:
    groups = tuple(int(k) for k in np.repeat(np.arange(4), 10))
    case = Case("longer", CASES["many_topics"].build, ("w",), {"doc": 4, "word": 40}, {"word": groups})
    native, plain = both(case, 1)
    native.sweep(5)
    plain.sweep(5)
    assert np.array_equal(native.hidden["z"], plain.hidden["z"])


def test_counts_are_integers_and_weights_of_topics_need_no_function() -> None:
    text = default_source(plan_of(CASES["topics"])).text
    body = text[text.index("int sweep(") :]
    assert "COUNTS(" in body and "int32_t *const table" in body
    assert "log(" not in body and "lgamma(" not in body and "exp(" not in body


def test_the_same_plan_gives_the_same_text() -> None:
    for name in ("topics", "blocks", "full_wishart"):
        assert default_source(plan_of(CASES[name])).text == default_source(plan_of(CASES[name])).text


@pytest.mark.parametrize("case", COLLAPSED, ids=str)
def test_the_emitted_file_compiles_alone_without_a_warning(case: Case, tmp_path: Path) -> None:
    compiler = shutil.which("gcc")
    if compiler is None:
        pytest.skip("no gcc")
    (tmp_path / "sweep.c").write_text(default_source(plan_of(case)).text)
    said = subprocess.run(
        [compiler, "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", str(tmp_path / "sweep.c")],
        capture_output=True,
        text=True,
    )
    assert said.returncode == 0, said.stderr


def test_seeds_decide_and_streams_differ() -> None:
    first, _ = both(CASES["topics"], 1)
    again, _ = both(CASES["topics"], 1)
    first.sweep(7)
    for _ in range(7):
        again.sweep()
    assert np.array_equal(first.hidden["z"], again.hidden["z"])
    streams = [Xoshiro.seeded(seed).uniform() for seed in np.random.SeedSequence(0).spawn(50)]
    assert len(set(streams)) == 50


def test_uniform_numbers_are_those_of_the_published_generator() -> None:
    # State 1, 2, 3, 4 gives 41943041, 58720359, 3588806011781223, 3591011842654386, ...
    stream = Xoshiro(np.array([1, 2, 3, 4], dtype=np.uint64))
    published = (41943041, 58720359, 3588806011781223, 3591011842654386)
    assert [stream.uniform() for _ in published] == [(number >> 11) * 2.0**-53 for number in published]


def test_levels_without_any_weight_are_an_error_in_both() -> None:
    native, plain = both(CASES["poissons"], 1)
    native.columns[native.source.columns.index("y")][:] = np.iinfo(np.int32).min
    with pytest.raises(PlatewrightError, match="positive probability"):
        native.sweep()
    lost = {**plain.data.given, "y": np.full_like(plain.data.given["y"], np.iinfo(np.int32).min)}
    impossible = CollapsedData(plain.data.plan, lost, plain.data.sizes)
    with pytest.raises(PlatewrightError, match="positive probability"):
        CollapsedSampler(impossible, plain.hidden, plain.random).sweep()
