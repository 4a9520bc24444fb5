"""A hidden state that moves linearly, seen through noise."""

import platewright as pw

m = pw.Model("linear_dynamical_system")
step = m.plate("step", ordered=True)
k, d = m.plate("k", 2), m.plate("d", 3)
j = m.plate("j", like=k)
m.A = pw.Normal(0, sd=1, plates=(k, j))
m.C = pw.Normal(0, sd=1, plates=(d, k))
m.q = pw.InverseGamma(2, scale=1)
m.r = pw.InverseGamma(2, scale=1)
m.h = pw.Normal(pw.dot(m.A, m.lag("h")[j], over=j), variance=m.q, start=0.0, plates=(step, k))
m.y = pw.Normal(pw.dot(m.C, m.h, over=k), variance=m.r, plates=(step, d))

known = ["y"]
goal = "map"
