"""EM on a file that is read in batches: each iteration goes over the rows, and keeps only their statistics.

    values -> for each batch: expectations, soft statistics, objective -> merged -> the mode of the parameters

The statistics are those of the exact plan and merge as its batches do, so the iterations are those of a run with all
rows in memory, up to the order of additions. The probabilities of hidden variables are made on demand.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from time import perf_counter
from typing import Any

import numpy as np

from platewright.algebra.expression import names
from platewright.backends.c_chain.chain import EMProgram, em_program
from platewright.backends.kernels.accelerated import Climb, Hill, Seen
from platewright.backends.kernels.starting_rows import ROWS_TO_START
from platewright.data.dataset import Dataset
from platewright.data.signature import Signature
from platewright.errors import PlatewrightError
from platewright.family import Array
from platewright.operation import Declined
from platewright.program.program import expressions_of
from platewright.run.checks.sizing import check_sizes
from platewright.run.execute import Statistics
from platewright.run.hidden.batchable import fitted_in, opened
from platewright.run.hidden.em import Estimate, Runner
from platewright.run.hidden.em_backend import SUMS_BY_C, choose_em_backend, has_ties
from platewright.run.hidden.em_fit import EstimatedFit
from platewright.run.hidden.em_search import search, with_initial
from platewright.run.hidden.few_rows import FewRunner, Gathered, few_runner, gathered_from
from platewright.run.hidden.file_checkpoint import file_checkpoint
from platewright.run.hidden.native_em import EMStep, NativeEM
from platewright.run.hidden.native_em_sums import Doubtful
from platewright.run.hidden.printed import Printed, printed_em
from platewright.run.hidden.recalled import Recalled, merged_parts
from platewright.run.hidden.row_file import RowFile, Rows
from platewright.schemas.em import EMPlan

Values = Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class Passed:
    """What a pass over the rows leaves: statistics by block, `log p(data, parameters)`, the steepest row."""

    statistics: Mapping[int, Statistics]
    objective: float
    steepest: float


@dataclass(frozen=True, eq=False)
class BatchedRunner:
    """The two steps of a plan on the rows of a file."""

    plan: EMPlan
    file: RowFile
    backend: str = "numpy"
    makers: set[str] = field(default_factory=set)
    """Who compiled the pass: one name, once it was."""
    natives: dict[int, NativeEM] = field(default_factory=dict)
    """The C of batches that stay in memory, by their first row."""

    # -- what a search asks for ---

    @property
    def text(self) -> Printed:
        """The printed functions of the plan."""
        return self._all.text

    def starts(self, seed: int) -> Callable[[np.random.Generator], Climb]:
        """What makes a climb from a start of its own, by the rows that were drawn."""
        return self._few.starts(seed)

    @cached_property
    def hill(self) -> Hill:
        """What there is to climb."""
        return replace(self._few.hill, look=lambda values: self.look(self.text.back(values)), step=self._step_on)

    def look(self, values: Values) -> Seen:
        """The objective, and the statistics of all blocks that need nothing but these values."""
        passed = self.passed(values, values, self._ready)
        return Seen(passed, passed.objective, passed.steepest)

    def _step_on(self, seen: Seen, values: Values) -> Values:
        """The mode of the parameters, block after block; one that needs new values of others takes a pass more."""
        found: Passed = seen.expectations
        at = self.text.back(values)
        result = dict(at)
        for number in range(len(self.plan.latent.programs)):
            statistics = found.statistics.get(number)
            if statistics is None:
                statistics = self.passed(at, result, (number,)).statistics[number]
            result |= self._all.improved(statistics, result, number)
        return self.text.named(result)

    def ended(self, run: Climb, interrupted: bool = False) -> Estimate:
        """The result of a climb; probabilities are made when somebody asks for them."""
        values = self.text.back(run.values)
        return Estimate(values, self.recalled(values), run.history, run.converged, interrupted)

    def recalled(self, values: Mapping[str, Array]) -> Recalled:
        """Expectations at given parameters, by another pass for whoever asks."""
        return Recalled(self.plan.latent, self.file, partial(self._expectations, values))

    def on_few(self, found: Gathered[EMPlan]) -> FewRunner:
        """The two steps on the few rows that stand for those of the file."""
        return few_runner(found, self.recalled)

    # -- passes ---

    def passed(self, at: Mapping[str, Array], values: Mapping[str, Array], blocks: tuple[int, ...]) -> Passed:
        """One pass: expectations at parameters `at`, statistics of some blocks given `values`."""
        whole: dict[int, Statistics] = {}
        total, steepest = self._elsewhere(at), -np.inf
        for batch in self.file:
            part = self._step(batch, at, values, blocks)
            for number, statistics in part.statistics.items():
                whole[number] = merged_parts(
                    self.plan.latent.programs[number], self.file.row, whole.get(number), statistics
                )
            total, steepest = total + part.objective, max(steepest, part.steepest)
        return Passed(whole, total, steepest)

    def _step(
        self, batch: Rows, at: Mapping[str, Array], values: Mapping[str, Array], blocks: tuple[int, ...]
    ) -> Passed:
        """The part of one batch, by C where it is there."""
        native = self._native(batch)
        if native is not None and native.native:
            step = native.step(at)
            if np.isfinite(step.objective):
                given = {number: self._summed(native, step, number, at, values) for number in blocks}
                return Passed(given, step.objective, step.steepest)
        runner = Runner(self._local, batch.columns, batch.sizes, compiled=self.backend == SUMS_BY_C)
        try:
            found = runner.expected(at)
        except PlatewrightError as error:
            raise _counted_from(error, batch) from error
        statistics = {}
        for number in blocks:
            everything = {**batch.columns, **found.expectations, **values}
            statistics[number] = runner.summed(self.plan.latent.programs[number], everything)
        return Passed(statistics, found.objective, found.steepest)

    def _summed(
        self, native: NativeEM, step: EMStep, number: int, at: Mapping[str, Array], values: Mapping[str, Array]
    ) -> Statistics:
        """The statistics of a block; by NumPy where the sums of C have lost digits."""
        try:
            return step.given(number, values)
        except Doubtful as doubt:
            native.doubted(doubt)
            return native.numpy_step(at).given(number, values)

    def _expectations(self, values: Mapping[str, Array], batch: Rows) -> Mapping[str, Array]:
        """The expectations of one batch."""
        return Runner(self._local, batch.columns, batch.sizes).expected(values).expectations

    def _native(self, batch: Rows) -> NativeEM | None:
        if self.backend != "c":
            return None
        if batch.start in self.natives:
            return self.natives[batch.start]
        found = NativeEM(self._local, batch.columns, batch.sizes, program=self._printed)
        self.makers.add(found.made_by)
        if self.file.held:
            self.natives[batch.start] = found
        return found

    def _elsewhere(self, values: Mapping[str, Array]) -> float:
        """Log factors that are not of single rows, taken once."""
        text = printed_em(self._global)
        if "elsewhere" not in text:
            return 0.0
        with np.errstate(all="ignore"):
            return float(text("elsewhere")(text.named(values), self._all.size))

    # -- what stays the same ---

    @cached_property
    def _few(self) -> Runner:
        """The runner on the rows that were drawn."""
        return Runner(self.plan, self.file.sample.columns, self.file.sample.sizes)

    @cached_property
    def _all(self) -> Runner:
        """The runner that goes from merged statistics to modes."""
        return Runner(self.plan, {}, self.file.sizes)

    @cached_property
    def _local(self) -> EMPlan:
        """The plan with the log factors of single rows alone."""
        row = self.file.row
        rest = tuple(factor for factor in self.plan.rest if row in {axis.plate for axis in factor.axes})
        return replace(self.plan, rest=rest)

    @cached_property
    def _global(self) -> EMPlan:
        """The plan with the other log factors alone."""
        return replace(self.plan, rest=tuple(factor for factor in self.plan.rest if factor not in self._local.rest))

    @cached_property
    def _printed(self) -> EMProgram:
        """The C of the plan, which all batches share."""
        return em_program(self._local)

    @cached_property
    def _ready(self) -> tuple[int, ...]:
        """Blocks whose statistics do not wait for the new values of blocks before them."""
        found: list[int] = []
        solved: set[str] = set()
        groups = (*self.plan.solved, *(ascent.variables for ascent in self.plan.ascents))
        for number, (program, group) in enumerate(zip(self.plan.latent.programs, groups, strict=True)):
            if not any(names(part) & solved for one in program.passes for part in expressions_of(one)):
                found.append(number)
            solved |= set(group)
        return tuple(found)


def _counted_from(error: PlatewrightError, batch: Rows) -> PlatewrightError:
    """The same error; elements of a later batch are not counted from the first row of the file."""
    if not batch.start or not error.where or type(error) is not PlatewrightError:
        return error
    where = f"{error.where}, counted from row {batch.start} of the file"
    return PlatewrightError(error.found, where=where, expected=error.expected, hint=error.hint)


def learn_in_batches(
    plan: EMPlan,
    signature: Signature,
    source: object,
    first: Dataset,
    length: int,
    *,
    seed: int,
    backend: str,
    options: Mapping[str, Any],
    columns: Mapping[str, Array] | None = None,
) -> EstimatedFit | Declined:
    """EM over more rows than one batch, in a file or in memory; declined where all rows must be there at once.

    Rows in memory are cut where a file is, so both give the same bits; their `columns` stay with the fit.
    """
    begin = perf_counter()
    file = opened(plan, signature, source, first, length, ROWS_TO_START, seed, backend != "numpy")
    if isinstance(file, Declined):
        return file
    few = gathered_from(plan, (batch.columns for batch in file), file.sizes)
    used, sizes = (few.few.plan, few.sizes) if isinstance(few, Gathered) else (plan, file.sizes)
    for program in used.latent.programs:
        check_sizes(program, sizes, plan.latent.points)
    chosen = few.backend if isinstance(few, Gathered) else choose_em_backend(plan, backend, file.sizes)
    if has_ties(plan) and chosen == "c":
        if file.held:  # rows that would stay in memory anyway
            return Declined("batches", "its C is made for all codes at once")
        chosen = "numpy"  # the C is made for the codes that are seen, and these differ from batch to batch
    told = dict(options)
    store = file_checkpoint(plan, file, told.pop("checkpoint", None), {**told, "seed": seed, "backend": chosen})
    told = with_initial(plan, file.sizes, told)
    batched = BatchedRunner(plan, file, chosen)
    runner = batched.on_few(few) if isinstance(few, Gathered) else batched
    best = search(runner, seed=seed, checkpoint=store, **told)
    return EstimatedFit(
        plan, columns or {}, file.sizes, best, made_by="".join(batched.makers), **fitted_in(file, chosen, seed, begin)
    )
