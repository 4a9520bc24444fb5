"""Naive Bayes with known classes: each feature has its own table for each class."""

import platewright as pw

m = pw.Model("naive_bayes")
case = m.plate("case")
kind = m.plate("kind", 2)
low = m.plate("low", 2)
mid = m.plate("mid", 3)
m.share = pw.Dirichlet(1.0, over=kind)
m.table1 = pw.Dirichlet(1.0, over=low, plates=kind)
m.table2 = pw.Dirichlet(1.0, over=mid, plates=kind)
m.label = pw.Categorical(m.share, plates=case)
m.first = pw.Categorical(m.table1[m.label], plates=case)
m.second = pw.Categorical(m.table2[m.label], plates=case)

known = ["label", "first", "second"]
