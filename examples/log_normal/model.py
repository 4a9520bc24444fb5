"""Incomes are normal on the log scale; mean and precision unknown."""

import platewright as pw

m = pw.Model("log_normal")
person = m.plate("person")
m.tau = pw.Gamma(2.0, rate=1.0)
m.mu = pw.Normal(0.0, precision=0.5 * m.tau)
m.income = pw.LogNormal(m.mu, precision=m.tau, plates=person)

known = ["income"]
