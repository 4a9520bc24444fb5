"""Groups whose means vary, all scales unknown."""

import platewright as pw

m = pw.Model("groups_with_unknown_scales")
g = m.plate("g")
n = m.plate("n", within=g)
m.centre = pw.Normal(0, sd=10)
m.between = pw.InverseGamma(2, scale=1)
m.within = pw.InverseGamma(2, scale=1)
m.mean = pw.Normal(m.centre, variance=m.between, plates=g)
m.y = pw.Normal(m.mean, variance=m.within, plates=n)

known = ["y"]
goal = "posterior"
by = "gibbs"
