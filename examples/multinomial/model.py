"""Word counts in short texts of known length: one share for each word."""

import platewright as pw

m = pw.Model("multinomial")
text = m.plate("text")
word = m.plate("word", 3)
m.length = pw.Input(plates=text)
m.share = pw.Dirichlet(0.5, over=word)
m.counts = pw.Multinomial(m.length, m.share, over=word, plates=text)

known = ["counts"]
