"""Coaching effects in eight schools with known standard errors: partial pooling in closed form."""

import platewright as pw

m = pw.Model("eight_schools")
school = m.plate("school")
m.error = pw.Input(plates=school)
m.overall = pw.Normal(0.0, sd=10.0)
m.effect = pw.Normal(m.overall, sd=5.0, plates=school)
m.estimate = pw.Normal(m.effect, sd=m.error, plates=school)

known = ["estimate"]
