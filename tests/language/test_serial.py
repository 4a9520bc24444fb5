"""Expressions, models and graphs go to JSON and come back equal; anything else is refused."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest

import platewright as pw
from platewright.algebra.expression import Constant, Expression, Power, Reference
from platewright.algebra.serial import DEEPEST, expression_from_json, expression_json
from platewright.errors import CycleError, FormatError
from platewright.families import FAMILIES
from platewright.graph.graph import read_graph
from platewright.graph.serial import graph_from_json, graph_json
from platewright.graph.text import graph_text
from platewright.language.serial import model_from_json, model_json
from shown_models import MAKERS, NAMES, coin, field, known_in, made


def through_text(data: object) -> Any:
    return json.loads(json.dumps(data, allow_nan=False))


@pytest.mark.parametrize("maker", MAKERS, ids=NAMES)
def test_a_model_comes_back_equal_and_derives_the_same_program(maker: object) -> None:
    model, data = made(maker)  # type: ignore[arg-type]
    back = model_from_json(through_text(model_json(model)), pw.Model)
    assert dict(back.variables) == dict(model.variables)
    assert dict(back.plates) == dict(model.plates)
    known = known_in(model, data)
    assert back.derive(known).source() == model.derive(known).source()
    graph = read_graph(model, known)
    again = graph_from_json(through_text(graph_json(graph)))
    assert again == graph
    assert graph_text(again) == graph_text(graph)


def test_a_chain_graph_comes_back_equal() -> None:
    graph = read_graph(field(), ["c"])
    assert graph_from_json(through_text(graph_json(graph))) == graph


@pytest.mark.parametrize("family", FAMILIES, ids=[family.name for family in FAMILIES])
def test_every_template_of_the_shelf_comes_back_equal(family: Any) -> None:
    templates = [family.log_density, family.log_normaliser, *family.statistics, *family.natural]
    for template in templates:
        assert expression_from_json(through_text(expression_json(template))) == template


@pytest.mark.parametrize("value", [float("inf"), float("-inf"), 0.1, 1e300, -0.0])
def test_numbers_come_back_to_the_last_bit(value: float) -> None:
    back = expression_from_json(through_text(expression_json(Constant(value))))
    assert isinstance(back, Constant) and repr(back.value) == repr(value)


@pytest.mark.parametrize(
    "data",
    [
        None,
        "x",
        [],
        [1],
        {"Constant": 1},
        ["Nothing", 1],
        ["__class__", "x"],
        ["Constant", "1; import os"],
        ["Constant", True],
        ["Constant"],
        ["Index", "n"],
        ["Index", "n", 3],
        ["Lag", ["Constant", 1.0]],
        ["Call", "system", ["Constant", 1.0]],
        ["Call", "log"],
        ["Reference"],
        ["Reference", 3],
        ["Add", 3],
        ["Literal", [1.0], [2], ["k"], [["Index", "k", "k"]]],
        ["Literal", [1.0], [1], [], [["Index", "k", "k"]]],
        ["Literal", [1.0], [-1], ["k"], [["Index", "k", "k"]]],
        ["Sum", ["Reference", "n"], ["Constant", 1.0]],
    ],
    ids=repr,
)
def test_what_is_no_expression_is_refused(data: object) -> None:
    with pytest.raises(FormatError):
        expression_from_json(data)


def test_depth_is_limited_both_ways() -> None:
    deep: Expression = Reference("x")
    data: list[object] = ["Reference", "x"]
    for _ in range(DEEPEST + 10):
        deep = Power(deep, Constant(2.0))
        data = ["Power", data, ["Constant", 2.0]]
    with pytest.raises(FormatError, match="too deeply"):
        expression_json(deep)
    with pytest.raises(FormatError, match="too deeply"):
        expression_from_json(data)


def coin_json() -> dict[str, Any]:
    return deepcopy(graph_json(read_graph(made(coin)[0], ["heads"])))


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("known",), ["tails"], "known but not in the graph"),
        (("variables", 1, "family"), "Nonsense", "no family"),
        (("variables", 1, "kind"), "magic", "not known"),
        (("variables", 1, "axes"), [["Index", "x", "nowhere"]], "no plate"),
        (("variables", 1, "log_density"), ["Reference", "nobody"], "does not fit"),
        (("variables", 1, "log_density"), ["Reference", "heads"], "does not fit"),
        (("variables", 1, "rank"), 3, "3 of them inside"),
        (("variables", 1, "domain"), ["real", 0.0], "domain"),
        (("variables", 1, "name"), "theta", "twice"),
        (("plates", 0, "size"), -1, "no size"),
        (("plates", 0, "labels"), ["a"], "1 labels"),
        (("plates", 0, "within"), "nowhere", "no plate"),
        (("plates",), {}, "no list"),
        (("title",), 3, "no text"),
        (("more",), 3, "too many: more"),
    ],
)
def test_a_graph_that_does_not_hang_together_is_refused(path: tuple[Any, ...], value: object, message: str) -> None:
    data = coin_json()
    place: Any = data
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(FormatError, match=message):
        graph_from_json(data)


def test_arcs_in_a_circle_are_refused() -> None:
    data = coin_json()
    heads = next(v for v in data["variables"] if v["name"] == "heads")
    theta = next(v for v in data["variables"] if v["name"] == "theta")
    theta["axes"] = heads["axes"]
    theta["log_density"] = ["Reference", "heads", ["Index", "toss", "toss"]]
    heads["log_density"] = ["Reference", "theta", ["Index", "toss", "toss"]]
    theta["parameters"] = heads["parameters"] = []
    with pytest.raises(CycleError):
        graph_from_json(data)
