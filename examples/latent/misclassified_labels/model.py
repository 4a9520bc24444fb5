"""Labels that are wrong now and then, and a measurement of the true ones."""

import platewright as pw

m = pw.Model("misclassified_labels")
n, k = m.plate("n"), m.plate("k", 2)
told = m.plate("told", like=k)
m.p = pw.Dirichlet(2.0, over=k)
m.error = pw.Dirichlet(pw.where(pw.equal(k, told), 8.0, 1.5), over=told, plates=k)
m.mu = pw.Normal(0, sd=5, plates=k)
m.z = pw.Categorical(m.p, plates=n)
m.label = pw.Categorical(m.error[m.z], plates=n)
m.y = pw.Normal(m.mu[m.z], sd=1, plates=n)

known = ["label", "y"]
goal = "map"
