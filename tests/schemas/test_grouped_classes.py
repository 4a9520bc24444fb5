"""A hidden class of a group of rows: its table is a sum over the rows of the group, judged by enumeration."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import platewright as pw
from platewright.algebra.build import equal, multiply
from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import Index, Reference, Sum
from platewright.algebra.grouped import grouped
from platewright.backends.c_gibbs.gibbs import gibbs_source
from platewright.backends.numpy.program import numpy_source
from platewright.elimination.state import TableConditional
from platewright.graph.graph import read_graph
from platewright.operation import Declined
from platewright.program.program import EVIDENCE
from platewright.run.execute import arguments, finish, loaded
from platewright.run.hidden.em import Runner
from platewright.schemas.em import EMPlan, plan_em
from platewright.schemas.exact import plan_exact
from platewright.schemas.gibbs import ExactBlock, GibbsPlan, hidden_block, plan_gibbs
from schemas import grouped_classes
from schemas.grouped_classes import GROUPED
from schemas.small_instance import Case, instance, log_joint
from schemas.test_conditional_ratio import test_every_conditional_is_the_joint_up_to_a_constant as ratio
from schemas.test_em_laws import test_expected_statistics_are_averages_over_all_hidden_values as averages
from schemas.test_em_laws import test_the_gradient_vanishes_where_em_stops as still
from schemas.test_em_laws import test_the_objective_is_the_sum_over_all_hidden_values as objective
from schemas.test_em_laws import test_the_objective_never_falls as ascent
from schemas.test_joint_distribution import test_a_sweep_keeps_the_joint_distribution as joint
from schemas.test_native_conditionals import check_case, needs_compiler
from schemas.test_native_joint_distribution import compared

LAWS = (objective, averages, ascent, still)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("case", GROUPED, ids=str)
def test_em_of_classes_of_groups(case: Case, law: object) -> None:
    law(case)  # type: ignore[operator]


@pytest.mark.parametrize("case", GROUPED, ids=str)
def test_gibbs_draws_them_from_their_conditional(case: Case) -> None:
    ratio(case)


def test_a_sweep_keeps_the_joint_distribution() -> None:
    joint(GROUPED[1])


def test_emitted_numpy_adds_up_the_rows_of_groups_in_one_pass() -> None:
    plan = plan_em(GROUPED[0].graph, "map")
    assert isinstance(plan, EMPlan)
    assert "grouped([g_of_n], (size_g,)," in numpy_source(plan.expect)


@needs_compiler
@pytest.mark.parametrize("case", GROUPED, ids=str)
def test_c_weighs_them_as_numpy_does(case: Case) -> None:
    check_case(case)


@needs_compiler
def test_a_sweep_in_c_keeps_the_joint_distribution() -> None:
    found = compared(GROUPED[1])
    assert found.passed, found


def test_c_visits_each_row_once_for_a_level() -> None:
    plan = plan_gibbs(GROUPED[0].graph, "posterior")
    assert isinstance(plan, GibbsPlan)
    draw = gibbs_source(plan, ("g@n",)).body.split("z; its draw */")[1]
    before, after = draw.split("double *const weight = ")
    assert "< size_n;" in before and "size_g;" not in before.split("int bad")[1]
    assert "size_n" not in after.split("static int sweep")[0]


@pytest.mark.parametrize("case", GROUPED, ids=str)
def test_the_table_of_a_class_is_its_conditional(case: Case) -> None:
    small = instance(case, 1)
    block = hidden_block(small.graph, "z")
    assert isinstance(block, ExactBlock)
    (table,) = block.plan.conditionals
    assert isinstance(table, TableConditional)
    axes = (*small.graph.nodes["z"].axes, table.level)
    weights = evaluate(table.log_weights, Environment(small.values, small.sizes), axes)
    touching = tuple(factor for factor in small.graph.factors if "z" in factor.names)
    for chosen in product(range(2), repeat=small.sizes["g"]):
        z = np.array(chosen)
        wanted = log_joint(touching, {**small.values, "z": z}, small.sizes)
        assert weights[np.arange(len(z)), z].sum() == pytest.approx(wanted, abs=1e-10)


@pytest.mark.parametrize("case", GROUPED, ids=str)
def test_the_evidence_of_known_parameters_is_the_sum_over_all_classes(case: Case) -> None:
    small = instance(case, 2)
    graph = read_graph(case.build(), tuple(name for name in small.graph.nodes if name != "z"))
    plan = plan_exact(graph, "posterior")
    assert not isinstance(plan, Declined), plan
    columns = {name: value for name, value in small.values.items() if name != "z"}
    program = plan.program
    module = loaded(program)
    found = module.statistics(*arguments(program, module, columns, small.sizes))
    evidence = finish(program, module, found, columns, small.sizes)[EVIDENCE]
    every = [
        log_joint(plan.factors, {**columns, "z": np.array(z)}, small.sizes)
        for z in product(range(2), repeat=small.sizes["g"])
    ]
    assert evidence == pytest.approx(np.logaddexp.reduce(every), abs=1e-10)


def test_many_groups_cost_no_more_than_few() -> None:
    """A table of rows by groups would hold 8e10 numbers here."""
    generator = np.random.default_rng(0)
    rows, groups = 400_000, 200_000
    code = np.sort(generator.integers(0, groups, rows))
    plan = plan_em(read_graph(grouped_classes.gaussians(), ("y",)), "map")
    assert isinstance(plan, EMPlan)
    columns = {"y": generator.normal(size=rows), "g@n": code}
    runner = Runner(plan, columns, {"g": groups, "n": rows, "k": 2})
    values = {"p": np.array([0.4, 0.6]), "mu": np.array([-1.0, 1.0]), "tau": np.ones(2)}
    found = runner.expected(values)
    inside = -0.5 * (columns["y"][:, None] - values["mu"]) ** 2 - 0.5 * np.log(2 * np.pi)
    wanted = np.log(values["p"]) + np.stack([np.bincount(code, inside[:, k], groups) for k in range(2)], axis=1)
    shares = np.exp(wanted - np.logaddexp.reduce(wanted, axis=1)[:, None])
    np.testing.assert_allclose(found.expectations["z.probability"], shares, atol=1e-12)


def test_a_grouped_sum_is_the_plain_sum() -> None:
    generator = np.random.default_rng(1)
    n, g, k = Index("n", "n"), Index("g", "g"), Index("k", "k")
    code = Reference("code", (n,))
    rest = multiply(Reference("a", (n, k)), Reference("b", (n,)))
    whole = Sum(n, multiply(equal(code, g), rest))
    assert grouped(n, whole.body) is not None
    values = {"code": generator.integers(0, 3, 7), "a": generator.normal(size=(7, 2)), "b": generator.normal(size=7)}
    environment = Environment(values, {"n": 7, "g": 4, "k": 2})
    hot = (values["code"][:, None] == np.arange(4)).astype(float)
    for axes, letters in (((g, k), "gk"), ((k, g), "kg")):
        wanted = np.einsum(f"ng,nk,n->{letters}", hot, values["a"], values["b"])
        np.testing.assert_allclose(evaluate(whole, environment, axes), wanted, atol=1e-14)


# -- near misses -------------------------------------------------------------------------------------------------------


def test_rows_whose_group_is_hidden_are_declined() -> None:
    m = pw.Model("hidden groups")
    g, k, n = m.plate("g", 3), m.plate("k", 2), m.plate("n")
    m.p, m.w = pw.Dirichlet(1, over=k), pw.Dirichlet(1, over=g)
    m.z = pw.Categorical(m.p, plates=g)
    m.group = pw.Categorical(m.w, plates=n)
    m.mu = pw.Normal(0, sd=2, plates=k)
    m.y = pw.Normal(m.mu[m.z[m.group]], sd=1, plates=n)
    found = plan_em(read_graph(m, ("y",)), "map")
    assert isinstance(found, Declined)


def test_rows_of_two_groups_at_once_are_declined() -> None:
    m = pw.Model("matches")
    g, k, n = m.plate("g"), m.plate("k", 2), m.plate("n")
    m.p = pw.Dirichlet(1, over=k)
    m.home, m.guest = pw.Input(plates=n, levels=g), pw.Input(plates=n, levels=g)
    m.z = pw.Categorical(m.p, plates=g)
    m.mu = pw.Normal(0, sd=2, plates=k)
    m.y = pw.Normal(m.mu[m.z[m.home]] - m.mu[m.z[m.guest]], sd=1, plates=n)
    found = plan_em(read_graph(m, ("y",)), "map")
    assert isinstance(found, Declined)
    assert "different elements of `z` meet in one factor" in found.reason or "several places" in found.reason


def test_a_sum_over_the_rows_of_many_groups_inside_one_factor_is_declined() -> None:
    m = pw.Model("totals")
    g, k, n, j = m.plate("g"), m.plate("k", 2), m.plate("n"), m.plate("j", 2)
    m.p = pw.Dirichlet(1, over=k)
    m.code = pw.Input(plates=j, levels=g)
    m.z = pw.Categorical(m.p, plates=g)
    m.mu = pw.Normal(0, sd=2, plates=k)
    m.y = pw.Normal(pw.sum(m.mu[m.z[m.code]], over=j), sd=1, plates=n)
    assert isinstance(plan_em(read_graph(m, ("y",)), "map"), Declined)
