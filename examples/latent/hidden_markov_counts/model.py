"""Counts emitted along a hidden chain."""

import platewright as pw

m = pw.Model("hidden_markov_counts")
series = m.plate("series")
step = m.plate("step", within=series, ordered=True)
state = m.plate("state", 3)
origin = m.plate("origin", like=state)
m.begin = pw.Dirichlet(2.0, over=state)
m.move = pw.Dirichlet(2.0, over=state, plates=origin)
m.z = pw.Categorical(m.move[m.lag("z")], start=m.begin, plates=step)
m.rate = pw.Gamma(2, rate=0.1, plates=state)
m.y = pw.Poisson(m.rate[m.z], plates=step)

known = ["y"]
goal = "map"
