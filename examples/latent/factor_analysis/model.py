"""Columns that share a few hidden causes, each with noise of its own."""

import platewright as pw

m = pw.Model("factor_analysis")
n, d, k = m.plate("n"), m.plate("d", 4), m.plate("k", 2)
m.mu = pw.Normal(0, sd=10, plates=d)
m.w = pw.Normal(0, sd=1, plates=(d, k))
m.psi = pw.InverseGamma(2, scale=1, plates=d)
m.z = pw.Normal(0, sd=1, plates=(n, k))
m.x = pw.Normal(m.mu + pw.dot(m.w, m.z, over=k), variance=m.psi, plates=(n, d))

known = ["x"]
goal = "map"
