"""Is the effect zero? A sum over two values of a switch, with the Gaussian effect integrated in each."""

import platewright as pw

m = pw.Model("spike_and_slab")
row = m.plate("row")
m.x = pw.Input(plates=row)
m.active = pw.Bernoulli(0.5)
m.effect = pw.Normal(0.0, precision=pw.where(m.active, 0.25, 400.0))
m.y = pw.Normal(m.effect * m.x, sd=1.0, plates=row)

known = ["y"]
