"""Models in which a discrete unknown and a closed form hold each other: change points, weights that may be nought."""

from __future__ import annotations

import numpy as np

import platewright as pw
from schemas.small_instance import Case

NUMBER = np.arange(6)


def bent_line() -> pw.Model:
    """Two lines that meet at one of the rows."""
    m = pw.Model("bent line")
    n = m.plate("n", 6)
    m.x, m.number = pw.Input(plates=n), pw.Input(plates=n)
    m.a, m.b, m.c = pw.Normal(0.5, sd=1.5), pw.Normal(0, sd=2.0), pw.Normal(0, sd=2.0)
    m.tau = pw.Gamma(3, rate=1.0)
    m.k = pw.Categorical(pw.array([0.1, 0.2, 0.3, 0.2, 0.1, 0.1], over=n))
    slope = pw.where(pw.less(m.k, m.number), m.b, m.c)
    m.y = pw.Normal(m.a + slope * (m.x - m.x[m.k]), precision=m.tau, plates=n)
    return m


def two_steps() -> pw.Model:
    """A level that changes twice."""
    m = pw.Model("two steps")
    n, place = m.plate("n", 6), m.plate("place", 12)
    m.number = pw.Input(plates=n)
    m.a, m.c, m.d = pw.Normal(0, sd=1.0), pw.Normal(1, sd=1.5), pw.Normal(-1, sd=1.5)
    m.tau = pw.Gamma(3, rate=1.0)
    m.k = pw.Categorical(pw.array([1 / 12] * 12, over=place))
    m.l = pw.Categorical(pw.array([*[0.05] * 8, *[0.15] * 4], over=place))
    first, second = pw.less(m.k, 2 * m.number), pw.less(m.l, 2 * m.number)
    m.y = pw.Normal(m.a + m.c * first + m.d * second, precision=m.tau, plates=n)
    return m


def late_step() -> pw.Model:
    """The same with a potential that asks for the second change to be late."""
    m = two_steps()
    m.potential("late", 0.2 * m.l)
    return m


def scaled_step() -> pw.Model:
    """A step whose height is in units of the noise: the noise is integrated out with it."""
    m = pw.Model("scaled step")
    n = m.plate("n", 6)
    m.number = pw.Input(plates=n)
    m.tau = pw.Gamma(3, rate=1.0)
    m.p = pw.Beta(2, 2)
    m.b, m.c = pw.Normal(0, precision=0.4 * m.tau), pw.Normal(1, precision=0.7 * m.tau)
    m.k = pw.Binomial(5, m.p)
    m.y = pw.Normal(pw.where(pw.less(m.k, m.number), m.b, m.c), precision=m.tau, plates=n)
    return m


def chosen_weights() -> pw.Model:
    """Spike and slab: each weight is there or not."""
    m = pw.Model("chosen weights")
    n, j = m.plate("n"), m.plate("j", 3)
    m.x = pw.Input(plates=(n, j))
    m.tau = pw.Gamma(3, rate=1.0)
    m.p = pw.Beta(2, 2)
    m.z = pw.Bernoulli(m.p, plates=j)
    m.b = pw.Normal(0.3, sd=1.5, plates=j)
    m.y = pw.Normal(pw.sum(m.x * m.z * m.b, over=j), precision=m.tau, plates=n)
    return m


CHANGED = """model {
  for (i in 1:6) { y[i] ~ dpois(rate[1 + step(i - k - 0.5)])  share[i] <- 1 / 6 }
  for (j in 1:2) { rate[j] ~ dgamma(2, scale) }
  k ~ dcat(share[])
  scale ~ dgamma(3, 2)
}"""


def changed_rate() -> pw.Model:
    """Counts whose rate changes once, looked up at a function of the place; the rates share a scale."""
    return pw.read_bugs(CHANGED, {"y": [1, 0, 2, 3, 4, 2]})


SWITCHES: tuple[Case, ...] = (
    Case("bent_line", bent_line, ("y",), {}, inputs={"number": NUMBER}),
    Case("two_steps", two_steps, ("y",), {}, inputs={"number": NUMBER}),
    Case("scaled_step", scaled_step, ("y",), {}, inputs={"number": NUMBER}),
    Case("chosen_weights", chosen_weights, ("y",), {"n": 5}),
)
LATE = Case("late_step", late_step, ("y",), {}, inputs={"number": NUMBER})
LOOKED_UP = Case("changed_rate", changed_rate, ("y",), {})
