"""Clusters that are round and of one size each."""

import platewright as pw

m = pw.Model("mixture_spherical")
n, k = m.plate("n"), m.plate("k", 3)
m.p = pw.Dirichlet(2.0, over=k)
m.z = pw.Categorical(m.p, plates=n)
d = m.plate("d", 2)
m.v = pw.InverseGamma(2, scale=1, plates=k)
m.mu = pw.Normal(0, variance=100 * m.v, plates=(k, d))
m.y = pw.Normal(m.mu[m.z], variance=m.v[m.z], plates=(n, d))

known = ["y"]
goal = "map"
