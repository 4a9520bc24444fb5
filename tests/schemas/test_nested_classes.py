"""Hidden classes on plates inside one another: holes at either level, impossible rows, near misses."""

from __future__ import annotations

import re
from functools import partial
from itertools import product

import numpy as np
import pytest

import platewright as pw
from platewright.backends.c_gibbs.gibbs import gibbs_source
from platewright.errors import PlatewrightError
from platewright.graph.graph import read_graph
from platewright.operation import Declined
from platewright.run.hidden.em import Runner
from platewright.schemas import expectations, nested_groups
from platewright.schemas.em import EMPlan, plan_em
from platewright.schemas.gibbs import GibbsPlan, plan_gibbs
from schemas import nested_classes
from schemas.mutation import Mutant, planted
from schemas.nested_classes import NESTED
from schemas.small_instance import Case
from schemas.test_em_laws import test_expected_statistics_are_averages_over_all_hidden_values as averages
from schemas.test_em_laws import test_the_objective_is_the_sum_over_all_hidden_values as objective
from schemas.test_native_conditionals import needs_compiler
from schemas.test_native_joint_distribution import compared

SCHOOL = np.array([0, 2, 2, 0, 1, 2])
Y = np.array([[1, 0], [0, 1], [1, 1], [0, 0], [1, 0], [0, 1]], dtype=float)


