"""Numbers emitted along a hidden chain."""

import platewright as pw

m = pw.Model("hidden_markov_numbers")
series = m.plate("series")
step = m.plate("step", within=series, ordered=True)
state = m.plate("state", 3)
origin = m.plate("origin", like=state)
m.begin = pw.Dirichlet(2.0, over=state)
m.move = pw.Dirichlet(2.0, over=state, plates=origin)
m.z = pw.Categorical(m.move[m.lag("z")], start=m.begin, plates=step)
m.v = pw.InverseGamma(2, scale=1, plates=state)
m.mu = pw.Normal(0, variance=100 * m.v, plates=state)
m.y = pw.Normal(m.mu[m.z], variance=m.v[m.z], plates=step)

known = ["y"]
goal = "map"
