"""Linear regression (Figures 20 and 21): after one pass only S, q, ysq and N are left of the data."""

import platewright as pw

m = pw.Model("linear_regression")
row = m.plate("row")
column = m.plate("column", 3)
m.x = pw.Input(plates=(row, column))
m.tau = pw.Gamma(1.0, rate=1.0)
m.theta = pw.Normal(0.0, precision=0.1 * m.tau, plates=column)
m.y = pw.Normal(pw.dot(m.theta, m.x, over=column), precision=m.tau, plates=row)

known = ["y"]
