"""Sizes of cities above a known threshold: a Pareto tail of unknown steepness."""

import platewright as pw

m = pw.Model("pareto")
city = m.plate("city")
m.steepness = pw.Gamma(2.0, rate=1.0)
m.size = pw.Pareto(m.steepness, 1.0, plates=city)

known = ["size"]
