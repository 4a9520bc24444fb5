"""Law of the fused pass of EM: objective and statistics are those of NumPy, for any model, rows and threads."""

from __future__ import annotations

import ctypes
import platform
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import platewright as pw
from platewright.backends.c.compile import FLAGS, compiled, find_compiler
from platewright.backends.c_em.em import em_source, fused_program
from platewright.backends.c_em.support import SUPPORT
from platewright.graph.graph import read_graph
from platewright.run.exact.posterior import Posterior
from platewright.run.execute import finish
from platewright.run.hidden import native_em_pass
from platewright.run.hidden.em import Runner
from platewright.run.hidden.em_backend import choose_em_backend, has_ties
from platewright.run.hidden.native_em import NativeEM
from platewright.schemas.em import EMPlan, plan_em
from schemas.flat_mixtures import classes, diagonal, full, latent_class, many_regressors, mixed_columns, one_column
from schemas.mixtures import MIXTURES
from schemas.small_instance import Case, instance

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")

Values = dict[str, Any]


@pytest.fixture(autouse=True, scope="module")
def one_cache(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLATEWRIGHT_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


EXTRA = (
    Case("one_column", one_column, ("y",), {"n": 4}),
    Case("diagonal_flat", diagonal, ("y",), {"n": 4}),
    Case("two_columns", lambda: diagonal(2, 2), ("y",), {"n": 4}),
    Case("sixteen_levels", lambda: diagonal(16, 3), ("y",), {"n": 4}),
    Case("full", full, ("y",), {"n": 4}),
    Case("naive_bayes_mixed_columns", mixed_columns, ("x", "b", "y", "c"), {"n": 4}),
    Case("many_regressors", many_regressors, ("y", "x"), {"n": 4}),
    Case("many_classes", lambda: latent_class(11, 6, 5), ("x",), {"n": 4}),
    Case("seven_levels", lambda: full(7, 2), ("y",), {"n": 4}),
    Case("twenty_levels", lambda: latent_class(20, 3, 70), ("x",), {"n": 4}),
)
PLANS = [(case, plan_em(case.graph, "map")) for case in (*MIXTURES, *EXTRA)]
TURNS = [case for case, plan in PLANS if isinstance(plan, EMPlan) and plan.takes_turns]
MEETING = [case for case, plan in PLANS if isinstance(plan, EMPlan) and has_ties(plan)]


def has_c(case: Case) -> bool:
    """Whether EM of the case is one that a fused pass may make: classes that do not meet, one block of parameters."""
    plan = plan_em(case.graph, "map")
    if not isinstance(plan, EMPlan) or has_ties(plan) or plan.takes_turns:
        return False
    return choose_em_backend(plan, "c", defaultdict(int)) == "c"


CASES = [case for case in (*MIXTURES, *EXTRA) if has_c(case)]


def planned(model: pw.Model, known: tuple[str, ...]) -> EMPlan:
    found = plan_em(read_graph(model, known), "map")
    assert isinstance(found, EMPlan)
    return found


def assert_same(found: Mapping[str, Any], wanted: Mapping[str, Any], within: float = 1e-10) -> None:
    assert list(found) == list(wanted)
    for name, value in wanted.items():
        parts = zip(found[name][:3], value[:3]) if isinstance(value, tuple) else [(found[name], value)]
        for one, other in parts:
            assert np.shape(one) == np.shape(other), name
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=within * np.max(np.abs(other), initial=0.0))


def assert_step(em: NativeEM, values: Values) -> None:
    step, wanted = em.step(values), em.numpy_step(values)
    assert step.objective == pytest.approx(wanted.objective, rel=1e-10)
    assert step.steepest == pytest.approx(wanted.steepest, rel=1e-9, abs=1e-9)
    assert_same(step.statistics, wanted.statistics)


