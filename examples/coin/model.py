"""A coin of unknown bias, tossed several times (Figure 13).

The count of heads is all that the rows can say."""

import platewright as pw

m = pw.Model("coin")
toss = m.plate("toss")
m.theta = pw.Beta(1.5, 1.5)
m.heads = pw.Bernoulli(m.theta, plates=toss)

known = ["heads"]
