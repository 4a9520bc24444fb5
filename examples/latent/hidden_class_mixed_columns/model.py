"""A hidden class behind columns of different kinds: numbers, counts, categories and truth values."""

import platewright as pw

m = pw.Model("hidden_class_mixed_columns")
n, k = m.plate("n"), m.plate("k", 3)
m.p = pw.Dirichlet(2.0, over=k)
m.z = pw.Categorical(m.p, plates=n)
level = m.plate("level", 3)
m.v = pw.InverseGamma(2, scale=1, plates=k)
m.mu = pw.Normal(0, variance=100 * m.v, plates=k)
m.rate = pw.Gamma(2, rate=1, plates=k)
m.habit = pw.Dirichlet(1.5, over=level, plates=k)
m.chance = pw.Beta(2, 2, plates=k)
m.size = pw.Normal(m.mu[m.z], variance=m.v[m.z], plates=n)
m.visits = pw.Poisson(m.rate[m.z], plates=n)
m.kind = pw.Categorical(m.habit[m.z], plates=n)
m.member = pw.Bernoulli(m.chance[m.z], plates=n)

known = ["size", "visits", "kind", "member"]
goal = "map"
