"""The mean direction of the wind with known concentration."""

import platewright as pw

m = pw.Model("von_mises")
hour = m.plate("hour")
m.direction = pw.VonMises(0.0, 0.5)
m.wind = pw.VonMises(m.direction, 2.0, plates=hour)

known = ["wind"]
