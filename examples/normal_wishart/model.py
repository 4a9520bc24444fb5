"""Mean and precision of a vector, both unknown."""

import platewright as pw

m = pw.Model("normal_wishart")
row = m.plate("row")
part = m.plate("part", 2)
m.precision = pw.Wishart(4.0, scale=pw.identity(part), over=part)
m.centre = pw.MultivariateNormal(0.0, precision=0.5 * m.precision, over=part)
m.x = pw.MultivariateNormal(m.centre, precision=m.precision, over=part, plates=row)

known = ["x"]