def enumerated(fit: pw.Fit, y: np.ndarray, g: np.ndarray, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Posterior probabilities of the classes of schools and of pupils at the estimate, over all their values."""
    w, v, q = (np.asarray(fit[name].value) for name in ("w", "v", "q"))
    total, schools, pupils = 0.0, np.zeros((3, 2)), np.zeros((len(y), 2))
    for tops in product(range(2), repeat=3):
        for inner in product(range(2), repeat=len(y)):
            top, low = np.array(tops), np.array(inner)
            if (~np.isnan(g) & (top != g)).any() or (~np.isnan(z) & (low != z)).any():
                continue
            seen = np.where(np.isnan(y), 1.0, np.where(y == 1, q[low], 1 - q[low]))
            weight = np.prod(w[top]) * np.prod(v[top[SCHOOL], low]) * np.prod(seen)
            total += weight
            schools[np.arange(3), top] += weight
            pupils[np.arange(len(y)), low] += weight
    return schools / total, pupils / total


def holes() -> list[dict[str, np.ndarray]]:
    y, none = Y.copy(), {"g": np.full(3, np.nan), "z": np.full(6, np.nan)}
    y[1, 0] = y[4] = np.nan
    g, z = np.array([np.nan, 1, np.nan]), np.array([np.nan, 0, np.nan, np.nan, 1, np.nan])
    return [{"y": y, **none}, {"y": Y, **none, "z": z}, {"y": Y, **none, "g": g}, {"y": y, "g": g, "z": z}]


@pytest.mark.parametrize("given", holes(), ids=["responses", "pupils", "schools", "all"])
def test_cells_may_be_missing_at_either_level(given: dict[str, np.ndarray]) -> None:
    known = {name: values for name, values in given.items() if not np.isnan(values).all()}
    fit = nested_classes.schools().learn({"school": SCHOOL, **known}, goal="map", by="em", seed=2)
    schools, pupils = enumerated(fit, **given)
    np.testing.assert_allclose(fit.probabilities("g"), schools, atol=1e-8)
    np.testing.assert_allclose(fit.probabilities("z"), pupils, atol=1e-8)


def test_a_row_that_no_class_allows_is_an_error() -> None:
    m = pw.Model("impossible")
    school, k = m.plate("school"), m.plate("k", 2)
    pupil = m.plate("pupil", within=school)
    m.w = pw.Dirichlet(1.5, over=k)
    m.g = pw.Categorical(m.w, plates=school)
    m.z = pw.Categorical(pw.array(np.eye(2), over=(k, m.plate("l", like=k)))[m.g], plates=pupil)
    m.y = pw.Bernoulli(m.z, plates=pupil)
    given = {"school": [0, 0, 1], "y": [0, 1, 1]}
    with pytest.raises(PlatewrightError, match="the data have probability zero whatever `g` is"):
        m.learn(given, goal="map", by="em")


def test_many_pupils_in_many_schools_cost_no_table_of_both() -> None:
    """A table of pupils by schools would hold 8e9 numbers."""
    generator = np.random.default_rng(0)
    rows, groups = 200_000, 40_000
    code = np.sort(generator.integers(0, groups, rows))
    plan = plan_em(read_graph(nested_classes.schools(), ("y",)), "map")
    assert isinstance(plan, EMPlan)
    y = generator.integers(0, 2, (rows, 2))
    runner = Runner(plan, {"y": y, "school@pupil": code}, {"school": groups, "pupil": rows, "k": 2, "l": 2, "item": 2})
    w, v, q = np.array([0.4, 0.6]), np.array([[0.8, 0.2], [0.3, 0.7]]), np.array([[0.2, 0.4], [0.7, 0.9]])
    found = runner.expected({"w": w, "v": v, "q": q}).expectations
    inside = np.prod(np.where(y[:, None, :] == 1, q, 1 - q), axis=-1)
    logs = np.log(inside @ v.T)
    tops = np.log(w) + np.stack([np.bincount(code, logs[:, k], groups) for k in range(2)], axis=1)
    wanted = np.exp(tops - np.logaddexp.reduce(tops, axis=1)[:, None])
    np.testing.assert_allclose(found["g.probability"], wanted, atol=1e-12)


@pytest.mark.parametrize("case", NESTED, ids=str)
def test_gibbs_draws_all_classes_but_those_of_chains_together(case: Case) -> None:
    plan = plan_gibbs(case.graph, "posterior")
    assert isinstance(plan, GibbsPlan)
    classes = {name for name in case.graph.unknown if case.graph.nodes[name].domain.is_finite}
    chained = {"z"} if "step" in case.sizes else set()
    assert classes - chained in [set(block.variables) for block in plan.blocks]


@pytest.mark.parametrize("case", NESTED, ids=str)
def test_c_goes_over_the_rows_of_one_plate_at_a_time(case: Case) -> None:
    """Rows inside the loop of another plate would cost as many steps as both have elements, multiplied."""
    plan = plan_gibbs(case.graph, "posterior")
    assert isinstance(plan, GibbsPlan)
    around: list[tuple[int, str]] = []
    for line in gibbs_source(plan, tuple(name for name in case.graph.nodes if "@" in name)).body.splitlines():
        depth = len(line) - len(line.lstrip())
        around = [(at, plate) for at, plate in around if at < depth or not line.strip()]
        if loop := re.search(r"for \(int64_t \w+ = \w+; \w+ < size_(\w+);", line):
            if loop[1] in case.sizes:
                assert not around, f"{around[-1][1]} around {loop[1]}: {line}"
                around.append((depth, loop[1]))


@needs_compiler
def test_a_sweep_in_c_keeps_the_joint_distribution() -> None:
    found = compared(NESTED[5])
    assert found.passed, found


MUTANTS = (
    Mutant("probabilities inside are not those of what is around", expectations.downwards,
           "share = multiply(share, given(clique.others))", "pass", partial(objective, NESTED[0])),
    Mutant("messages are lost", nested_groups._without,
           "*(f for f in _messages(group) if item.name in f.names)", "", partial(objective, NESTED[0])),
    Mutant("classes of two plates count as independent", nested_groups.trees_of,
           "[tree for tree in found if any(item.name in names for one in tree for item in one.given)]", "[]",
           partial(averages, NESTED[5])),
)  # fmt: skip


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_planted_defects_are_noticed(mutant: Mutant) -> None:
    mutant.law()
    with planted(mutant), pytest.raises(AssertionError):
        mutant.law()


# -- near misses -------------------------------------------------------------------------------------------------------


def _two(title: str) -> tuple[pw.Model, pw.Plate, pw.Plate]:
    m = pw.Model(title)
    a, b = m.plate("a", 2), m.plate("b", 2)
    m.w, m.v = pw.Dirichlet(1, over=a), pw.Dirichlet(1, over=b)
    return m, a, b


def test_classes_of_rows_and_of_columns_are_declined() -> None:
    m, a, b = _two("blocks")
    row, column = m.plate("row"), m.plate("column")
    m.u, m.t = pw.Categorical(m.w, plates=row), pw.Categorical(m.v, plates=column)
    m.mu = pw.Normal(0, sd=2, plates=(a, b))
    m.y = pw.Normal(m.mu[m.u, m.t], sd=1, plates=(row, column))
    found = plan_em(read_graph(m, ("y",)), "map")
    assert isinstance(found, Declined)
    assert "only where each element of one belongs to one element of the other" in found.reason


def test_pupils_of_two_schools_are_declined() -> None:
    m, a, b = _two("pupils who moved")
    school, pupil = m.plate("school"), m.plate("pupil")
    m.first, m.second = pw.Input(plates=pupil, levels=school), pw.Input(plates=pupil, levels=school)
    m.g = pw.Categorical(m.w, plates=school)
    m.r = pw.Dirichlet(1, over=b, plates=a)
    m.z = pw.Categorical(m.r[m.g[m.first]], plates=pupil)
    m.mu = pw.Normal(0, sd=2, plates=(a, b))
    m.y = pw.Normal(m.mu[m.g[m.second], m.z], sd=1, plates=pupil)
    assert isinstance(plan_em(read_graph(m, ("y",)), "map"), Declined)


def test_an_effect_of_a_group_with_classes_of_its_rows_is_declined() -> None:
    m, a, _ = _two("effects of schools beside classes of pupils")
    school = m.plate("school")
    pupil = m.plate("pupil", within=school)
    m.between = pw.InverseGamma(3, scale=2)
    m.effect = pw.Normal(0, variance=m.between, plates=school)
    m.z = pw.Categorical(m.w, plates=pupil)
    m.mu = pw.Normal(0, sd=2, plates=a)
    m.y = pw.Normal(m.mu[m.z] + m.effect, sd=1, plates=pupil)
    found = plan_em(read_graph(m, ("y",)), "map")
    reasons = [found.reason] if isinstance(found, Declined) else [one.reason for one in found.declined]
    assert any("elements of effect do not each belong to one of z" in reason for reason in reasons)
