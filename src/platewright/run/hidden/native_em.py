"""One iteration of EM as compiled C: statistics for the maximisation, and the objective, without the probabilities.

    parameters -> coefficients (NumPy) -> one pass over the rows (C) -> sums -> statistics as NumPy would give them

Mean field makes the same pass: its log weights are the same functions of a row, with moments in place of parameters.

Log weights are expanded about the mean of each column. When that could cost digits (levels far apart and narrow), a
second pass takes each level about its own mean; when even that could, NumPy makes the step and the reason is kept.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from platewright.backends.c.compile import compiled, find_compiler
from platewright.backends.c.expression import Unprintable
from platewright.backends.c.in_memory import compiled_in_memory, has_memory_compiler
from platewright.backends.c_chain.chain import ChainPass, EMProgram, em_program
from platewright.backends.c_chain.text import narrowed, width_for, without_comments
from platewright.backends.c_em.em import name_in
from platewright.backends.kernels.impossible import ImpossibleData
from platewright.errors import BackendError
from platewright.family import Array
from platewright.language.plate import beginning
from platewright.run.exact.native import _keys, _warn_once
from platewright.run.exact.native_blocks import thread_count
from platewright.run.execute import Statistics, arguments, loaded
from platewright.run.hidden.native_chain import NativeChain
from platewright.run.hidden.native_em_pass import NativePass
from platewright.run.hidden.native_em_sums import Doubtful, Sums
from platewright.run.hidden.printed import printed_em, printed_field
from platewright.schemas.em import EMPlan
from platewright.schemas.hidden_plan import HiddenPlan
from platewright.schemas.mean_field import MeanFieldPlan


@dataclass(frozen=True, eq=False)
class EMStep:
    """What the maximisation needs, `log p(data, parameters)`, and the largest log density of a row."""

    statistics: Statistics
    """Where parameters do not take turns."""
    objective: float
    steepest: float
    given: Callable[[int, Mapping[str, Array]], Statistics]
    """Those of a block when others have new values."""


@dataclass(frozen=True, eq=False)
class SoftStep:
    """What a pass over the rows leaves: statistics, log norms, the largest log density, the entropy of the hidden."""

    statistics: Statistics
    log_norm: float
    steepest: float
    entropy: float
    passed: tuple[tuple[NativePass, Sums], ...] = ()
    """The sums themselves, of which statistics at other values can be made."""


class NativeEM:
    """The iterations of a plan on given data.

    `left` says what has no C, and why: the whole plan is then NumPy's. `by_numpy` counts the reasons of single steps
    that NumPy had to make, and `apart` the steps that took a second pass.
    """

    def __init__(
        self,
        plan: HiddenPlan,
        columns: Mapping[str, Array],
        sizes: Mapping[str, int],
        threads: int | None = None,
        program: EMProgram | None = None,
    ) -> None:
        self.plan = plan
        self.columns = columns
        self.sizes = sizes
        self.threads = threads or thread_count()
        self.left: tuple[tuple[str, str], ...] = ()
        self.by_numpy: dict[str, int] = {}
        self.apart = 0
        self.made_by = ""
        self.module = loaded(plan.maximise)
        self.passes: list[tuple[NativePass, Any]] = []
        self.fixed: dict[str, Any] = {}
        program = program or em_program(plan)
        self.source = program.source
        try:
            self.passes = self.compiled(program)
            self.fixed = self.without_hidden(program)
        except Unprintable as refusal:
            self.left = ((plan.graph.title, str(refusal)),)
        except BackendError as error:
            _warn_once(f"{error.found}; NumPy runs EM")
            self.left = ((plan.graph.title, error.found),)

    @property
    def native(self) -> bool:
        """Whether C makes the steps."""
        return not self.left

    def compiled(self, program: EMProgram) -> list[tuple[NativePass, Any]]:
        """The passes with their functions."""
        if program.left:
            name, reason = program.left[0]
            raise Unprintable(f"{name}: {reason}")
        compiler = find_compiler()
        if compiler is None and not has_memory_compiler():
            raise Unprintable("no C compiler was found")
        width = width_for(self.sequences(program))
        passes = [
            NativeChain(one, self.columns, self.sizes, width)
            if isinstance(one, ChainPass)
            else NativePass(one, self.columns, self.sizes)
            for one in program.passes
        ]
        text = without_comments(narrowed(program.source, width))
        shared = compiled(text, compiler) if compiler is not None else compiled_in_memory(text)
        self.made_by = shared.made_by
        return [(one, getattr(shared, one.one.function)) for one in passes]

    def sequences(self, program: EMProgram) -> int:
        """The largest number of sequences of a chain."""
        plates = [one.item.axes[0].plate for one in program.passes if isinstance(one, ChainPass)]
        return max((int(np.sum(self.columns[beginning(plate)])) for plate in plates), default=1)

    def without_hidden(self, program: EMProgram) -> dict[str, Any]:
        """Statistics that no hidden variable has part in: the same in every iteration."""
        if isinstance(self.plan, MeanFieldPlan) and self.plan.takes_turns:
            return {}  # blocks have those that follow from moments of others
        fixed = {statement.name for statement in program.fixed}
        found: dict[str, Any] = {}
        for number, block in enumerate(self.plan.latent.programs):
            passes = tuple(s for s in block.passes if name_in(self.plan, number, s.name) in fixed)
            if not passes:
                continue
            small = replace(block, passes=passes, body=(), results=())
            module = loaded(small)
            summed = module.statistics(*arguments(small, module, self.columns, self.sizes))
            found |= {name_in(self.plan, number, s.name): value for s, value in zip(passes, summed.values())}
        return found

    # -- steps ---------------------------------------------------------------------------------------------------------

    def step(self, values: Mapping[str, Array]) -> EMStep:
        """Statistics and objective of EM at given parameters."""
        found = None if self.left else self.soft(values)
        if found is None:
            return self.numpy_step(values)
        passed = [sums for _, sums in found.passed]
        given = partial(self.contracted, passed)
        return EMStep(found.statistics, found.log_norm + self.rest(values), found.steepest, given)

    def soft(self, values: Mapping[str, Array]) -> SoftStep | None:
        """What the rows leave at given parameters, or moments; nothing where digits were lost, which is counted."""
        try:
            found, every = self.native_step(values)
        except Doubtful as doubt:
            self.doubted(doubt)
            return None
        passed = tuple((one, sums) for (one, _), sums in zip(self.passes, every, strict=True))
        log_norm = sum(sums.log_norm for sums in every)
        steepest = max((sums.steepest for sums in every), default=-np.inf)
        entropy = sum(sums.entropy for sums in every) if isinstance(self.plan, MeanFieldPlan) else 0.0
        statistics = {} if self.plan.takes_turns else self.of_block(0, found)
        return SoftStep(statistics, log_norm, steepest, entropy, passed)

    def doubted(self, doubt: Doubtful) -> None:
        """Keep why NumPy has to make a step."""
        self.by_numpy[str(doubt)] = self.by_numpy.get(str(doubt), 0) + 1

    def native_step(self, values: Mapping[str, Array]) -> tuple[dict[str, Any], list[Sums]]:
        """All passes; each about common centres, or where that lost digits about those of each level."""
        found: dict[str, Any] = {}
        passed = []
        for one, function in self.passes:
            sums, statistics = self.careful_pass(one, function, values)
            found |= statistics
            passed.append(sums)
        return found, passed

    def contracted(self, passed: list[Sums], number: int, values: Mapping[str, Array]) -> Statistics:
        """The statistics of a block at new parameters, of sums that know nothing of parameters."""
        found: dict[str, Any] = {}
        wanted = {name_in(self.plan, number, s.name) for s in self.plan.latent.programs[number].passes}
        for (one, _), sums in zip(self.passes, passed, strict=True):
            found |= one.statistics(sums.at(values), wanted)
        return self.of_block(number, found)

    def of_block(self, number: int, found: Mapping[str, Any]) -> Statistics:
        """Statistics as the NumPy module of a block names them."""
        program = self.plan.latent.programs[number]
        if not program.passes:
            return {}
        everything = {**found, **self.fixed}
        names = [name_in(self.plan, number, statement.name) for statement in program.passes]
        return {key: everything[name] for key, name in zip(_keys(loaded(program)), names, strict=True)}

    def careful_pass(self, one: NativePass, function: Any, values: Mapping[str, Array]) -> tuple[Sums, dict[str, Any]]:
        """About common centres; else about the peak of each level; else about the mean of its rows."""
        try:
            sums = one.run(function, values, self.threads)
            return sums, one.statistics(sums)
        except Doubtful:
            self.apart += 1
        centres = one.peaks(values)
        sums = one.run(function, values, self.threads, centres)
        try:
            return sums, one.statistics(sums)
        except Doubtful:
            sums = one.run(function, values, self.threads, one.means(sums, centres))
            return sums, one.statistics(sums)

    def numpy_step(self, values: Mapping[str, Array]) -> EMStep:
        """The same by the printed functions."""
        assert isinstance(self.plan, EMPlan)
        text = printed_em(self.plan)
        given, size = text.named({**self.columns, **values}), text.sized(self.sizes)
        try:
            seen = text("expect")(given, size)
        except ImpossibleData:
            return EMStep({}, -np.inf, -np.inf, lambda *_: {})  # whoever looks at it asks the text, which names the row
        summed = partial(self.numpy_statistics, {**self.columns, **text.back(seen.expectations)})
        first = {} if self.plan.takes_turns else summed(0, values)
        return EMStep(first, seen.objective, seen.steepest, summed)

    def numpy_statistics(self, given: Mapping[str, Array], number: int, values: Mapping[str, Array]) -> Statistics:
        """The statistics of a block at given probabilities and parameters."""
        program = self.plan.latent.programs[number]
        if not program.passes:
            return {}
        module = loaded(program)
        return module.statistics(*arguments(program, module, {**given, **values}, self.sizes))

    def rest(self, values: Mapping[str, Array]) -> float:
        """The log factors without hidden variables."""
        assert isinstance(self.plan, EMPlan)
        text = printed_em(self.plan)
        if "elsewhere" not in text:
            return 0.0
        with np.errstate(all="ignore"):
            return float(text("elsewhere")(text.named({**self.columns, **values}), text.sized(self.sizes)))

    def probabilities(self, values: Mapping[str, Array]) -> dict[str, Array]:
        """The posterior of each hidden variable, row by row: asked for at the end only."""
        if self.left:
            return self.numpy_probabilities(values)
        found: dict[str, Array] = {}
        try:
            for one, function in self.passes:
                item = one.one.item
                held = np.empty([self.sizes[axis.plate] for axis in (*item.axes, item.level)])
                found[item.probability] = held
                try:
                    one.run(function, values, self.threads, probability=held)
                except Doubtful:
                    one.run(function, values, self.threads, one.peaks(values), held)
        except Doubtful:
            return self.numpy_probabilities(values)
        return found

    def numpy_probabilities(self, values: Mapping[str, Array]) -> dict[str, Array]:
        """The same by the printed functions."""
        is_em = isinstance(self.plan, EMPlan)
        text = printed_em(self.plan) if isinstance(self.plan, EMPlan) else printed_field(self.plan)
        found = text("expect")(text.named({**self.columns, **values}), text.sized(self.sizes))
        every = text.back(found.expectations if is_em else found[0])
        return {item.probability: every[item.probability] for item in self.plan.hidden}
