"""The laws of EM without closed modes notice planted defects."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pytest

from platewright.backends.kernels import ascent as kernel
from platewright.backends.kernels import newton
from platewright.backends.numpy.em import EMEmitter
from platewright.errors import PlatewrightError
from platewright.schemas import ascent
from schemas import test_ascent_laws as laws
from schemas.mutation import Mutant, planted
from schemas.raised_models import RAISED

CASES = {case.name: case for case in RAISED}


def differences(name: str) -> None:
    laws.test_slopes_are_differences_of_the_enumerated_objective(CASES[name])


def raised(*names: str) -> None:
    for name in names:
        laws.test_an_ascent_never_falls_and_raises_what_has_a_slope(CASES[name])


def without_ridges(law: Callable[..., None], *told: object) -> None:
    """Steps along ridges, which would lead out of reach as well, are for where slopes end."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(newton, "MOST_ON_RIDGES", 0)
        law(*told)


MUTANTS: tuple[Mutant, ...] = (
    Mutant("a mode of coordinates, not of values", kernel.looked, " - coordinates.gradient(u, values, flat)", "",
           partial(differences, "gammas")),
    Mutant("any step is taken", newton.raised, "while ahead.height < here.height + 1e-4 * length * rise", "while 0 > 1",
           partial(raised, "poisson_regressions", "students", "decaying")),
    Mutant("no step is ever taken", newton.raised, "range(MOST_NEWTONS)", "range(0)", partial(raised, "gammas")),
    Mutant("no step without curvature is ever taken", kernel.ascended, "range(MOST_RAISES)", "range(0)",
           laws.test_many_coordinates_are_raised_by_what_steps_tell),
    Mutant("changes of slopes have the wrong sign", kernel.ascended, "before - slope", "slope - before",
           laws.test_many_coordinates_are_raised_by_what_steps_tell),
    Mutant("a start out of reach stays there", kernel.in_reach, "places[best] if is_far else u", "u",
           partial(without_ridges, laws.test_the_units_of_a_covariate_do_not_matter, 1e6)),
    Mutant("priors are forgotten", ascent._draft, "for factor in touching(factors, group):",
           "for factor in [f for f in touching(factors, group) if graph.is_likelihood(f, hidden)]:",
           partial(differences, "logistic_regressions")),
    Mutant("rows count twice", ascent.expected_ascent, "row.over, row.summand", "row.over, 2 * row.summand",
           partial(differences, "poisson_regressions")),
    Mutant("terms of statistics are lost", ascent.expected_ascent, "(*draft.terms, *(", "(*draft.terms[:-1], *(",
           partial(differences, "gammas")),
    Mutant("squares are multiplied out", ascent._is_difference, "degree > 1", "degree > 2",
           laws.test_numbers_far_from_zero_lose_no_digits),
    Mutant("an angle has an end", ascent._refusal, 'domain.kind == "circle"', 'domain.kind == "spiral"',
           laws.test_an_angle_without_a_closed_mode_is_declined),
    Mutant("values apart are taken for smooth", ascent._refusal, "domain.is_discrete", "False",
           laws.test_a_parameter_with_values_apart_has_no_slope),
    Mutant("what was raised is thrown away", EMEmitter.ascent_functions, '[*body, "return values"]',
           '[*body, "return {name: data[name] for name in values}"]',
           partial(laws.test_a_search_without_slopes_finds_no_higher_place, CASES["gammas"])),
)  # fmt: skip


KILLED = (AssertionError, PlatewrightError, pytest.fail.Exception)


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_a_planted_defect_is_noticed(mutant: Mutant) -> None:
    with planted(mutant), pytest.raises(KILLED):
        mutant.law()
