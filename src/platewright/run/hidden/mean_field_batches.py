"""Mean field on a file that is read in batches: each iteration goes over the rows, and keeps only their statistics.

moments -> for each batch: hidden probabilities, soft statistics, entropy -> merged -> posterior of the parameters
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from platewright.data.dataset import Dataset
from platewright.data.signature import Signature
from platewright.family import Array
from platewright.operation import Declined
from platewright.program.program import EVIDENCE
from platewright.run.checks.sizing import check_sizes
from platewright.run.exact.posterior import Posterior
from platewright.run.execute import Statistics, arguments, finish, loaded
from platewright.run.hidden.batchable import fitted_in, opened
from platewright.run.hidden.em import ROWS_TO_START
from platewright.run.hidden.few_rows import Gathered, gathered_from
from platewright.run.hidden.file_checkpoint import file_checkpoint
from platewright.run.hidden.mean_field import Runner, Settled
from platewright.run.hidden.mean_field_fit import MeanFieldFit
from platewright.run.hidden.mean_field_search import Bounded, is_plain, searched
from platewright.run.hidden.recalled import Recalled, merged_parts
from platewright.run.hidden.row_file import RowFile, Rows
from platewright.run.hidden.soft_start import start_expectations
from platewright.schemas.mean_field import MeanFieldPlan

STATISTICS, SIZES, MOMENTS = "statistics", "sizes", "moments"
"""What stands in place of expectations: what they left, of how many rows, and what they are made from."""


@dataclass(frozen=True, eq=False)
class BatchedUpdates(Runner):
    """The two updates of a plan on the rows of a file; nothing is kept of single rows."""

    file: RowFile | None = None

    def hidden(self, moments: Mapping[str, Array]) -> tuple[dict[str, Any], float]:
        """Merged statistics under the hidden probabilities, and the entropy of these."""
        assert self.file is not None
        whole: Statistics | None = None
        entropy = 0.0
        for batch in self.file:
            runner = Runner(self.plan, batch.columns, batch.sizes)
            found, more = runner.hidden(moments)
            whole = merged_parts(self.plan.maximise, self.file.row, whole, _statistics(runner, found))
            entropy += more
        return {STATISTICS: whole, SIZES: self.all_sizes, MOMENTS: dict(moments)}, entropy

    def posterior(self, expectations: Mapping[str, Any]) -> Settled:
        """The distribution of the parameters from merged statistics, its log normaliser and its moments."""
        program, sizes = self.plan.maximise, expectations[SIZES]
        values = finish(program, loaded(program), expectations[STATISTICS], {}, sizes)
        posterior = Posterior(self.plan.complete, values, {}, sizes)
        return Settled(posterior, float(values[EVIDENCE]), self.moments(posterior, self.plan.fields[-1]))

    def start(self, generator: np.random.Generator) -> dict[str, Any]:
        """Statistics of the rows that were drawn, softly assigned."""
        assert self.file is not None
        few = Runner(self.plan, self.file.sample.columns, self.file.sample.sizes)
        found = start_expectations(self.plan, few.columns, few.sizes, generator)
        return {STATISTICS: _statistics(few, found), SIZES: few.all_sizes}

    def probabilities(self, moments: Mapping[str, Array], batch: Rows) -> Mapping[str, Array]:
        """The hidden probabilities of one batch."""
        return Runner(self.plan, batch.columns, batch.sizes).hidden(moments)[0]


def _statistics(runner: Runner, expectations: Mapping[str, Array]) -> Statistics:
    program = runner.plan.maximise
    module = loaded(program)
    return module.statistics(*arguments(program, module, {**runner.columns, **expectations}, runner.all_sizes))


def bound_in_batches(
    plan: MeanFieldPlan,
    signature: Signature,
    source: object,
    first: Dataset,
    length: int,
    *,
    seed: int,
    options: Mapping[str, Any],
    columns: Mapping[str, Array] | None = None,
) -> MeanFieldFit | Declined:
    """Mean field over more rows than one batch, in a file or in memory; declined where all must be there at once."""
    begin = perf_counter()
    file = opened(plan, signature, source, first, length, ROWS_TO_START, seed)
    if isinstance(file, Declined):
        return file
    few = gathered_from(plan, (batch.columns for batch in file), file.sizes)
    used, sizes = (few.few.plan, few.sizes) if isinstance(few, Gathered) else (plan, file.sizes)
    check_sizes(used.maximise, sizes, plan.latent.points)
    told = dict(options)
    store = file_checkpoint(plan, file, told.pop("checkpoint", None), {**told, "seed": seed})
    runner = BatchedUpdates(plan, {}, file.sizes, is_plain(told.pop("update", "bound")), file)
    if isinstance(few, Gathered):
        found: Bounded = searched(Runner(used, few.columns, sizes, runner.plain), seed, checkpoint=store, **told)
        moments = found.expectations
    else:
        found = searched(runner, seed, checkpoint=store, **told)
        moments = found.expectations[MOMENTS]
    recalled = Recalled(plan.latent, file, partial(runner.probabilities, moments))
    kept = replace(found, expectations=recalled)
    told_of = few.backend if isinstance(few, Gathered) else "numpy"
    return MeanFieldFit(plan, columns or {}, file.sizes, kept, **fitted_in(file, told_of, seed, begin))
