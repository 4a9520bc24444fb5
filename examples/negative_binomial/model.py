"""Failures before the third success."""

import platewright as pw

m = pw.Model("negative_binomial")
trial = m.plate("trial")
m.p = pw.Beta(1.0, 1.0)
m.failures = pw.NegativeBinomial(3.0, m.p, plates=trial)

known = ["failures"]
