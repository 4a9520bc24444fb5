"""Which of two networks should learning select? They differ by the arc var2 -> x1 (Figure 11)."""

import numpy as np

import platewright as pw

rng = np.random.default_rng(11)
var1 = rng.integers(0, 2, 120)
var2 = np.where(rng.random(120) < 0.7, var1, 1 - var1)
x1 = 2.0 * var1 + rng.normal(size=120)
x2 = 0.8 * x1 - var1 + rng.normal(size=120)
data = {"var1": var1, "var2": var2, "x1": x1, "x2": x2}

family = pw.Structures(data)
arcs = {("var1", "var2"), ("var1", "x1"), ("var1", "x2"), ("x1", "x2")}
one = family.score(data, arcs)
two = family.score(data, arcs | {("var2", "x1")})

print("M1 ", one.graph, round(one.log_evidence, 4))
print("M2 ", two.graph, round(two.log_evidence, 4))
print("Bayes factor of M1 against M2:", round(pw.bayes_factor(one, two), 3))
print("changed:", [name for name in family.names if one.local_evidence[name] != two.local_evidence[name]])
print("evidence of the fit of M1:", round(one.fit.log_evidence, 4))
