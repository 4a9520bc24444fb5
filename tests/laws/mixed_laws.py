"""The laws of random mixed models: every schema that applies against sums and integrals that share nothing with it.

exact, enumeration, quadrature     log evidence = the sum; log joint - log posterior = log evidence at any point; means
em                                 objective = the sum over hidden values at the estimate, which is at its top
gibbs                              conditional(a) / conditional(b) = joint(a) / joint(b)
planner                            the first schema that applies, in the documented order, and why not those before
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from independent.brute_force import Found, Space, TooMuch
from laws.random_mixed import Mixed, mixed_model
from platewright.errors import ImproperPosterior, NotSolvable, SizeError, Unbounded
from platewright.graph.graph import read_graph
from platewright.schemas.exact import prepare
from platewright.schemas.few_numbers import QuadraturePlan
from platewright.schemas.gibbs import GibbsPlan, plan_gibbs
from schemas.small_instance import Case, Values, instance
from schemas.test_conditional_ratio import gap

DOCUMENTED = {
    "posterior": ("exact", "quadrature", "gibbs"),
    "evidence": ("exact", "enumeration", "quadrature", "chib", "annealed"),
    "map": ("exact", "em"),
}
"""The order in which the pages say that schemas are tried."""
POINTS = 60_000
CLOSE = 1e-6


@dataclass(frozen=True, eq=False)
class Judged:
    """A model, its judge, and what was compared so far."""

    sample: Mixed
    seen: Counter[str] = field(default_factory=Counter)
    plans: dict[tuple[str, str], Any] = field(default_factory=dict)

    @cached_property
    def truth(self) -> Found | None:
        """The sum and integral over all unknowns; None where there is too much to look at."""
        try:
            return self.sample.reference().integrated(1e-5, POINTS)
        except TooMuch:
            return None

    def agree(self, what: str, found: float, wanted: float, error: float = 0.0) -> None:
        """Two numbers are the same."""
        self.seen[what] += 1
        assert np.isfinite(found), f"{what}: {found}"
        assert abs(found - wanted) <= CLOSE * (1 + abs(wanted)) + error, f"{what}: {found}, by brute force {wanted}"

    def applies(self, goal: str, by: str) -> Any:
        """The plan of a schema, or None when it is declined; each is derived once."""
        if (goal, by) not in self.plans:
            self.plans[goal, by] = self._derived(goal, by)
        return self.plans[goal, by]

    def _derived(self, goal: str, by: str) -> Any:
        known = [name for name in self.sample.data if name not in self.sample.unknown]
        holed = [name for name, space in self.sample.unknown.items() if space.known is not None]
        inputs = {name for name, node in self.model.variables.items() if node.kind == "input"}
        try:
            return self.model.derive([name for name in known if name not in inputs], goal, by, holed).plan
        except NotSolvable as refusal:
            assert "declined:" in str(refusal), refusal
            return None

    @cached_property
    def model(self) -> Any:
        return self.sample.model()


def check(seed: int, thoroughly: bool = True, c: bool = False) -> Counter[str]:
    """All laws of one model: what was compared. A failure names the seed and prints a model that can be pasted."""
    sample = mixed_model(seed)
    judged = Judged(sample)
    try:
        with np.errstate(all="ignore"):
            planner_law(judged)
            exact_law(judged, "numpy")
            if c:
                exact_law(judged, "c")
            turn = seed % 3
            if thoroughly or turn == 0:
                evidence_law(judged)
            if thoroughly or turn == 1:
                em_law(judged, "c" if c else "numpy")
            if thoroughly or turn == 2:
                gibbs_law(judged)
    except Exception as error:
        raise AssertionError(f"seed {seed}: {type(error).__name__}: {error}\n\n{sample}") from error
    return judged.seen


def planner_law(judged: Judged) -> None:
    """What `auto` takes is the first schema of the documented order that applies; those before are said to decline."""
    for goal, order in DOCUMENTED.items():
        chosen = judged.applies(goal, "auto")
        before = []
        for name in order:
            if (alone := judged.applies(goal, name)) is not None and is_quick(alone):
                break
            before.append(name)
        else:
            assert chosen is None, f"{goal}: {chosen.schema} was taken though every schema declines"
            judged.seen[f"{goal}: nothing applies"] += 1
            continue
        assert chosen is not None, f"{goal}: nothing was taken though {name} applies"
        assert chosen.schema == alone.schema and chosen.summary == alone.summary, f"{goal}: {chosen.schema}, not {name}"
        refused = [refusal.operation for refusal in chosen.declined]
        assert refused[: len(before)] == before, f"{goal}: {refused} declined, {before} expected"
        assert all(refusal.reason for refusal in chosen.declined)
        judged.seen[f"{goal}: {chosen.schema}"] += 1


def is_quick(plan: Any) -> bool:
    """Whether it costs less than a sampler: where each point runs a program, with two numbers at most."""
    return not isinstance(plan, QuadraturePlan) or plan.pointwise is not None or len(plan.held) <= 2


def exact_law(judged: Judged, backend: str) -> None:
    """The evidence, the posterior at points, and the means."""
    sample = judged.sample
    if judged.applies("posterior", "exact") is None:
        judged.seen["exact declined"] += 1
        return
    fit = judged.model.learn(sample.columns, by="exact", backend=backend)
    kind = f"exact ({backend})"
    if judged.truth is not None:
        judged.agree(f"{kind}: evidence", fit.log_evidence, judged.truth.log_evidence)
    if sample.has_holes or fit.plan.barren or set(fit.posterior.unknown) != set(sample.unknown):
        return
    drawn, judge = fit.draws(2, seed=sample.seed), sample.reference()
    for k in range(2):
        point = {name: np.asarray(drawn[name][k]) for name in sample.unknown}
        density = judge.log_joint_at(point)
        judged.agree(f"{kind}: identity", density - fit.posterior.log_density(point), fit.log_evidence)
    if judged.truth is None or backend != "numpy":
        return
    for name, space in sample.unknown.items():
        family = fit.posterior.marginal(name)
        if not space.levels and family is not None and family.family.mean is not None:
            mean = np.asarray(family.mean)
            if np.isfinite(mean).all() and np.abs(mean).max() < 1e3:
                np.testing.assert_allclose(mean, judged.truth.means[name], rtol=1e-4, atol=1e-5, err_msg=name)
                judged.seen["exact: means"] += 1


def evidence_law(judged: Judged) -> None:
    """Enumeration and quadrature, where they apply."""
    if judged.truth is None:
        return
    for by in ("enumeration", "quadrature"):
        if judged.applies("evidence", by) is None:
            continue
        try:
            fit = judged.model.learn(judged.sample.columns, goal="evidence", by=by)
        except (NotSolvable, SizeError, ImproperPosterior) as refusal:
            judged.seen[f"{by}: {type(refusal).__name__}"] += 1
            continue
        error = fit.evidence.error or 0.0
        if error < 1e-3:
            judged.agree(by, fit.log_evidence, judged.truth.log_evidence, 3 * error)


def em_law(judged: Judged, backend: str) -> None:
    """The objective at the estimate, and that nothing near it is higher."""
    if judged.applies("map", "em") is None:
        return
    sample = judged.sample
    try:
        fit = judged.model.learn(
            sample.columns, goal="map", by="em", backend=backend, restarts=2, iterations=4000, tolerance=1e-13
        )
    except Unbounded:
        judged.seen["em: unbounded"] += 1
        return
    values = {name: np.asarray(value, dtype=float) for name, value in fit.estimate.values.items()}
    try:
        middle = summed(sample, values)
        judged.agree(f"em ({backend})", fit.log_joint, middle)
        if not fit.estimate.converged:
            judged.seen["em: not converged"] += 1
            return
        for name, other in others(sample, values):
            assert summed(sample, other) <= middle + 1e-6, f"em: another value of `{name}` is more probable"
        for name, there in moves(sample, values):
            size = 1e-3
            up, down = (summed(sample, there(sign * size)) for sign in (1, -1))
            bend = (up + down - 2 * middle) / size**2
            if bend < -1e-3:
                judged.seen["em: top"] += 1
                off = abs(up - down) / (2 * size) / np.sqrt(-bend)
                assert off < 0.02, f"em is {off} standard deviations off the top in `{name}`"
            else:
                assert up <= middle + 1e-5 and down <= middle + 1e-5, f"em is at no top in `{name}`"
    except TooMuch:
        judged.seen["em: too much to sum"] += 1


def summed(sample: Mixed, values: Mapping[str, np.ndarray]) -> float:
    """The log of the sum and integral over what is hidden at values of the others."""
    return sample.reference(values).integrated(1e-8, POINTS).log_evidence


def others(sample: Mixed, values: Mapping[str, np.ndarray]) -> Iterator[tuple[str, dict[str, np.ndarray]]]:
    """Every other value of one cell of a class that is estimated, not summed."""
    for name, value in values.items():
        for at in np.ndindex(*value.shape):
            for level in set(range(sample.unknown[name].levels)) - {int(value[at])}:
                moved = value.copy()
                moved[at] = level
                yield name, {**values, name: moved}


def moves(sample: Mixed, values: Mapping[str, np.ndarray]) -> Iterator[tuple[str, Any]]:
    """Each parameter moved by a little, inside its domain; none from an edge."""
    for name, value in values.items():
        space = sample.unknown[name]
        if space.levels:
            continue
        for at in np.ndindex(*value.shape):
            edge = min(value[at] - space.low, space.high - value[at])
            if space.shares and (at[-1] == value.shape[-1] - 1 or min(value[at], value[(*at[:-1], -1)]) < 0.01):
                continue
            if not space.shares and edge < 0.01:
                continue

            def there(by: float, name: str = name, value: np.ndarray = value, at: Any = at) -> dict[str, np.ndarray]:
                moved = value.copy()
                moved[at] += by
                if sample.unknown[name].shares:
                    moved[(*at[:-1], -1)] -= by
                return {**values, name: moved}

            yield name, there


def gibbs_law(judged: Judged) -> None:
    """Every conditional that is drawn from is a ratio of the joint, as the lines are read a second time."""
    sample = judged.sample
    if sample.has_holes:
        return
    known = [name for name in sample.data if judged.model.variables[name].kind != "input"]
    plan = plan_gibbs(prepare(read_graph(judged.model, known)).graph, "posterior")
    if not isinstance(plan, GibbsPlan):
        judged.seen["gibbs declined"] += 1
        return
    codes = {inner: tuple(int(code) for code in group) for inner, group in sample.groups.items()}
    case = Case("mixed", sample.model, tuple(known), sample.sizes, codes, dict(sample.data))
    small = instance(case, sample.seed)
    judge = sample.reference()
    inside = {name: somewhere(space) for name, space in sample.unknown.items()}

    def joint(values: Values) -> float:
        return judge.log_joint_at({name: values.get(name, inside[name]) for name in sample.unknown})

    for block in plan.blocks:
        if set(block.variables) <= set(sample.unknown):
            off = gap(block, plan, small, sample.seed, joint)
            assert off < 1e-8, f"gibbs: {type(block).__name__} of {', '.join(block.variables)} is off by {off}"
            judged.seen[f"gibbs: {type(block).__name__}"] += 1


def somewhere(space: Space) -> np.ndarray:
    """A value that is possible, for what nothing depends on."""
    if space.shares:
        return np.full(space.shape, 1 / space.shape[-1])
    ends = [end for end in (space.low, space.high) if np.isfinite(end)]
    middle = 0 if space.levels or not ends else sum(ends) / 2 if len(ends) == 2 else ends[0] + 1
    return np.full(space.shape, middle)
