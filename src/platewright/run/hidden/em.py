"""Run an EM plan: its printed steps, on given data; what goes wrong in them becomes an error of ours."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from platewright.backends.kernels.accelerated import Climb, Hill, Seen, climb
from platewright.backends.kernels.density import Density
from platewright.backends.numpy.learning import DEFAULTS, Options
from platewright.family import Array
from platewright.program.program import Program
from platewright.run.exact.runner import compiled_passes
from platewright.run.execute import Statistics, arguments, loaded
from platewright.run.hidden.chain_group import check_counts_of_states
from platewright.run.hidden.gaussian_hidden import with_points
from platewright.run.hidden.native_cliques import NativeCliques
from platewright.run.hidden.native_em import EMStep, NativeEM
from platewright.run.hidden.native_em_sums import Doubtful
from platewright.run.hidden.printed import Printed, printed_em
from platewright.run.hidden.telling import told
from platewright.schemas.em import EMPlan
from platewright.schemas.few_rows import FewRows

Values = Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class Estimate:
    """Parameters, the expectations they came from, and the objective at each iteration."""

    values: Values
    expectations: Values
    objective: tuple[float, ...]
    converged: bool
    interrupted: bool = False
    options: Options = DEFAULTS
    """What the run was told, for its source."""


@dataclass(frozen=True, eq=False)
class Runner:
    """The two steps of a plan on given data."""

    plan: EMPlan
    columns: Values
    sizes: Mapping[str, int]
    native: NativeEM | NativeCliques | None = None
    """Makes both steps in one pass over the rows; without it, or where it has no C, NumPy makes them one by one."""
    compiled: bool = False
    """Whether C sums up the expectations that NumPy made."""
    few: FewRows[EMPlan] | None = None
    """How the rows were gathered, where few stand for all."""

    # -- the text, with data and sizes under its names ---

    @cached_property
    def text(self) -> Printed:
        """The printed functions of the plan."""
        return printed_em(self.plan, self.few)

    @cached_property
    def data(self) -> dict[str, Array]:
        """The columns."""
        for chain in self.plan.latent.chains:
            check_counts_of_states(chain, self.sizes)
        return self.text.named(self.columns)

    @cached_property
    def size(self) -> dict[str, int]:
        """How many elements each plate has."""
        return self.text.sized(self.sizes)

    # -- the two steps, for a look at them alone ---

    def maximised(self, expectations: Values, values: Values) -> dict[str, Array]:
        """The mode of the parameters given expectations of the hidden variables, block after block."""
        with told(self.plan), _quiet():
            everything = {**self.data, **self.text.named({**values, **expectations})}
            return self.text.back(self.text("improved")(everything, self.size))

    def improved(self, found: Statistics, values: Values, number: int) -> dict[str, Array]:
        """The mode of a block of parameters given expected statistics, or higher values where it has no closed mode."""
        with told(self.plan), _quiet():
            given = {**self.data, **self.text.named(values)}
            return self.text.back(self.block(number)(self.text.statistics(number, found), given, self.size))

    def summed(self, program: Program, everything: Values) -> Statistics:
        """The expected statistics of a block."""
        if not program.passes:
            return {}
        module = loaded(program)
        statistics = (compiled_passes(program) if self.compiled else None) or module.statistics
        return statistics(*arguments(program, module, everything, self.all_sizes))

    @cached_property
    def all_sizes(self) -> dict[str, int]:
        """Sizes of plates, and of the points that stand for hidden Gaussians."""
        return with_points(self.plan.latent, self.sizes)

    def block(self, number: int) -> Callable[..., Values]:
        """What maximises over the parameters of a block."""
        return self.text(f"maximise_{number}" if self.plan.takes_turns else "maximise")

    def expected(self, values: Values) -> Seen:
        """Posterior probabilities of the hidden variables, and the objective `log p(data, parameters)`."""
        with told(self.plan):
            seen = self.text("expect")({**self.data, **self.text.named(values)}, self.size)
        return replace(seen, expectations=self.text.back(seen.expectations))

    @property
    def hills(self) -> list[Density]:
        """The expected log factors of parameters without a closed mode, under the names of the text."""
        closed = len(self.plan.blocks)
        return [self.text(f"density_{closed + k}")(self.size) for k in range(len(self.plan.ascents))]

    # -- the climb ---

    @cached_property
    def hill(self) -> Hill:
        """What there is to climb; C makes the looks where it is there, or the sums."""
        hill: Hill = self.text("hill")(self.data, self.size)
        if self.native is not None and self.native.native:
            return replace(hill, look=self.look_in_c, step=self.step_in_c)
        return replace(hill, step=self.step_by_sums) if self.compiled else hill

    def look_in_c(self, values: Values) -> Seen:
        """The expectation at given parameters, by C; its statistics stand for the expectations."""
        assert self.native is not None
        found = self.native.step(self.text.back(values))
        if not np.isfinite(found.objective):
            self.text("expect")({**self.data, **values}, self.size)  # says what is wrong, in which row
        return Seen(found, found.objective, found.steepest)

    def step_in_c(self, seen: Seen, values: Values) -> Values:
        """The modes of the blocks one after the other, each of the same sums at the values of those before it."""
        found: EMStep = seen.expectations
        result: dict[str, Array] = dict(values)
        try:
            for number in range(len(self.plan.latent.programs)):
                sums = found.given(number, self.text.back(result)) if self.plan.takes_turns else found.statistics
                result |= self.block(number)(self.text.statistics(number, sums), {**self.data, **result}, self.size)
        except Doubtful as doubt:
            assert isinstance(self.native, NativeEM)
            self.native.doubted(doubt)
            given = {**self.data, **values}
            hidden = self.text("expect")(given, self.size).expectations
            return self.text("improved")({**given, **hidden}, self.size)
        return result

    def step_by_sums(self, seen: Seen, values: Values) -> Values:
        """The same with statistics that C sums up from the expectations that NumPy made."""
        result: dict[str, Array] = dict(values)
        for number, program in enumerate(self.plan.latent.programs):
            given = {**self.data, **seen.expectations, **result}
            sums = self.summed(program, {**self.columns, **self.text.back({**seen.expectations, **result})})
            result |= self.block(number)(self.text.statistics(number, sums), given, self.size)
        return result

    def look(self, values: Values) -> Seen:
        """What is seen at given parameters, whoever looks."""
        with told(self.plan), _quiet():
            seen: Seen = self.hill.look(self.text.named(values))
        return seen

    def next_values(self, seen: Seen, values: Values) -> dict[str, Array]:
        """The parameters after those that were looked at."""
        with told(self.plan), _quiet():
            return self.text.back(self.hill.step(seen, self.text.named(values)))

    def starts(self, seed: int) -> Callable[[np.random.Generator], Climb]:
        """What makes a climb from a start of its own; from some of the rows where there are many."""
        begun = self.text("starting_points")(self.data, self.size, seed)
        return lambda generator: Climb(begun(generator))

    def begun(self, expectations: Values) -> dict[str, Array]:
        """The first mode; where blocks need each other's values, from moderate ones."""
        start = self.guessed(np.random.default_rng(0)) if self.plan.takes_turns else {}
        return self.maximised({**start, **expectations}, {})

    def guessed(self, generator: np.random.Generator) -> dict[str, Array]:
        """Soft guesses of the hidden variables, and moderate values of parameters that take turns."""
        return self.text.back(self.text("start")(self.data, self.size, generator))

    def run(self, expectations: Values, iterations: int, tolerance: float) -> Estimate:
        """EM from given expectations."""
        return self.run_from(self.begun(expectations), iterations, tolerance)

    def run_from(self, values: Values, iterations: int, tolerance: float) -> Estimate:
        """EM from given parameters."""
        run = Climb(self.text.named(values))
        with told(self.plan), _quiet():
            for now in climb(self.hill, run, iterations, tolerance):
                run = now
        return self.ended(run)

    def ended(self, run: Climb, interrupted: bool = False) -> Estimate:
        """The result of a climb."""
        values = self.text.back(run.values)
        return Estimate(values, self.probabilities(run.seen, values), run.history, run.converged, interrupted)

    def probabilities(self, seen: Seen, values: Values) -> Values:
        """The expectations at given parameters; a fused step has not kept them."""
        if not isinstance(seen.expectations, EMStep):
            return self.text.back(seen.expectations)
        if isinstance(self.native, NativeEM):
            return self.native.probabilities(values)
        return self.expected(values).expectations


def _quiet() -> np.errstate:
    return np.errstate(all="ignore")
