"""An A/B test: visits and conversions by day and variant."""

import platewright as pw

m = pw.Model("ab_test")
day = m.plate("day")
variant = m.plate("variant", labels=["A", "B"])
m.shown = pw.Input(plates=day, levels=variant)
m.visits = pw.Input(plates=day)
m.rate = pw.Beta(1.0, 9.0, plates=variant)
m.conversions = pw.Binomial(m.visits, m.rate[m.shown], plates=day)

known = ["conversions"]
