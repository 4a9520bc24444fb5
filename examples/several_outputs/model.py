"""Regression with two outputs whose noise is correlated: matrix normal and Wishart."""

import platewright as pw

m = pw.Model("several_outputs")
row = m.plate("row")
column = m.plate("column", 3)
output = m.plate("output", 2)
m.x = pw.Input(plates=(row, column))
m.noise = pw.Wishart(4.0, scale=pw.identity(output), over=output)
m.weights = pw.MultivariateNormal(0.0, precision=0.5 * m.noise, over=output, plates=column)
m.y = pw.MultivariateNormal(pw.dot(m.x, m.weights, over=column), precision=m.noise, over=output, plates=row)

known = ["y"]