def rows_of(case: Case, rows: int) -> Case:
    if case.groups:
        plate = next(iter(case.groups))
        outer = np.arange(rows) * 2 // rows
        return Case(case.name, case.build, case.known, {**case.sizes, plate: rows}, {plate: tuple(outer.tolist())})
    return case.resized(n=rows)


@pytest.mark.parametrize(
    ("case", "why"),
    [(case, "ties the row") for case in MEETING if case not in TURNS],
    ids=str,
)
def test_what_has_no_fused_pass_is_left_to_numpy_with_a_reason(case: Case, why: str) -> None:
    drawn = instance(case, seed=0)
    plan = plan_em(case.graph, "map")
    assert isinstance(plan, EMPlan)
    em = NativeEM(plan, drawn.columns, drawn.sizes)
    assert not em.native and why in em.left[0][1]


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("rows", [1, 37, 256, 737])
def test_objective_and_statistics_are_those_of_numpy(case: Case, rows: int) -> None:
    drawn = instance(rows_of(case, rows), seed=rows)
    plan = plan_em(case.graph, "map")
    assert isinstance(plan, EMPlan)
    em = NativeEM(plan, drawn.columns, drawn.sizes)
    assert em.native, em.left
    values = {name: value for name, value in drawn.hidden.items() if name not in {h.name for h in plan.hidden}}
    assert_step(em, values)
    assert not em.by_numpy
    if rows < 100:
        return
    runner = Runner(plan, drawn.columns, drawn.sizes)
    values = runner.begun(runner.guessed(np.random.default_rng(0)))
    for _ in range(3):
        assert_step(em, values)
        step = em.step(values)
        assert step.objective == pytest.approx(runner.expected(values).objective, rel=1e-10)
        found = finish(plan.maximise, em.module, step.statistics, drawn.columns, drawn.sizes)
        modes = Posterior(plan.complete, found, drawn.columns, drawn.sizes).modes
        shares = em.probabilities(values)
        for name, wanted in em.numpy_probabilities(values).items():
            np.testing.assert_allclose(shares[name], wanted, rtol=1e-9, atol=1e-13)
        values = runner.begun(shares)
        for name, value in modes.items():
            np.testing.assert_allclose(value, values[name], rtol=1e-8, atol=1e-12)
    assert not em.by_numpy


@pytest.mark.parametrize("rows", [16_384 * 2 + 5, 50_000])
def test_one_and_two_threads_give_the_same_bits(rows: int) -> None:
    generator = np.random.default_rng(0)
    y = generator.normal(size=(rows, 4)) + generator.integers(0, 3, (rows, 1)) * 3
    plan = planned(diagonal(), ("y",))
    sizes = {"n": rows, "k": 3, "j": 4}
    values = {"p": np.full(3, 1 / 3), "mu": np.arange(12.0).reshape(3, 4) / 2, "tau": np.ones((3, 4))}
    steps = [NativeEM(plan, {"y": y}, sizes, threads=threads).step(values) for threads in (1, 2)]
    assert steps[0].objective == steps[1].objective
    for one, other in zip(steps[0].statistics.values(), steps[1].statistics.values()):
        for a, b in zip(np.atleast_1d(one), np.atleast_1d(other)) if not isinstance(one, tuple) else zip(one, other):
            assert np.array_equal(a, b)


def two_groups(rows: int, far: float, narrow: float, shift: float = 0.0) -> tuple[NativeEM, Values]:
    generator = np.random.default_rng(1)
    y = shift + np.where(generator.random(rows) < 0.5, 0.0, far) + narrow * generator.normal(size=rows)
    em = NativeEM(planned(one_column(), ("y",)), {"y": y}, {"n": rows, "k": 2})
    mean = np.array([shift, shift + far]) + 0.1 * narrow
    return em, {"p": np.array([0.5, 0.5]), "mu": mean, "tau": np.full(2, narrow**-2)}


def test_a_mean_of_many_digits_costs_none() -> None:
    em, values = two_groups(1001, 3.0, 1.0, 1.7e12)
    assert_step(em, values)
    assert not em.by_numpy and not em.apart


