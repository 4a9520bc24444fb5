"""Tables of positions with holes, as in ragged arms of trials, are columns of doubles: C looks up by them too."""

from __future__ import annotations

import numpy as np

import platewright as pw

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
