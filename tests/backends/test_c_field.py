"""Law of the pass of mean field in C: entropy, bound, moments and probabilities are those of NumPy, for any model."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np
import pytest

import platewright as pw
from backends.test_c_cliques import random_network
from backends.test_c_em import EXTRA, rows_of
from platewright.backends.c.compile import find_compiler
from platewright.data.bind import bind
from platewright.graph.fixed_sizes import fixed_sizes
from platewright.graph.graph import read_graph
from platewright.run.execute import columns_of
from platewright.run.hidden import native_em_pass
from platewright.run.hidden.mean_field import STATISTICS, Runner
from platewright.run.hidden.mean_field_search import native_field, run_mean_field
from platewright.run.hidden.native_cliques import NativeCliques
from platewright.run.hidden.native_em import NativeEM
from platewright.schemas.mean_field import MeanFieldPlan, plan_mean_field
from schemas.chains_that_meet import MEETING
from schemas.gaussian_latents import LATENTS
from schemas.grouped_classes import GROUPED
from schemas.mixtures import MIXTURES
from schemas.nested_classes import NESTED
from schemas.random_chains import random_chain
from schemas.random_mixtures import random_mixture
from schemas.sequences import CHAINS
from schemas.small_instance import Case, instance
from schemas.tied_classes import TIED

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="no C compiler")

Values = Mapping[str, Any]


@pytest.fixture(autouse=True, scope="module")
def one_cache(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PLATEWRIGHT_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


def with_field(cases: Iterable[Case]) -> list[Case]:
    return [case for case in cases if isinstance(plan_mean_field(case.graph, "posterior"), MeanFieldPlan)]


def planned(case: Case) -> MeanFieldPlan:
    plan = plan_mean_field(case.graph, "posterior")
    assert isinstance(plan, MeanFieldPlan)
    return plan


def native_of(plan: MeanFieldPlan, columns: Values, sizes: Mapping[str, int]) -> NativeEM | NativeCliques:
    native, chosen, why = native_field(plan, columns, sizes, "c")
    assert native is not None and chosen == "c", why
    return native


def assert_agrees(native: NativeEM | NativeCliques, plan: MeanFieldPlan, columns: Values, sizes: Values) -> None:
    """A few updates by C and by NumPy, from the same moments each time."""
    ours, plain = Runner(plan, columns, sizes, native=native), Runner(plan, columns, sizes)
    moments = plain.posterior(plain.start(np.random.default_rng(0))).moments
    for _ in range(3):
        found, entropy = ours.hidden(moments)
        wanted, wanted_entropy = plain.hidden(moments)
        assert STATISTICS in found, getattr(native, "by_numpy", "")
        one, other = ours.posterior({**moments, **found}), plain.posterior({**moments, **wanted})
        bound = other.evidence + wanted_entropy
        assert one.evidence + entropy == pytest.approx(bound, rel=1e-10, abs=1e-10)
        assert entropy == pytest.approx(wanted_entropy, rel=1e-9, abs=1e-10 * (1 + abs(bound)))
        assert one.moments.keys() == other.moments.keys()
        for name, value in other.moments.items():
            scale = np.max(np.abs(value), initial=0.0)
            np.testing.assert_allclose(one.moments[name], value, rtol=1e-9, atol=1e-10 * scale, err_msg=name)
        kept = ours.kept(moments, found)
        for name in (item.probability for item in plan.hidden):
            np.testing.assert_allclose(kept[name], wanted[name], rtol=1e-9, atol=1e-12, err_msg=name)
        moments = other.moments


NOT_IN_C = {
    "full_free_means": "is not a function of the row alone",
    "sticky_switch": "is not a function of the row alone",
    **dict.fromkeys(
        ("two_causes", "collider", "diamond", "class_and_report", "two_groups"), "is not a code of the row"
    ),
    **{case.name: "a sum over the rows" for case in GROUPED},
    **{case.name: "a chain meets other hidden variables" for case in MEETING},
    **{case.name: "on plates inside one another" for case in NESTED},
    "nested_series": "a chain meets other hidden variables",
    "mixture_of_factors": "ties the row to parameters",
    "factors_of_states": "ties the row to parameters",
    "factors_of_schools": "a sum over the rows",
    "factors_of_both": "on plates inside one another",
}
"""What has no pass in C, and the condition that fails."""
FLAT = [case for case in EXTRA if case.name != "sixteen_levels"]  # whose flat priors leave classes without rows
SOLVED = with_field((*MIXTURES, *FLAT, *TIED, *CHAINS, *MEETING, *NESTED, *GROUPED))
HIDDEN = [case for case in SOLVED if case.name not in NOT_IN_C]
PROPER = [case for case in HIDDEN if case not in FLAT]
"""Without proper priors the bound may have no end."""
TURNS = [case for case in HIDDEN if planned(case).takes_turns]


def test_mixtures_chains_topics_and_networks_are_among_those_that_have_c() -> None:
    names = {case.name for case in HIDDEN}
    assert {"conjugate_precisions", "full_wishart", "topics", "latent_class", "symbols_several", "path"} <= names
    turns = {case.name for case in TURNS}
    assert {"own_precisions", "shared_precision", "diagonal", "regressions_shared_noise", "gaussians_several"} <= turns


@pytest.mark.parametrize("case", [case for case in SOLVED if case not in HIDDEN] + with_field(LATENTS), ids=str)
def test_what_has_no_pass_in_c_is_numpys_with_the_condition_that_failed(case: Case) -> None:
    drawn = instance(case, seed=0)
    plan = planned(case)
    native, chosen, why = native_field(plan, drawn.columns, drawn.sizes, "c")
    assert native is None and chosen == "numpy"
    nothing = "nothing is hidden" if not plan.hidden else NOT_IN_C.get(case.name, "no reason")
    assert ("Gaussian" if plan.latent.gaussian else nothing) in why


@pytest.mark.parametrize("case", HIDDEN, ids=str)
@pytest.mark.parametrize("rows", [3, 300])
def test_updates_are_those_of_numpy(case: Case, rows: int) -> None:
    rows = max(rows, 30) if case in FLAT else rows  # flat priors need rows
    drawn = instance(longer(case, rows), seed=rows)
    plan = planned(case)
    assert_agrees(native_of(plan, drawn.columns, drawn.sizes), plan, drawn.columns, drawn.sizes)


def longer(case: Case, rows: int) -> Case:
    """The same model with so many rows, or steps."""
    if "step" not in case.sizes:
        return rows_of(case, rows)
    series = min(rows, 7)
    groups = {"step": tuple(np.sort(np.arange(rows) % series).tolist())} if case.groups else {}
    sizes = {**case.sizes, "step": rows, **({"series": series} if groups else {})}
    return Case(case.name, case.build, case.known, sizes, groups)


@pytest.mark.parametrize("seed", range(8))
def test_random_chains(seed: int) -> None:
    chain = random_chain(seed)
    plan = plan_mean_field(chain.plan.graph, "posterior")
    assert isinstance(plan, MeanFieldPlan), plan
    assert_agrees(native_of(plan, chain.columns, chain.sizes), plan, chain.columns, chain.sizes)


@pytest.mark.parametrize("seed", range(30))
def test_random_mixtures_agree_or_are_refused_with_a_reason(seed: int) -> None:
    case = random_mixture(seed)
    plan = plan_mean_field(case.graph, "posterior")
    if not isinstance(plan, MeanFieldPlan):
        return
    drawn = instance(case, seed)
    native, _, why = native_field(plan, drawn.columns, drawn.sizes, "c")
    assert (native is None) == bool(why)
    if native is not None:
        assert_agrees(native, plan, drawn.columns, drawn.sizes)


@pytest.mark.parametrize("seed", range(6))
def test_networks_with_holes(seed: int) -> None:
    model, data = random_network(seed)
    dataset = bind(model._signature(), data, partly=True)
    plan = model.derive(dataset.known, by="mean-field", partly=dataset.missing).plan
    assert isinstance(plan, MeanFieldPlan)
    columns, sizes = columns_of(plan.graph, dataset), {**fixed_sizes(plan.graph), **dataset.sizes}
    assert_agrees(native_of(plan, columns, sizes), plan, columns, sizes)


@pytest.mark.parametrize("case", [*PROPER[::4], *TURNS[1::2]], ids=str)
def test_the_bound_in_c_never_falls_and_ends_where_numpy_ends(case: Case) -> None:
    drawn = instance(longer(case, 60), seed=2)
    plan = planned(case)
    options: dict[str, Any] = {"seed": 1, "restarts": 1, "iterations": 30, "tolerance": 0.0}
    native = native_of(plan, drawn.columns, drawn.sizes)
    bounds = np.array(run_mean_field(plan, drawn.columns, drawn.sizes, native=native, **options).bounds)
    assert (np.diff(bounds) >= -1e-10 * (1 + np.abs(bounds[1:]))).all()
    wanted = run_mean_field(plan, drawn.columns, drawn.sizes, **options).bounds
    both = min(len(bounds), len(wanted))  # a run ends where the last digit stands still
    np.testing.assert_allclose(bounds[:both], wanted[:both], rtol=1e-9, atol=1e-9)
    assert bounds[-1] == pytest.approx(wanted[-1], rel=1e-9, abs=1e-9)


def mixture(columns: int = 3) -> pw.Model:
    m = pw.Model("mixture")
    n, k, j = m.plate("n"), m.plate("k", 3), m.plate("j", columns)
    m.p = pw.Dirichlet(1.5, over=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.tau = pw.Gamma(2, rate=1, plates=(k, j))
    m.mu = pw.Normal(0, precision=0.01 * m.tau, plates=(k, j))
    m.y = pw.Normal(m.mu[m.z], precision=m.tau[m.z], plates=(n, j))
    return m


def independent(columns: int = 3) -> pw.Model:
    """Means and precisions with priors of their own: their blocks take turns."""
    m = pw.Model("mixture in turn")
    n, k, j = m.plate("n"), m.plate("k", 3), m.plate("j", columns)
    m.p = pw.Dirichlet(1.5, over=k)
    m.z = pw.Categorical(m.p, plates=n)
    m.tau = pw.Gamma(2, rate=1, plates=(k, j))
    m.mu = pw.Normal(0, sd=100, plates=(k, j))
    m.y = pw.Normal(m.mu[m.z], precision=m.tau[m.z], plates=(n, j))
    return m


@pytest.mark.parametrize("model", [mixture, independent])
@pytest.mark.parametrize("apart", [1e2, 1e4, 1e6])
def test_classes_far_apart_and_narrow_keep_their_digits(model: Callable[[], pw.Model], apart: float) -> None:
    generator = np.random.default_rng(0)
    y = apart * generator.integers(0, 3, (500, 1)) + generator.normal(size=(500, 3))
    plan = plan_mean_field(read_graph(model(), ("y",)), "posterior")
    assert isinstance(plan, MeanFieldPlan)
    sizes = {"n": 500, "k": 3, "j": 3}
    assert_agrees(native_of(plan, {"y": y}, sizes), plan, {"y": y}, sizes)


def test_a_step_that_lost_digits_is_numpys(monkeypatch: pytest.MonkeyPatch) -> None:
    y = np.random.default_rng(0).normal(size=(200, 3))
    options: dict[str, Any] = {"by": "mean-field", "restarts": 1, "iterations": 5, "seed": 0}
    wanted = mixture().learn({"y": y}, backend="numpy", **options)
    monkeypatch.setattr(native_em_pass, "DOUBT", 0.0)
    found = mixture().learn({"y": y}, backend="c", **options)
    np.testing.assert_allclose(found.result.bounds, wanted.result.bounds, rtol=1e-12)
    np.testing.assert_allclose(found.probabilities("z"), wanted.probabilities("z"), atol=1e-12)


def test_a_fit_says_which_backend_it_ran_on_and_why() -> None:
    y = np.random.default_rng(0).normal(size=(30, 3))
    options: dict[str, Any] = {"by": "mean-field", "restarts": 1, "iterations": 3}
    joint = mixture().learn({"y": y}, backend="c", **options)
    assert joint.made_by and joint.how.endswith(f"iterations (c: {joint.made_by})")
    assert mixture().learn({"y": y}, **options).how.endswith("iterations (numpy)")
    turns = next(case for case in MIXTURES if case.name == "own_precisions").build()
    in_turn = turns.learn({"y": y[:, 0]}, backend="c", **options)
    assert in_turn.made_by and in_turn.how.endswith(f"iterations (c: {in_turn.made_by})")
    alone = next(case for case in with_field(LATENTS) if planned(case).latent.gaussian)
    drawn = instance(alone, 0)
    assert "Gaussian" in native_field(planned(alone), drawn.columns, drawn.sizes, "c")[2]
    model = pw.Model("two parameters in turn")
    n = model.plate("n")
    model.mu = pw.Normal(0, sd=2)
    model.tau = pw.Gamma(2, rate=1)
    model.y = pw.Normal(model.mu, precision=model.tau, plates=n)
    fit = model.learn({"y": y[:, 0]}, backend="c", **options)
    assert "(numpy, 3 rows stand for 30: " in fit.how
    assert native_field(fit.derivation, {"y": y[:, 0]}, {"n": 30}, "c")[2] == "nothing is hidden"


def test_the_source_of_a_plan_in_c_is_the_file_of_its_pass() -> None:
    text = mixture().derive(("y",), by="mean-field").source("c")
    assert "one iteration of mean field over rows" in text and "int pass_z(" in text
    case = next(case for case in CHAINS if case.name == "symbols_several")
    assert "chain_z(" in case.build().derive(case.known, by="mean-field").source("c")
    turns = next(case for case in MIXTURES if case.name == "own_precisions")
    assert "int pass_z(" in turns.build().derive(turns.known, by="mean-field").source("c")
    left = next(case for case in MIXTURES if case.name == "full_free_means")
    assert "not a function of the row alone" in left.build().derive(left.known, by="mean-field").source("c")
