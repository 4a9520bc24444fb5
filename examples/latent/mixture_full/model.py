"""Clusters with a covariance of their own."""

import platewright as pw

m = pw.Model("mixture_full")
n, k = m.plate("n"), m.plate("k", 3)
m.p = pw.Dirichlet(2.0, over=k)
m.z = pw.Categorical(m.p, plates=n)
d = m.plate("d", 2)
m.precision = pw.Wishart(4, inverse_scale=pw.identity(d), over=d, plates=k)
m.mu = pw.MultivariateNormal(0.0, precision=0.1 * m.precision, over=d, plates=k)
m.y = pw.MultivariateNormal(m.mu[m.z], precision=m.precision[m.z], over=d, plates=n)

known = ["y"]
goal = "map"
