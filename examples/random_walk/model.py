"""A random walk seen through noise: Kalman smoothing as one block of squares."""

import platewright as pw

m = pw.Model("random_walk")
time = m.plate("time", ordered=True)
m.level = pw.Normal(m.lag("level"), sd=0.5, start=0.0, plates=time)
m.seen = pw.Normal(m.level, sd=1.0, plates=time)

known = ["seen"]
