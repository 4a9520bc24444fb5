"""Counts with more zeros than their rate explains."""

import platewright as pw

m = pw.Model("zero_inflated_counts")
n = m.plate("n")
m.share = pw.Beta(2, 2)
m.rate = pw.Gamma(2, rate=1)
m.active = pw.Bernoulli(m.share, plates=n)
m.y = pw.Poisson(pw.where(m.active, m.rate, 0), plates=n)

known = ["y"]
goal = "map"
