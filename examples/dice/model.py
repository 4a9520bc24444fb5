"""A die that may be loaded: six shares with a uniform prior."""

import platewright as pw

m = pw.Model("dice")
roll = m.plate("roll")
face = m.plate("face", 6)
m.theta = pw.Dirichlet(1.0, over=face)
m.shown = pw.Categorical(m.theta, plates=roll)

known = ["shown"]
