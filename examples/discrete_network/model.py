"""A Bayesian network over three categories with unknown tables; evidence scores its structure."""

import platewright as pw

m = pw.Model("discrete_network")
case = m.plate("case")
rain = m.plate("rain", 2)
sprinkler = m.plate("sprinkler", 2)
wet = m.plate("wet", 3)
m.t_rain = pw.Dirichlet(1.0, over=rain)
m.t_sprinkler = pw.Dirichlet(1.0, over=sprinkler, plates=rain)
m.t_wet = pw.Dirichlet(1.0, over=wet, plates=(rain, sprinkler))
m.rained = pw.Categorical(m.t_rain, plates=case)
m.sprinkled = pw.Categorical(m.t_sprinkler[m.rained], plates=case)
m.wetness = pw.Categorical(m.t_wet[m.rained, m.sprinkled], plates=case)

known = ["rained", "sprinkled", "wetness"]
