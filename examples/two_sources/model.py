"""Two instruments measure one quantity with known precisions: evidence adds up from both."""

import platewright as pw

m = pw.Model("two_sources")
sample = m.plate("sample")
m.quantity = pw.Normal(0.0, sd=10.0)
m.coarse = pw.Normal(m.quantity, sd=2.0, plates=sample)
m.fine = pw.Normal(m.quantity + 0.5, sd=0.5, plates=sample)

known = ["coarse", "fine"]
