"""One tree, its smoothed classes, and an average over many trees, on rows kept back."""

import numpy as np

import platewright as pw

rng = np.random.default_rng(7)
count = 900
inputs = {f"square{k}": rng.choice(["x", "o", "free"], count) for k in range(6)}
first = (inputs["square0"] == "x") & (inputs["square1"] == "x")
other = (inputs["square2"] == "o") | (inputs["square3"] == inputs["square4"])
won = np.where(rng.random(count) < 0.95, first | other, rng.random(count) < 0.5)

learned = {name: column[:600] for name, column in inputs.items()}
kept_back = {name: column[600:] for name, column in inputs.items()}


def log_loss(**how: object) -> float:
    """On the rows kept back."""
    found = pw.TreeClassifier(**how).fit(learned, won[:600])
    return float(-found.log_predictive(kept_back, won[600:]).mean())


print("the best pruned tree:  ", round(log_loss(options=1, averaged=False), 4))
print("all of its prunings:   ", round(log_loss(options=1), 4))
print("64 leaves for each row:", round(log_loss(options=3, width=64), 4))

found = pw.TreeClassifier(options=3, width=64).fit(learned, won[:600])
print("the most probable of the trees that were kept:", [round(share, 4) for share, _ in found.several(3)])

pictures = {"tree.svg": found.svg("the best of them")}
