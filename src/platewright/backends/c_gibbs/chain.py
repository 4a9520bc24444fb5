"""Print a hidden chain as C: filter forwards with normalised probabilities, then sample backwards.

    filtered[t, j] = p(z_t = j | data up to t)      z_T from filtered[T], then z_t from filtered[t, i] move[i, z_t+1]

Weights of moves that are the same at every step are exponentiated once. A step whose probabilities fall below what a
double holds is made again in logarithms.
"""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass

from platewright.algebra.build import add, substitute, totals
from platewright.algebra.expression import (
    ONE,
    ZERO,
    Constant,
    Expression,
    Index,
    Lag,
    Reference,
    free_indices,
    walk,
)
from platewright.backends.c_gibbs.function import Arrays, Function, Slot, along
from platewright.graph.graph import Factor, Graph
from platewright.language.plate import beginning
from platewright.schemas.gibbs import ChainBlock

TINY = "1e-250"


@dataclass(frozen=True)
class _Weights:
    """Log weights of a step: at the beginning of a sequence, later, and of the move into it."""

    first: Expression
    later: Expression
    move: Expression


class ChainWriter:
    """Prints one block."""

    def __init__(self, arrays: Arrays, number: int, block: ChainBlock, graph: Graph) -> None:
        self.arrays = arrays
        self.number = number
        self.name = block.variables[0]
        node = graph.nodes[self.name]
        levels = str(node.domain.levels) if node.domain.kind == "levels" else f"{self.name}.levels"
        self.step = Index(f"{self.name}.step", node.axes[0].plate)
        self.now, self.before = Index(f"{self.name}.now", levels), Index(f"{self.name}.before", levels)
        self.flag = beginning(self.step.plate)
        self.weights = self.gathered(block.factors)
        # Moves may be exponentiated once when neither the step nor a variable along it is in them.
        self.constant = self.step not in free_indices(self.weights.move)
        self.local: dict[str, Slot] = {}
        self.axes = {"filtered": (self.step, self.now), "log_total": (), "moves": (self.before, self.now)}

    def gathered(self, factors: tuple[Factor, ...]) -> _Weights:
        first: list[Expression] = []
        later: list[Expression] = []
        move: list[Expression] = []
        for factor in factors:
            own = self.own_step(factor)
            others = [axis for axis in factor.axes if axis != own]
            changes: dict[Expression, Expression] = {
                Reference(self.name, (own,)): self.now,
                Reference(self.name, (Lag(own),)): self.before,
            }
            whole = totals(substitute(factor.expression, changes), others)
            whole = substitute(whole, {own: self.step})
            start, after = (substitute(whole, {Reference(self.flag, (self.step,)): flag}) for flag in (ONE, ZERO))
            first.append(substitute(start, {self.before: Constant(0.0)}))
            (move if self.before in free_indices(after) else later).append(after)
        return _Weights(add(ZERO, *first), add(ZERO, *later), add(ZERO, *move))

    def own_step(self, factor: Factor) -> Index:
        at = next(p.indices[0] for p in walk(factor.expression) if isinstance(p, Reference) and p.name == self.name)
        found = at.index if isinstance(at, Lag) else at
        assert isinstance(found, Index)  # `schemas/gibbs.py` lets no other place pass
        return found

    def functions(self) -> list[str]:
        """The filter and the draw."""
        about = f"block {self.number}: the chain {self.name}"
        filtering = Function(self.arrays, self.number, self.local, self.axes)
        self.filter(filtering)
        first = filtering.text(f"static int prepare_{self.number}(struct chain *chain)", f"{about}; forwards")
        drawing = Function(self.arrays, self.number, self.local, self.axes)
        self.backward(drawing)
        second = drawing.text(f"static int draw_{self.number}(struct chain *chain)", f"{about}; backwards")
        return [first, second]

    # -- forwards ------------------------------------------------------------------------------------------------------

    def filter(self, function: Function) -> None:
        printer = function.printer
        levels = printer.size(self.now.plate)
        filtered = function.computed("filtered", along((self.step, self.now)))
        log_total = function.computed("log_total", ())
        flag = printer.column(self.flag)
        if self.constant:
            moves = function.computed("moves", along((self.before, self.now)))
            with printer.loop(self.before) as i, printer.loop(self.now) as j:
                printer.line(f"{moves}[{i} * {levels} + {j}] = exp({printer.code(self.weights.move).text});")
        printer.line(f"double *const single = {printer.room('single', ((self.now.plate,),))};")
        printer.line(f"{log_total}[0] = 0.0;")
        with printer.loop(self.step) as t:
            printer.line(f"double *const row = {filtered} + {t} * {levels};")
            printer.line(f"const double *const last = row - {levels};")
            printer.line("double top = -INFINITY, total = 0.0;")
            with printer.nested(f"if ({flag}[{t}])"), printer.loop(self.now) as j:
                printer.line(f"single[{j}] = {printer.code(self.weights.first).text};")
            with printer.nested("else"), printer.loop(self.now) as j:
                printer.line(f"single[{j}] = {printer.code(self.weights.later).text};")
            printer.line(f"for (int64_t j = 0; j < {levels}; j++)")
            printer.line("    top = single[j] > top ? single[j] : top;")
            printer.line("top = top > -INFINITY ? top : 0.0;")
            with printer.nested(f"for (int64_t j = 0; j < {levels}; j++)"):
                printer.line(f"row[j] = {flag}[{t}] ? 1.0 : 0.0;")
            with printer.nested(f"if (!{flag}[{t}])"):
                self.arriving(function, t)
            with printer.nested(f"for (int64_t j = 0; j < {levels}; j++)"):
                printer.line("row[j] *= exp(single[j] - top);")
                printer.line("total += row[j];")
            with printer.nested(f"if (!(total > {TINY}) && !{flag}[{t}])"):
                self.in_logs(function)
            printer.line("if (!(total > 0.0))")
            printer.line("    return 5;")
            printer.line(f"{log_total}[0] += top + log(total);")
            printer.line(f"for (int64_t j = 0; j < {levels}; j++)")
            printer.line("    row[j] /= total;")

    def arriving(self, function: Function, t: str) -> None:
        """Sums over the previous value."""
        printer = function.printer
        levels = printer.size(self.now.plate)
        with printer.loop(self.before) as i, printer.loop(self.now) as j:
            if self.constant:
                weight = f"{printer.column('moves')}[{i} * {levels} + {j}]"
            else:
                weight = f"exp({printer.code(self.weights.move).text})"
            printer.line(f"row[{j}] += last[{i}] * {weight};")

    def in_logs(self, function: Function) -> None:
        """The same step with the largest term of each sum taken out."""
        printer = function.printer
        levels = printer.size(self.now.plate)
        printer.line("top = -INFINITY;")
        with printer.loop(self.now) as j:
            printer.line("double best = -INFINITY, sum = 0.0;")
            with printer.loop(self.before) as i:
                printer.line(f"const double term = log(last[{i}]) + {printer.code(self.weights.move).wrapped(1)};")
                printer.line("if (term > best) {")
                printer.line("    sum = sum * exp(best - term) + 1.0;")
                printer.line("    best = term;")
                printer.line("} else if (term > -INFINITY)")
                printer.line("    sum += exp(term - best);")
            printer.line(f"row[{j}] = single[{j}] + best + log(sum);")
            printer.line(f"top = row[{j}] > top ? row[{j}] : top;")
        printer.line("total = 0.0;")
        with printer.nested(f"for (int64_t j = 0; j < {levels}; j++)"):
            printer.line("row[j] = top > -INFINITY ? exp(row[j] - top) : 0.0;")
            printer.line("total += row[j];")

    # -- backwards -----------------------------------------------------------------------------------------------------

    def backward(self, function: Function) -> None:
        printer = function.printer
        levels, steps = printer.size(self.now.plate), printer.size(self.step.plate)
        filtered, flag, target = (printer.column(name) for name in ("filtered", self.flag, self.name))
        printer.line(f"double *const weight = {printer.room('weight', ((self.now.plate,),))};")
        with printer.nested(f"for (int64_t t = {steps} - 1; t >= 0; t--)"):
            printer.line(f"const int ends = t + 1 == {steps} || {flag}[t + 1];")
            printer.line("double total = 0.0;")
            with printer.nested(f"for (int64_t i = 0; i < {levels}; i++)"):
                printer.line(f"weight[i] = {filtered}[t * {levels} + i];")
            with printer.nested("if (!ends)"), ExitStack() as inside:
                printer.line(f"const int64_t next = t + 1, now = {target}[next];")
                inside.enter_context(printer.at(self.step, "next"))
                inside.enter_context(printer.at(self.now, "now"))
                self.backward_weights(function)
            with printer.nested(f"for (int64_t i = 0; i < {levels}; i++)"):
                printer.line("total += weight[i];")
                printer.line("weight[i] = total;")
            printer.line("const double until = total * uniform(random);")
            printer.line("int64_t value = 0;")
            printer.line(f"for (int64_t i = 0; i < {levels} - 1; i++)")
            printer.line("    value += weight[i] <= until;")
            printer.line(f"{target}[t] = value;")

    def backward_weights(self, function: Function) -> None:
        """Filtered probabilities times the weight of the move; in logarithms where they are too small."""
        printer = function.printer
        levels = printer.size(self.now.plate)
        printer.line("double whole = 0.0;")
        with printer.loop(self.before) as i:
            if self.constant:
                move = f"{printer.column('moves')}[{i} * {levels} + now]"
            else:
                move = f"exp({printer.code(self.weights.move).text})"
            printer.line(f"weight[{i}] *= {move};")
            printer.line(f"whole += weight[{i}];")
        with printer.nested(f"if (!(whole > {TINY}))"):
            printer.line("double top = -INFINITY;")
            with printer.loop(self.before) as i:
                term = f"log({printer.column('filtered')}[t * {levels} + {i}])"
                printer.line(f"weight[{i}] = {term} + {printer.code(self.weights.move).wrapped(1)};")
                printer.line(f"top = weight[{i}] > top ? weight[{i}] : top;")
            printer.line(f"for (int64_t i = 0; i < {levels}; i++)")
            printer.line("    weight[i] = weight[i] > -INFINITY ? exp(weight[i] - top) : 0.0;")
