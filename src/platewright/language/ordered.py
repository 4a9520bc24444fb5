"""`pw.OrderedLogistic(score, cuts, along=cut, over=grade)`: grades by where a score with noise lies between cut points.

    P(grade <= k) = F(cuts[k] - score)          F logistic, or of the standard normal

              c[0]         c[1]              c[2]
    --- grade 0 | grade 1   |    grade 2      |   grade 3 ---

It is a Categorical whose probabilities are computed, so there is one cut point less than there are grades. Each
logarithm is taken in the tail in which it keeps its digits.
"""

from __future__ import annotations

from collections.abc import Sequence

from platewright.algebra.build import call, equal, exp, expression, log, substitute, where
from platewright.algebra.expression import Constant, Expression, free_indices
from platewright.errors import ParameterError, PlateError
from platewright.language.constructors import Categorical
from platewright.language.distribution import Distribution, check_plate
from platewright.language.plate import Plate


def OrderedLogistic(
    score: object, cuts: object, *, along: Plate, over: Plate, plates: Plate | Sequence[Plate] = ()
) -> Distribution:
    """Grades along `over`, by a score with logistic noise; `cuts` rise along their plate, `along`."""
    return _graded("OrderedLogistic", "logistic", score, cuts, along, over, plates)


def OrderedProbit(
    score: object, cuts: object, *, along: Plate, over: Plate, plates: Plate | Sequence[Plate] = ()
) -> Distribution:
    """Grades along `over`, by a score with standard normal noise; `cuts` rise along their plate, `along`."""
    return _graded("OrderedProbit", "normal_cdf", score, cuts, along, over, plates)


def _graded(
    word: str, noise: str, score: object, cuts: object, along: Plate, over: Plate, plates: Plate | Sequence[Plate]
) -> Distribution:
    check_plate(along, "along=")
    check_plate(over, "over=")
    if over.size is None or along.size is None:
        raise PlateError(
            f"{word} between {along} and {over}", expected="both with a size, as m.plate('grade', 4), m.plate('cut', 3)"
        )
    if over.size != along.size + 1:
        raise PlateError(f"{along.size} cut points for {over.size} grades", expected=f"{over.size - 1} cut points")
    ends, place = expression(cuts), expression(score)
    if along.index not in free_indices(ends):
        raise ParameterError(f"the cuts `{ends}` of {word} do not depend on plate `{along.name}`")
    if {along.index, over.index} & free_indices(place) or over.index in free_indices(ends):
        raise ParameterError(
            f"the score or the cuts of {word} differ from grade to grade", expected="one score a value"
        )
    return Categorical(probabilities=exp(_log_probability(noise, place, ends, along, over)), over=over, plates=plates)


def _log_probability(noise: str, score: Expression, cuts: Expression, along: Plate, over: Plate) -> Expression:
    """At the first grade all below its cut point, at the last all above; between, what lies between two."""
    assert along.size is not None
    ends = [substitute(cuts, {along.index: Constant(float(k))}) for k in range(along.size)]
    found = log(call(noise, score - ends[-1]))
    for grade in reversed(range(1, along.size)):
        low, high = (call(noise, ends[k] - score) for k in (grade - 1, grade))
        found = where(equal(over.index, float(grade)), log(high - low), found)
    return where(equal(over.index, 0.0), log(call(noise, ends[0] - score)), found)
