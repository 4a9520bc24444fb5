"""What a mode integrated out, at the estimate: each unknown has a family given the parameters  (Lemma 4.2).

b ~ p(b),  u[g] ~ Gamma(b, b),  y[g] ~ Poisson(u[g])       E(u[g] | b, y) = (b + y[g]) / (b + 1)    at the mode of b
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from platewright.algebra.evaluate import Environment, evaluate
from platewright.algebra.expression import mentions
from platewright.errors import PlatewrightError
from platewright.family import Array
from platewright.run.exact.marginal import Marginal
from platewright.schemas.asked import IntegratedOut


def distribution_at(
    gone: Sequence[IntegratedOut], name: str, values: Mapping[str, Array], sizes: Mapping[str, int]
) -> Marginal:
    """The distribution of an unknown that was integrated out, given data and estimate."""
    found = next(item.conditional for item in gone if item.name == name)
    others = {item.name for item in gone} - {name}
    if any(mentions(value, others) for value in found.parameters.values()):
        shown = ", ".join(sorted(others))
        raise PlatewrightError(f"`{name}` has no mean of its own: it depends on {shown}", hint="learn with by='gibbs'")
    environment = Environment(values, sizes)
    node = found.target
    parameters = {}
    for key, value in found.parameters.items():
        rank = found.family.parameter(key).rank
        parameters[key] = np.array(evaluate(value, environment, (*node.plates, *node.events[:rank])))
    return Marginal(name, found.family, parameters, found.transform, node.axes)
