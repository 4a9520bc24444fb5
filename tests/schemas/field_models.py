"""Models whose parameters have no joint posterior of closed form, but blocks that have one given the others."""

from __future__ import annotations

import numpy as np

import platewright as pw
from schemas.gaussian_latents import LATENTS
from schemas.grouped_classes import GROUPED
from schemas.hierarchies import HIERARCHIES
from schemas.mixtures import MIXTURES
from schemas.sequences import CHAINS
from schemas.small_instance import Case


def product_of_two() -> pw.Model:
    m = pw.Model("a product of two unknowns")
    n = m.plate("n")
    m.tau = pw.Gamma(3, rate=2)
    m.u = pw.Normal(1, sd=1)
    m.v = pw.Normal(0.5, sd=1)
    m.y = pw.Normal(m.u * m.v, precision=m.tau, plates=n)
    return m


def matrix_factors() -> pw.Model:
    m = pw.Model("matrix factorisation")
    n, row, column, k = m.plate("n"), m.plate("row", 3), m.plate("column", 2), m.plate("k", 2)
    m.i = pw.Input(levels=row, plates=n)
    m.j = pw.Input(levels=column, plates=n)
    m.tau = pw.Gamma(3, rate=2)
    m.level = pw.Normal(0, sd=2)
    m.a = pw.Gamma(3, rate=2, plates=k)
    m.u = pw.Normal(0, precision=m.a, plates=(row, k))
    m.v = pw.Normal(0, sd=1, plates=(column, k))
    product = pw.dot(m.u[m.i], m.v[m.j], over=k)
    m.y = pw.Normal(m.level + product, precision=m.tau, plates=n)
    return m


def relevance() -> pw.Model:
    m = pw.Model("regression with a precision for each weight")
    n, j = m.plate("n"), m.plate("j", 3)
    m.x = pw.Input(plates=(n, j))
    m.a = pw.Gamma(2, rate=1, plates=j)
    m.tau = pw.Gamma(3, rate=2)
    m.w = pw.Normal(0, precision=m.a, plates=j)
    m.y = pw.Normal(pw.dot(m.w, m.x, over=j), precision=m.tau, plates=n)
    return m


def student_rows() -> pw.Model:
    m = pw.Model("Student-t regression as a scale mixture")
    n, j = m.plate("n"), m.plate("j", 2)
    m.x = pw.Input(plates=(n, j))
    m.v = pw.InverseGamma(3, scale=2)
    m.w = pw.Normal(0, sd=2, plates=j)
    m.r = pw.Gamma(2, rate=2, plates=n)
    m.y = pw.Normal(pw.dot(m.w, m.x, over=j), precision=m.r / m.v, plates=n)
    return m


def matrix_in_groups() -> pw.Model:
    m = pw.Model("groups of vectors with two matrices")
    g, d = m.plate("g", 2), m.plate("d", 2)
    n = m.plate("n", within=g)
    m.centre = pw.MultivariateNormal(0, precision=0.3 * pw.identity(d), over=d)
    m.between = pw.Wishart(5, scale=pw.identity(d), over=d)
    m.inside = pw.InverseWishart(6, scale=pw.identity(d), over=d)
    m.mu = pw.MultivariateNormal(m.centre, precision=m.between, over=d, plates=g)
    m.y = pw.MultivariateNormal(m.mu, covariance=m.inside, over=d, plates=n)
    return m


CELLS = {"i": np.array([0, 0, 1, 1, 2, 2, 0]), "j": np.array([0, 1, 0, 1, 0, 1, 1])}
FIELDS: tuple[Case, ...] = (
    Case("product_of_two", product_of_two, ("y",), {"n": 4}),
    Case("matrix_factors", matrix_factors, ("y",), {"n": 7}, {}, CELLS),
    Case("relevance", relevance, ("y",), {"n": 6}),
    Case("student_rows", student_rows, ("y",), {"n": 5}),
    Case("matrix_in_groups", matrix_in_groups, ("y",), {"n": 5}, {"n": (0, 0, 1, 1, 1)}),
)
EVERY: tuple[Case, ...] = (*FIELDS, *HIERARCHIES, *LATENTS, *MIXTURES, *GROUPED, *CHAINS)
