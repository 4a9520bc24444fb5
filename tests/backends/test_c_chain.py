"""Law of the pass over hidden chains: objective, statistics and probabilities are those of NumPy, for any model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import platewright as pw
from backends.test_c_em import assert_same, assert_step, has_c
from platewright.backends.c.compile import find_compiler
from platewright.backends.c_chain.chain import ChainPass, em_program
from platewright.backends.c_chain.text import narrowed
from platewright.errors import PlatewrightError
from platewright.graph.graph import read_graph
from platewright.language.plate import beginning
from platewright.run.hidden import native_chain, native_chain_part, native_em
from platewright.run.hidden.em import Runner
from platewright.run.hidden.native_em import NativeEM
from platewright.schemas.em import EMPlan, plan_em
from schemas.random_chains import COLUMNS, RandomChain, random_chain
from schemas.sequences import CHAINS
from schemas.small_instance import Case, instance

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")


def native(chain: RandomChain, threads: int | None = None, **changed: Any) -> NativeEM:
    em = NativeEM(chain.plan, {**chain.columns, **changed}, chain.sizes, threads)
    assert em.native, em.left
    return em


def assert_probabilities(em: NativeEM, values: Mapping[str, Any]) -> None:
    found = em.probabilities(values)
    for name, wanted in em.numpy_probabilities(values).items():
        np.testing.assert_allclose(found[name], wanted, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(25))
def test_objective_statistics_and_probabilities_are_those_of_numpy(seed: int) -> None:
    chain = random_chain(seed)
    em = native(chain)
    assert_step(em, chain.values)
    assert_probabilities(em, chain.values)
    assert not em.by_numpy


@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("chosen", [False, True], ids=["one_matrix", "chosen_moves"])
def test_every_kind_of_column_alone(column: str, chosen: bool) -> None:
    chain = random_chain(7, lengths=[5, 1, 70, 33, 2], states=3, columns=(column,), chosen_moves=chosen)
    em = native(chain)
    assert_step(em, chain.values)
    assert not em.by_numpy


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 9, 17])
def test_any_number_of_sequences(count: int) -> None:
    lengths = np.random.default_rng(count).integers(1, 300, count).tolist()
    for states, chosen in ((2, False), (5, True)):
        chain = random_chain(count, lengths, states, ("symbol", "gauss"), chosen)
        em = native(chain)
        assert_step(em, chain.values)
        assert_probabilities(em, chain.values)


@pytest.mark.parametrize("case", [case for case in CHAINS if has_c(case)], ids=str)
def test_the_small_chains_that_enumeration_judges(case: Case) -> None:
    small = instance(case, 3)
    plan = plan_em(case.graph, "map")
    assert isinstance(plan, EMPlan)
    em = NativeEM(plan, small.columns, small.sizes)
    values = {name: value for name, value in small.hidden.items() if name != "z"}
    if case.name == "sticky_switch":
        assert "not a function of the row alone" in em.left[0][1]
    else:
        assert em.native
    assert_step(em, values)


def test_weights_that_are_made_again_on_the_way_back_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    for chosen in (False, True):
        chain = random_chain(3, [200, 190, 40, 1], 4, ("symbol", "gauss", "count"), chosen)
        kept = native(chain).step(chain.values)
        monkeypatch.setattr(native_chain, "KEPT", 0)
        again = native(chain).step(chain.values)
        monkeypatch.undo()
        assert kept.objective == again.objective
        assert_same(again.statistics, kept.statistics, 0.0)


def test_any_number_of_threads_gives_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_chain, "BLOCKS_IN_RANGE", 3)
    chain = random_chain(4, np.random.default_rng(0).integers(1, 90, 100).tolist(), 3, ("symbol", "gauss"), True)
    steps = [native(chain, threads=threads).step(chain.values) for threads in (1, 2, 3)]
    assert len({step.objective for step in steps}) == 1
    for name, one in steps[0].statistics.items():
        for other in (step.statistics[name] for step in steps[1:]):
            parts = zip(one, other) if isinstance(one, tuple) else [(one, other)]
            assert all(np.array_equal(a, b) for a, b in parts)


def test_more_levels_of_symbols_than_share_a_table() -> None:
    chain = random_chain(5, [50, 60, 3], 4, ("symbol", "pair", "wide"))
    assert_step(native(chain), chain.values)


def test_moves_and_starts_that_are_impossible() -> None:
    chain = random_chain(6, [30, 20, 9, 9], 4, ("gauss",), False)
    move = np.array([[0.5, 0.5, 0, 0], [0, 0.5, 0.5, 0], [0, 0, 0.5, 0.5], [0, 0, 0, 1.0]])
    values = {**chain.values, "begin": np.array([1.0, 0, 0, 0]), "move": move}
    em = native(chain)
    assert_step(em, values)
    assert_probabilities(em, values)
    assert not em.by_numpy


def test_states_that_cannot_be_reached_do_not_overflow() -> None:
    """Two cycles apart: the wrong one explains the data better at every step, by more than numbers can hold."""
    chain = random_chain(6, [400, 300], 4, ("gauss",), False)
    move = np.array([[0, 1.0, 0, 0], [1.0, 0, 0, 0], [0, 0, 0, 1.0], [0, 0, 1.0, 0]])
    values = {**chain.values, "begin": np.array([1.0, 0, 0, 0]), "move": move}
    values |= {"mu": np.array([0.0, 0.0, 5.0, 5.0]), "tau": np.full(4, 0.5)}
    em = native(chain)
    assert_step(em, values)
    assert not em.by_numpy


def test_what_underflows_is_left_to_numpy() -> None:
    """The best level is out of reach at a step, and the others fall short of it by more than numbers can hold."""
    chain = random_chain(6, [30], 2, ("gauss",), False)
    values = {**chain.values, "begin": np.array([1.0, 0.0]), "move": np.array([[1.0, 0.0], [0.5, 0.5]])}
    values |= {"mu": np.array([-100.0, 5.0]), "tau": np.full(2, 2.0)}
    em = native(chain)
    assert_step(em, values)
    assert em.by_numpy


def test_long_sequences_with_sharp_columns_neither_underflow_nor_lose_digits() -> None:
    chain = random_chain(8, [5000, 17], 3, ("gauss", "wide", "count"), False)
    values = {**chain.values, "tau": np.array([400.0, 300.0, 500.0])}
    em = native(chain)
    assert_step(em, values)
    assert not em.by_numpy


@pytest.mark.parametrize("narrow", [1e-5, 1e-7])
def test_levels_far_apart_and_narrow_are_taken_about_their_own_centres(narrow: float) -> None:
    chain = random_chain(9, [60, 50, 40], 2, ("gauss",), False)
    generator = np.random.default_rng(0)
    y = generator.integers(0, 2, 150) + narrow * generator.normal(size=150)
    em = native(chain, y=y)
    assert_step(em, {**chain.values, "mu": np.array([0.0, 1.0]), "tau": np.full(2, narrow**-2)})
    assert em.apart == 1 and not em.by_numpy


def test_both_ways_of_centring_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = random_chain(10, [60, 50, 40], 3, ("gauss", "symbol", "lagged"), False)
    plain = native(chain).step(chain.values)
    monkeypatch.setattr(native_chain_part, "DOUBT", 0.0)
    em = native(chain)
    moved = em.step(chain.values)
    assert em.apart == 1 and not em.by_numpy
    assert moved.objective == pytest.approx(plain.objective, rel=1e-12)
    assert_same(moved.statistics, plain.statistics, 1e-12)


def test_impossible_data_name_the_step() -> None:
    chain = random_chain(11, [20, 20, 20], 3, ("symbol",), False)
    shown = np.full((3, 5), 0.25)
    shown[:, 4] = 0.0
    s = np.zeros(60, dtype=int)
    s[47] = 4
    values = {**chain.values, "shown": shown}
    em = native(chain, s=s)
    assert em.step(values).objective == -np.inf
    runner = Runner(chain.plan, {**chain.columns, "s": s}, chain.sizes, em)
    with pytest.raises(PlatewrightError, match="element 47 of `z`"):
        runner.run_from(values, 3, 0.0)


def test_em_by_c_goes_the_way_of_numpy() -> None:
    chain = random_chain(12, [80, 70, 33, 5], 3, ("symbol", "gauss"), False)
    by_numpy = Runner(chain.plan, chain.columns, chain.sizes).run_from(chain.values, 20, 0.0)
    by_c = Runner(chain.plan, chain.columns, chain.sizes, native(chain)).run_from(chain.values, 20, 0.0)
    np.testing.assert_allclose(by_c.objective, by_numpy.objective, rtol=1e-10)
    for name, value in by_numpy.values.items():
        np.testing.assert_allclose(by_c.values[name], value, rtol=1e-6, atol=1e-9)


def test_moments_for_pairs_of_neighbours_are_left_to_numpy_with_the_reason() -> None:
    m = pw.Model("jumps")
    k = m.plate("k", 2)
    before, step = m.plate("before", like=k), m.plate("step", ordered=True)
    m.begin = pw.Dirichlet(1, over=k)
    m.move = pw.Dirichlet(1, over=k, plates=before)
    m.jump = pw.Normal(0, sd=2, plates=(before, k))
    m.z = pw.Categorical(m.move[m.lag("z")], start=m.begin, plates=step)
    m.y = pw.Normal(m.jump[m.lag("z"), m.z], sd=1, start=0.0, plates=step)
    plan = plan_em(read_graph(m, ("y",)), "map")
    assert isinstance(plan, EMPlan)
    assert "moments for each pair of neighbours" in em_program(plan).left[0][1]


def test_a_chain_beside_a_class_of_rows_shares_a_file() -> None:
    chain = random_chain(13, [20, 30], 3, ("symbol",), False)
    m = pw.Model("both")
    k, n = m.plate("k", 2), m.plate("n")
    before, step = m.plate("before", like=k), m.plate("step", ordered=True)
    a = m.plate("a", 3)
    m.begin, m.p = pw.Dirichlet(1, over=k), pw.Dirichlet(1, over=k)
    m.move = pw.Dirichlet(1, over=k, plates=before)
    m.shown = pw.Dirichlet(1.2, over=a, plates=k)
    m.z = pw.Categorical(m.move[m.lag("z")], start=m.begin, plates=step)
    m.u = pw.Categorical(m.p, plates=n)
    m.s = pw.Categorical(m.shown[m.z], plates=step)
    m.t = pw.Categorical(m.shown[m.u], plates=n)
    plan = plan_em(read_graph(m, ("s", "t")), "map")
    assert isinstance(plan, EMPlan)
    columns = {"s": chain.columns["s"] % 3, "t": np.arange(40) % 3, beginning("step"): chain.columns[beginning("step")]}
    em = NativeEM(plan, columns, {"k": 2, "before": 2, "n": 40, "step": 50, "a": 3})
    values = {"begin": [0.3, 0.7], "p": [0.4, 0.6], "move": [[0.8, 0.2], [0.3, 0.7]]}
    values |= {"shown": [[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]}
    if em.native:
        assert_step(em, {name: np.array(value) for name, value in values.items()})
    else:
        assert "together" in em.left[0][1]


def test_two_emissions_are_byte_identical() -> None:
    sources = {em_program(random_chain(14).plan).source for _ in range(2)}
    assert len(sources) == 1


def test_the_pass_says_whether_moves_change() -> None:
    for chosen in (False, True):
        program = em_program(random_chain(1, [3], 2, ("symbol",), chosen).plan)
        (one,) = program.passes
        assert isinstance(one, ChainPass)
        assert one.moves_change == chosen
        assert f"#define OWN {int(chosen)}" in program.source


def test_a_wide_machine_and_a_narrow_one_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    chain = random_chain(15, [40, 30, 20, 10, 5, 3, 2, 1, 60], 3, ("symbol", "gauss"), False)
    wanted = native(chain).step(chain.values)
    for width in (1, 2, 4):
        monkeypatch.setattr(native_em, "width_for", lambda _, width=width: width)
        found = native(chain).step(chain.values)
        assert found.objective == pytest.approx(wanted.objective, rel=1e-13)
        assert_same(found.statistics, wanted.statistics, 1e-13)


DEFECTS = (
    ("forward does not scale", "* OF(before + v * GROUP));", "* 1.0);"),
    (
        "lanes that have ended go on",
        "if (time >= this->shortest)\n                end_lanes",
        "if (0)\n                end_lanes",
    ),
    (
        "the last step is taken a step late",
        "if (time + s + 1 == this->length[lane])",
        "if (time + s == this->length[lane])",
    ),
    ("backward takes the moves as they are", "matrix + levels * levels, b, at", "matrix, b, at"),
    ("first steps count as later ones", "if (begins)\n            add_first", "if (0)\n            add_first"),
    ("exponents are forgotten", "shift[v] += (bits >> 52) - 1023;", ""),
    ("blocks forget the one before", "from + k * WIDTH, WIDTH", "from, WIDTH"),
    ("rows are not turned whole", "    CHANGE_SIDES(1)\n", "    CHANGE_SIDES(LANES / 2)\n"),
)


@pytest.mark.parametrize(("old", "new"), [defect[1:] for defect in DEFECTS], ids=[defect[0] for defect in DEFECTS])
def test_a_defect_planted_in_the_c_is_noticed(old: str, new: str, monkeypatch: pytest.MonkeyPatch) -> None:
    chain = random_chain(17, [70, 60, 50, 9, 3], 3, ("symbol", "gauss"), False)
    source = em_program(chain.plan).source
    assert source.count(old) == 1, "the C has changed: plant the defect anew"
    monkeypatch.setattr(native_em, "narrowed", lambda text, width: narrowed(text, width).replace(old, new))
    em = native(chain)
    with pytest.raises(AssertionError):
        assert_step(em, chain.values)
        assert not em.by_numpy
