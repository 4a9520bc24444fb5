"""A decision about a treatment: what was learned from patients says whom to treat, and what a test is worth."""

import numpy as np

import platewright as pw

rng = np.random.default_rng(3)
ill = rng.random(200) < 0.3
test = np.where(ill, rng.random(200) < 0.85, rng.random(200) < 0.15)
treated = rng.random(200) < 0.5
well = rng.random(200) < np.where(ill, np.where(treated, 0.8, 0.3), np.where(treated, 0.9, 0.97))

m = pw.Model("treatment")
patient, state = m.plate("patient"), m.plate("state", 2)
choice = m.plate("choice", labels=["wait", "treat"])
m.share = pw.Beta(1, 1)
m.ill = pw.Bernoulli(m.share, plates=patient)
m.hits = pw.Beta(1, 1, plates=state)
m.test = pw.Bernoulli(m.hits[m.ill], plates=patient)
m.action = pw.Action(levels=choice, knows=m.test, plates=patient)
m.cure = pw.Beta(1, 1, plates=(state, choice))
m.well = pw.Bernoulli(m.cure[m.ill, m.action], plates=patient)
m.gain = pw.Utility(100 * m.well - 12 * pw.equal(m.action, 1))

fit = m.learn({"ill": ill, "test": test, "action": np.where(treated, "treat", "wait"), "well": well})

decision = fit.decide()
print(decision)
print("for a patient whose test is positive:", fit.decide({"test": 1}).best)
print("knowing the illness itself would be worth", round(decision.value_of("ill"), 3), "more")

pictures = {"treatment.svg": m.svg(["ill", "test", "well"])}
