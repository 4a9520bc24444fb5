"""AR(1): each value leans on the one before."""

import platewright as pw

m = pw.Model("autoregression")
time = m.plate("time", ordered=True)
m.tau = pw.Gamma(1.0, rate=1.0)
m.drift = pw.Normal(0.0, precision=0.1 * m.tau)
m.memory = pw.Normal(0.0, precision=m.tau)
m.y = pw.Normal(m.drift + m.memory * m.lag("y"), precision=m.tau, start=0.0, plates=time)

known = ["y"]
