"""The public evidence cases: in class to their tolerance; others are declined with the condition that failed."""

from __future__ import annotations

import math
from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest

import platewright as pw
from outside import evidence
from outside.corpus import needs_corpus, read_case
from platewright.errors import NotSolvable

pytestmark = needs_corpus
REGRESSIONS = ("mtcars_mpg", "stackloss", "uscrime_log")


def declined(model: pw.Model, known: list[str]) -> str:
    """The reason for which the planner found no closed form."""
    with pytest.raises(NotSolvable) as caught:
        model.derive(known=known, by="exact")
    return str(caught.value)


# -- in class ----------------------------------------------------------------------------------------------------------


def test_race_dolls_have_the_bayes_factors_of_gunel_and_dickey() -> None:
    data, case = read_case("evidence", "contingency_jeffreys_raceDolls")
    wanted, a = case["BF10"], case["priorConcentration"]
    counts = np.asarray(data["table"])
    shape = counts.shape
    row, column = evidence.table_rows(counts)
    independent = evidence.independent_table(row, column, shape, a)
    joint = evidence.joint_table(row, column, shape, a) - independent
    by_column = evidence.rows_by_column(row, column, shape, a) - evidence.rows_alone(row, shape, a)
    # counts of cells given their total: as many orders of the units as the coefficient says
    orders = math.lgamma(counts.sum() + 1) - sum(math.lgamma(count + 1) for count in counts.ravel())
    poisson = evidence.poisson_cells(counts, a) - evidence.poisson_total(counts, a) - independent - orders
    assert math.exp(joint) == pytest.approx(wanted["jointMulti"], rel=1e-9)
    assert math.exp(by_column) == pytest.approx(wanted["indepMulti_cols"], rel=1e-9)
    assert math.exp(poisson) == pytest.approx(wanted["poisson"], rel=1e-9)


def regression_case(name: str) -> tuple[np.ndarray, np.ndarray, list[str], dict[str, Any]]:
    data, case = read_case("evidence", name)
    design = np.asarray(data["design"], dtype=float)
    return design[:, 1:], np.asarray(data["response"], dtype=float), data["design_columns"][1:], case


@pytest.mark.parametrize("name", REGRESSIONS)
def test_the_best_subsets_have_their_bayes_factors_under_the_g_prior(name: str) -> None:
    x, y, columns, case = regression_case(name)
    result = case["results"]["gprior_unit"]
    g = result["args"]["alpha"]
    null = evidence.g_prior(x[:, :0], y, g)
    for best in result["top"]:
        chosen = [columns.index(variable) for variable in best["vars"][1:]]
        found = evidence.g_prior(x[:, chosen], y, g) - null
        assert found == pytest.approx(best["logBF_vs_null"], abs=1e-9)
    full = evidence.g_prior(x, y, g) - null
    assert full == pytest.approx(result["full_model_logBF_vs_null"], abs=1e-9)


@pytest.mark.parametrize("name", ["stackloss", pytest.param("mtcars_mpg", marks=pytest.mark.slow)])
def test_averaging_over_all_subsets_gives_the_inclusion_probabilities(name: str) -> None:
    x, y, columns, case = regression_case(name)
    result = case["results"]["gprior_unit"]
    every = range(len(columns))
    subsets = list(chain.from_iterable(combinations(every, size) for size in range(len(columns) + 1)))
    assert len(subsets) == result["n_models"]
    log_evidence = np.array([evidence.g_prior(x[:, list(subset)], y, result["args"]["alpha"]) for subset in subsets])
    weight = np.exp(log_evidence - log_evidence.max())
    weight /= weight.sum()
    for number, column in enumerate(columns):
        included = sum(w for w, subset in zip(weight, subsets, strict=True) if number in subset)
        assert included == pytest.approx(result["inclusion"][column], abs=1e-9)


# -- out of class ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("with_mean", [False, True], ids=["H0", "H1"])
def test_a_hierarchy_with_two_scales_is_declined(with_mean: bool) -> None:
    reason = declined(evidence.hierarchical_normal(with_mean), ["y"])
    assert "exact declined" in reason
    assert "`precision`" in reason or "`theta`" in reason


def test_a_cauchy_effect_size_is_declined() -> None:
    reason = declined(evidence.cauchy_effect(math.sqrt(0.5)), ["y"])
    assert "exact declined" in reason
    assert "`g`" in reason


def test_a_logistic_prior_on_a_logit_is_declined() -> None:
    data, _ = read_case("evidence", "proportion_mendel")
    reason = declined(evidence.logistic_proportion(data["N"], data["p0"], 0.5), ["y"])
    assert "exact declined" in reason
    assert "z" in reason
