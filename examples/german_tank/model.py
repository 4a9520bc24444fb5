"""The German tank problem: the end of a uniform, learned from the largest value alone."""

import platewright as pw

m = pw.Model("german_tank")
tank = m.plate("tank")
m.total = pw.Pareto(1.0, 10.0)
m.serial = pw.Uniform(0.0, m.total, plates=tank)

known = ["serial"]
