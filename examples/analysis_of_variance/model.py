"""One-way analysis of variance: treatment effects beside a common level."""

import platewright as pw

m = pw.Model("analysis_of_variance")
plot = m.plate("plot")
treatment = m.plate("treatment", labels=["none", "some", "much"])
m.given = pw.Input(plates=plot, levels=treatment)
m.tau = pw.Gamma(1.0, rate=1.0)
m.level = pw.Normal(0.0, precision=0.01 * m.tau)
m.effect = pw.Normal(0.0, precision=m.tau, plates=treatment)
m.crop = pw.Normal(m.level + m.effect[m.given], precision=m.tau, plates=plot)

known = ["crop"]
