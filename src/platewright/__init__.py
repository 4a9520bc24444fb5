"""Platewright: from a graphical model with plates to the learning algorithm it deserves."""

from __future__ import annotations

from platewright.language.constructors import (
    Bernoulli,
    Beta,
    Binomial,
    Categorical,
    ChiSquare,
    Dirichlet,
    Exponential,
    Flat,
    Gamma,
    Geometric,
    HalfCauchy,
    HalfNormal,
    InverseGamma,
    InverseGaussian,
    InverseWishart,
    Laplace,
    LogisticNormal,
    LogNormal,
    Multinomial,
    MultivariateNormal,
    NegativeBinomial,
    Normal,
    Pareto,
    Poisson,
    StudentT,
    Uniform,
    VonMises,
    Weibull,
    Wishart,
)
from platewright.language.distribution import Input, Undirected, array, identity
from platewright.language.functions import (
    absolute,
    cos,
    dot,
    equal,
    exp,
    less,
    log,
    logistic,
    maximum,
    minimum,
    probit,
    sin,
    sqrt,
    sum,  # noqa: A004 - the name users expect
    tanh,
    where,
)
from platewright.pipeline import Model

__version__ = "0.1.0"
