"""Answers of pupils: each has a hidden class, whose shares depend on a hidden class of the school."""

import platewright as pw

m = pw.Model("classes_of_schools_and_pupils")
school = m.plate("school")
pupil = m.plate("pupil", within=school)
kind, ability, question = m.plate("kind", 2), m.plate("ability", 3), m.plate("question", 4)
m.kinds = pw.Dirichlet(2.0, over=kind)
m.shares = pw.Dirichlet(1.5, over=ability, plates=kind)
m.right = pw.Beta(1.5, 1.5, plates=(ability, question))
m.g = pw.Categorical(m.kinds, plates=school)
m.z = pw.Categorical(m.shares[m.g], plates=pupil)
m.y = pw.Bernoulli(m.right[m.z], plates=(pupil, question))

known = ["y"]
goal = "map"
by = "em"
