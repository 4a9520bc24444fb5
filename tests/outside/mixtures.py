"""Gaussian mixtures, latent classes and hidden Markov models under flat priors: maximum likelihood by EM."""

from __future__ import annotations

import platewright as pw

SMALL = 1e-12
"""Stands for zero: a Wishart with d + 1 degrees and this inverse scale is flat in the precision matrix."""


def _components(title: str, count: int) -> tuple[pw.Model, pw.Plate, pw.Plate]:
    m = pw.Model(title)
    row, k = m.plate("row"), m.plate("k", count)
    m.p = pw.Dirichlet(1, over=k)
    m.z = pw.Categorical(m.p, plates=row)
    return m, row, k


def gaussian_mixture(kind: str, count: int, columns: int) -> pw.Model:
    """The models of mclust: E and V for numbers; EII, VVI, EEE and VVV for vectors."""
    m, row, k = _components(f"{kind} mixture", count)
    if kind in ("E", "V"):
        m.mu = pw.Flat(plates=k)
        m.tau = pw.Flat(lower=0, plates=() if kind == "E" else k)
        m.y = pw.Normal(m.mu[m.z], precision=m.tau if kind == "E" else m.tau[m.z], plates=row)
        return m
    d = m.plate("d", columns)
    m.mu = pw.Flat(plates=(k, d))
    if kind in ("EII", "VVI"):
        m.tau = pw.Flat(lower=0, plates=() if kind == "EII" else (k, d))
        m.y = pw.Normal(m.mu[m.z], precision=m.tau if kind == "EII" else m.tau[m.z], plates=(row, d))
        return m
    flat = {"inverse_scale": SMALL * pw.identity(d), "over": d}
    m.S = pw.Wishart(columns + 1, **flat, plates=() if kind == "EEE" else k)
    m.y = pw.MultivariateNormal(m.mu[m.z], precision=m.S if kind == "EEE" else m.S[m.z], over=d, plates=row)
    return m


def latent_class(count: int, items: int, levels: int) -> pw.Model:
    """Answers to items are independent within a class."""
    m, row, k = _components("latent class", count)
    item, level = m.plate("item", items), m.plate("level", levels)
    m.theta = pw.Dirichlet(1, over=level, plates=(k, item))
    m.x = pw.Categorical(m.theta[m.z], plates=(row, item))
    return m


def poisson_chain(states: int) -> pw.Model:
    """A hidden Markov model for counts, its first state free."""
    m = pw.Model("Poisson hidden Markov model")
    k = m.plate("k", states)
    before, year = m.plate("before", like=k), m.plate("year", ordered=True)
    m.begin = pw.Dirichlet(1, over=k)
    m.move = pw.Dirichlet(1, over=k, plates=before)
    m.rate = pw.Flat(lower=0, plates=k)
    m.z = pw.Categorical(m.move[m.lag("z")], start=m.begin, plates=year)
    m.y = pw.Poisson(m.rate[m.z], plates=year)
    return m


def coarsened(cells: int, table: list[list[float]]) -> pw.Model:
    """Cells seen through a known table that blurs them: missing answers, merged categories."""
    m = pw.Model("coarsened cells")
    row, cell, seen = m.plate("row"), m.plate("cell", cells), m.plate("seen", len(table[0]))
    m.p = pw.Dirichlet(1, over=cell)
    m.c = pw.Categorical(m.p, plates=row)
    m.y = pw.Categorical(pw.array(table, over=(cell, seen))[m.c], plates=row, over=seen)
    return m


def gaussian_vector(columns: int) -> pw.Model:
    """One multivariate normal under flat priors."""
    m = pw.Model("normal vectors")
    row, d = m.plate("row"), m.plate("d", columns)
    m.mu = pw.Flat(plates=d)
    m.S = pw.Wishart(columns + 1, inverse_scale=SMALL * pw.identity(d), over=d)
    m.y = pw.MultivariateNormal(m.mu, precision=m.S, over=d, plates=row)
    return m
