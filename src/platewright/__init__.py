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
    AsymmetricLaplace,
    Bernoulli,
    Beta,
    BetaBinomial,
    Binomial,
    Categorical,
    ChiSquare,
    Dirichlet,
    Exponential,
    Flat,
    Gamma,
    GeneralisedGamma,
    GeneralisedNormal,
    Geometric,
    HalfCauchy,
    HalfNormal,
    HalfStudentT,
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
    SkewNormal,
    StudentT,
    Uniform,
    VonMises,
    Weibull,
    Wishart,
)
from platewright.language.decision import Action, Utility
from platewright.language.distribution import Input, Recursion, Undirected, array, identity
from platewright.language.functions import (
    absolute,
    arctan,
    cos,
    cumulative_sum,
    dot,
    equal,
    erf,
    exp,
    less,
    lgamma,
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
from platewright.language.ordered import OrderedLogistic, OrderedProbit
from platewright.language.split import Split
from platewright.language.stan.write import write_stan
from platewright.language.tree import Tree
from platewright.language.tree_prior import branching
from platewright.pipeline import Model
from platewright.reading import read_bif, read_bugs, read_stan, read_uai, write_bugs
from platewright.run.results.comparing import compare
from platewright.run.results.saving import load
from platewright.run.samplers.monitored import criteria_of as criteria
from platewright.structure.best import bayes_factor
from platewright.structure.network import Network
from platewright.structure.rules import arcs, uniform_dags
from platewright.structures import Decomposable, Structures
from platewright.trees.estimator import TreeClassifier, TreeRegressor

__version__ = "0.1.0"

__all__ = [
    "Action",
    "AsymmetricLaplace",
    "Bernoulli",
    "Beta",
    "BetaBinomial",
    "Binomial",
    "Categorical",
    "Censored",
    "ChiSquare",
    "Decomposable",
    "Dirichlet",
    "Exponential",
    "Flat",
    "Gamma",
    "GeneralisedGamma",
    "GeneralisedNormal",
    "Geometric",
    "HalfCauchy",
    "HalfNormal",
    "HalfStudentT",
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
    "Network",
    "Normal",
    "OrderedLogistic",
    "OrderedProbit",
    "Pareto",
    "Poisson",
    "Recursion",
    "SkewNormal",
    "Split",
    "Structures",
    "StudentT",
    "Tree",
    "TreeClassifier",
    "TreeRegressor",
    "Truncated",
    "Undirected",
    "Uniform",
    "Utility",
    "VonMises",
    "Weibull",
    "Wishart",
    "absolute",
    "arcs",
    "arctan",
    "array",
    "bayes_factor",
    "branching",
    "compare",
    "cos",
    "criteria",
    "cumulative_sum",
    "dot",
    "equal",
    "erf",
    "exp",
    "identity",
    "less",
    "lgamma",
    "load",
    "log",
    "logistic",
    "maximum",
    "minimum",
    "probit",
    "read_bif",
    "read_bugs",
    "read_stan",
    "read_uai",
    "read_uai_evidence",
    "sin",
    "sqrt",
    "sum",
    "tanh",
    "uniform_dags",
    "where",
    "write_bugs",
    "write_stan",
]


def __getattr__(name: str) -> object:
    """A name that is not there, with the nearest that is."""
    near = nearest(name, __all__)
    hint = f"; did you mean pw.{near}?" if near else "; docs/families.md lists the distributions"
    raise AttributeError(f"platewright has no `{name}`{hint}")
