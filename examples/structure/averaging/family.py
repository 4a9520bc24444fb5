"""Averaging over networks: sampled ones, all of them, and what they predict of a new case (Figure 12)."""

import numpy as np

import platewright as pw

rng = np.random.default_rng(12)
smoker = rng.integers(0, 2, 60)
cough = np.where(rng.random(60) < 0.75, smoker, rng.integers(0, 2, 60))
tired = np.where(rng.random(60) < 0.6, cough, rng.integers(0, 2, 60))
data = {"smoker": smoker, "cough": cough, "tired": tired}
new = {"smoker": [1, 0], "cough": [1, 1], "tired": [1, 0]}

family = pw.Structures(data)
exact = family.enumerate(data)
drawn = family.sample(data, draws=20_000, seed=0)

print("25 networks, log evidence", round(exact.log_evidence, 4))
for graph, share in exact.graphs(top=4):
    print(f"{share:.3f}", graph)
for arc in (("smoker", "cough"), ("cough", "tired"), ("smoker", "tired")):
    print(" -> ".join(arc), f"exact {exact.arc_probability(*arc):.2f}, drawn {drawn.arc_probability(*arc):.2f}")
print("new cases, averaged:", np.exp(exact.average(new)).round(3), "by draws", np.exp(drawn.average(new)).round(2))
print("the best network alone:", np.exp(exact.average(new, top=1)).round(3))
