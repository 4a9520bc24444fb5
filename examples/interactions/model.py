"""Two factors with main effects and an interaction for every pair."""

import platewright as pw

m = pw.Model("interactions")
plot = m.plate("plot")
soil = m.plate("soil", 2)
seed = m.plate("seed", 3)
m.on = pw.Input(plates=plot, levels=soil)
m.of = pw.Input(plates=plot, levels=seed)
m.tau = pw.Gamma(1.0, rate=1.0)
m.level = pw.Normal(0.0, precision=0.01 * m.tau)
m.by_soil = pw.Normal(0.0, precision=m.tau, plates=soil)
m.by_seed = pw.Normal(0.0, precision=m.tau, plates=seed)
m.both = pw.Normal(0.0, precision=4.0 * m.tau, plates=(soil, seed))
m.crop = pw.Normal(m.level + m.by_soil[m.on] + m.by_seed[m.of] + m.both[m.on, m.of], precision=m.tau, plates=plot)

known = ["crop"]
