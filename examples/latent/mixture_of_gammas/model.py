"""Waiting times of several kinds, each with a shape of its own: shapes have no closed mode."""

import platewright as pw

m = pw.Model("mixture_of_gammas")
n, k = m.plate("n"), m.plate("k", 3)
m.p = pw.Dirichlet(2.0, over=k)
m.z = pw.Categorical(m.p, plates=n)
m.shape = pw.Gamma(2, rate=0.1, plates=k)
m.rate = pw.Gamma(2, rate=0.5, plates=k)
m.y = pw.Gamma(m.shape[m.z], rate=m.rate[m.z], plates=n)

known = ["y"]
goal = "map"
