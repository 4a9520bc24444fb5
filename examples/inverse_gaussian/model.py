"""First passage times with a known mean and unknown shape."""

import platewright as pw

m = pw.Model("inverse_gaussian")
run = m.plate("run")
m.shape = pw.Gamma(2.0, rate=1.0)
m.passage = pw.InverseGaussian(1.5, m.shape, plates=run)

known = ["passage"]
