"""Models, graphs, plans and distributions in the hands of someone at a prompt or in a notebook."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

import platewright as pw
from platewright.errors import ParameterError, SourceError, UnknownName
from platewright.language.distribution import Constructor
from shown_models import MAKERS, known_in, made

CONSTRUCTORS = [getattr(pw, name) for name in pw.__all__ if isinstance(getattr(pw, name), Constructor)]


def coin() -> pw.Model:
    m = pw.Model("coin")
    toss = m.plate("toss")
    m.theta = pw.Beta(1.5, 1.5)
    m.heads = pw.Bernoulli(m.theta, plates=toss)
    return m


def test_a_printed_model_reads_as_it_was_written() -> None:
    assert str(coin()) == (
        "model coin\n  plate toss (?)\n  theta ~ Beta(a=1.5, b=1.5)\n  heads[toss] ~ Bernoulli(p=theta)"
    )


@pytest.mark.parametrize("maker", MAKERS, ids=lambda maker: maker.__name__)
def test_models_and_plans_draw_themselves(maker: object) -> None:
    model, data = made(maker)  # type: ignore[arg-type]
    known = known_in(model, data)
    plan = model.derive(known)
    for svg in (model.svg(), model.svg(known), plan.svg()):
        assert ElementTree.fromstring(svg).tag.endswith("svg")
    assert model.svg(known) == plan.svg() or plan.graph.nodes.keys() != model.variables.keys()
    assert plan.svg() in plan._repr_html_() and "known:" in plan._repr_html_()


def test_a_name_in_a_notebook_is_no_markup() -> None:
    m = pw.Model("<script>")
    m.x = pw.Normal(0, sd=1)
    assert "<script>" not in m.derive()._repr_html_() and "<script>" not in m.svg()


def test_a_printed_graph_is_its_text_and_its_name_is_short() -> None:
    graph = coin().derive(["heads"]).graph
    assert "unknown theta ~ Beta" in str(graph)
    assert repr(graph) == "<Graph coin: theta unknown, heads known>"


@pytest.mark.parametrize(
    "word, answer",
    [("fit", "m.learn(data)"), ("draw", "m.svg()"), ("lern", "did you mean m.learn?"), ("thet", "`theta`")],
)
def test_a_method_that_a_model_lacks_is_answered(word: str, answer: str) -> None:
    with pytest.raises(UnknownName, match="no `") as refused:
        getattr(coin(), word)
    assert answer in refused.value.hint


@pytest.mark.parametrize("constructor", CONSTRUCTORS, ids=lambda found: found.family.name)
def test_the_help_of_a_distribution_has_its_density(constructor: Constructor) -> None:
    told = str(constructor.__doc__)
    assert f"log p(x) = {constructor.family.log_density}" in told
    assert all(word in told for ways in constructor.family.spelled.values() for word in ways)
    assert ("over=  " in told) == any(parameter.rank for parameter in constructor.family.parameters)


def test_a_posterior_of_one_number_shows_its_parameters() -> None:
    fit = coin().learn({"heads": [1, 0, 1]})
    assert repr(fit["theta"]) == "<posterior of theta: Beta(a=3.5, b=2.5)>"


def test_numpy_is_told_to_use_our_functions() -> None:
    m = coin()
    with pytest.raises(TypeError, match=r"np\.exp is for numbers.*pw\.exp"):
        np.exp(m.theta)
    with pytest.raises(ParameterError, match="not a number or an expression"):
        np.ones(3) * m.theta
    with pytest.raises(TypeError, match=r"pw\.less"):
        np.less(1.0, m.theta)
    with pytest.raises(TypeError, match=r"pw\.dot"):
        np.ones(3) @ m.theta


@pytest.mark.parametrize("number", [np.float64(3), np.int64(3), np.float32(3)])
def test_numbers_of_numpy_are_numbers_on_either_side(number: Any) -> None:
    m = coin()
    x = m.theta
    assert (number + x, number - x, number * x, number / x, number**x) == (3 + x, 3 - x, 3 * x, 3 / x, 3**x)
    assert (x + number, x - number, x * number, x / number, x**number) == (x + 3, x - 3, x * 3, x / 3, x**3)
    assert number != x and x != number and [number] != [x]


def test_a_file_that_cannot_be_written_is_an_error_of_ours(tmp_path: Path) -> None:
    fit = coin().learn({"heads": [1, 0, 1]})
    with pytest.raises(SourceError, match="cannot be written"):
        fit.save(tmp_path / "no folder" / "coin.fit")


def test_a_summary_has_room_for_a_row() -> None:
    with pytest.raises(ParameterError, match="most=0"):
        coin().learn({"heads": [1, 0, 1]}).summary(most=0)
