"""Random models with something hidden: classes of rows or of steps, seen through columns of several kinds.

m.z = pw.Categorical(m.share, plates=n)            or a hidden Markov chain, or a factor of each row
m.y0 = pw.Normal(m.mu0[m.z], variance=m.v0[m.z], plates=n)
m.y1 = pw.Poisson(m.rate1[m.z], plates=n)
"""

from __future__ import annotations

from typing import Any

import numpy as np

import platewright as pw

Data = dict[str, Any]


def random_latent(seed: int) -> tuple[pw.Model, Data]:
    """A model, and data for it."""
    generator = np.random.default_rng(seed)
    hidden = ("classes", "chain", "factor")[int(generator.choice(3, p=[0.6, 0.25, 0.15]))]
    rows = int(generator.integers(12, 40))
    m = pw.Model(f"{hidden} {seed}")
    n = m.plate("n", ordered=True) if hidden == "chain" else m.plate("n")
    k = m.plate("k", int(generator.integers(2, 4)))
    if hidden == "factor":
        return m, _factor(m, n, generator, rows)
    strength = float(generator.choice([1.0, 1.5, 3.0]))
    m.share = pw.Dirichlet(strength, over=k)
    if hidden == "chain":
        before = m.plate("before", like=k)
        m.move = pw.Dirichlet(strength, over=k, plates=before)
        m.z = pw.Categorical(m.move[m.lag("z")], start=m.share, plates=n)
    else:
        m.z = pw.Categorical(m.share, plates=n)
    kinds = list(COLUMNS)
    data: Data = {}
    for number in range(int(generator.integers(1, 4))):
        data |= COLUMNS[kinds[int(generator.integers(len(kinds)))]](m, n, k, f"{number}", generator, rows)
    return m, data


def _normal(m: pw.Model, n: pw.Plate, k: pw.Plate, end: str, generator: np.random.Generator, rows: int) -> Data:
    setattr(m, f"v{end}", pw.InverseGamma(3.0, scale=1.0, plates=k))
    setattr(m, f"mu{end}", pw.Normal(0, sd=4, plates=k))
    mean, variance = getattr(m, f"mu{end}")[m.z], getattr(m, f"v{end}")[m.z]
    setattr(m, f"y{end}", pw.Normal(mean, variance=variance, plates=n))
    return {f"y{end}": generator.normal(generator.choice([-1.5, 1.5], rows), 1.0)}


def _together(m: pw.Model, n: pw.Plate, k: pw.Plate, end: str, generator: np.random.Generator, rows: int) -> Data:
    """Mean and variance of each class have one mode together."""
    setattr(m, f"v{end}", pw.InverseGamma(3.0, scale=1.0, plates=k))
    setattr(m, f"mu{end}", pw.Normal(0, variance=4 * getattr(m, f"v{end}"), plates=k))
    mean, variance = getattr(m, f"mu{end}")[m.z], getattr(m, f"v{end}")[m.z]
    setattr(m, f"y{end}", pw.Normal(mean, variance=variance, plates=n))
    return {f"y{end}": generator.normal(generator.choice([-1.5, 1.5], rows), 1.0)}


def _counts(m: pw.Model, n: pw.Plate, k: pw.Plate, end: str, generator: np.random.Generator, rows: int) -> Data:
    setattr(m, f"rate{end}", pw.Gamma(2.0, rate=0.5, plates=k))
    setattr(m, f"y{end}", pw.Poisson(getattr(m, f"rate{end}")[m.z], plates=n))
    return {f"y{end}": generator.poisson(generator.choice([1.0, 6.0], rows))}


def _labels(m: pw.Model, n: pw.Plate, k: pw.Plate, end: str, generator: np.random.Generator, rows: int) -> Data:
    colour = m.plate(f"colour{end}", 3)
    setattr(m, f"shown{end}", pw.Dirichlet(1.5, over=colour, plates=k))
    setattr(m, f"y{end}", pw.Categorical(getattr(m, f"shown{end}")[m.z], plates=n))
    return {f"y{end}": generator.integers(0, 3, rows)}


def _waits(m: pw.Model, n: pw.Plate, k: pw.Plate, end: str, generator: np.random.Generator, rows: int) -> Data:
    setattr(m, f"rate{end}", pw.Gamma(2.0, rate=0.5, plates=k))
    setattr(m, f"y{end}", pw.Exponential(rate=getattr(m, f"rate{end}")[m.z], plates=n))
    return {f"y{end}": generator.exponential(generator.choice([0.3, 3.0], rows))}


def _lines(m: pw.Model, n: pw.Plate, k: pw.Plate, end: str, generator: np.random.Generator, rows: int) -> Data:
    setattr(m, f"x{end}", pw.Input(plates=n))
    setattr(m, f"slope{end}", pw.Normal(0, sd=3, plates=k))
    setattr(m, f"tau{end}", pw.Gamma(2.0, rate=1.0, plates=k))
    mean = getattr(m, f"slope{end}")[m.z] * getattr(m, f"x{end}")
    setattr(m, f"y{end}", pw.Normal(mean, precision=getattr(m, f"tau{end}")[m.z], plates=n))
    x = generator.normal(size=rows)
    return {f"x{end}": x, f"y{end}": x * generator.choice([-2.0, 1.0], rows) + 0.5 * generator.normal(size=rows)}


def _factor(m: pw.Model, n: pw.Plate, generator: np.random.Generator, rows: int) -> Data:
    """A hidden number in each row, seen through several columns."""
    width = int(generator.integers(2, 4))
    d = m.plate("d", width)
    m.psi = pw.InverseGamma(3.0, scale=1.0, plates=d)
    m.loading = pw.Normal(0, sd=2, plates=d)
    m.z = pw.Normal(0, sd=1, plates=n)
    m.x = pw.Normal(m.loading * m.z, variance=m.psi, plates=(n, d))
    z = generator.normal(size=(rows, 1))
    return {"x": z @ generator.normal(size=(1, width)) + 0.5 * generator.normal(size=(rows, width))}


COLUMNS = {
    "normal": _normal,
    "together": _together,
    "counts": _counts,
    "labels": _labels,
    "waits": _waits,
    "lines": _lines,
}
