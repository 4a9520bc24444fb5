"""Symbols emitted along a hidden chain."""

import platewright as pw

m = pw.Model("hidden_markov_symbols")
series = m.plate("series")
step = m.plate("step", within=series, ordered=True)
state = m.plate("state", 3)
origin = m.plate("origin", like=state)
m.begin = pw.Dirichlet(2.0, over=state)
m.move = pw.Dirichlet(2.0, over=state, plates=origin)
m.z = pw.Categorical(m.move[m.lag("z")], start=m.begin, plates=step)
symbol = m.plate("symbol", 4)
m.emit = pw.Dirichlet(2.0, over=symbol, plates=state)
m.y = pw.Categorical(m.emit[m.z], plates=step)

known = ["y"]
goal = "map"
