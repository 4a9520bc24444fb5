"""A rule set whose rules are deterministic nodes, and the tree that data grow in its place (Figure 4(a))."""

import numpy as np

import platewright as pw

rng = np.random.default_rng(4)
x1, x2 = rng.normal(size=400), rng.integers(0, 3, 400)
fires = np.stack([(x1 < 0.5) & (x2 == 1), x1 >= 0.5])
data = {"x1": x1, "x2": x2, "c": rng.random(400) < np.where(fires[0], 0.9, np.where(fires[1], 0.2, 0.5))}

rules = pw.Model("rules")
row, one, two = rules.plate("row"), rules.plate("one", 2), rules.plate("two", 2)
rules.x1, rules.x2 = pw.Input(plates=row), pw.Input(plates=row, levels=3)
rules.rule1 = pw.less(rules.x1, 0.5) * pw.equal(rules.x2, 1)
rules.rule2 = 1 - pw.less(rules.x1, 0.5)
rules.p = pw.Beta(1, 1, plates=(one, two))
rules.c = pw.Bernoulli(rules.p[rules.rule1, rules.rule2], plates=row)
fit = rules.learn(data)

tree = pw.Model("tree")
row = tree.plate("row")
tree.x1, tree.x2 = pw.Input(plates=row), pw.Input(plates=row, levels=3)
tree.c = pw.Tree(tree.x1, tree.x2, prior=pw.Beta(1, 1), plates=row)
grown = tree.grow(data)

print("the rules:", round(fit.log_evidence, 4))
print(fit["p"].mean.round(3))
print("the tree that data grow:")
print(grown)

pictures = {"rules.svg": rules.svg(["c"]), "tree.svg": grown.trees["c"].svg("grown from 400 rows")}
