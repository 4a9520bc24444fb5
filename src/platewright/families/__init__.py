"""The shelf of families: one distribution a file, listed here in the order of the alphabet.

    FAMILY_BY_NAME["Gamma"] is GAMMA

Nothing registers itself; a family that is not in this tuple is not on the shelf.
"""

from __future__ import annotations

from platewright.families.bernoulli import BERNOULLI
from platewright.families.beta import BETA
from platewright.families.binomial import BINOMIAL
from platewright.families.categorical import CATEGORICAL
from platewright.families.chi_square import CHI_SQUARE
from platewright.families.dirichlet import DIRICHLET
from platewright.families.exponential import EXPONENTIAL
from platewright.families.flat import FLAT
from platewright.families.flat_matrix import FLAT_MATRIX
from platewright.families.gamma import GAMMA
from platewright.families.geometric import GEOMETRIC
from platewright.families.half_cauchy import HALF_CAUCHY
from platewright.families.half_normal import HALF_NORMAL
from platewright.families.inverse_gamma import INVERSE_GAMMA
from platewright.families.inverse_gaussian import INVERSE_GAUSSIAN
from platewright.families.inverse_wishart import INVERSE_WISHART
from platewright.families.laplace import LAPLACE
from platewright.families.log_normal import LOG_NORMAL
from platewright.families.logistic_normal import LOGISTIC_NORMAL
from platewright.families.multinomial import MULTINOMIAL
from platewright.families.multivariate_normal import MULTIVARIATE_NORMAL
from platewright.families.multivariate_student_t import MULTIVARIATE_STUDENT_T
from platewright.families.negative_binomial import NEGATIVE_BINOMIAL
from platewright.families.normal import NORMAL
from platewright.families.pareto import PARETO
from platewright.families.poisson import POISSON
from platewright.families.student_t import STUDENT_T
from platewright.families.uniform import UNIFORM
from platewright.families.von_mises import VON_MISES
from platewright.families.weibull import WEIBULL
from platewright.families.wishart import WISHART
from platewright.family import Family

FAMILIES: tuple[Family, ...] = (
    BERNOULLI,
    BETA,
    BINOMIAL,
    CATEGORICAL,
    CHI_SQUARE,
    DIRICHLET,
    EXPONENTIAL,
    FLAT,
    FLAT_MATRIX,
    GAMMA,
    GEOMETRIC,
    HALF_CAUCHY,
    HALF_NORMAL,
    INVERSE_GAMMA,
    INVERSE_GAUSSIAN,
    INVERSE_WISHART,
    LAPLACE,
    LOG_NORMAL,
    LOGISTIC_NORMAL,
    MULTINOMIAL,
    MULTIVARIATE_NORMAL,
    MULTIVARIATE_STUDENT_T,
    NEGATIVE_BINOMIAL,
    NORMAL,
    PARETO,
    POISSON,
    STUDENT_T,
    UNIFORM,
    VON_MISES,
    WEIBULL,
    WISHART,
)

FAMILY_BY_NAME: dict[str, Family] = {family.name: family for family in FAMILIES}
