"""Law of starts: rows are as far apart as if each level had a standardised column of its own."""

from __future__ import annotations

import numpy as np

import platewright as pw
from platewright.graph.graph import read_graph
from platewright.run.hidden.soft_start import _features, _seeded
from platewright.schemas.em import EMPlan, plan_em


def test_distances_of_levels_are_those_of_indicator_columns() -> None:
    m = pw.Model("classes")
    n, k, j, v = m.plate("n"), m.plate("k", 3), m.plate("j", 2), m.plate("v", 4)
    m.p = pw.Dirichlet(1.5, over=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.theta = pw.Dirichlet(1.5, over=v, plates=(k, j))
    m.x = pw.Categorical(m.theta[m.z], plates=(n, j))
    m.rate = pw.Gamma(2, rate=1, plates=k)
    m.y = pw.Poisson(m.rate[m.z], plates=n)
    plan = plan_em(read_graph(m, ("x", "y")), "map")
    assert isinstance(plan, EMPlan)
    generator = np.random.default_rng(0)
    x, y = generator.integers(0, 4, (60, 2)), generator.poisson(3.0, 60)
    x[:, 1] = np.minimum(x[:, 1], 2)  # a level that nobody has
    found = _features(plan.hidden[0], plan, {"x": x, "y": y}, (60,))
    assert found is not None
    wide = np.concatenate([(x[:, :, None] == np.arange(4)).reshape(60, -1), y[:, None]], axis=1).astype(float)
    spread = wide.std(axis=0)
    wide = (wide - wide.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    for row in (0, 7, 59):
        np.testing.assert_allclose(found.distance(row), ((wide - wide[row]) ** 2).sum(axis=1), rtol=1e-10, atol=1e-10)
    soft = _seeded(found, 60, 3, generator)
    np.testing.assert_allclose(soft.sum(axis=1), 1.0)
    assert set(np.argmax(soft, axis=1)) == {0, 1, 2}
