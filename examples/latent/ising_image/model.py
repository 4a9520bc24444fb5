"""A 4 x 4 image whose pixels like to agree with their neighbours, seen through noise; its grey levels are learned."""

import platewright as pw

m = pw.Model("ising_image")
site, edge = m.plate("site", 16), m.plate("edge")
level = m.plate("level", 2)
m.a, m.b = pw.Input(plates=edge, levels=site), pw.Input(plates=edge, levels=site)
m.grey = pw.Normal(pw.array([0.0, 2.0], over=level), sd=0.5, plates=level)
m.x = pw.Undirected(levels=level, plates=site)
m.potential("tie", 0.6 * pw.equal(m.x[m.a], m.x[m.b]))
m.y = pw.Normal(m.grey[m.x], sd=1.0, plates=site)

known = ["y"]
goal = "posterior"
by = "gibbs"
