"""Hidden causes with one noise for all columns."""

import platewright as pw

m = pw.Model("principal_components")
n, d, k = m.plate("n"), m.plate("d", 4), m.plate("k", 2)
m.tau = pw.Gamma(2, rate=1)
m.mu = pw.Normal(0, precision=0.01 * m.tau, plates=d)
m.w = pw.Normal(0, precision=m.tau, plates=(d, k))
m.z = pw.Normal(0, sd=1, plates=(n, k))
m.x = pw.Normal(m.mu + pw.dot(m.w, m.z, over=k), precision=m.tau, plates=(n, d))

known = ["x"]
goal = "map"
