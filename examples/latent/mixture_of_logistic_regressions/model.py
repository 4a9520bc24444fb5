"""Answers to several questions by people of kinds that nobody knows: each kind has a logistic curve of its own."""

import platewright as pw

m = pw.Model("mixture_of_logistic_regressions")
n, k = m.plate("n"), m.plate("k", 2)
m.p = pw.Dirichlet(2.0, over=k)
m.z = pw.Categorical(m.p, plates=n)
m.x = pw.Input(plates=n)
m.a = pw.Normal(0, sd=3, plates=k)
m.b = pw.Normal(0, sd=3, plates=k)
m.y = pw.Binomial(10, logit=m.a[m.z] + m.b[m.z] * m.x, plates=n)

known = ["y"]
goal = "map"
