"""Two correlated instruments read one unknown pair: generalised least squares with known covariance."""

import platewright as pw

m = pw.Model("known_covariance")
reading = m.plate("reading")
instrument = m.plate("instrument", 2)
m.truth = pw.MultivariateNormal(0.0, precision=pw.identity(instrument) * 0.01, over=instrument)
m.shown = pw.MultivariateNormal(m.truth, covariance=[[1.0, 0.6], [0.6, 2.0]], over=instrument, plates=reading)

known = ["shown"]
