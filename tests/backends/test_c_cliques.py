"""Expected counts of hidden classes that meet: C against NumPy, on rows with and without missing cells."""

from __future__ import annotations

import numpy as np
import pytest

import platewright as pw
from platewright.backends.c.compile import find_compiler
from platewright.data.bind import bind
from platewright.family import Array
from platewright.graph.fixed_sizes import fixed_sizes
from platewright.run.execute import arguments, columns_of, loaded
from platewright.run.hidden.em import Runner
from platewright.run.hidden.native_cliques import NativeCliques
from platewright.schemas.em import EMPlan, plan_em
from schemas.small_instance import instance
from schemas.tied_classes import TIED

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler on this machine")


def random_network(seed: int) -> tuple[pw.Model, dict[str, list[object]]]:
    """A network of categories with up to three parents each, its data with holes, and rows that repeat."""
    rng = np.random.default_rng(seed)
    m = pw.Model(f"network {seed}")
    n = m.plate("n")
    count = int(rng.integers(3, 8))
    levels = rng.integers(2, 4, count)
    plates = [m.plate(f"l{k}", int(levels[k])) for k in range(count)]
    data: dict[str, list[object]] = {}
    for k in range(count):
        chosen = sorted(rng.choice(k, size=min(k, int(rng.integers(0, 4))), replace=False)) if k else []
        setattr(m, f"t{k}", pw.Dirichlet(1.5, over=plates[k], plates=tuple(plates[p] for p in chosen)))
        table = getattr(m, f"t{k}")
        at = tuple(getattr(m, f"x{p}") for p in chosen)
        setattr(m, f"x{k}", pw.Categorical(table[at] if chosen else table, plates=n))
        values = rng.integers(0, levels[k], 40)
        data[f"x{k}"] = [None if rng.random() < 0.3 else int(value) for value in values]
    return m, data


def bound(model: pw.Model, data: dict[str, list[object]]) -> tuple[EMPlan, dict[str, Array], dict[str, int]]:
    dataset = bind(model._signature(), data, partly=True)
    plan = model.derive(dataset.known, goal="map", partly=dataset.missing).plan
    assert isinstance(plan, EMPlan)
    return plan, columns_of(plan.graph, dataset), {**fixed_sizes(plan.graph), **dataset.sizes}


def agree(plan: EMPlan, columns: dict[str, Array], sizes: dict[str, int]) -> None:
    native = NativeCliques(plan, columns, sizes)
    assert native.native, native.left
    runner = Runner(plan, columns, sizes)
    values = runner.begun(runner.guessed(np.random.default_rng(0)))
    program, module = plan.maximise, loaded(plan.maximise)
    for _ in range(3):
        seen, step = runner.expected(values), native.step(values)
        assert step.objective == pytest.approx(seen.objective, rel=1e-12, abs=1e-10)
        wanted = module.statistics(*arguments(program, module, {**columns, **seen.expectations}, sizes))
        for name, value in wanted.items():
            np.testing.assert_allclose(step.statistics[name], value, rtol=1e-10, atol=1e-10, err_msg=name)
        values = runner.maximised(seen.expectations, values)


@pytest.mark.parametrize("seed", range(12))
def test_networks_with_missing_cells(seed: int) -> None:
    agree(*bound(*random_network(seed)))


@pytest.mark.parametrize("name", ["path"])
def test_classes_that_are_always_hidden(name: str) -> None:
    case = next(case for case in TIED if case.name == name)
    small = instance(case, 0)
    plan = plan_em(case.graph, "map")
    assert isinstance(plan, EMPlan)
    agree(plan, small.columns, dict(small.sizes))


def test_real_rows_are_left_to_numpy_with_the_reason() -> None:
    case = next(case for case in TIED if case.name == "collider")
    small = instance(case, 0)
    plan = plan_em(case.graph, "map")
    assert isinstance(plan, EMPlan)
    native = NativeCliques(plan, small.columns, small.sizes)
    assert not native.native
    assert "not a code of the row" in native.left[0][1]


def test_the_same_estimate_from_either_backend() -> None:
    model, data = random_network(5)
    one = model.learn(data, goal="map", backend="numpy", restarts=2)
    two = model.learn(data, goal="map", backend="c", restarts=2)
    assert two.backend == "c"
    assert two.log_joint == pytest.approx(one.log_joint, rel=1e-9)
    assert two.log_likelihood == pytest.approx(one.log_likelihood, rel=1e-9)


def test_a_fit_whose_c_was_refused_says_so() -> None:
    m = pw.Model("two classes of a number")
    n, a, b = m.plate("n"), m.plate("a", 2), m.plate("b", 2)
    m.p, m.q = pw.Dirichlet(2.0, over=a), pw.Dirichlet(2.0, over=b)
    m.s, m.t = pw.Categorical(m.p, plates=n), pw.Categorical(m.q, plates=n)
    m.mu = pw.Normal(0, sd=3, plates=(a, b))
    m.y = pw.Normal(m.mu[m.s, m.t], sd=1.0, plates=n)
    y = np.random.default_rng(0).normal(size=50)
    how = m.learn({"y": y}, goal="map", backend="c", restarts=1, iterations=3).how
    assert "(numpy: " in how and "not a code of the row" in how
