"""Few rows that stand for many: the same sums, whatever the number of rows, and only where data enter linearly."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import platewright as pw
from platewright.backends.c.in_memory import InMemory
from platewright.backends.c_gibbs.gibbs import gibbs_source
from platewright.backends.c_gibbs.split import Split, split_passes
from platewright.family import Array
from platewright.graph.graph import read_graph
from platewright.run.samplers.native_choice import native_gibbs
from platewright.run.samplers.native_gibbs import NativeGibbs, gibbs_in_memory, integer_names
from platewright.schemas.gibbs import ExactBlock, GibbsPlan, plan_gibbs
from schemas.test_native_conditionals import needs_compiler


def line() -> pw.Model:
    m = pw.Model("line")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.tau = pw.Gamma(3, rate=2)
    m.a, m.b = pw.Normal(0, sd=2), pw.Normal(0, sd=2)
    m.y = pw.Normal(m.a + m.b * m.x, precision=m.tau, plates=n)
    return m


def growth() -> pw.Model:
    m = pw.Model("growth")
    n, j = m.plate("n"), m.plate("j", size=3)
    m.age = pw.Input(plates=j)
    m.a, m.b = pw.Normal(0, sd=2), pw.Normal(0, sd=2)
    m.omega = pw.Wishart(5, inverse_scale=np.eye(3), over=j)
    m.y = pw.MultivariateNormal(m.a + m.b * m.age, precision=m.omega, over=j, plates=n)
    return m


def curve() -> pw.Model:
    m = pw.Model("curve")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.tau = pw.Gamma(3, rate=2)
    m.c = pw.Beta(2, 2)
    m.a = pw.Normal(0, sd=2)
    m.y = pw.Normal(m.a + m.c**m.x, precision=m.tau, plates=n)
    return m


def plan_of(model: pw.Model) -> GibbsPlan:
    plan = plan_gibbs(read_graph(model, ("y",)), "posterior")
    assert isinstance(plan, GibbsPlan)
    return plan


def splits_of(model: pw.Model) -> list[Split]:
    plan = plan_of(model)
    exact = [block for block in plan.blocks if isinstance(block, ExactBlock)]
    return [split_passes(block.plan.program, frozenset(plan.graph.unknown)) for block in exact]


def columns_of(model: Callable[[], pw.Model], rows: int, far: float = 0.0) -> dict[str, Array]:
    generator = np.random.default_rng(rows)
    if model is growth:
        return {"age": np.arange(3.0), "y": far + generator.normal(size=(rows, 3))}
    return {"x": generator.uniform(1, 2, size=rows), "y": far + generator.normal(size=rows)}


def native(model: Callable[[], pw.Model], rows: int, far: float = 0.0) -> NativeGibbs:
    plan, columns = plan_of(model()), columns_of(model, rows, far)
    source = gibbs_source(plan, integer_names(columns))
    return gibbs_in_memory(plan, columns, {"n": rows, **({"j": 3} if model is growth else {})}, source)


def start(model: Callable[[], pw.Model]) -> dict[str, Array]:
    values = {"tau": np.array(2.0), "a": np.array(0.3), "b": np.array(-0.7)}
    return {**values, "omega": np.eye(3)} if model is growth else values


@needs_compiler
@pytest.mark.parametrize("model", [line, growth])
def test_a_sweep_does_not_depend_on_the_number_of_rows(model: Callable[[], pw.Model]) -> None:
    """Nothing that it is given has an element for each row, so it cannot look at them."""
    assert not any(rows in held.shape for rows in (7, 700) for held in native(model, rows).given.values())
    assert any(7 in held.shape for held in native(curve, 7).given.values())


@needs_compiler
def test_many_rows_that_no_sweep_goes_over_need_no_compiler() -> None:
    plan, rows = plan_of(line()), 50_000
    native = native_gibbs(plan, columns_of(line, rows), {"n": rows}, 4000, lambda _: start(line), 1)
    assert isinstance(native.shared, InMemory)


@needs_compiler
@pytest.mark.parametrize("far", [0.0, 1e9])
def test_squares_about_a_line_are_those_of_all_rows(far: float) -> None:
    machine = native(line, 200, far)
    values = {**start(line), "a": np.array(0.3 + far)}
    chain = machine.chain(values, np.random.default_rng(1))
    columns = columns_of(line, 200, far)
    squares = np.sum((columns["y"] - values["a"] - values["b"] * columns["x"]) ** 2)
    (number,) = (k for k, block in enumerate(machine.plan.blocks) if block.variables == ("tau",))
    rate = chain.statistics(number)["tau.rate"]
    assert rate == pytest.approx(2 + squares / 2, rel=1e-11 if far == 0.0 else 1e-6)


def test_what_is_no_linear_form_in_the_data_keeps_its_rows() -> None:
    assert not any(split.few for split in splits_of(curve()))
    assert all(any(one.over and one.over[0].name == "n" for one in split.moving) for split in splits_of(curve()))


def test_rows_that_are_known_to_be_few_stay() -> None:
    m = pw.Model("three rows")
    n = m.plate("n", size=3)
    m.x = pw.Input(plates=n)
    m.tau = pw.Gamma(3, rate=2)
    m.a, m.b = pw.Normal(0, sd=2), pw.Normal(0, sd=2)
    m.y = pw.Normal(m.a + m.b * m.x, precision=m.tau, plates=n)
    assert not any(split.few for split in splits_of(m))
