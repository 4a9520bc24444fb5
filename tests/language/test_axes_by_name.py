"""Axes of a table go by name: `pw.array` keeps its `over=`, and an index picks the axis that it belongs to."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import platewright as pw
from platewright.algebra.expression import Reference
from platewright.errors import PlateError, UnknownName

MOVE = np.array([[0.1, 0.8, 0.1], [0.1, 0.3, 0.6], [0.4, 0.1, 0.5]])
BEGIN = np.array([0.5, 0.3, 0.2])
SEEN = [0.0, 1.0, 0.4]


def enumerated() -> np.ndarray:
    """The probabilities of the three states at each step, one path after another."""
    weights = np.zeros((3, 3))
    for path in product(range(3), repeat=3):
        weight = BEGIN[path[0]] * MOVE[path[0], path[1]] * MOVE[path[1], path[2]]
        weight *= np.exp(-0.5 * np.sum((np.array(SEEN) - path) ** 2))
        for step, state in enumerate(path):
            weights[step, state] += weight
    return weights / weights.sum(axis=1, keepdims=True)


def chain(how: str) -> np.ndarray:
    """The same probabilities as learned, with the transition table written in one of several ways."""
    m = pw.Model(how)
    state = m.plate("state", 3)
    origin = m.plate("origin", like=state)
    step = m.plate("step", ordered=True)
    data: dict[str, object] = {"y": SEEN}
    if how == "turned":
        m.move = pw.array(MOVE.T, over=(state, origin))
        move = m.move[origin : m.lag("z")]
    elif how == "expression":
        m.logs = pw.Input(plates=(state, origin))
        m.move = pw.exp(m.logs)
        data["logs"] = np.log(MOVE.T)
        move = m.move[origin : m.lag("z")]
    else:
        m.move = pw.array(MOVE, over=(origin, state))
        move = m.move[m.lag("z")]
    m.z = pw.Categorical(move, start=pw.array(BEGIN, over=state), plates=step)
    m.y = pw.Normal(m.z, sd=1.0, plates=step)
    return m.learn(data, draws=2000).probabilities("z")


@pytest.mark.parametrize("how", ["in order", "turned", "expression"])
def test_a_table_of_moves_is_looked_up_at_the_state_before(how: str) -> None:
    assert np.allclose(chain(how), enumerated(), atol=0.03)


def test_a_table_of_numbers_keeps_the_order_of_its_axes() -> None:
    m = pw.Model()
    young = m.plate("young", 2)
    old = m.plate("old", 3)
    m.t = pw.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], over=(old, young))
    assert [axis.plate for axis in m.variables["t"].axes] == ["old", "young"]


def test_a_category_picks_the_axis_that_it_belongs_to() -> None:
    m = pw.Model()
    sex, region = m.plate("sex", 2), m.plate("region", 2)  # of one size, so that nothing else would notice
    row = m.plate("row")
    m.s, m.r = pw.Input(plates=row, levels=sex), pw.Input(plates=row, levels=region)
    m.chance = pw.Beta(1.0, 1.0, plates=(sex, region))
    assert m.chance[m.r, m.s] == m.chance[m.s, m.r]
    assert m.chance[m.r] == m.chance[:, m.r]
    assert m.chance[region : m.r, sex:0] == m.chance[0, m.r]
    assert m.chance[m.r, 1] == m.chance[1, m.r]


def test_an_index_that_could_mean_two_axes_is_refused_where_no_order_was_written() -> None:
    m = pw.Model()
    state = m.plate("state", 3)
    origin = m.plate("origin", like=state)
    row = m.plate("row")
    m.logs = pw.Input(plates=(origin, state))
    m.table = pw.exp(m.logs)
    m.c = pw.Input(plates=row, levels=state)
    with pytest.raises(PlateError, match=r"not clear: `c` could pick each of them \(state, origin\)"):
        m.table[m.c]
    with pytest.raises(PlateError, match="not clear: `z` could pick"):
        m.table[m.lag("z")]
    assert m.table[origin : m.c] == Reference("table", (state.index, m.c))


def test_naming_an_axis_twice_or_one_that_is_not_there_is_refused() -> None:
    m = pw.Model()
    sex, region, other = m.plate("sex", 2), m.plate("region", 2), m.plate("other", 2)
    row = m.plate("row")
    m.s = pw.Input(plates=row, levels=sex)
    m.chance = pw.Beta(1.0, 1.0, plates=(sex, region))
    with pytest.raises(UnknownName, match="other"):
        m.chance[other : m.s]
    with pytest.raises(PlateError, match="two indices pick it"):
        m.chance[m.s, m.s]
    with pytest.raises(PlateError, match="slice"):
        m.chance[0:1]
