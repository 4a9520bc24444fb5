"""Weather as a Markov chain: one table row for each kind of yesterday."""

import platewright as pw

m = pw.Model("markov_chain")
day = m.plate("day", ordered=True)
state = m.plate("state", 3)
origin = m.plate("origin", like=state)
m.begin = pw.Dirichlet(1.0, over=state)
m.move = pw.Dirichlet(1.0, over=state, plates=origin)
m.weather = pw.Categorical(m.move[m.lag("weather")], start=m.begin, plates=day)

known = ["weather"]
