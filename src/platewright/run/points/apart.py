"""An exact plan run at points: on copies of the model, one for each of them, or else at one point after another."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from platewright.backends.kernels.held_density import portion
from platewright.errors import PlatewrightError
from platewright.family import Array
from platewright.program.program import Program
from platewright.run.exact.marginal import Marginal
from platewright.run.exact.posterior import Posterior
from platewright.run.execute import arguments, finish, loaded
from platewright.run.samplers.evidence_given import evidence_given
from platewright.schema import Plan
from platewright.schemas.repeated import copies, sizes_at


@dataclass(frozen=True, eq=False)
class Apart:
    """The exact plan in which the held numbers are known, on data."""

    plan: Plan
    columns: Mapping[str, Array]
    sizes: Mapping[str, int]
    together: Program | None = None
    """The program that takes all points at once, with copies of the data."""

    @cached_property
    def _evidence(self) -> Callable[[Mapping[str, Array]], float]:
        return evidence_given(self.plan.program, self.columns, self.sizes)

    def log_density(self, values: Mapping[str, Array]) -> Array:
        """`log p(data, held)` at each point."""
        count = len(next(iter(values.values())))
        if self.together is not None:
            many = copies(self.together, tuple(values))
            step = portion(sum(np.size(self.columns[name]) for name in many))
            parts = [self._of({n: one[k : k + step] for n, one in values.items()}, many) for k in range(0, count, step)]
            return np.concatenate(parts)
        found = np.full(count, -np.inf)
        for k in range(count):
            try:
                found[k] = self._evidence({name: np.asarray(one[k]) for name, one in values.items()})
            except (PlatewrightError, ArithmeticError, np.linalg.LinAlgError):
                continue  # at the end of the numbers: as improbable as it looks
        return found

    def _of(self, values: Mapping[str, Array], many: Sequence[str]) -> Array:
        """The log density at a portion of points; where one of them is refused, that one alone."""
        assert self.together is not None
        count = len(next(iter(values.values())))
        fixed = {name: one for name, one in self.columns.items() if name not in many}
        copied = {name: np.broadcast_to(self.columns[name], (count, *np.shape(self.columns[name]))) for name in many}
        try:
            return np.asarray(
                evidence_given(self.together, fixed, sizes_at(self.sizes, count))({**values, **copied})
            ) + np.zeros(count)
        except (PlatewrightError, ArithmeticError, np.linalg.LinAlgError):
            if count == 1:
                return np.array([-np.inf])
        half = count // 2
        halves = [{name: one[part] for name, one in values.items()} for part in (slice(half), slice(half, None))]
        return np.concatenate([self._of(part, many) for part in halves])

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
