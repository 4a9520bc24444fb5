"""Answers to several questions, explained by a hidden class."""

import platewright as pw

m = pw.Model("latent_class")
n, k = m.plate("n"), m.plate("k", 3)
m.p = pw.Dirichlet(2.0, over=k)
m.z = pw.Categorical(m.p, plates=n)
question, answer = m.plate("question"), m.plate("answer", 4)
m.habit = pw.Dirichlet(1.5, over=answer, plates=(k, question))
m.x = pw.Categorical(m.habit[m.z], plates=(n, question))

known = ["x"]
goal = "map"
