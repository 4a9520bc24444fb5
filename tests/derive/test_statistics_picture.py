"""Statistics in place of the rows, figure by figure."""

from __future__ import annotations

import pytest

from platewright.derive.statistics_picture import statistics_picture
from platewright.drawing.picture import Picture, check_picture
from shown_models import MAKERS, NAMES, coin, crossed, groups, known_in, made, normal, pieces, regression


def arcs(picture: Picture) -> set[str]:
    labels = {node.name: node.label for node in picture.nodes}
    return {f"{labels[arc.source]} -> {labels[arc.target]}" for arc in picture.arcs}


def drawn(maker: object, *gone: str) -> Picture:
    model, data = made(maker)  # type: ignore[arg-type]
    return statistics_picture(model.derive(known_in(model, data)).plan, gone)


@pytest.mark.parametrize("maker", MAKERS, ids=NAMES)
def test_every_plan_has_a_legal_picture_at_each_stage(maker: object) -> None:
    model, data = made(maker)  # type: ignore[arg-type]
    plan = model.derive(known_in(model, data)).plan
    gone: list[str] = []
    for conditional in plan.conditionals:
        check_picture(statistics_picture(plan, gone))
        gone += conditional.variables
    assert all(node.known for node in check_picture(statistics_picture(plan, gone)).nodes)


def test_a_coin_has_two_sums_for_children() -> None:
    assert arcs(drawn(coin)) == {"theta -> sum heads", "theta -> sum (1 - heads)"}


def test_figure_17_the_plate_of_a_gaussian_is_gone() -> None:
    picture = drawn(normal)
    assert arcs(picture) == {
        "variance -> mu",
        "variance -> scatter of x",
        "mu -> scatter of x",
        "variance -> #row",
    }
    assert picture.plates == ()


def test_figure_21_regression_leaves_the_scatter_and_the_count() -> None:
    assert arcs(drawn(regression)) == {
        "tau -> w",
        "tau -> scatter of X, y",
        "w -> scatter of X, y",
        "tau -> #row",
    }


def test_figure_27_each_piece_has_its_own_statistics() -> None:
    assert arcs(drawn(pieces)) == {
        "theta1 -> count of var1",
        "theta2 -> count of var1, var2",
        "sigma1 -> mu1",
        "sigma1 -> scatter of x1",
        "mu1 -> scatter of x1",
    }


def test_an_eliminated_node_leaves_its_arcs_to_its_parents() -> None:
    assert arcs(drawn(groups, "th")) == {
        "tau -> mu",
        "tau -> scatter of y",
        "mu -> scatter of y",
        "tau -> #row",
    }


def test_rows_that_no_statistic_replaces_stay() -> None:
    picture = drawn(crossed)
    assert {"a -> y", "b -> y", "tau -> y"} <= arcs(picture)
    assert next(node for node in picture.nodes if node.name == "y").known
