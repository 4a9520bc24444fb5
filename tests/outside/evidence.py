"""Models of the public evidence cases: those with a closed form, and those that have none."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

import platewright as pw


def hierarchical_normal(with_mean: bool) -> pw.Model:
    """Normal means with an unknown precision of their own beside a known one: no common scale."""
    m = pw.Model("hierarchical normal")
    unit = m.plate("unit")
    m.precision = pw.Gamma(1, rate=1)
    if with_mean:
        m.mu = pw.Normal(0, sd=1)
    m.theta = pw.Normal(m.mu if with_mean else 0, precision=m.precision, plates=unit)
    m.y = pw.Normal(m.theta, sd=1, plates=unit)
    return m


def cauchy_effect(scale: float) -> pw.Model:
    """A Cauchy prior on the effect size, written as a normal with unknown variance g (Jeffreys, Zellner and Siow)."""
    m = pw.Model("effect size")
    row = m.plate("row")
    m.tau = pw.Flat(lower=0)
    m.potential("scale", -pw.log(m.tau))
    m.g = pw.InverseGamma(0.5, scale=scale**2 / 2)
    m.mu = pw.Normal(0, precision=m.tau / m.g)
    m.y = pw.Normal(m.mu, precision=m.tau, plates=row)
    return m


def logistic_proportion(count: int, centre: float, scale: float) -> pw.Model:
    """A proportion whose logit has a logistic prior."""
    m = pw.Model("proportion")
    m.z = pw.Flat()
    distance = (m.z - math.log(centre / (1 - centre))) / scale
    m.potential("prior", distance - 2 * pw.log(1 + pw.exp(distance)) - math.log(scale))
    m.y = pw.Binomial(count, pw.logistic(m.z))
    return m


def table_rows(table: Sequence[Sequence[int]]) -> tuple[np.ndarray, np.ndarray]:
    """The row and column of each unit that a table of counts has counted."""
    counts = np.asarray(table)
    row, column = np.indices(counts.shape)
    return np.repeat(row.ravel(), counts.ravel()), np.repeat(column.ravel(), counts.ravel())


def joint_table(row: np.ndarray, column: np.ndarray, shape: tuple[int, int], concentration: float) -> float:
    """Log evidence of one distribution over all cells."""
    m = pw.Model("joint")
    unit, cell = m.plate("unit"), m.plate("cell", shape[0] * shape[1])
    m.p = pw.Dirichlet(concentration, over=cell)
    m.cell_of = pw.Categorical(m.p, plates=unit)
    return m.learn({"cell_of": row * shape[1] + column}).log_evidence


def independent_table(row: np.ndarray, column: np.ndarray, shape: tuple[int, int], concentration: float) -> float:
    """Log evidence of rows independent of columns, with the margins' priors of Gunel and Dickey."""
    m = pw.Model("independent")
    unit, first, second = m.plate("unit"), m.plate("first", shape[0]), m.plate("second", shape[1])
    m.p = pw.Dirichlet(margin(concentration, shape[1]), over=first)
    m.q = pw.Dirichlet(margin(concentration, shape[0]), over=second)
    m.row = pw.Categorical(m.p, plates=unit)
    m.column = pw.Categorical(m.q, plates=unit)
    return m.learn({"row": row, "column": column}).log_evidence


def margin(concentration: float, others: int) -> float:
    """The concentration of a margin under independence."""
    return others * concentration - (others - 1)


def rows_by_column(row: np.ndarray, column: np.ndarray, shape: tuple[int, int], concentration: float) -> float:
    """Log evidence of rows given columns, a distribution for each column."""
    m = pw.Model("by column")
    unit, first, second = m.plate("unit"), m.plate("first", shape[0]), m.plate("second", shape[1])
    m.p = pw.Dirichlet(concentration, over=first, plates=second)
    m.column = pw.Input(plates=unit, levels=second)
    m.row = pw.Categorical(m.p[m.column], plates=unit)
    return m.learn({"row": row, "column": column}).log_evidence


def rows_alone(row: np.ndarray, shape: tuple[int, int], concentration: float) -> float:
    """Log evidence of rows that do not depend on columns."""
    m = pw.Model("rows alone")
    unit, first = m.plate("unit"), m.plate("first", shape[0])
    m.p = pw.Dirichlet(margin(concentration, shape[1]), over=first)
    m.row = pw.Categorical(m.p, plates=unit)
    return m.learn({"row": row}).log_evidence


def poisson_cells(counts: np.ndarray, concentration: float) -> float:
    """Log evidence of cells that are Poisson each with a rate of its own."""
    m = pw.Model("Poisson cells")
    cell = m.plate("cell")
    m.rate = pw.Gamma(concentration, rate=counts.size * concentration / counts.sum(), plates=cell)
    m.count = pw.Poisson(m.rate, plates=cell)
    return m.learn({"count": counts.ravel()}).log_evidence


def poisson_total(counts: np.ndarray, concentration: float) -> float:
    """Log evidence of the total alone, with the prior of the rate under independence."""
    m = pw.Model("Poisson total")
    shape = counts.size * concentration - (counts.shape[0] - 1) * (counts.shape[1] - 1)
    m.rate = pw.Gamma(shape, rate=counts.size * concentration / counts.sum())
    m.count = pw.Poisson(m.rate)
    return m.learn({"count": int(counts.sum())}).log_evidence


def g_prior(x: np.ndarray, y: np.ndarray, g: float) -> float:
    """Log evidence of a regression under Zellner's g-prior, up to a constant that all subsets share.

    `w ~ N(0, g (x'x)^-1 / tau)` is `N(0, g / tau)` for each column of an orthonormal basis of the centred columns.
    """
    m = pw.Model("g-prior")
    row = m.plate("row")
    m.tau = pw.Flat(lower=0)
    m.potential("scale", -pw.log(m.tau))
    m.a = pw.Flat()
    if not x.shape[1]:
        m.y = pw.Normal(m.a, precision=m.tau, plates=row)
        return m.learn({"y": y}).log_evidence
    column = m.plate("column")
    m.x = pw.Input(plates=(row, column))
    m.w = pw.Normal(0, precision=m.tau / g, plates=column)
    m.y = pw.Normal(m.a + pw.dot(m.x, m.w, over=column), precision=m.tau, plates=row)
    basis = np.linalg.qr(x - x.mean(axis=0))[0]
    return m.learn({"x": basis, "y": y}).log_evidence
