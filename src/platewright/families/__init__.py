"""The shelf of families: one distribution a file, listed here in the order of the alphabet.

    FAMILY_BY_NAME["Gamma"] is GAMMA

Nothing registers itself; a family that is not in this tuple is not on the shelf.
"""

from __future__ import annotations

import copyreg
from functools import cache

from platewright.errors import FormatError
from platewright.families.asymmetric_laplace import ASYMMETRIC_LAPLACE
from platewright.families.bernoulli import BERNOULLI
from platewright.families.beta import BETA
from platewright.families.beta_binomial import BETA_BINOMIAL
from platewright.families.binomial import BINOMIAL
from platewright.families.bounded import bounded
from platewright.families.categorical import CATEGORICAL
from platewright.families.chi_square import CHI_SQUARE
from platewright.families.dirichlet import DIRICHLET
from platewright.families.exponential import EXPONENTIAL
from platewright.families.flat import FLAT
from platewright.families.flat_matrix import FLAT_MATRIX
from platewright.families.gamma import GAMMA
from platewright.families.generalised_gamma import GENERALISED_GAMMA
from platewright.families.generalised_normal import GENERALISED_NORMAL
from platewright.families.geometric import GEOMETRIC
from platewright.families.half_cauchy import HALF_CAUCHY
from platewright.families.half_normal import HALF_NORMAL
from platewright.families.half_student_t import HALF_STUDENT_T
from platewright.families.inverse_gamma import INVERSE_GAMMA
from platewright.families.inverse_gaussian import INVERSE_GAUSSIAN
from platewright.families.inverse_wishart import INVERSE_WISHART
from platewright.families.laplace import LAPLACE
from platewright.families.log_normal import LOG_NORMAL
from platewright.families.logistic import LOGISTIC
from platewright.families.logistic_normal import LOGISTIC_NORMAL
from platewright.families.multinomial import MULTINOMIAL
from platewright.families.multivariate_normal import MULTIVARIATE_NORMAL
from platewright.families.multivariate_student_t import MULTIVARIATE_STUDENT_T
from platewright.families.negative_binomial import NEGATIVE_BINOMIAL
from platewright.families.normal import NORMAL
from platewright.families.pareto import PARETO
from platewright.families.poisson import POISSON
from platewright.families.skew_normal import SKEW_NORMAL
from platewright.families.student_t import STUDENT_T
from platewright.families.uniform import UNIFORM
from platewright.families.von_mises import VON_MISES
from platewright.families.weibull import WEIBULL
from platewright.families.wishart import WISHART
from platewright.family import Family

FAMILIES: tuple[Family, ...] = (
    ASYMMETRIC_LAPLACE,
    BERNOULLI,
    BETA,
    BETA_BINOMIAL,
    BINOMIAL,
    CATEGORICAL,
    CHI_SQUARE,
    DIRICHLET,
    EXPONENTIAL,
    FLAT,
    FLAT_MATRIX,
    GAMMA,
    GENERALISED_GAMMA,
    GENERALISED_NORMAL,
    GEOMETRIC,
    HALF_CAUCHY,
    HALF_NORMAL,
    HALF_STUDENT_T,
    INVERSE_GAMMA,
    INVERSE_GAUSSIAN,
    INVERSE_WISHART,
    LAPLACE,
    LOG_NORMAL,
    LOGISTIC,
    LOGISTIC_NORMAL,
    MULTINOMIAL,
    MULTIVARIATE_NORMAL,
    MULTIVARIATE_STUDENT_T,
    NEGATIVE_BINOMIAL,
    NORMAL,
    PARETO,
    POISSON,
    SKEW_NORMAL,
    STUDENT_T,
    UNIFORM,
    VON_MISES,
    WEIBULL,
    WISHART,
)

BOUNDED = ("Truncated", "Censored")


@cache
def family_named(name: str) -> Family | None:
    """A family of the shelf, or one of them within bounds: `TruncatedNormal@lower@upper`."""
    if name in FAMILY_BY_NAME:
        return FAMILY_BY_NAME[name]
    whole, *ends = name.split("@")
    for word in BOUNDED:
        family = FAMILY_BY_NAME.get(whole.removeprefix(word)) if whole.startswith(word) else None
        if family is not None and family.cumulative is not None and ends in (["lower"], ["upper"], ["lower", "upper"]):
            return bounded(word, family, "lower" in ends, "upper" in ends)
    return None


def _again(name: str) -> Family:
    """The family that a copy or a pickle names."""
    found = family_named(name)
    if found is None:
        raise FormatError(f"there is no family `{name}`"[:80])
    return found


FAMILY_BY_NAME: dict[str, Family] = {family.name: family for family in FAMILIES}

# A family is told by its name wherever it is copied or pickled: its functions are those of the shelf, and no others.
copyreg.pickle(Family, lambda family: (_again, (family.name,)))
