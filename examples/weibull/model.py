"""Fatigue with a known Weibull shape and unknown rate."""

import platewright as pw

m = pw.Model("weibull")
part = m.plate("part")
m.rate = pw.Gamma(2.0, rate=1.0)
m.cycles = pw.Weibull(1.7, rate=m.rate, plates=part)

known = ["cycles"]
