"""What cannot be answered is refused with its reason; what can is told how."""

from __future__ import annotations

import numpy as np
import pytest

from platewright import Bernoulli, Categorical, Input, Undirected, array, exp
from platewright.errors import MissingColumn, ModelError, NotSolvable, SizeError, SupportError, UnknownName, UnseenLevel
from platewright.inference.infer import infer
from platewright.inference.junction_tree import build_tree
from platewright.language.model import Model


def sprinkler() -> Model:
    m = Model("sprinkler")
    state = m.plate("state", labels=("dry", "wet"))
    m.rain = Bernoulli(0.2)
    m.sprinkler = Bernoulli(0.1)
    m.either = m.rain + m.sprinkler - m.rain * m.sprinkler
    rows = [[[1.0, 0.0], [0.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]]
    table = array(rows, over=(m.plate("rains", 2), m.plate("sprinkles", 2), state))
    m.grass = Categorical(table[m.rain, m.sprinkler], over=state)
    return m


def test_evidence_that_cannot_occur_is_named() -> None:
    with pytest.raises(SupportError, match="probability zero: rain = 1, grass = 'dry'"):
        infer(sprinkler(), {"rain": 1, "grass": "dry"})


def test_settled_variables_are_known_without_arithmetic() -> None:
    found = infer(sprinkler(), {"grass": "dry"})
    assert found["rain"][0] == 1.0 and found["sprinkler"][1] == 0.0
    assert np.isclose(found.log_evidence, np.log(0.72))
    assert "settled" in found.explain()
    assert found.most_probable().state == {"rain": 0, "sprinkler": 0}


def test_the_joint_holds_known_variables_too() -> None:
    found = infer(sprinkler(), {"grass": "wet"})
    joint = found.joint(["grass", "rain"])
    assert joint["dry", 1] == 0.0
    assert np.isclose(joint["wet", 1], 0.2 / 0.28)
    assert joint.mode == ("wet", 1)


def test_a_level_that_does_not_exist_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnseenLevel, match="did you mean 'wet'"):
        infer(sprinkler(), {"grass": "wett"})


def test_names_are_checked() -> None:
    with pytest.raises(UnknownName, match="rain"):
        infer(sprinkler(), {"rainn": 1})
    with pytest.raises(UnknownName):
        infer(sprinkler())["gras"]
    with pytest.raises(NotSolvable, match="left out by about="):
        infer(sprinkler(), about=["rain"])["grass"]
    with pytest.raises(ModelError, match="function of other variables"):
        infer(sprinkler(), {"either": 1})


def test_an_input_must_be_given() -> None:
    m = Model("input")
    m.dose = Input()
    m.dead = Bernoulli(1 - exp(-m.dose))
    with pytest.raises(MissingColumn, match="dose"):
        infer(m)
    assert np.isclose(infer(m, {"dose": 2.0})["dead"][0], np.exp(-2))


def test_a_model_with_plates_is_declined() -> None:
    m = Model("plate")
    m.x = Bernoulli(0.5, plates=m.plate("row", 3))
    with pytest.raises(NotSolvable, match="`x` is on plate row"):
        infer(m)


def grid(size: int) -> Model:
    m = Model("grid")
    for row in range(size):
        for column in range(size):
            setattr(m, f"x{row}_{column}", Undirected(levels=2))
    for row in range(size):
        for column in range(size):
            for down, right in ((1, 0), (0, 1)):
                if row + down < size and column + right < size:
                    one, two = getattr(m, f"x{row}_{column}"), getattr(m, f"x{row + down}_{column + right}")
                    m.potential(f"e{row}_{column}_{down}", 0.3 * one * two)
    return m


def test_what_is_too_large_is_refused_before_any_memory_is_taken() -> None:
    with pytest.raises(SizeError, match=r"induced width \d+.*states(.|\n)*gibbs"):
        infer(grid(7), most_bytes=1000)


def test_the_width_of_a_grid_is_its_side() -> None:
    found = infer(grid(5))
    assert found.width == 5
    assert np.isclose(found.log_evidence, 0.0, atol=1e-12)


def test_a_tree_has_width_one_and_adds_no_arcs() -> None:
    scopes = [("a", "b"), ("b", "c"), ("b", "d"), ("d", "e")]
    tree = build_tree(scopes, dict.fromkeys("abcde", 3))
    assert tree.width == 1
    assert all(len(clique.axes) <= 2 for clique in tree.cliques)


def test_two_plans_of_one_model_are_the_same() -> None:
    assert infer(grid(6)).plan == infer(grid(6)).plan


def test_barren_nodes_are_named() -> None:
    found = infer(sprinkler(), about=["rain"])
    assert "removed as barren" in found.explain() and "grass" in found.explain()
