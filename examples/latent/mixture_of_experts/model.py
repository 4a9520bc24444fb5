"""Lines that rows belong to, and where each line holds: the class of a row is a regression itself."""

import platewright as pw

m = pw.Model("mixture_of_experts")
n, k = m.plate("n"), m.plate("k", 3)
m.x = pw.Input(plates=n)
m.g = pw.Normal(0, sd=3, plates=k)
m.h = pw.Normal(0, sd=3, plates=k)
m.z = pw.Categorical(logits=m.g + m.h * m.x, over=k, plates=n)
m.v = pw.InverseGamma(2, scale=1, plates=k)
m.a = pw.Normal(0, variance=100 * m.v, plates=k)
m.b = pw.Normal(0, variance=100 * m.v, plates=k)
m.y = pw.Normal(m.a[m.z] + m.b[m.z] * m.x, variance=m.v[m.z], plates=n)

known = ["y"]
goal = "map"
