"""Measurements of known relative precision: weighted regression."""

import platewright as pw

m = pw.Model("known_weights")
row = m.plate("row")
m.x = pw.Input(plates=row)
m.weight = pw.Input(plates=row)
m.tau = pw.Gamma(1.0, rate=1.0)
m.a = pw.Normal(0.0, precision=0.1 * m.tau)
m.b = pw.Normal(0.0, precision=0.1 * m.tau)
m.y = pw.Normal(m.a + m.b * m.x, precision=m.tau * m.weight, plates=row)

known = ["y"]
