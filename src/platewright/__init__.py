"""Platewright: from a graphical model with plates to the learning algorithm it deserves.

    import platewright as pw

    m = pw.Model("coin")
    toss = m.plate("toss")
    m.theta = pw.Beta(1.5, 1.5)
    m.heads = pw.Bernoulli(m.theta, plates=toss)

    fit = m.learn({"heads": [1, 0, 1, 1]})
    print(fit.summary(), fit.explain(), fit.source())

Distributions are called with a capital letter (`help(pw.Normal)`), functions inside expressions without (`pw.exp`).
Errors are in `platewright.errors`; all derive from `PlatewrightError`.
"""

from __future__ import annotations

from platewright.errors import nearest
from platewright.language.bounding import Censored, Truncated
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
    GeneralisedGamma,
    Geometric,
    HalfCauchy,
    HalfNormal,
    InverseGamma,
    InverseGaussian,
    InverseWishart,
    Laplace,
    Logistic,
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
    arctan,
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
    sum,
    tanh,
    where,
)
from platewright.language.networks.uai import read_uai_evidence
from platewright.language.stan.write import write_stan
from platewright.pipeline import Model
from platewright.reading import read_bif, read_bugs, read_uai, write_bugs
from platewright.run.results.comparing import compare
from platewright.run.results.saving import load

__version__ = "0.1.0"

__all__ = [
    "Bernoulli",
    "Beta",
    "Binomial",
    "Categorical",
    "Censored",
    "ChiSquare",
    "Dirichlet",
    "Exponential",
    "Flat",
    "Gamma",
    "GeneralisedGamma",
    "Geometric",
    "HalfCauchy",
    "HalfNormal",
    "Input",
    "InverseGamma",
    "InverseGaussian",
    "InverseWishart",
    "Laplace",
    "LogNormal",
    "Logistic",
    "LogisticNormal",
    "Model",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "Pareto",
    "Poisson",
    "StudentT",
    "Truncated",
    "Undirected",
    "Uniform",
    "VonMises",
    "Weibull",
    "Wishart",
    "absolute",
    "arctan",
    "array",
    "compare",
    "cos",
    "dot",
    "equal",
    "exp",
    "identity",
    "less",
    "load",
    "log",
    "logistic",
    "maximum",
    "minimum",
    "probit",
    "read_bif",
    "read_bugs",
    "read_uai",
    "read_uai_evidence",
    "sin",
    "sqrt",
    "sum",
    "tanh",
    "where",
    "write_bugs",
    "write_stan",
]


def __getattr__(name: str) -> object:
    """A name that is not there, with the nearest that is."""
    near = nearest(name, __all__)
    hint = f"; did you mean pw.{near}?" if near else "; docs/families.md lists the distributions"
    raise AttributeError(f"platewright has no `{name}`{hint}")
