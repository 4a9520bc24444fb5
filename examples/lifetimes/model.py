"""Lifetimes of lamps: exponential with unknown rate."""

import platewright as pw

m = pw.Model("lifetimes")
lamp = m.plate("lamp")
m.rate = pw.Gamma(2.0, rate=3.0)
m.life = pw.Exponential(rate=m.rate, plates=lamp)

known = ["life"]
