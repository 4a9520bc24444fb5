"""Four optional arcs stand for sixteen models: enumerated, sampled, searched and averaged (Figure 26)."""

import numpy as np

import platewright as pw

m = pw.Model("optional arcs")
n, a, b = m.plate("n"), m.plate("a", 2), m.plate("b", 2)
m.theta1 = pw.Dirichlet(1, over=a)
m.var1 = pw.Categorical(m.theta1, plates=n)
m.theta2 = pw.Dirichlet(1, over=b, plates=a)
m.var2 = pw.Categorical(m.theta2[m.var1], plates=n, optional=[m.var1])
m.tau1 = pw.Gamma(1, rate=1, plates=(a, b))
m.mu1 = pw.Normal(0, precision=m.tau1, plates=(a, b))
m.x1 = pw.Normal(m.mu1[m.var1, m.var2], precision=m.tau1[m.var1, m.var2], plates=n, optional=[m.var2])
m.tau2 = pw.Gamma(1, rate=1, plates=a)
m.mu2 = pw.Normal(0, precision=m.tau2, plates=a)
m.slope = pw.Normal(0, precision=m.tau2, plates=a)
mean = m.mu2[m.var1] + m.slope[m.var1] * m.x1
m.x2 = pw.Normal(mean, precision=m.tau2[m.var1], plates=n, optional=[m.x1, m.var1])

rng = np.random.default_rng(26)
var1 = rng.integers(0, 2, 40)
var2 = np.where(rng.random(40) < 0.6, var1, rng.integers(0, 2, 40))
x1 = rng.normal(size=40) + 0.5 * var2
data = {"var1": var1, "var2": var2, "x1": x1, "x2": 0.3 * x1 + rng.normal(size=40)}

family = m.structures()
exact = family.enumerate(data)
drawn = family.sample(data, draws=20_000, seed=0)
best = family.search(data)

print(family)
for graph, share in exact.graphs(top=3):
    print(f"{share:.4f}", ", ".join(f"{p} -> {c}" for p, c in sorted(graph.arcs)) or "no optional arc")
for arc in family.arcs:
    print(" -> ".join(arc), f"exact {exact.arc_probability(*arc):.2f}, drawn {drawn.arc_probability(*arc):.2f}")
print("best", round(best.log_evidence, 4), "proven" if best.proven else "")
print("models learned:", len(exact.learned.fits))
new = {"var1": [0], "var2": [0], "x1": [0.2], "x2": [0.1]}
print("a new case:", exact.average(new).round(4), "by draws", drawn.average(new).round(2))
