"""Regression that outliers cannot pull: each row has a hidden precision of its own."""

import platewright as pw

m = pw.Model("student_regression")
n = m.plate("n")
m.x = pw.Input(plates=n)
m.a = pw.Normal(0, sd=10)
m.b = pw.Normal(0, sd=10)
m.tau = pw.Gamma(2, rate=1)
m.weight = pw.Gamma(2, rate=2, plates=n)
m.y = pw.Normal(m.a + m.b * m.x, precision=m.tau * m.weight, plates=n)

known = ["y"]
goal = "posterior"
by = "gibbs"
