"""A directed cause of an undirected pair: a chain graph, whose normaliser depends on the cause."""

import platewright as pw

m = pw.Model("chain_graph")
n, two = m.plate("n"), m.plate("two", 2)
m.u = pw.Normal(0, sd=1)
m.x1, m.x2 = pw.Undirected(levels=two, plates=n), pw.Undirected(levels=two, plates=n)
m.potential("pair", m.u * pw.equal(m.x1, m.x2) + 0.5 * m.x1, of=[m.x1, m.x2])
m.y = pw.Normal(m.x2, sd=0.7, plates=n)

known = ["y"]
goal = "posterior"
by = "gibbs"
