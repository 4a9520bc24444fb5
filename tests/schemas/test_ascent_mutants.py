"""The laws of EM without closed modes notice planted defects."""

from __future__ import annotations

from functools import partial

import pytest

from platewright.backends.kernels import ascent as kernel
from platewright.errors import PlatewrightError
from platewright.run.hidden import em
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


MUTANTS: tuple[Mutant, ...] = (
    Mutant("a mode of coordinates, not of values", kernel.looked, " - coordinates.gradient(u, values, flat)", "",
           partial(differences, "gammas")),
    Mutant("any step is taken", kernel.climbing_length, "> height + 1e-4 * length * rise", "> -np.inf",
           partial(raised, "poisson_regressions", "students", "decaying")),
    Mutant("a step leads down", kernel.newton, "return widths * (", "return -widths * (", partial(raised, "gammas")),
    Mutant("differences forget their distance", kernel.bend, "/ distance if", "* distance if",
           partial(raised, "poisson_regressions", "concentrations", "experts")),
    Mutant("no step is ever taken", kernel.ascended, "MOST_RAISES if", "0 if", partial(raised, "gammas")),
    Mutant("changes of slopes have the wrong sign", kernel.ascended, "before - slope", "slope - before",
           laws.test_many_coordinates_are_raised_by_what_steps_tell),
    Mutant("a start out of reach stays there", kernel.in_reach, "places[best] if is_far else u", "u",
           partial(laws.test_the_units_of_a_covariate_do_not_matter, 1e6)),
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
    Mutant("what was raised is thrown away", em.Runner.improved, "return inside",
           "return {name: everything[name] for name in inside}",
           partial(laws.test_a_search_without_slopes_finds_no_higher_place, CASES["gammas"])),
)  # fmt: skip


KILLED = (AssertionError, PlatewrightError, pytest.fail.Exception)


@pytest.mark.parametrize("mutant", MUTANTS, ids=str)
def test_a_planted_defect_is_noticed(mutant: Mutant) -> None:
    with planted(mutant), pytest.raises(KILLED):
        mutant.law()
