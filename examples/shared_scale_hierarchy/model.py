"""Pupils within classes: class means around an overall mean, all on one unknown scale."""

import platewright as pw

m = pw.Model("shared_scale_hierarchy")
group = m.plate("group")
pupil = m.plate("pupil", within=group)
m.tau = pw.Gamma(2.0, rate=1.0)
m.overall = pw.Normal(0.0, precision=0.1 * m.tau)
m.level = pw.Normal(m.overall, precision=2.0 * m.tau, plates=group)
m.score = pw.Normal(m.level, precision=m.tau, plates=pupil)

known = ["score"]
