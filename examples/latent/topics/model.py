"""Words of documents, each from a hidden topic."""

import platewright as pw

m = pw.Model("topics")
doc = m.plate("doc")
word = m.plate("word", within=doc)
topic, term = m.plate("topic", 3), m.plate("term", 8)
m.theta = pw.Dirichlet(0.5, over=topic, plates=doc)
m.phi = pw.Dirichlet(0.5, over=term, plates=topic)
m.z = pw.Categorical(m.theta, plates=word)
m.w = pw.Categorical(m.phi[m.z], plates=word)

known = ["w"]
goal = "posterior"
by = "collapsed-gibbs"
