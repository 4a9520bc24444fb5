"""Models with hidden values as lines of text, so small that all hidden values can be summed and integrated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from independent.brute_force import Space


@dataclass(frozen=True)
class Hidden:
    """Lines, data, and where the hidden variables lie; everything else that is unknown is a parameter."""

    lines: str
    data: Mapping[str, Any]
    hidden: Mapping[str, Space]
    sizes: Mapping[str, int]
    groups: Mapping[str, Any] = field(default_factory=dict)

    @property
    def each(self) -> list[str]:
        """Line by line."""
        return [line.strip() for line in self.lines.split(";") if line.strip()]


NAN = float("nan")
CLASSES = 'n = m.plate("n"); k = m.plate("k", 2); m.p = pw.Dirichlet(pw.array([2.0, 3.0], over=k), over=k);'
HIDDEN: dict[str, Hidden] = {
    "classes of Gaussians": Hidden(
        f"{CLASSES} m.mu = pw.Normal(pw.array([-1.0, 2.0], over=k), sd=1.5, plates=k);"
        "m.z = pw.Categorical(m.p, plates=n); m.y = pw.Normal(m.mu[m.z], sd=0.8, plates=n)",
        {"y": np.array([-1.2, 0.4, 2.2, 1.1])},
        {"z": Space((4,), levels=2)},
        {"n": 4, "k": 2},
    ),
    "classes with precisions": Hidden(
        f"{CLASSES} m.tau = pw.Gamma(3.0, rate=2.0, plates=k); m.mu = pw.Normal(0.5, precision=0.4 * m.tau, plates=k);"
        "m.z = pw.Categorical(m.p, plates=n); m.y = pw.Normal(m.mu[m.z], precision=m.tau[m.z], plates=n)",
        {"y": np.array([-1.2, 0.4, 2.9, 1.1])},
        {"z": Space((4,), levels=2)},
        {"n": 4, "k": 2},
    ),
    "classes of counts and answers": Hidden(
        f"{CLASSES} m.rate = pw.Gamma(pw.array([2.0, 8.0], over=k), rate=1.5, plates=k);"
        "m.q = pw.Beta(2.0, 3.0, plates=k); m.z = pw.Categorical(m.p, plates=n);"
        "m.y = pw.Poisson(m.rate[m.z], plates=n); m.b = pw.Bernoulli(m.q[m.z], plates=n)",
        {"y": np.array([0, 1, 6, 4]), "b": np.array([0, 1, 1, 1])},
        {"z": Space((4,), levels=2)},
        {"n": 4, "k": 2},
    ),
    "a switch beside a constant": Hidden(
        'n = m.plate("n"); m.share = pw.Beta(2.0, 2.0); m.a = pw.Normal(0.0, sd=2.0); m.b = pw.Normal(3.0, sd=1.0);'
        "m.z = pw.Bernoulli(m.share, plates=n); m.y = pw.Normal(pw.where(m.z, m.b, m.a), sd=1.1, plates=n)",
        {"y": np.array([0.3, -0.5, 2.5, 3.3])},
        {"z": Space((4,), levels=2)},
        {"n": 4},
    ),
    "classes of groups": Hidden(
        'g = m.plate("g"); n = m.plate("n", within=g); k = m.plate("k", 2); m.p = pw.Dirichlet(1.5, over=k);'
        "m.rate = pw.Gamma(pw.array([2.0, 5.0], over=k), rate=1.0, plates=k); m.z = pw.Categorical(m.p, plates=g);"
        "m.y = pw.Exponential(rate=m.rate[m.z], plates=n)",
        {"y": np.array([0.5, 0.7, 0.1, 0.2, 0.9])},
        {"z": Space((3,), levels=2)},
        {"g": 3, "n": 5, "k": 2},
        {"n": np.array([0, 0, 1, 2, 2])},
    ),
    "two classes a row": Hidden(
        f'{CLASSES} h = m.plate("h", 2); m.r = pw.Dirichlet(2.0, over=h, plates=k);'
        "m.mu = pw.Normal(pw.array([[0.0, 1.0], [2.0, 4.0]], over=(k, h)), sd=1.0, plates=(k, h));"
        "m.z = pw.Categorical(m.p, plates=n); m.u = pw.Categorical(m.r[m.z], plates=n);"
        "m.y = pw.Normal(m.mu[m.z, m.u], sd=1.0, plates=n)",
        {"y": np.array([0.2, 1.6, 3.9])},
        {"z": Space((3,), levels=2), "u": Space((3,), levels=2)},
        {"n": 3, "k": 2, "h": 2},
    ),
    "a hidden chain": Hidden(
        't = m.plate("t", ordered=True); k = m.plate("k", 2); o = m.plate("o", like=k);'
        "m.begin = pw.Dirichlet(2.0, over=k); m.move = pw.Dirichlet(1.8, over=k, plates=o);"
        "m.rate = pw.Gamma(pw.array([2.0, 6.0], over=k), rate=1.0, plates=k);"
        'm.z = pw.Categorical(m.move[m.lag("z")], start=m.begin, plates=t); m.y = pw.Poisson(m.rate[m.z], plates=t)',
        {"y": np.array([1, 0, 5, 7, 2])},
        {"z": Space((5,), levels=2)},
        {"t": 5, "k": 2, "o": 2},
    ),
    "effects of groups": Hidden(
        'g = m.plate("g"); n = m.plate("n", within=g); m.mu = pw.Normal(1.0, sd=3.0);'
        "m.tau = pw.Gamma(3.0, rate=2.0); m.e = pw.Normal(m.mu, precision=m.tau, plates=g);"
        "m.y = pw.Normal(m.e, sd=0.7, plates=n)",
        {"y": np.array([0.5, 0.7, 2.1, 2.4, -0.9])},
        {"e": Space((2,))},
        {"g": 2, "n": 5},
        {"n": np.array([0, 0, 1, 1, 0])},
    ),
    "one factor": Hidden(
        'n = m.plate("n"); j = m.plate("j", 3); m.w = pw.Normal(0.5, sd=1.0, plates=j);'
        "m.noise = pw.Gamma(3.0, rate=1.0, plates=j); m.f = pw.Normal(0.0, sd=1.0, plates=n);"
        "m.y = pw.Normal(m.w * m.f, precision=m.noise, plates=(n, j))",
        {"y": np.array([[0.5, 0.7, 0.2], [-0.4, -1.0, 0.3]])},
        {"f": Space((2,))},
        {"n": 2, "j": 3},
    ),
    "classes of hidden Gaussians": Hidden(
        f"{CLASSES} m.mu = pw.Normal(pw.array([-1.0, 2.0], over=k), sd=1.0, plates=k);"
        "m.z = pw.Categorical(m.p, plates=n); m.x = pw.Normal(m.mu[m.z], sd=0.6, plates=n);"
        "m.y = pw.Normal(m.x, sd=0.5, plates=n)",
        {"y": np.array([-0.8, 1.4])},
        {"z": Space((2,), levels=2), "x": Space((2,))},
        {"n": 2, "k": 2},
    ),
    "cells that were not seen": Hidden(
        f"{CLASSES} m.mu = pw.Normal(pw.array([-1.0, 2.0], over=k), sd=1.5, plates=k);"
        "m.q = pw.Beta(2.0, 2.0, plates=k);"
        "m.z = pw.Categorical(m.p, plates=n); m.b = pw.Bernoulli(m.q[m.z], plates=n);"
        "m.y = pw.Normal(m.mu[m.z], sd=0.8, plates=n)",
        {"y": np.array([-1.2, NAN, 2.2]), "z": np.array([NAN, 1, NAN]), "b": np.array([0, 1, NAN])},
        {
            "z": Space((3,), levels=2, known=np.array([NAN, 1, NAN])),
            "b": Space((3,), levels=2, known=np.array([0, 1, NAN])),
            "y": Space((3,), known=np.array([-1.2, NAN, 2.2])),
        },
        {"n": 3, "k": 2},
    ),
    "a hole in a covariate": Hidden(
        'n = m.plate("n"); m.c = pw.Normal(0.0, sd=2.0); m.a = pw.Normal(0.0, sd=2.0); m.b = pw.Normal(0.0, sd=2.0);'
        "m.x = pw.Normal(m.c, sd=1.0, plates=n); m.y = pw.Normal(m.a + m.b * m.x, sd=0.6, plates=n)",
        {"x": np.array([-1.2, NAN, 0.8, 0.1]), "y": np.array([-1.0, 2.0, 1.1, 0.2])},
        {"x": Space((4,), known=np.array([-1.2, NAN, 0.8, 0.1]))},
        {"n": 4},
    ),
}
