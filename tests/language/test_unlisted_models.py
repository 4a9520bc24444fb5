"""Models that nobody listed: each is solved exactly, or declined with a reason; none crashes.

Where a model is solved, `log p(data, point) - log p(point | data) = log p(data)` holds at points of the posterior.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from language import unlisted_gaussian, unlisted_others
from laws.identity import check_identity
from platewright.errors import NotSolvable

PROBLEMS = {found.__name__: found for found in (*unlisted_gaussian.PROBLEMS, *unlisted_others.PROBLEMS)}

DECLINED: dict[str, str] = {
    "one_factor_with_unknown_loadings": "load",
    "square_of_an_unknown_in_the_mean": "a^2",
    "independent_scales_for_prior_and_data": "rho",
    "rate_as_the_exponential_of_an_unknown": "b",
    "products_of_row_and_column_rates": "a",
    "gamma_rate_with_a_gamma_rate_above": "top",
    "hidden_markov_chain": "different elements of `z` meet in one factor",
    "mixture_with_unknown_means": "mu",
    "directions_with_known_offsets": "cos(t + 0.5)",
    "unknown_location_of_a_student": "mu",
    "logistic_regression": "b x[n]",
    "gamma_part_inside_a_mean": "shift",
    "scale_times_a_standard_effect": "s",
    "half_normal_weight": "w",
    "unknown_trials": "lgamma(n - y + 1)",
}
"""Models without a closed form, each with a word that its refusal must hold."""


def named(names: Any) -> list[Any]:
    return [pytest.param(name) for name in names]


@pytest.mark.parametrize("name", named(name for name in PROBLEMS if name not in DECLINED))
def test_an_unlisted_model_is_solved_exactly(name: str) -> None:
    model, data = PROBLEMS[name]()
    fit = model.learn(data, by="exact")
    check_identity(fit)
    assert fit.explain() and fit.source()


@pytest.mark.parametrize("name", DECLINED)
def test_an_unlisted_model_is_declined_with_a_reason(name: str) -> None:
    model, data = PROBLEMS[name]()
    with pytest.raises(NotSolvable) as caught:
        model.learn(data, by="exact")
    shown = str(caught.value)
    assert "exact declined: " in shown
    assert DECLINED[name] in shown, shown
    for word in ("Reference(", "Traceback", "object at 0x", "Index("):
        assert word not in shown


@pytest.mark.parametrize("name", named(name for name in PROBLEMS if name not in DECLINED))
def test_an_unlisted_model_proves_its_plan(name: str) -> None:
    model, data = PROBLEMS[name]()
    known = [key for key in data if key in model.variables and model.variables[key].kind != "input"]
    found = model.derive(known, by="exact").verify()
    assert found.passed, str(found)


@pytest.mark.parametrize("name", [name for name in PROBLEMS if name not in DECLINED])
def test_an_unlisted_model_answers_every_question(name: str) -> None:
    """Marginals, draws and text for every unknown: no question ends in a traceback."""
    model, data = PROBLEMS[name]()
    fit = model.learn(data, by="exact")
    for unknown in fit.posterior.unknown:
        assert fit[unknown].draw(2).shape[0] == 2
        assert repr(fit[unknown])
    assert set(fit.draws(2)) >= fit.posterior.unknown


def test_there_are_more_than_sixty() -> None:
    assert len(PROBLEMS) > 80
    makers: list[Callable[..., object]] = list(PROBLEMS.values())
    assert len({maker()[0].title for maker in makers}) == len(makers)  # type: ignore[index]
