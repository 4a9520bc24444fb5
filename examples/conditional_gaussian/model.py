"""Model M1 of Figure 11: two categories and two Gaussians; it falls apart into local problems (Figure 24)."""

import platewright as pw

m = pw.Model("conditional_gaussian")
case = m.plate("case")
one = m.plate("one", 2)
two = m.plate("two", 3)
m.theta1 = pw.Dirichlet(1.0, over=one)
m.theta2 = pw.Dirichlet(1.0, over=two, plates=one)
m.var1 = pw.Categorical(m.theta1, plates=case)
m.var2 = pw.Categorical(m.theta2[m.var1], plates=case)
m.tau1 = pw.Gamma(2.0, rate=1.0, plates=one)
m.mu1 = pw.Normal(0.0, precision=m.tau1, plates=one)
m.x1 = pw.Normal(m.mu1[m.var1], precision=m.tau1[m.var1], plates=case)
m.tau2 = pw.Gamma(2.0, rate=1.0, plates=one)
m.slope = pw.Normal(0.0, precision=m.tau2, plates=one)
m.x2 = pw.Normal(m.slope[m.var1] * m.x1, precision=m.tau2[m.var1], plates=case)

known = ["var1", "var2", "x1", "x2"]
