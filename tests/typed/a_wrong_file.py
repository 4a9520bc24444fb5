"""What the checker must refuse: one line for each way in which `Any` would let it through."""

from __future__ import annotations

import platewright as pw

m = pw.Model("normal")
fit = m.learn({})
length: str = fit.log_evidence
word: int = fit.explain()
estimate: str = m.learn({}, goal="map", by="em")
quantity: float = fit["mu"]
nothing = fit.no_such_member
names: list[int] = list(fit)
