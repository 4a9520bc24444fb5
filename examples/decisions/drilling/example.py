"""Two actions in a row: whether to pay for a test, then whether to drill, knowing its result; no data, exact sums."""

import platewright as pw

m = pw.Model("drilling")
well = m.plate("well", labels=["dry", "wet", "soaking"])
test, drill = m.plate("test_", labels=["skip", "pay"]), m.plate("drill_", labels=["leave", "drill"])
sound = m.plate("sound", labels=["none", "closed", "open", "diffuse"])

m.oil = pw.Categorical(pw.array([0.5, 0.3, 0.2], over=well), over=well)
m.test = pw.Action(levels=test)
heard = [
    [[1, 0, 0, 0], [1, 0, 0, 0], [1, 0, 0, 0]],
    [[0, 0.1, 0.3, 0.6], [0, 0.3, 0.4, 0.3], [0, 0.5, 0.4, 0.1]],
]
m.seismic = pw.Categorical(pw.array(heard, over=(test, well, sound))[m.test, m.oil], over=sound)
m.drill = pw.Action(levels=drill, knows=m.seismic)
m.cost = pw.Utility(-10 * pw.equal(m.test, 1))
m.oil_sold = pw.Utility(pw.array([[0, -70], [0, 50], [0, 200]], over=(well, drill))[m.oil, m.drill])

decision = m.decide()
print(decision)
print("knowing the well itself would be worth", round(decision.value_of("oil"), 3), "more")
print("without the test:", round(m.decide({"test": "skip"}).value, 3))

pictures = {"drilling.svg": m.svg()}
