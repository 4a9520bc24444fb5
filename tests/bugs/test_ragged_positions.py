"""Tables of positions with holes, as in ragged arms of trials, are columns of doubles: C looks up by them too."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

import platewright as pw
from bugs.evaluated import log_joint

TEXT = """
model {
  for (i in 1:4) {
    for (k in 1:arms[i]) { y[i, k] ~ dnorm(d[t[i, k]] - d[t[i, 1]] + m[i], 4) }
    m[i] ~ dnorm(0, tau)
  }
  d[1] <- 0
  for (k in 2:3) { d[k] ~ dnorm(0, 1) }
  tau ~ dgamma(2, 2)
}
"""
DATA = {
    "arms": [2, 3, 2, 2],
    "t": [[1, 2, np.nan], [1, 2, 3], [1, 3, np.nan], [2, 3, np.nan]],
    "y": [[0.1, 0.9, np.nan], [-0.4, 0.8, 1.9], [0.3, 2.2, np.nan], [0.0, 0.7, np.nan]],
}


def test_c_looks_up_by_positions_that_have_holes() -> None:
    m = pw.read_bugs(TEXT, DATA)
    data = m.read_from.data()
    fits = [m.learn(data, by="gibbs", backend=backend, draws=1000, seed=3) for backend in ("c", "numpy")]
    assert [fit.backend for fit in fits] == ["c", "numpy"]
    (name,) = [name for name in fits[0].chains if name.startswith("d_")]
    c, numpy = (fit.chains[name].mean(axis=(0, 1)) for fit in fits)
    np.testing.assert_allclose(c, numpy, atol=0.08)  # ten standard errors of 4,000 draws
    exact = m.learn(data)
    assert exact.how.startswith("quadrature")
    np.testing.assert_allclose(exact[name].mean, c, atol=0.06)


PARTS = """model {
  for (i in 1:3) {
    for (j in 1:n[i]) { x[i, j] <- a * b[j] - 0.3 }
    most[i] <- max(x[i, 1:n[i]])
    least[i] <- min(x[i, 1:n[i]])
    times[i] <- prod(x[i, 1:n[i]])
    total[i] <- sum(x[i, 1:n[i]]) + mean(x[i, 1:n[i]]) + inprod(x[i, 1:n[i]], b[1:n[i]])
    apart[i] <- sd(x[i, 1:n[i]])
    y[i] ~ dnorm(most[i] + 2 * least[i] + 3 * times[i] + 5 * total[i] + 7 * apart[i], 1)
  }
  for (j in 1:4) { b[j] ~ dnorm(1, 1) }
  a ~ dnorm(0, 1)
}"""


def test_cells_that_a_ragged_array_does_not_have_are_no_zeros() -> None:
    lengths = np.array([2, 4, 3])
    read = pw.read_bugs(PARTS, {"n": lengths, "y": [0.3, 1.0, -2.0]}).read_from
    a, b = 1.4, np.array([0.5, 1.7, -0.4, 2.0])
    wanted = norm.logpdf(a) + norm.logpdf(b, 1).sum()
    for size, seen in zip(lengths, (0.3, 1.0, -2.0)):
        x = a * b[:size] - 0.3
        total = x.sum() + x.mean() + x @ b[:size]
        wanted += norm.logpdf(seen, x.max() + 2 * x.min() + 3 * x.prod() + 5 * total + 7 * x.std(ddof=1))
    values = {"a": np.array(a), "b": b, "y": np.array([0.3, 1.0, -2.0]), "n": lengths.astype(float)}
    assert log_joint(read, values) == pytest.approx(wanted, rel=1e-9)


def test_numpy_looks_up_levels_of_which_the_first_is_no_unknown() -> None:
    text = """model {
      for (i in 1:6) { y[i] ~ dpois(mu[i])  log(mu[i]) <- log(3) + a[g[i]] + b[h[i]] }
      a[1] <- 0
      for (j in 2:3) { a[j] ~ dnorm(0, 1) }
      for (j in 1:2) { b[j] ~ dnorm(0, tau) }
      tau ~ dgamma(2, 2)
    }"""
    m = pw.read_bugs(text, {"y": [2, 5, 1, 4, 3, 8], "g": [1, 2, 3, 1, 2, 3], "h": [1, 1, 1, 2, 2, 2]})
    data = m.read_from.data()
    fits = [m.learn(data, by="gibbs", backend=one, chains=2, warm_up=200, draws=400, seed=2) for one in ("c", "numpy")]
    (name,) = (name for name in fits[0].chains if name.startswith("a_"))
    c, numpy = (fit.chains[name].mean(axis=(0, 1)) for fit in fits)
    np.testing.assert_allclose(c, numpy, atol=0.15)