@pytest.mark.parametrize("narrow", [1e-4, 1e-6, 1e-8])
def test_levels_far_apart_and_narrow_are_taken_about_their_own_centres(narrow: float) -> None:
    em, values = two_groups(1001, 1.0, narrow)
    assert_step(em, values)
    assert em.apart == 1 and not em.by_numpy


def test_narrow_full_covariances_far_from_each_other() -> None:
    generator = np.random.default_rng(2)
    rows = 900
    z = generator.integers(0, 3, rows)
    y = 100.0 * z[:, None] + 1e-4 * generator.normal(size=(rows, 3))
    em = NativeEM(planned(full(), ("y",)), {"y": y}, {"n": rows, "k": 3, "d": 3})
    mean = 100.0 * np.arange(3)[:, None] + np.full((3, 3), 1e-5)
    values = {"p": np.full(3, 1 / 3), "mu": mean, "S": np.tile(1e8 * np.eye(3), (3, 1, 1))}
    assert_step(em, values)
    assert em.apart == 1 and not em.by_numpy


@pytest.mark.parametrize("outlier", [1e3, 1e6, 1e12])
def test_far_outliers(outlier: float) -> None:
    generator = np.random.default_rng(3)
    y = generator.normal(size=(501, 4))
    y[17], y[400, 2] = outlier, -outlier
    em = NativeEM(planned(diagonal(), ("y",)), {"y": y}, {"n": 501, "k": 3, "j": 4})
    values = {"p": np.full(3, 1 / 3), "mu": np.linspace(-1, 1, 12).reshape(3, 4), "tau": np.ones((3, 4))}
    assert_step(em, values)


def test_empty_components_and_levels_of_probability_zero() -> None:
    generator = np.random.default_rng(4)
    y = generator.normal(size=300)
    em = NativeEM(planned(one_column(3), ("y",)), {"y": y}, {"n": 300, "k": 3})
    for p in ([0.5, 0.5, 0.0], [1.0, 0.0, 0.0], [0.4, 0.3, 0.3]):
        values = {"p": np.array(p), "mu": np.array([0.0, 1.0, 500.0]), "tau": np.ones(3)}
        assert_step(em, values)


def test_tables_with_zeros() -> None:
    generator = np.random.default_rng(5)
    x = generator.integers(0, 3, (333, 7))
    em = NativeEM(planned(latent_class(), ("x",)), {"x": x}, {"n": 333, "k": 3, "j": 7, "level": 4})
    theta = generator.dirichlet(np.ones(4), (3, 7))
    theta[0, :, 3] = 0.0  # a level that never occurs
    theta[1, 2, 1] = 0.0  # one that does: class 1 is impossible for those rows
    assert_step(em, {"p": np.full(3, 1 / 3), "theta": theta / theta.sum(axis=-1, keepdims=True)})
    assert not em.by_numpy


def test_impossible_rows_are_left_to_numpy_which_says_so() -> None:
    x = np.zeros((10, 7), dtype=int)
    em = NativeEM(planned(latent_class(), ("x",)), {"x": x}, {"n": 10, "k": 3, "j": 7, "level": 4})
    theta = np.full((3, 7, 4), 1 / 3)
    theta[..., 0] = 0.0
    assert em.step({"p": np.full(3, 1 / 3), "theta": theta}).objective == -np.inf
    assert em.by_numpy == {"a log weight of z is not finite": 1}


def test_codes_outside_their_plate_are_refused() -> None:
    x = np.full((10, 7), 4)
    em = NativeEM(planned(latent_class(), ("x",)), {"x": x}, {"n": 10, "k": 3, "j": 7, "level": 4})
    assert not em.native
    assert "outside its plate" in em.left[0][1]


