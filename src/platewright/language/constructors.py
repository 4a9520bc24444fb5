"""The distributions by the names that users write; each is its family with the call checked."""

from __future__ import annotations

from platewright.families import FAMILY_BY_NAME
from platewright.language.distribution import Constructor

Bernoulli = Constructor(FAMILY_BY_NAME["Bernoulli"])
Beta = Constructor(FAMILY_BY_NAME["Beta"])
Binomial = Constructor(FAMILY_BY_NAME["Binomial"])
Categorical = Constructor(FAMILY_BY_NAME["Categorical"])
ChiSquare = Constructor(FAMILY_BY_NAME["ChiSquare"])
Dirichlet = Constructor(FAMILY_BY_NAME["Dirichlet"])
Exponential = Constructor(FAMILY_BY_NAME["Exponential"])
Flat = Constructor(FAMILY_BY_NAME["Flat"], of_matrices=FAMILY_BY_NAME["FlatMatrix"])
Gamma = Constructor(FAMILY_BY_NAME["Gamma"])
Geometric = Constructor(FAMILY_BY_NAME["Geometric"])
HalfCauchy = Constructor(FAMILY_BY_NAME["HalfCauchy"])
HalfNormal = Constructor(FAMILY_BY_NAME["HalfNormal"])
InverseGamma = Constructor(FAMILY_BY_NAME["InverseGamma"])
InverseGaussian = Constructor(FAMILY_BY_NAME["InverseGaussian"])
InverseWishart = Constructor(FAMILY_BY_NAME["InverseWishart"])
Laplace = Constructor(FAMILY_BY_NAME["Laplace"])
LogNormal = Constructor(FAMILY_BY_NAME["LogNormal"])
LogisticNormal = Constructor(FAMILY_BY_NAME["LogisticNormal"])
Multinomial = Constructor(FAMILY_BY_NAME["Multinomial"])
MultivariateNormal = Constructor(FAMILY_BY_NAME["MultivariateNormal"])
NegativeBinomial = Constructor(FAMILY_BY_NAME["NegativeBinomial"])
Normal = Constructor(FAMILY_BY_NAME["Normal"])
Pareto = Constructor(FAMILY_BY_NAME["Pareto"])
Poisson = Constructor(FAMILY_BY_NAME["Poisson"])
StudentT = Constructor(FAMILY_BY_NAME["StudentT"])
Uniform = Constructor(FAMILY_BY_NAME["Uniform"])
VonMises = Constructor(FAMILY_BY_NAME["VonMises"])
Weibull = Constructor(FAMILY_BY_NAME["Weibull"])
Wishart = Constructor(FAMILY_BY_NAME["Wishart"])
