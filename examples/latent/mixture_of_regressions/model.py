"""Lines that rows belong to, nobody knows which."""

import platewright as pw

m = pw.Model("mixture_of_regressions")
n, k = m.plate("n"), m.plate("k", 3)
m.p = pw.Dirichlet(2.0, over=k)
m.z = pw.Categorical(m.p, plates=n)
m.x = pw.Input(plates=n)
m.v = pw.InverseGamma(2, scale=1, plates=k)
m.a = pw.Normal(0, variance=100 * m.v, plates=k)
m.b = pw.Normal(0, variance=100 * m.v, plates=k)
m.y = pw.Normal(m.a[m.z] + m.b[m.z] * m.x, variance=m.v[m.z], plates=n)

known = ["y"]
goal = "map"
