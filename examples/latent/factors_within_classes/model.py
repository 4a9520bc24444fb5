"""Several readings of each visit, tied by a hidden factor that shows otherwise in each hidden class of patients."""

import platewright as pw

m = pw.Model("factors_within_classes")
patient = m.plate("patient")
visit = m.plate("visit", within=patient)
kind, reading = m.plate("kind", 2), m.plate("reading", 3)
m.share = pw.Dirichlet(2.0, over=kind)
m.mean = pw.Normal(0.0, sd=3.0, plates=(kind, reading))
m.loading = pw.Normal(0.0, sd=1.0, plates=(kind, reading))
m.noise = pw.InverseGamma(3.0, scale=2.0, plates=reading)
m.g = pw.Categorical(m.share, plates=patient)
m.factor = pw.Normal(0.0, sd=1.0, plates=visit)
m.x = pw.Normal(m.mean[m.g] + m.loading[m.g] * m.factor, variance=m.noise, plates=(visit, reading))

known = ["x"]
goal = "map"
by = "em"
