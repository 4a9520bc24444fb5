"""What plans say of their cost."""

from __future__ import annotations

import pytest

import platewright as pw


def regression(**scale: object) -> pw.Model:
    m = pw.Model("regression")
    row, j = m.plate("row"), m.plate("j")
    m.x = pw.Input(plates=(row, j))
    m.s = pw.Gamma(2, rate=1)
    m.a = pw.Normal(0, **(scale or {"precision": m.s}))  # type: ignore[arg-type]
    m.w = pw.Normal(0, **(scale or {"precision": m.s}), plates=j)  # type: ignore[arg-type]
    m.y = pw.Normal(m.a + pw.dot(m.x, m.w, over=j), precision=m.s, plates=row)
    return m


def test_a_closed_form_touches_rows_once_and_leaves_nothing() -> None:
    cost = regression().derive(["y"]).cost
    assert str(cost) == "rows of row touched once; densest block: #j + 1 numbers; nothing is left"


@pytest.mark.parametrize(
    ("by", "goal", "times", "left"),
    [
        ("quadrature", "posterior", "once", "s gone over at points"),
        ("gibbs", "posterior", "in every sweep", "drawn in turn: a, w exact; s exact"),
        ("mean-field", "posterior", "in every iteration", "s, a, w updated in turn"),
        ("em", "map", "in every iteration", "s, a, w raised in turn"),
        ("quadrature", "evidence", "once", "s gone over at points"),
    ],
)
def test_what_is_left_and_how_often_rows_are_touched(by: str, goal: str, times: str, left: str) -> None:
    cost = regression(sd=1.0).derive(["y"], by=by, goal=goal).cost  # type: ignore[arg-type]
    assert (cost.times, cost.left) == (times, left)
    assert sorted(cost.densest) == [(), ("j",)]


def test_elements_that_go_one_by_one_are_no_dense_block() -> None:
    m = pw.Model("groups")
    group, row = m.plate("group"), m.plate("row")
    m.g = pw.Input(plates=row, levels=group)
    m.s = pw.Gamma(2, rate=1)
    m.mu = pw.Normal(0, precision=m.s)
    m.u = pw.Normal(m.mu, precision=m.s, plates=group)
    m.y = pw.Normal(m.u[m.g], precision=m.s, plates=row)
    assert m.derive(["y"]).cost.densest == ((),)
    assert "densest block: 1 number;" in str(m.derive(["y"]).cost)
