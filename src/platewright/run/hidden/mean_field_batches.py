"""Mean field on a file that is read in batches: each iteration goes over the rows, and keeps only their statistics.

moments -> for each batch: hidden probabilities, soft statistics, entropy -> merged -> posterior of the parameters
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from platewright.backends.c_chain.chain import EMProgram, em_program
from platewright.backends.kernels.starting_rows import ROWS_TO_START
from platewright.data.dataset import Dataset
from platewright.data.signature import Signature
from platewright.family import Array
from platewright.operation import Declined
from platewright.run.checks.sizing import check_sizes
from platewright.run.execute import Statistics, arguments, loaded
from platewright.run.hidden.batchable import fitted_in, opened
from platewright.run.hidden.em_backend import choose_field_backend, has_ties, why_not_fused
from platewright.run.hidden.few_rows import Gathered, gathered_from
from platewright.run.hidden.file_checkpoint import file_checkpoint
from platewright.run.hidden.mean_field import STATISTICS, Runner, with_noises
from platewright.run.hidden.mean_field_fit import MeanFieldFit
from platewright.run.hidden.mean_field_search import Bounded, is_plain, searched
from platewright.run.hidden.native_em import NativeEM
from platewright.run.hidden.recalled import Recalled, merged_parts
from platewright.run.hidden.row_file import RowFile, Rows
from platewright.schemas.mean_field import MeanFieldPlan


@dataclass(frozen=True, eq=False)
class BatchedUpdates(Runner):
    """The two updates of a plan on the rows of a file; nothing is kept of single rows."""

    file: RowFile | None = None
    printed: EMProgram | None = None
    """The C of the pass over rows, which all batches share; without it NumPy makes it."""
    makers: set[str] = field(default_factory=set)
    """Who compiled the pass: one name, once it was."""
    natives: dict[int, NativeEM] = field(default_factory=dict)
    """The C of batches that stay in memory, by their first row."""

    def starts(self, seed: int) -> Callable[[np.random.Generator], Mapping[str, Array]]:
        """What makes moments to start from, by the rows that were drawn."""
        assert self.file is not None
        few = Runner(self.plan, self.file.sample.columns, self.file.sample.sizes, self.plain)
        return few.starts(seed)

    def hidden(self, moments: Mapping[str, Array]) -> tuple[dict[str, Any], float]:
        """Merged statistics under the hidden probabilities, and the entropy of these."""
        assert self.file is not None
        whole: Statistics | None = None
        entropy = 0.0
        for batch in self.file:
            runner = Runner(self.plan, batch.columns, batch.sizes, native=self._native(batch))
            found, more = runner.hidden(moments)
            part = found[STATISTICS] if STATISTICS in found else _statistics(runner, found)
            whole = merged_parts(self.plan.maximise, self.file.row, whole, part)
            entropy += more
        return {STATISTICS: whole}, entropy

    def kept(self, moments: Mapping[str, Array], expectations: Mapping[str, Any]) -> Mapping[str, Any]:
        """Hidden probabilities are made when somebody asks for them."""
        assert self.file is not None
        return Recalled(self.plan.latent, self.file, partial(self.probabilities, moments))

    def probabilities(self, moments: Mapping[str, Array], batch: Rows) -> Mapping[str, Array]:
        """The hidden probabilities of one batch."""
        return Runner(self.plan, batch.columns, batch.sizes).expected(moments)[0]

    def _native(self, batch: Rows) -> NativeEM | None:
        if self.printed is None:
            return None
        if batch.start in self.natives:
            return self.natives[batch.start]
        sizes = with_noises(self.plan, batch.sizes)
        found = NativeEM(self.plan, batch.columns, sizes, program=self.printed)
        self.makers.add(found.made_by)
        if self.file is not None and self.file.held:
            self.natives[batch.start] = found
        return found


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
    backend: str,
    options: Mapping[str, Any],
    columns: Mapping[str, Array] | None = None,
) -> MeanFieldFit | Declined:
    """Mean field over more rows than one batch, in a file or in memory; declined where all must be there at once."""
    begin = perf_counter()
    in_c = backend != "numpy" and not why_not_fused(plan) and not has_ties(plan)
    file = opened(plan, signature, source, first, length, ROWS_TO_START, seed, in_c)
    if isinstance(file, Declined):
        return file
    few = gathered_from(plan, (batch.columns for batch in file), file.sizes)
    used, sizes = (few.few.plan, few.sizes) if isinstance(few, Gathered) else (plan, file.sizes)
    check_sizes(used.maximise, sizes, plan.latent.points)
    chosen, why = (few.backend, "") if isinstance(few, Gathered) else choose_field_backend(plan, backend, file.sizes)
    if chosen == "c" and has_ties(plan):
        if file.held:
            return Declined("batches", "its C is made for all codes at once")
        chosen, why = "numpy", "hidden classes meet, and their C is made for the codes of all rows"
    printed = em_program(plan) if chosen == "c" else None
    if printed is not None and printed.left:
        chosen, why, printed = "numpy", printed.left[0][1], None
    told = dict(options)
    store = file_checkpoint(plan, file, told.pop("checkpoint", None), {**told, "seed": seed, "backend": chosen})
    plain = is_plain(told.pop("update", "bound"))
    runner = BatchedUpdates(plan, {}, file.sizes, plain, file=file, printed=printed)
    if isinstance(few, Gathered):
        found: Bounded = searched(Runner(used, few.columns, sizes, plain, few=few.few), seed, checkpoint=store, **told)
        found = replace(
            found, expectations=Recalled(plan.latent, file, partial(runner.probabilities, found.expectations))
        )
    else:
        found = searched(runner, seed, checkpoint=store, **told)
    told = {**fitted_in(file, chosen, seed, begin), "made_by": "".join(runner.makers)}
    return MeanFieldFit(plan, columns or {}, file.sizes, found, why, **told)