def test_what_cannot_be_pulled_apart_is_left_to_numpy_with_the_reason() -> None:
    m, n, k = classes(2)
    m.x = pw.Input(plates=n)
    m.q = pw.Beta(2, 2, plates=k)
    m.y = pw.Bernoulli(m.q[m.z] * m.x, plates=n)
    found = plan_em(read_graph(m, ("y", "x")), "map")
    if isinstance(found, EMPlan):
        assert fused_program(found).left


def test_chains_are_left_to_their_own_recursion() -> None:
    m = pw.Model("chain")
    k = m.plate("k", 2)
    before, s = m.plate("before", like=k), m.plate("s", ordered=True)
    m.start = pw.Dirichlet(1, over=k)
    m.A = pw.Dirichlet(1, over=k, plates=before)
    m.mu = pw.Flat(plates=k)
    m.tau = pw.Flat(lower=0)
    m.z = pw.Categorical(m.A[m.lag("z")], start=m.start, plates=s)
    m.y = pw.Normal(m.mu[m.z], precision=m.tau, plates=s)
    assert ("z", "its elements form a chain") in fused_program(planned(m, ("y",))).left


def test_two_emissions_are_byte_identical() -> None:
    assert em_source(planned(full(), ("y",))) == em_source(planned(full(), ("y",)))


@pytest.mark.parametrize("flags", [(), ("-mno-avx512f",), ("-mno-avx",)])
def test_the_exponential_is_right_to_the_last_digits(flags: tuple[str, ...]) -> None:
    text = "#include <math.h>\n#include <stdint.h>\n#include <stdlib.h>\n#define BLOCK 64\n" + SUPPORT
    text += "\nvoid each(double *x, int64_t n)\n{\n    for (int64_t i = 0; i < n; i += WIDE * LANES) {\n"
    text += "        lanes held[WIDE];\n        ABREAST held[v] = AT(x + i + v * LANES);\n        small_powers(held);\n"
    text += "        ABREAST AT(x + i + v * LANES) = held[v];\n    }\n}\n"
    compiler = find_compiler()
    assert compiler is not None
    if flags and platform.machine() != "x86_64":
        pytest.skip("narrower vectors of another kind of machine")
    each = compiled(text, compiler, (*FLAGS, *flags)).each
    few = [0.0, -0.0, -1022.0, -1022.03, -1022.5, -1022.97, -1023.0, -1023.4, -5e4, -1e300, -np.inf]
    x = np.concatenate([np.linspace(0, -1022, 200_001), -np.logspace(-300, 3, 100_001), -np.arange(16_352) / 16, few])
    x = np.concatenate([x, [np.nan, -np.nan], np.zeros(-(len(x) + 2) % 32)])
    y = x.copy()
    each(ctypes.c_void_p(y.ctypes.data), ctypes.c_int64(len(y)))
    wanted = np.exp2(x.astype(np.longdouble))
    seen = x > -1022
    assert float(np.max(np.abs(y - wanted)[seen] / wanted[seen])) < 4.5e-16
    assert (y[x == 0] == 1).all() and (y[x <= -1023] == 0).all() and np.isnan(y[np.isnan(x)]).all()
    edge = (x <= -1022) & (x > -1023)
    assert (y[edge] >= 0).all() and (y[edge] < 2.3e-308).all()


def test_both_ways_of_centring_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    generator = np.random.default_rng(6)
    y = generator.normal(size=(777, 3)) * 3
    plan, sizes = planned(full(), ("y",)), {"n": 777, "k": 3, "d": 3}
    values = {"p": np.full(3, 1 / 3), "mu": generator.normal(size=(3, 3)), "S": np.tile(np.eye(3), (3, 1, 1))}
    plain = NativeEM(plan, {"y": y}, sizes).step(values)
    monkeypatch.setattr(native_em_pass, "DOUBT", 0.0)
    other = NativeEM(plan, {"y": y}, sizes)
    moved = other.step(values)
    assert other.apart == 1
    assert moved.objective == pytest.approx(plain.objective, rel=1e-13)
    assert_same(moved.statistics, plain.statistics, 1e-13)
