"""Attempts until the first success."""

import platewright as pw

m = pw.Model("geometric")
trial = m.plate("trial")
m.p = pw.Beta(1.0, 1.0)
m.attempts = pw.Geometric(m.p, plates=trial)

known = ["attempts"]
