"""What a user writes, checked by `mypy --strict`: every name has a type, and none of them is `Any`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_type

import numpy as np
from numpy.typing import NDArray

import platewright as pw
from platewright.algebra.expression import Reference
from platewright.run.evidence.evidence import Evidence
from platewright.run.evidence.evidence_fit import EvidenceFit
from platewright.run.exact.fit import Fit
from platewright.run.hidden.em_fit import EstimatedFit, Point
from platewright.run.hidden.laplace_fit import LaplaceFit
from platewright.run.hidden.mean_field_fit import MeanFieldFit
from platewright.run.points.fit import QuadratureFit
from platewright.run.results.derived_plan import DerivedPlan
from platewright.run.results.quantity import Predictions, Quantity
from platewright.run.results.result import Result
from platewright.run.results.table import Summary
from platewright.run.samplers.collapsed_fit import CollapsedFit
from platewright.run.samplers.sampled import Sampled, Summed
from platewright.run.samplers.sampling import SampledFit

Numbers = NDArray[np.float64]

m = pw.Model("normal")
row = m.plate("row")
m.tau = pw.Gamma(2, rate=3)
m.mu = pw.Normal(0, precision=m.tau)
m.x = pw.Normal(m.mu, precision=m.tau, plates=row)
assert_type(m.tau, Reference)
data = {"x": [1.0, 2.0, 4.0]}

fit = m.learn(data)
assert_type(fit, Result)
assert_type(fit["mu"], Quantity)
assert_type(fit["mu"].mean, Numbers)
assert_type(fit["mu"].quantile(0.5), Numbers)
assert_type("mu" in fit, bool)
assert_type(list(fit), list[str])
assert_type(dict(fit), dict[str, Quantity])
for name, quantity in fit.items():
    assert_type((name, quantity), tuple[str, Quantity])
assert_type(fit.log_evidence, float)
assert_type(fit.evidence, Evidence)
assert_type(fit.expected("mu"), Numbers)
assert_type(fit.point, Mapping[str, Numbers])
assert_type(fit.leave_one_out(), Numbers)
assert_type(fit.log_predictive(data), Numbers)
assert_type(fit.update(data), Result)
assert_type(fit.predict(3), Predictions)
assert_type(fit.predict(3)["x"].mean, Numbers)
assert_type(fit.summary(), Summary)
assert_type(fit.explain(), str)
assert_type(fit.plan, DerivedPlan)
assert_type(m.derive("x"), DerivedPlan)
assert_type(pw.load("a.fit"), Result)

assert_type(m.learn(data, by="exact"), Fit)
assert_type(m.learn(data, goal="map", by="em"), EstimatedFit)
assert_type(m.learn(data, by="mean-field"), MeanFieldFit)
assert_type(m.learn(data, by="gibbs", draws=10), SampledFit)
assert_type(m.learn(data, by="collapsed-gibbs"), CollapsedFit)
assert_type(m.learn(data, goal="evidence", by="laplace"), EvidenceFit)
assert_type(m.learn(data, goal="map", by="em")["mu"], Point)
assert_type(m.learn(data, by="gibbs")["mu"], Sampled | Summed)
assert_type(m.learn(data, by="quadrature"), QuadratureFit)
assert_type(m.learn(data, by="laplace"), LaplaceFit)
assert_type(m.learn(data, goal="evidence", by="quadrature"), Result)
assert_type(m.learn(data, by="exact").update(data), Fit)
