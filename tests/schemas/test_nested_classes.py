"""Hidden classes on plates inside one another, judged by enumeration of all of them together."""

from __future__ import annotations

import pytest

from schemas.nested_classes import NESTED
from schemas.small_instance import Case
from schemas.test_em_laws import test_expected_statistics_are_averages_over_all_hidden_values as averages
from schemas.test_em_laws import test_the_gradient_vanishes_where_em_stops as still
from schemas.test_em_laws import test_the_objective_is_the_sum_over_all_hidden_values as objective
from schemas.test_em_laws import test_the_objective_never_falls as ascent

LAWS = (objective, averages, ascent, still)


@pytest.mark.parametrize("law", LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("case", NESTED, ids=str)
def test_em_of_nested_classes(case: Case, law: object) -> None:
    law(case)  # type: ignore[operator]
