"""Accidents on roads of different length: one rate for each region, exposure known."""

import platewright as pw

m = pw.Model("poisson_exposure")
road = m.plate("road")
region = m.plate("region", 3)
m.where = pw.Input(plates=road, levels=region)
m.length = pw.Input(plates=road)
m.rate = pw.Gamma(2.0, rate=1.0, plates=region)
m.accidents = pw.Poisson(m.rate[m.where] * m.length, plates=road)

known = ["accidents"]
