"""Ratings of items by users: two crossed effects in a long table."""

import platewright as pw

m = pw.Model("crossed_effects")
rating = m.plate("rating")
user = m.plate("user", 4)
item = m.plate("item", 3)
m.who = pw.Input(plates=rating, levels=user)
m.what = pw.Input(plates=rating, levels=item)
m.tau = pw.Gamma(2.0, rate=1.0)
m.overall = pw.Normal(0.0, precision=0.1 * m.tau)
m.taste = pw.Normal(0.0, precision=m.tau, plates=user)
m.quality = pw.Normal(0.0, precision=3.0 * m.tau, plates=item)
m.stars = pw.Normal(m.overall + m.taste[m.who] + m.quality[m.what], precision=m.tau, plates=rating)

known = ["stars"]
