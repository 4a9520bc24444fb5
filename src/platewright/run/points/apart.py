"""An exact plan run at one point after another, where no program evaluates all of them at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from platewright.errors import PlatewrightError
from platewright.family import Array
from platewright.run.exact.marginal import Marginal
from platewright.run.exact.posterior import Posterior
from platewright.run.execute import arguments, finish, loaded
from platewright.run.samplers.evidence_given import evidence_given
from platewright.schema import Plan


@dataclass(frozen=True, eq=False)
class Apart:
    """The exact plan in which the held numbers are known, on data."""

    plan: Plan
    columns: Mapping[str, Array]
    sizes: Mapping[str, int]

    @cached_property
    def _evidence(self) -> Callable[[Mapping[str, Array]], float]:
        return evidence_given(self.plan.program, self.columns, self.sizes)

    def log_density(self, values: Mapping[str, Array]) -> Array:
        """`log p(data, held)` at each point."""
        count = len(next(iter(values.values())))
        found = np.full(count, -np.inf)
        for k in range(count):
            try:
                found[k] = self._evidence({name: np.asarray(one[k]) for name, one in values.items()})
            except (PlatewrightError, ArithmeticError, np.linalg.LinAlgError):
                continue  # at the end of the numbers: as improbable as it looks
        return found

    def posterior(self, values: Mapping[str, Array]) -> Posterior:
        """The posterior of the others at one point."""
        program = self.plan.program
        module = loaded(program)
        everything = {**self.columns, **values}
        with np.errstate(all="ignore"):
            found = module.statistics(*arguments(program, module, everything, self.sizes))
            computed = finish(program, module, found, everything, self.sizes)
        return Posterior(self.plan, computed, everything, self.sizes)

    def marginals(self, name: str, values: Mapping[str, Array], chosen: Array) -> list[Marginal | None]:
        """The marginal of an unknown at some of the points."""
        points = ({held: np.asarray(one[k]) for held, one in values.items()} for k in chosen)
        return [self.posterior(point).marginal(name) for point in points]

    def draws(self, values: Mapping[str, Array], generator: np.random.Generator) -> dict[str, Array]:
        """One draw of every unknown at each point; points that are the same are evaluated once, for all their draws."""
        points, place, counts = np.unique(
            np.stack([values[name] for name in values], axis=1), axis=0, return_inverse=True, return_counts=True
        )
        parts = [
            self.posterior(dict(zip(values, map(np.asarray, point), strict=True))).draws(int(count), generator)
            for point, count in zip(points, counts, strict=True)
        ]
        order = np.argsort(np.argsort(place.ravel(), kind="stable"))
        return {name: np.concatenate([part[name] for part in parts])[order] for name in parts[0]}
