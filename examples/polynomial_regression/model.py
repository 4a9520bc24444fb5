"""A cubic through noisy points: powers of one input, each with its own coefficient."""

import platewright as pw

m = pw.Model("polynomial_regression")
row = m.plate("row")
m.t = pw.Input(plates=row)
m.tau = pw.Gamma(1.0, rate=1.0)
m.a = pw.Normal(0.0, precision=0.1 * m.tau)
m.b = pw.Normal(0.0, precision=0.1 * m.tau)
m.c = pw.Normal(0.0, precision=0.1 * m.tau)
m.d = pw.Normal(0.0, precision=0.1 * m.tau)
m.curve = m.a + m.b * m.t + m.c * m.t**2 + m.d * m.t**3
m.y = pw.Normal(m.curve, precision=m.tau, plates=row)

known = ["y"]
