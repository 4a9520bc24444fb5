"""Sequences of several kinds, each kind with moves of its own."""

import platewright as pw

m = pw.Model("mixture_of_hidden_markov")
series = m.plate("series")
step = m.plate("step", within=series, ordered=True)
kind, state = m.plate("kind", 2), m.plate("state", 2)
origin = m.plate("origin", like=state)
symbol = m.plate("symbol", 3)
m.p = pw.Dirichlet(2.0, over=kind)
m.begin = pw.Dirichlet(2.0, over=state, plates=kind)
m.move = pw.Dirichlet(2.0, over=state, plates=(kind, origin))
m.emit = pw.Dirichlet(2.0, over=symbol, plates=state)
m.c = pw.Categorical(m.p, plates=series)
m.z = pw.Categorical(m.move[m.c, m.lag("z")], start=m.begin[m.c], plates=step)
m.y = pw.Categorical(m.emit[m.z], plates=step)

known = ["y"]
goal = "map"
by = "em"
