"""EM steps for hidden classes that meet, in C: rows with the same codes are one row that counts for several.

parameters -> tables of factors (NumPy) -> one pass over the different rows (C) -> counts -> statistics
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod
from typing import Any

import numpy as np

from platewright.algebra.build import exp, multiply, totals
from platewright.algebra.expression import Expression, Index, Multiply, Reference, free_indices, names, walk
from platewright.algebra.lazy import special
from platewright.algebra.put_in import put_in
from platewright.backends.c.compile import compiled, find_compiler
from platewright.backends.c.expression import Unprintable
from platewright.backends.c.in_memory import compiled_in_memory, has_memory_compiler
from platewright.backends.c_em.cliques import CliquePass, RowCount, RowTable, clique_source
from platewright.errors import BackendError
from platewright.family import Array
from platewright.graph.graph import Factor
from platewright.operations.split_partly_known import observed_name, seen_name
from platewright.program.program import Program, expressions_of
from platewright.program.statements import Assign, Pool, Statistic
from platewright.run.exact.native import _keys
from platewright.run.execute import arguments, finish, loaded
from platewright.run.hidden.native_em import EMStep, SoftStep
from platewright.schemas.body_program import body_program
from platewright.schemas.em import EMPlan
from platewright.schemas.hidden import Clique, at_levels, joint_name
from platewright.schemas.hidden_plan import HiddenPlan

FLAGS = ("-O1", "-march=native", "-fno-math-errno", "-shared", "-fPIC")
"""Short loops of unknown length gain nothing from more, and a large network would compile for a minute."""
MOST_ENTRIES = 2**16
"""Entries of the largest table of a row: it lies on the stack."""


class NativeCliques:
    """The iterations of a plan on given data; `left` says what has no C, and why."""

    def __init__(self, plan: HiddenPlan, columns: Mapping[str, Array], sizes: Mapping[str, int]) -> None:
        self.plan, self.columns, self.sizes = plan, columns, dict(sizes)
        self.left: tuple[tuple[str, str], ...] = ()
        self.made_by = ""
        self.code_names: list[str] = []
        self.tables: list[tuple[Expression, tuple[Index, ...]]] = []
        self.counted: list[tuple[Statistic, Expression]] = []
        try:
            self._prepare()
        except Unprintable as refusal:
            self.left = ((plan.graph.title, str(refusal)),)
        except BackendError as error:
            self.left = ((plan.graph.title, error.found),)

    @property
    def native(self) -> bool:
        """Whether C makes the steps."""
        return not self.left

    # -- what is printed ---

    def _prepare(self) -> None:
        compiler = find_compiler()
        if compiler is None and not has_memory_compiler():
            raise Unprintable("no C compiler was found")
        self.axes = self.plan.latent.groups[0].axes
        if any(group.axes != self.axes for group in self.plan.latent.groups):
            raise Unprintable("hidden classes live on different plates")
        self.levels = {name: level for group in self.plan.latent.groups for name, level in group.levels.items()}
        self.cliques = tuple(clique for group in self.plan.latent.groups for clique in group.cliques)
        self.number = {name: k for k, name in enumerate(self.levels)}
        together = [*self.plan.latent.joint, *((name,) for name in self.levels)]
        self.members = {joint_name(members): members for members in together}
        seen = {}
        tables = []
        for clique in self.cliques:
            held = []
            for factor in clique.factors:
                name = factor.owner.removesuffix(".seen")
                if factor.owner == seen_name(name) and name in self.number:
                    seen[self.number[name]] = (self._code(observed_name(name)), self._code(factor.owner))
                else:
                    held.append(self._table(factor, clique))
            tables.append(tuple(held))
        moving = [statement for statement in self.plan.maximise.passes if self._moves(statement)]
        counts = (*(self._count(statement) for statement in moving), *self._entropy_counts(tables))
        level_sizes = tuple(self.sizes[level.plate] for level in self.levels.values())
        for clique in self.cliques:
            if prod(level_sizes[self.number[name]] for name in clique.scope) > MOST_ENTRIES:
                raise Unprintable(f"the table of {', '.join(clique.scope)} is large")
        self.rows, self.share = self._distinct()
        self.program = CliquePass(
            self.plan.graph.title,
            self.cliques,
            self.number,
            level_sizes,
            tuple(self.sizes[self._code_index(k).plate] for k in range(len(self.code_names))),
            seen,
            tuple(tables),
            counts,
        )
        self.source = clique_source(self.program)
        shared = compiled(self.source, compiler, FLAGS) if compiler else compiled_in_memory(self.source)
        self.made_by, self.function = shared.made_by, shared.expect
        self.function.restype = ctypes.c_int64
        self.module = loaded(self.plan.maximise)
        self.keys = dict(zip((s.name for s in self.plan.maximise.passes), _keys(self.module)))
        self.fixed = self._fixed()
        self.before, self.after, self.rest = self._programs()

    def _moves(self, statement: Statistic | Pool) -> bool:
        """Whether hidden classes enter a statistic."""
        return any(name in self.members for part in expressions_of(statement) for name in names(part))

    def _fixed(self) -> dict[str, Any]:
        """Statistics that no hidden class enters: the same in every iteration."""
        passes = tuple(s for s in self.plan.maximise.passes if not self._moves(s))
        if not passes:
            return {}
        small = replace(self.plan.maximise, passes=passes, body=(), results=())
        module = loaded(small)
        found = module.statistics(*arguments(small, module, self.columns, self.sizes))
        return {self.keys[s.name]: value for s, value in zip(passes, found.values(), strict=True)}

    def _code(self, name: str) -> int:
        """The number of a column of codes."""
        if name not in self.code_names:
            values = np.asarray(self.columns[name])
            if values.ndim != len(self.axes):
                raise Unprintable(f"{name} does not live on the rows")
            self.code_names.append(name)
            node = self.plan.graph.nodes[name]
            if node.domain.kind != "levels":
                self.sizes[f"{name}.code"] = int(values.max(initial=0)) + 1
        return self.code_names.index(name)

    def _coded(self, expression: Expression) -> tuple[Expression, tuple[int, ...]]:
        """An expression with indices in place of codes of the row, and the numbers of these codes."""
        changes: dict[Expression, Expression] = {}
        used: dict[int, None] = {}
        for node in walk(expression):
            if isinstance(node, Reference) and node.indices == self.axes:
                variable = self.plan.graph.nodes.get(node.name)
                if variable is None or not variable.domain.is_finite:
                    raise Unprintable(f"{node} is not a code of the row")
                used[self._code(node.name)] = None
                changes[node] = self._code_index(self._code(node.name))
        found = put_in(expression, changes)
        if set(self.axes) & set(free_indices(found)):
            raise Unprintable(f"{found} depends on the row itself")
        return found, tuple(used)

    def _table(self, factor: Factor, clique: Clique) -> RowTable:
        """A factor as a table."""
        inside: dict[str, Expression] = {name: self.levels[name] for name in clique.scope}
        expression, codes = self._coded(at_levels(factor, self.axes, inside))
        free = free_indices(expression)
        held = [name for name in clique.scope if self.levels[name] in free]
        axes = [self._code_index(k) for k in codes] + [self.levels[name] for name in held]
        if stray := free - set(axes):
            raise Unprintable(f"{factor.owner} depends on {min(index.name for index in stray)}")
        self.tables.append((expression, tuple(axes)))
        return RowTable(codes, tuple(self.number[name] for name in held), f"p({factor.owner} | ...)")

    def _code_index(self, number: int) -> Index:
        """The index that runs over the values of a code: levels of a plate, or numbers."""
        name = self.code_names[number]
        domain = self.plan.graph.nodes[name].domain
        return Index(f"{name}.code", str(domain.levels) if domain.kind == "levels" else f"{name}.code")

    def _count(self, statement: object) -> RowCount:
        """A statistic as sums of counts that C makes."""
        if not isinstance(statement, Statistic) or statement.kind != "sum":
            raise Unprintable("a statistic is not a sum of counts")
        factors = statement.summand.factors if isinstance(statement.summand, Multiply) else (statement.summand,)
        soft = [f for f in factors if isinstance(f, Reference) and f.name.endswith(".probability")]
        if len(soft) != 1 or soft[0].name not in self.members or soft[0].indices[: len(self.axes)] != self.axes:
            raise Unprintable(f"{statement.name} is not a count of hidden classes")
        rest = multiply(*(factor for factor in factors if factor is not soft[0]))
        if any(name.endswith(".probability") for name in names(rest)):
            raise Unprintable(f"{statement.name} is not a count of hidden classes")
        weight, codes = self._coded(rest)
        members = self.members[soft[0].name]
        clique = next(number for number, one in enumerate(self.cliques) if set(members) <= set(one.scope))
        name = f"count {len(self.counted)}"
        array = Reference(name, (*(self._code_index(k) for k in codes), *soft[0].indices[len(self.axes) :]))
        inner = [self._code_index(k) for k in codes]
        inner += [index for index in statement.over if index not in self.axes]
        self.counted.append((statement, totals(multiply(weight, array), inner)))
        classes = tuple(self.number[member] for member in members)
        return RowCount(clique, codes, classes, statement.name)

    def _entropy_counts(self, tables: Sequence[tuple[RowTable, ...]]) -> list[RowCount]:
        """Mean field needs the entropy too, so the mean of each log factor: how often each of its entries is met."""
        if isinstance(self.plan, EMPlan):
            return []
        held = [(number, table) for number, one in enumerate(tables) for table in one]
        return [RowCount(number, t.codes, t.classes, f"entropy: {t.because}") for number, t in held]

    def _distinct(self) -> tuple[Array, Array]:
        """The different rows of codes, and how often each is there."""
        rows = prod(self.sizes[axis.plate] for axis in self.axes)
        if not self.code_names:
            return np.zeros((1, 1), dtype=np.int32), np.array([float(rows)])
        codes = np.stack([np.asarray(self.columns[name]).reshape(rows) for name in self.code_names], axis=1)
        packed = np.ascontiguousarray(codes.astype(np.int32))
        keys = packed.view([("", np.int32)] * packed.shape[1]).reshape(rows)
        _, first, share = np.unique(keys, return_index=True, return_counts=True)
        order = np.argsort(first)
        return np.ascontiguousarray(packed[first[order]]), share[order].astype(float)

    # -- steps ---

    def step(self, values: Mapping[str, Array]) -> EMStep:
        """Statistics and objective of EM at given parameters."""
        found = self.soft(values)
        if found is None:
            return EMStep({}, -np.inf, -np.inf, lambda *_: {})  # NumPy's way says what is wrong, in which row
        rest = finish(self.rest, loaded(self.rest), {}, {**self.columns, **values}, self.sizes)
        objective = found.log_norm + float(np.sum(list(rest.values())))
        return EMStep(found.statistics, objective, found.steepest, lambda *_: found.statistics)  # there is one block

    def soft(self, values: Mapping[str, Array]) -> SoftStep | None:
        """What the rows leave at given parameters, or moments; nothing where no values of a row's classes are left."""
        given = {**self.columns, **values}
        computed = finish(self.before, loaded(self.before), {}, given, self.sizes)
        tables = [np.ascontiguousarray(computed[f"table {k}"], dtype=float) for k in range(len(self.tables))]
        counts = []
        for counted in self.program.counts:
            shape = [self.program.values[k] for k in counted.codes]
            counts.append(np.zeros([*shape, *(self.program.levels[k] for k in counted.classes)]))
        tally = np.array([0.0, -np.inf])
        refused = self.function(
            _pointer(self.rows),
            _pointer(self.share),
            (ctypes.c_void_p * max(len(tables), 1))(*(table.ctypes.data for table in tables)),
            (ctypes.c_void_p * max(len(counts), 1))(*(count.ctypes.data for count in counts)),
            ctypes.c_int64(0),
            ctypes.c_int64(len(self.rows)),
            _pointer(tally),
        )
        if refused >= 0:
            return None
        held = {f"count {k}": count for k, count in enumerate(counts)}
        found = finish(self.after, loaded(self.after), {}, {**given, **held}, self.sizes)
        statistics = {self.keys[statement.name]: found[statement.name] for statement, _ in self.counted}
        met = zip(counts[len(self.counted) :], tables, strict=False)  # none where the entropy is not asked for
        mean = sum(float(np.sum(special.xlogy(count, table))) for count, table in met)
        return SoftStep({**statistics, **self.fixed}, float(tally[0]), float(tally[1]), float(tally[0]) - mean)

    def _programs(self) -> tuple[Program, Program, Program]:
        """What NumPy does before the pass, after it, and for the objective of EM."""
        before = [Assign(f"table {k}", axes, exp(one), "a factor") for k, (one, axes) in enumerate(self.tables)]
        factors = self.plan.rest if isinstance(self.plan, EMPlan) else ()
        rest = [Assign(f"rest {k}", (), f.summed, "a log prior") for k, f in enumerate(factors)]
        after = [Assign(s.name, s.indices, one, "a statistic") for s, one in self.counted]
        shapes = {
            f"count {k}": (*map(self._code_index, c.codes), *(list(self.levels.values())[v] for v in c.classes))
            for k, c in enumerate(self.program.counts)
        }
        return (
            body_program(self.plan.graph, before, self.plan.row_parameters),
            body_program(self.plan.graph, after, shapes),
            body_program(self.plan.graph, rest),
        )


def _pointer(values: Array) -> ctypes.c_void_p:
    return ctypes.c_void_p(values.ctypes.data)
