"""The file of an exact mode prints the mode that the library finds."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import platewright as pw
from backends.running import run_file, running
from platewright.errors import NotSolvable
from platewright.run.checks.simulating import small_data

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*/model.py"))


def regression() -> tuple[pw.Model, dict[str, Any]]:
    m = pw.Model("regression")
    n = m.plate("n")
    m.x = pw.Input(plates=n)
    m.s = pw.InverseGamma(3, scale=1)
    m.a = pw.Normal(0, variance=4 * m.s)
    m.b = pw.Normal(0, variance=m.s)
    m.y = pw.Normal(m.a + m.b * m.x, variance=m.s, plates=n)
    x = np.linspace(-1, 1, 12)
    return m, {"x": x.tolist(), "y": (1 + 2 * x + 0.1 * np.cos(9 * x)).tolist()}


def test_the_file_prints_the_mode_of_a_table(tmp_path: Path) -> None:
    m, data = regression()
    fit = m.learn(data, goal="map")
    found = run_file(fit.source(), data, tmp_path)
    assert found.keys() == {"s", "a", "b"}
    for name, value in found.items():
        assert value == pytest.approx(float(np.asarray(fit[name].value)), rel=1e-10)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.parent.name)
def test_every_example_with_an_exact_mode(path: Path) -> None:
    space = runpy.run_path(str(path))
    try:
        plan = space["m"].derive(known=space["known"], goal="map", by="exact")
    except NotSolvable:
        pytest.skip("no exact mode")
    values, sizes = small_data(plan.graph, seed=1)
    data = {name: value for name, value in values.items() if plan.graph.is_known(name)}
    program = plan.plan.program
    given = {name: data[name] for name in program.columns if name in data}
    found = running(plan.source())["learn"](
        {_plain(name): value for name, value in given.items()}, {_plain(p): sizes[p] for p in program.plates}
    )
    wanted = _modes(plan.plan, data, sizes)
    assert found.keys() == wanted.keys()
    for name, value in wanted.items():
        np.testing.assert_allclose(found[name], value, rtol=1e-9, atol=1e-12, err_msg=name)


def _plain(name: str) -> str:
    from platewright.backends.naming import Names

    return Names()(name)


def _modes(plan: Any, data: dict[str, Any], sizes: dict[str, int]) -> dict[str, Any]:
    from platewright.run.exact.posterior import Posterior
    from platewright.run.execute import arguments, finish, loaded

    module = loaded(plan.program)
    found = module.statistics(*arguments(plan.program, module, data, sizes))
    computed = finish(plan.program, module, found, data, sizes)
    return dict(Posterior(plan, computed, data, sizes).modes)
